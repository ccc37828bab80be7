// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "../core/buf.hpp"
#include "../core/device/device.hpp"
#include "../core/engine/completion_queue.hpp"
#include "digest.hpp"

namespace opendoca {

/// A message that is hashed in pieces, or between two messages. Belongs to the completion queue's thread.
struct HashSession {
    /// Takes over the message of @p other, as far as it has come.
    void copy_from(const HashSession &other) noexcept;

    ShaDigest digest;
    std::optional<ShaKind> message; ///< the kind of the one that has begun
    bool is_busy = false;           ///< a piece was not retrieved
};

/// SHA by OpenSSL, on the CPU of the completion queue's thread: each operation ends in its submit.
class HashQueue final : public Source {
public:
    struct Limits {
        std::uint32_t list_elements;
        std::uint64_t size; ///< bytes
    };

    /// The buffers are to be of memory that @p device may use.
    HashQueue(CompletionQueue &completions, const Device &device, const Limits &limits) noexcept
        : completions_(completions),
          device_(device),
          limits_(limits)
    {
    }

    /// Appends the digest of the data of @p source to @p destination, which jobs of 2.2 call request and response. Null
    /// pointers are checked.
    [[nodiscard]] doca_error_t hash(Tag tag, ShaKind kind, const doca_buf *source, doca_buf *destination) noexcept;
    /// The same for a message in pieces: all but the last are multiples of the algorithm's block, and the last
    /// one writes the digest. The session is busy until the end is retrieved.
    [[nodiscard]] doca_error_t hash_piece(Tag tag, ShaKind kind, const doca_buf *source, doca_buf *destination,
                                          HashSession &session, bool is_last) noexcept;

    /// Whether they would be carried out.
    [[nodiscard]] doca_error_t check(ShaKind kind, const doca_buf *source, const doca_buf *destination) const noexcept;
    [[nodiscard]] doca_error_t check_piece(ShaKind kind, const doca_buf *source, const doca_buf *destination,
                                           const HashSession &session, bool is_last) const noexcept;

    void retrieved(Operation &operation) noexcept override;

private:
    [[nodiscard]] doca_error_t check_buffers(ShaKind kind, const doca_buf *source, const doca_buf *destination,
                                             std::size_t &length) const noexcept;
    [[nodiscard]] doca_error_t check_source(const doca_buf &list, std::size_t &length) const noexcept;
    [[nodiscard]] doca_error_t check_destination(const doca_buf &buf, ShaKind kind) const noexcept;
    [[nodiscard]] doca_error_t check_memory(const doca_buf &buf) const noexcept;

    CompletionQueue &completions_;
    const Device &device_;
    const Limits limits_;
};

} // namespace opendoca
