// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA for both generations: their front ends turn jobs (v2/) and tasks (v3/) into calls of a HashQueue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "../core/device/device.hpp"
#include "../core/engine/completion_queue.hpp"
#include "../core/engine/late_operations.hpp"
#include "../core/objects/buf.hpp"
#include "digest.hpp"

namespace opendoca {

/// A message that is hashed in pieces, or the pause between two messages. Owned by the program's session (2.2) or task
/// (3.0); used by the thread of the completion queue.
struct HashSession {
    /// Continues the message of @p other from its present position.
    void copy_from(const HashSession &other) noexcept;

    ShaDigest digest;               ///< of the pieces so far; valid while a message is in progress
    std::optional<ShaKind> message; ///< algorithm of the message in progress; nothing between two messages
    bool is_busy = false;           ///< a piece was submitted and its completion not retrieved
};

/// Computes SHA on the CPU of the completion queue's thread: each operation completes within its submit. On a strict
/// device (docs/strict.md) it waits until a poll completes it, and is carried out when its completion is retrieved.
/// Owned by a context, one for each of its completion queues; used by that queue's thread only.
class HashQueue final : public Source {
public:
    /// Limits of the source.
    struct Limits {
        std::uint32_t list_elements; ///< buffers in a list
        std::uint64_t size;          ///< bytes
    };

    /// The device must be able to access the memory of all buffers. @p completions and @p device must outlive the
    /// object. Throws std::bad_alloc.
    HashQueue(CompletionQueue &completions, const Device &device, const Limits &limits);

    /// Appends the digest of the data of @p source to @p destination (2.2: request and response). Returns INVALID_VALUE
    /// or NOT_PERMITTED after a log line, or NO_MEMORY without a credit; nothing has then changed. Null pointers are
    /// allowed, and rejected.
    [[nodiscard]] doca_error_t hash(Tag tag, ShaKind kind, const doca_buf *source, doca_buf *destination) noexcept;
    /// The same for one piece of a message. All pieces but the last are multiples of the algorithm's block, and the
    /// last one writes the digest. The session is busy until the completion is retrieved: until then BAD_STATE is
    /// returned.
    [[nodiscard]] doca_error_t hash_piece(Tag tag, ShaKind kind, const doca_buf *source, doca_buf *destination,
                                          HashSession &session, bool is_last) noexcept;

    /// Return the status that hash() or hash_piece() would return, but for a full queue.
    [[nodiscard]] doca_error_t check(ShaKind kind, const doca_buf *source, const doca_buf *destination) const noexcept;
    [[nodiscard]] doca_error_t check_piece(ShaKind kind, const doca_buf *source, const doca_buf *destination,
                                           const HashSession &session, bool is_last) const noexcept;

    /// Called when the program may release the buffers of the operation of @p tag although it has not been retrieved.
    void forget_buffers(Tag tag) noexcept;
    /// Completes the operations that wait.
    void flush() noexcept override;
    /// Carries the operation out, if it is late, and makes the session of a piece usable again.
    void retrieved(Operation &operation) noexcept override;

private:
    /// What a late operation does when it is retrieved.
    struct LateHash {
        HashSession *session;   ///< of a piece; null for a message that is hashed at once
        const doca_buf *source; ///< null: the program has abandoned the operation
        doca_buf *destination;
        ShaKind kind;
        bool is_last;
    };

    void complete_late(Tag tag, const LateHash &late) noexcept;
    void carry_out(const LateHash &late) const noexcept;
    /// Checks both buffers. Stores the number of bytes in the source in @p length.
    [[nodiscard]] doca_error_t check_buffers(ShaKind kind, const doca_buf *source, const doca_buf *destination,
                                             std::size_t &length) const noexcept;
    // Parts of check_buffers().
    [[nodiscard]] doca_error_t check_source(const doca_buf &list, std::size_t &length) const noexcept;
    [[nodiscard]] doca_error_t check_destination(const doca_buf &buf, ShaKind kind) const noexcept;
    [[nodiscard]] doca_error_t check_memory(const doca_buf &buf) const noexcept;

    CompletionQueue &completions_;
    const Device &device_;
    const Limits limits_;
    std::unique_ptr<LateOperations> late_; ///< null unless operations are carried out when they are retrieved
};

} // namespace opendoca
