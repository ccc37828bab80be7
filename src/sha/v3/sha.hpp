// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include <doca_sha.h>

#include "../../core/v3/ctx.hpp"
#include "../hash_queue.hpp"

/// The hash of one message. Owned by its pool; the program sets the members by functions.
struct doca_sha_task_hash : doca_task {
    opendoca::ShaKind kind;
    const doca_buf *src;
    doca_buf *dst; ///< receives the digest behind its data
};

/// The hash of a message in pieces: submitted once for each piece, with the next piece as source. Owned by its pool.
/// The session is the message so far.
struct doca_sha_task_partial_hash : doca_task {
    opendoca::ShaKind kind;
    const doca_buf *src;
    doca_buf *dst;
    opendoca::HashSession session;
    bool is_final;   ///< the next piece is the last
    bool has_result; ///< the digest of the message was written
};

/// The SHA library's object of 3.0: a context on one device. Owned by the program; used by the thread of its engine.
struct doca_sha final : doca_ctx {
    explicit doca_sha(doca_dev &dev) : doca_ctx(&dev) {}
    ~doca_sha() override = default;

    // One pool for each type of tasks, from start on.
    opendoca::v3::TaskType<doca_sha_task_hash, doca_sha_task_hash_completion_cb_t> hash{*this};
    opendoca::v3::TaskType<doca_sha_task_partial_hash, doca_sha_task_partial_hash_completion_cb_t> partial_hash{*this};

protected:
    [[nodiscard]] doca_error_t on_start() override;
    [[nodiscard]] doca_error_t on_stop() noexcept override
    {
        hashes_->flush();
        return DOCA_SUCCESS;
    }
    void on_idle() noexcept override { hashes_.reset(); }

private:
    std::unique_ptr<opendoca::HashQueue> hashes_; ///< exists from start until the context is idle
};

namespace opendoca::v3 {

/// Returns whether @p algorithm exists, and sets @p kind.
[[nodiscard]] constexpr bool kind_of(doca_sha_algorithm algorithm, ShaKind &kind) noexcept
{
    static_assert(DOCA_SHA_ALGORITHM_SHA1 == static_cast<int>(ShaKind::sha1) &&
                  DOCA_SHA_ALGORITHM_SHA256 == static_cast<int>(ShaKind::sha256) &&
                  DOCA_SHA_ALGORITHM_SHA512 == static_cast<int>(ShaKind::sha512));
    kind = static_cast<ShaKind>(algorithm);
    return static_cast<std::uint32_t>(algorithm) <= DOCA_SHA_ALGORITHM_SHA512; // unsigned: an enum promotes to int
}

} // namespace opendoca::v3
