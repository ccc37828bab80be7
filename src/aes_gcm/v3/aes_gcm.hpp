// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <doca_aes_gcm.h>

#include "../../core/v3/ctx.hpp"
#include "../crypt_queue.hpp"

/// A key. Owned by its AES-GCM object, which keeps it after its destruction and gives it out again: a program that
/// still uses a destroyed key is then found out, as long as there is no new one in its place.
struct doca_aes_gcm_key {
    explicit doca_aes_gcm_key(doca_aes_gcm &aes_gcm) noexcept : owner(aes_gcm) {}

    doca_aes_gcm &owner;
    std::unique_ptr<opendoca::GcmKey> cipher; ///< null while the program has no such key
};

namespace opendoca::v3 {

inline constexpr std::uint32_t max_num_crypt_tasks = 65536; ///< of each type, in one context

/// What encryptions and decryptions have in common. Owned by its pool; the program sets the members by functions. The
/// key of the request is found when the task is submitted.
struct CryptTask : doca_task {
    CryptRequest request;
    doca_aes_gcm_key *key;
};

} // namespace opendoca::v3

struct doca_aes_gcm_task_encrypt : opendoca::v3::CryptTask {};
struct doca_aes_gcm_task_decrypt : opendoca::v3::CryptTask {};

/// The AES-GCM library's object of 3.0: a context on one device, and its keys. Owned by the program; used by the thread
/// of its progress engine.
struct doca_aes_gcm final : doca_ctx {
    doca_aes_gcm(doca_dev &dev, opendoca::GcmCiphers &&ciphers) : doca_ctx(&dev), ciphers_(std::move(ciphers)) {}
    ~doca_aes_gcm() override = default;

    // One pool for each type of tasks, from start on.
    opendoca::v3::TaskType<doca_aes_gcm_task_encrypt, doca_aes_gcm_task_encrypt_completion_cb_t> encrypt{*this};
    opendoca::v3::TaskType<doca_aes_gcm_task_decrypt, doca_aes_gcm_task_decrypt_completion_cb_t> decrypt{*this};

    /// Creates a key of @p size bytes, 16 or 32. NO_MEMORY, IO_FAILED.
    [[nodiscard]] doca_error_t create_key(const void *raw_key, std::size_t size, doca_aes_gcm_key *&key);
    /// INVALID_VALUE for a key that was destroyed, IN_USE while a task in flight uses it, after a log line.
    [[nodiscard]] doca_error_t destroy_key(doca_aes_gcm_key &key) noexcept;
    [[nodiscard]] std::size_t num_keys() const noexcept { return keys_.size() - free_keys_.size(); }
    /// Returns INVALID_VALUE, after a log line, unless @p key can be used for tasks of this object. It may be null.
    [[nodiscard]] doca_error_t check_key(const doca_aes_gcm_key *key) const noexcept;

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override;
    void on_idle() noexcept override { crypts_.reset(); }
    [[nodiscard]] bool on_progress() noexcept override { return crypts_->take_progress(); }

private:
    opendoca::GcmCiphers ciphers_;
    std::vector<std::unique_ptr<doca_aes_gcm_key>> keys_;
    std::vector<doca_aes_gcm_key *> free_keys_;    ///< those without a cipher; has capacity for all keys
    std::unique_ptr<opendoca::CryptQueue> crypts_; ///< exists from start until the context is idle
};
