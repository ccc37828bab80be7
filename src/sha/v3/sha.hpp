// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include <doca_sha.h>

#include "../../core/v3/ctx.hpp"
#include "../hash_queue.hpp"

struct doca_sha_task_hash : doca_task {
    opendoca::ShaKind kind;
    const doca_buf *src;
    doca_buf *dst;
};

/// A message that is hashed in pieces, and the piece to be hashed next.
struct doca_sha_task_partial_hash : doca_task {
    opendoca::ShaKind kind;
    const doca_buf *src;
    doca_buf *dst;
    opendoca::HashSession session;
    bool is_final;
    bool has_result;
};

/// The SHA library's object: a context on one device, with a queue of hashes while it runs.
struct doca_sha final : doca_ctx {
    explicit doca_sha(doca_dev &dev) : doca_ctx(&dev) {}
    ~doca_sha() override = default;

    opendoca::v3::TaskType<doca_sha_task_hash, doca_sha_task_hash_completion_cb_t> hash{*this};
    opendoca::v3::TaskType<doca_sha_task_partial_hash, doca_sha_task_partial_hash_completion_cb_t> partial_hash{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    void on_idle() noexcept override { hashes_.reset(); }
    [[nodiscard]] bool ends_with(const doca_task &task) const noexcept override
    {
        return task.status == DOCA_ERROR_IO_FAILED; // OpenSSL has failed: nothing else would succeed
    }

private:
    std::unique_ptr<opendoca::HashQueue> hashes_;
};

namespace opendoca::v3 {

/// Whether there is such an algorithm, and if so which.
[[nodiscard]] constexpr bool kind_of(doca_sha_algorithm algorithm, ShaKind &kind) noexcept
{
    static_assert(DOCA_SHA_ALGORITHM_SHA1 == static_cast<int>(ShaKind::sha1) &&
                  DOCA_SHA_ALGORITHM_SHA256 == static_cast<int>(ShaKind::sha256) &&
                  DOCA_SHA_ALGORITHM_SHA512 == static_cast<int>(ShaKind::sha512));
    kind = static_cast<ShaKind>(algorithm);
    return static_cast<std::uint32_t>(algorithm) <= DOCA_SHA_ALGORITHM_SHA512; // unsigned: an enum promotes to int
}

} // namespace opendoca::v3
