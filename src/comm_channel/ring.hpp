// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages of one direction of a connection, in memory that both sides map. The other side is not trusted:
// whatever is read from the memory is checked, and what must stay as it is, is kept outside of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../core/unique_fd.hpp"

namespace opendoca::comm_channel {

inline constexpr std::size_t cache_line = 64;

/// How much a ring holds.
struct RingShape {
    std::uint32_t messages = 0;      ///< that wait to be received, at most
    std::uint16_t message_size = 0;  ///< bytes of the longest
    std::uint16_t program_limit = 0; ///< of the program's messages, where others are longer; else 0

    /// Of messages of @p kind.
    [[nodiscard]] constexpr std::uint32_t longest(std::uint32_t kind) const noexcept
    {
        return kind == 0 && program_limit != 0 ? program_limit : message_size;
    }

    /// A message with its length before it. A multiple of 8, so that lengths never wrap around.
    [[nodiscard]] static constexpr std::size_t record(std::size_t length) noexcept
    {
        return 8 + (length + 7) / 8 * 8;
    }
    [[nodiscard]] constexpr std::size_t bytes() const noexcept { return messages * record(message_size); }

    bool operator==(const RingShape &) const = default;
};

/// What the two sides of a ring tell each other. Each field is on a line of its own, as different sides write
/// them.
struct RingState {
    alignas(cache_line) std::atomic<std::uint64_t> sent;     ///< messages, by the sender
    alignas(cache_line) std::atomic<std::uint64_t> received; ///< messages, by the receiver
    /// Set by a receiver that may sleep, cleared by the sender that wakes it; and the other way round.
    alignas(cache_line) std::atomic<std::uint32_t> armed_for_message;
    alignas(cache_line) std::atomic<std::uint32_t> armed_for_space;
};

/// The beginning of the memory; the records of both rings follow.
struct SharedPage {
    RingState to_service;
    RingState to_client;
    /// Set before an orderly disconnect: the end of a connection without it is a death.
    alignas(cache_line) std::atomic<std::uint32_t> service_left;
    alignas(cache_line) std::atomic<std::uint32_t> client_left;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(SharedPage) == 10 * cache_line);

enum class RingResult : std::uint8_t {
    done,
    nothing, ///< no message, or no space for one
    too_long,
    damaged ///< the other side does not keep the rules
};

class SendRing {
public:
    void attach(RingState &state, std::byte *records, RingShape shape) noexcept;

    /// @p kind: 0 for a message of the program.
    [[nodiscard]] RingResult send(const void *message, std::size_t length, std::uint32_t kind) noexcept;
    /// nothing: there is no space.
    [[nodiscard]] RingResult look_for_space() noexcept;
    /// Whether the receiver sleeps; from then on waking it is up to the caller.
    [[nodiscard]] bool disarm_for_message() noexcept;
    /// Takes that back: the receiver could not be woken.
    void rearm_for_message() noexcept;
    /// Asks to be woken when there is space. To be followed by a look.
    void arm_for_space() noexcept;
    [[nodiscard]] std::uint64_t in_flight() const noexcept;
    /// Messages that the receiver has taken, of all.
    [[nodiscard]] std::uint64_t num_received() const noexcept;
    [[nodiscard]] const RingShape &shape() const noexcept { return shape_; }

private:
    RingState *state_ = nullptr;
    std::byte *records_ = nullptr;
    RingShape shape_;
    std::size_t at_ = 0; ///< where the next record goes
    std::uint64_t sent_ = 0;
    std::uint64_t received_ = 0; ///< as last seen
};

class ReceiveRing {
public:
    void attach(RingState &state, const std::byte *records, RingShape shape) noexcept;

    /// @p length: in, the space for the message; out, of the message. One that is too long for it stays.
    [[nodiscard]] RingResult receive(void *message, std::size_t &length, std::uint32_t &kind) noexcept;
    /// The same, and its place is not free before give_back().
    [[nodiscard]] RingResult take(void *message, std::size_t &length, std::uint32_t &kind) noexcept;
    [[nodiscard]] std::uint64_t num_taken() const noexcept { return received_; }
    /// All places but those of the messages after the first @p count.
    void give_back(std::uint64_t count) noexcept;
    [[nodiscard]] RingResult look_for_message() const noexcept;
    [[nodiscard]] bool disarm_for_space() noexcept;
    void rearm_for_space() noexcept;
    /// Asks to be woken when a message comes. To be followed by a look.
    void arm_for_message() noexcept;

private:
    RingState *state_ = nullptr;
    const std::byte *records_ = nullptr;
    RingShape shape_;
    std::size_t at_ = 0;
    std::uint64_t received_ = 0;
};

/// A mapping of a SharedPage and its records.
class SharedMemory {
public:
    SharedMemory() = default;
    SharedMemory(SharedMemory &&other) noexcept;
    SharedMemory &operator=(SharedMemory &&other) noexcept;
    ~SharedMemory();

    /// Makes it, sealed against changes of its size. False with errno when there is none to be had.
    [[nodiscard]] bool create(RingShape to_service, RingShape to_client, UniqueFd &file);
    /// Maps what another process made; false when @p file is not what it should be.
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
