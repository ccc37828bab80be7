// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <doca_error.h>

namespace opendoca {

class Source;

/// Identifies an operation to its submitter. The CompletionQueue returns it with the completion and never interprets
/// it.
struct alignas(16) Tag {
    std::uint64_t a;
    std::uint64_t b;
};

/// A Tag of which only the first word has a meaning, so that the second need not be stored.
struct WordTag {
    std::uint64_t a;

    operator Tag() const noexcept { return {a, 0}; }
};

/// The kind of message that a receive was used for.
enum class Received : std::uint32_t { send, send_with_immediate, write_with_immediate };

/// The result of an operation besides its status.
struct Result {
    std::uint32_t length = 0;    ///< bytes that a read or a receive has written
    std::uint32_t immediate = 0; ///< immediate data of a received message, big endian
    Received received = Received::send;
};

/// The members of Result that only a receive sets.
struct Message {
    std::uint32_t immediate;
    Received received;
};

/// An operation from its submission until its completion is retrieved. Owned by the CompletionQueue, which hands it to
/// the operation's source. Operations that complete in their submission use no Operation.
struct alignas(64) Operation {
    Tag tag;
    Source *source;       ///< the source that has submitted it; in a free one, a link to the next free one
    std::uint32_t status; ///< in_flight, and then a doca_error_t
    union {
        std::uint32_t length; ///< Result::length, after completion
        std::uint32_t kind;   ///< for the source's own use while in flight
    };
    union {
        std::byte payload_bytes[32]; ///< for the source's own use while in flight
        Message message;             ///< the rest of the Result, after completion of a receive
    };

    // Below 2^31: x86-64 can then store status and kind = 0 as one 8-byte store of a sign-extended 32-bit immediate.
    static constexpr std::uint32_t in_flight = INT32_MAX;

    /// Returns the result. Only after completion.
    [[nodiscard]] Result result() const noexcept
    {
        Result result;
        read_result(result);
        return result;
    }
    /// Reads the result with one load per word, as it was stored: a wider load that spans two recent stores cannot be
    /// forwarded from the store buffer.
    [[gnu::always_inline]] void read_result(Result &result) const noexcept
    {
        __atomic_load(&length, &result.length, __ATOMIC_RELAXED);
        __atomic_load(&message.immediate, &result.immediate, __ATOMIC_RELAXED);
        __atomic_load(&message.received, &result.received, __ATOMIC_RELAXED);
    }

    /// The source's own data of an operation in flight.
    template <typename Payload>
    [[nodiscard]] Payload &payload() noexcept
    {
        static_assert(sizeof(Payload) <= sizeof(payload_bytes) && std::is_trivially_copyable_v<Payload>);
        return *reinterpret_cast<Payload *>(payload_bytes);
    }
    template <typename Payload>
    [[nodiscard]] const Payload &payload() const noexcept
    {
        return const_cast<Operation *>(this)->payload<Payload>();
    }
};

static_assert(sizeof(Operation) == 64, "an operation in flight is one cache line");

/// Result of a completed operation, copied out of the queue (compare ibv_wc), so that the operation's memory can be
/// reused at once. `result` is valid only after the success of an operation that has a result, such as a read or a
/// receive; otherwise its values are arbitrary.
struct Ended {
    Tag tag;
    Source *source;
    doca_error_t status;
    Result result;
};

} // namespace opendoca
