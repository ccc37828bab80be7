// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <doca_error.h>

namespace opendoca {

class Source;

/// Names an operation for whoever has submitted it. The engine hands it back with the operation's end and
/// never looks inside.
struct alignas(16) Tag {
    std::uint64_t a;
    std::uint64_t b;
};

/// A Tag of whose words the submitter reads the first alone: then the other need not be stored.
struct WordTag {
    std::uint64_t a;

    operator Tag() const noexcept { return {a, 0}; }
};

/// What kind of message a receive has met.
enum class Received : std::uint32_t { send, send_with_immediate, write_with_immediate };

/// What an operation brings back besides its status.
struct Result {
    std::uint32_t length = 0;    ///< bytes that a read or a receive has moved
    std::uint32_t immediate = 0; ///< of a receive; big endian
    Received received = Received::send;
};

/// The part of a Result that only a receive has.
struct Message {
    std::uint32_t immediate;
    Received received;
};

/// An operation in flight, up to the retrieval of its end. Operations that end in their submit need none.
struct alignas(64) Operation {
    Tag tag;
    Source *source;       ///< whose operation it is; of a free one, the next free one
    std::uint32_t status; ///< a doca_error_t once it has ended, in_flight before
    union {
        std::uint32_t length; ///< Result::length, once it has ended
        std::uint32_t kind;   ///< the source's own, while it is in flight
    };
    union {
        std::byte payload_bytes[32]; ///< the source's own, while it is in flight
        Message message;             ///< the rest of the Result, once a receive has ended
    };

    static constexpr std::uint32_t in_flight = INT32_MAX; // positive: stored by one instruction with the length behind it

    /// Once it has ended.
    [[nodiscard]] Result result() const noexcept
    {
        Result result;
        read_result(result);
        return result;
    }
    /// The same, word by word, as it was stored: a load of two words that were just stored has to wait for both.
    [[gnu::always_inline]] void read_result(Result &result) const noexcept
    {
        __atomic_load(&length, &result.length, __ATOMIC_RELAXED);
        __atomic_load(&message.immediate, &result.immediate, __ATOMIC_RELAXED);
        __atomic_load(&message.received, &result.received, __ATOMIC_RELAXED);
    }

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

/// How an operation has ended.
struct Ended {
    Tag tag;
    Source *source;
    doca_error_t status;
    Result result;
};

} // namespace opendoca
