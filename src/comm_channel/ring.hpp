// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The messages of one direction of a connection, in memory that both processes map. The peer is not trusted: every
// value that is read from the memory is validated, and state that must not change is kept outside of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../core/base/unique_fd.hpp"

namespace opendoca::comm_channel {

inline constexpr std::size_t cache_line = 64;

/// Capacity of a ring.
struct RingShape {
    std::uint32_t messages = 0;      ///< most messages that can wait to be received
    std::uint16_t message_size = 0;  ///< bytes of the longest message
    std::uint16_t program_limit = 0; ///< limit for the program's messages if control messages may be longer, else 0

    /// Returns the longest allowed message of @p kind.
    [[nodiscard]] constexpr std::uint32_t max_length(std::uint32_t kind) const noexcept
    {
        return kind == 0 && program_limit != 0 ? program_limit : message_size;
    }

    /// Returns the size of a message with its length prefix: a multiple of 8, so that a prefix never wraps around.
    [[nodiscard]] static constexpr std::size_t record(std::size_t length) noexcept { return 8 + (length + 7) / 8 * 8; }
    [[nodiscard]] constexpr std::size_t bytes() const noexcept { return messages * record(message_size); }

    bool operator==(const RingShape &) const = default;
};

/// Shared state of a ring. Sender and receiver write different fields, so each field has a cache line of its own.
struct RingState {
    alignas(cache_line) std::atomic<std::uint64_t> sent;     ///< count of messages, written by the sender
    alignas(cache_line) std::atomic<std::uint64_t> received; ///< count of messages, written by the receiver
    /// Set by a receiver before it blocks and cleared by the sender that wakes it; armed_for_space: the reverse.
    alignas(cache_line) std::atomic<std::uint32_t> armed_for_message;
    alignas(cache_line) std::atomic<std::uint32_t> armed_for_space;
};

/// The start of the shared memory. The records of both rings follow.
struct SharedPage {
    RingState to_service;
    RingState to_client;
    /// Set before an orderly disconnect. If a connection ends while it is clear, the peer has died.
    alignas(cache_line) std::atomic<std::uint32_t> service_left;
    alignas(cache_line) std::atomic<std::uint32_t> client_left;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(SharedPage) == 10 * cache_line);

enum class RingResult : std::uint8_t {
    done,
    nothing, ///< no message, or no space for one
    too_long,
    damaged ///< the peer violates the protocol
};

/// The sending side of a ring. Owned by a Connection, or by a Stream for the peer's side; used under the connection's
/// lock. Invariant: at most shape().messages records are in the ring. Own positions are kept in the process, since the
/// peer can write to the shared memory.
class SendRing {
public:
    void attach(RingState &state, std::byte *records, RingShape shape) noexcept;

    /// Stores a message. @p kind is 0 for a message of the program.
    [[nodiscard]] RingResult send(const void *message, std::size_t length, std::uint32_t kind) noexcept;
    /// Returns nothing if the ring is full.
    [[nodiscard]] RingResult check_space() noexcept;
    /// Returns whether the receiver was armed. The caller must then wake it, or call rearm_for_message().
    [[nodiscard]] bool disarm_for_message() noexcept;
    /// Restores the armed state after the receiver could not be woken.
    void rearm_for_message() noexcept;
    /// Requests a doorbell for space. The caller must check for space afterwards.
    void arm_for_space() noexcept;
    [[nodiscard]] std::uint64_t in_flight() const noexcept;
    /// Returns how many messages the receiver has taken in all.
    [[nodiscard]] std::uint64_t num_received() const noexcept;
    [[nodiscard]] const RingShape &shape() const noexcept { return shape_; }

private:
    RingState *state_ = nullptr;
    std::byte *records_ = nullptr;
    RingShape shape_;
    std::size_t at_ = 0; ///< offset of the next record
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0; ///< last loaded value of RingState::received
};

/// The receiving side of a ring, with the same owner and lock. Each record is copied out before its fields are used
/// twice.
class ReceiveRing {
public:
    void attach(RingState &state, const std::byte *records, RingShape shape) noexcept;

    /// Receives a message. @p length: in, the space for it; out, its length. A message that is too long stays in the
    /// ring.
    [[nodiscard]] RingResult receive(void *message, std::size_t &length, std::uint32_t &kind) noexcept;
    /// Like receive(), but the record stays occupied until free_records().
    [[nodiscard]] RingResult take(void *message, std::size_t &length, std::uint32_t &kind) noexcept;
    [[nodiscard]] std::uint64_t num_taken() const noexcept { return received_; }
    /// Frees the records of the first @p count messages.
    void free_records(std::uint64_t count) noexcept;
    [[nodiscard]] RingResult check_message() const noexcept;
    /// Returns whether the sender was armed. The caller must then wake it, or call rearm_for_space().
    [[nodiscard]] bool disarm_for_space() noexcept;
    void rearm_for_space() noexcept;
    /// Requests a doorbell for the next message. The caller must check for a message afterwards.
    void arm_for_message() noexcept;

private:
    RingState *state_ = nullptr;
    const std::byte *records_ = nullptr;
    RingShape shape_;
    std::size_t at_ = 0;         ///< offset of the next record
    std::uint64_t received_ = 0; ///< count of messages taken
};

/// Owns the mapping of a SharedPage and the records of both rings.
class SharedMemory {
public:
    SharedMemory() = default;
    SharedMemory(SharedMemory &&other) noexcept;
    SharedMemory &operator=(SharedMemory &&other) noexcept;
    ~SharedMemory();

    /// Creates the memory, sealed against resizing, and maps it. Returns false with errno on failure.
    [[nodiscard]] bool create(RingShape to_service, RingShape to_client, UniqueFd &file);
    /// Maps memory that the peer created. Returns false if @p file is not sealed or not of the expected size.
    [[nodiscard]] bool open(RingShape to_service, RingShape to_client, const UniqueFd &file);
    void close() noexcept;

    [[nodiscard]] bool is_open() const noexcept { return base_ != nullptr; }
    [[nodiscard]] SharedPage &page() const noexcept { return *reinterpret_cast<SharedPage *>(base_); }
    [[nodiscard]] std::byte *to_service() const noexcept { return base_ + sizeof(SharedPage); }
    [[nodiscard]] std::byte *to_client() const noexcept { return to_service() + to_service_bytes_; }

private:
    [[nodiscard]] bool map(RingShape to_service, RingShape to_client, int file);

    std::byte *base_ = nullptr;
    std::size_t size_ = 0;
    std::size_t to_service_bytes_ = 0;
};

} // namespace opendoca::comm_channel
