// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the two sides say to each other over the socket of a connection: a client its Hello, the service its
// Welcome with the shared memory, and after that one byte when the other side sleeps and a message has come. Where
// they are two machines, the messages go over the socket as well: see stream.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "ring.hpp"
#include "service_directory.hpp"

namespace opendoca::comm_channel {

inline constexpr std::uint64_t wire_magic =
    0x6c6e6863'6d6d6f63; // "commchnl" in memory, on a little-endian machine
inline constexpr std::uint32_t wire_version = 1;

/// Sizes that an endpoint was given.
struct Limits {
    std::uint16_t message_size = 4080;
    std::uint16_t send_queue = 512;
    std::uint16_t recv_queue = 512;
    std::uint16_t program_limit = 0; ///< as a RingShape's

    [[nodiscard]] std::uint16_t longest_of_program() const noexcept
    {
        return program_limit != 0 ? program_limit : message_size;
    }
};

struct Hello {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t can_use_queue_pairs; ///< 1: see stream.hpp
    ServiceKey service;
    Limits limits;
};
static_assert(sizeof(Hello) == 40);

enum class Answer : std::uint32_t { welcome, too_many_clients, not_understood, another_service };

/// With it come the shared memory, and a socket by which the client is told of space in the ring, if it is welcome.
struct Welcome {
    std::uint64_t magic;
    std::uint32_t version;
    Answer answer;
    RingShape to_service;
    RingShape to_client;
};
static_assert(sizeof(Welcome) == 32);

/// What the other side needs to connect a queue pair.
struct Offer {
    std::uint32_t size;
    std::array<std::byte, 256> details;

    [[nodiscard]] std::span<const std::byte> used_details() const noexcept
    {
        return std::span(details).first(std::min<std::size_t>(size, details.size()));
    }
};

struct WelcomeAndOffer {
    Welcome welcome;
    Offer offer;
};
static_assert(sizeof(WelcomeAndOffer) == 296);

/// A ring from @p sender to @p receiver.
[[nodiscard]] RingShape ring_between(const Limits &sender, const Limits &receiver) noexcept;
[[nodiscard]] bool are_valid(const Limits &limits) noexcept;
[[nodiscard]] bool is_valid(const RingShape &shape) noexcept;

/// Whether the process at the other end is one of this user; if not, says so in the log.
[[nodiscard]] bool is_same_user(int socket);

/// One message with descriptors; false with errno.
[[nodiscard]] bool send_message(int socket, std::span<const std::byte> bytes,
                                std::span<const int> files) noexcept;

/// Whether a socket that has refused with @p error is good for another try: nothing is there yet, or the kernel had no memory.
[[nodiscard]] constexpr bool is_for_now(int error) noexcept
{
    return error == EAGAIN || error == EINTR || error == ENOMEM || error == ENOBUFS;
}

enum class Arrival : std::uint8_t {
    complete,  ///< of the size that was asked for, with all descriptors
    nothing,   ///< yet
    malformed, ///< anything else
    stripped,  ///< of its descriptors, for which this process had none left
    ended
};
[[nodiscard]] Arrival receive_message(int socket, std::span<std::byte> bytes,
                                      std::span<UniqueFd> files) noexcept;

/// Rings, without ever waiting. False when the other side has not been told and another try may do it.
[[nodiscard]] bool ring_bell(int socket) noexcept;
/// Takes what has rung; false when the connection has ended.
[[nodiscard]] bool drain_bells_of(int socket) noexcept;
/// Whether the other end is closed.
[[nodiscard]] bool has_hung_up(int socket) noexcept;

template <typename T>
std::span<const std::byte> bytes_of(const T &value)
{
    return std::as_bytes(std::span(&value, 1));
}

template <typename T>
std::span<std::byte> bytes_of(T &value)
{
    return std::as_writable_bytes(std::span(&value, 1));
}

} // namespace opendoca::comm_channel
