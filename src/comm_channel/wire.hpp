// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Handshake and doorbells on the socket of a connection. The client sends a Hello, and the service answers with a
// Welcome and the shared memory. Afterwards each byte on the socket is a doorbell for a blocked peer. Between two
// machines the messages use the socket as well: see stream.hpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "ring.hpp"
#include "service_directory.hpp"

namespace opendoca::comm_channel {

inline constexpr std::uint64_t wire_magic = 0x6c6e6863'6d6d6f63; // "commchnl" in the memory of a little-endian machine
inline constexpr std::uint32_t wire_version = 1;

/// Sizes that are configured for an endpoint.
struct Limits {
    std::uint16_t message_size = 4080;
    std::uint16_t send_queue = 512;
    std::uint16_t recv_queue = 512;
    std::uint16_t program_limit = 0; ///< see RingShape::program_limit

    [[nodiscard]] std::uint16_t max_program_message() const noexcept
    {
        return program_limit != 0 ? program_limit : message_size;
    }
};

/// What a client can do beside exchanging messages of the program. Values are part of the wire format.
enum Feature : std::uint32_t {
    queue_pairs = 1,      ///< messages can go by queue pairs: see stream.hpp
    control_messages = 2, ///< messages of other kinds than 0 can be sent: clients of Comch, not of Comm Channel
    one_socket = 4,       ///< one event channel watches the connection, so doorbells for space can use its socket
};

/// The client's first message. The layout in memory is the wire format.
struct Hello {
    std::uint64_t magic;
    std::uint32_t version;
    std::uint32_t features; ///< bits of Feature; others are ignored
    ServiceKey service;
    Limits limits; ///< of the client
};
static_assert(sizeof(Hello) == 40);

/// An acceptance, or the reason of a refusal. Values are part of the wire format.
enum class Answer : std::uint32_t {
    welcome,
    too_many_clients,
    not_understood,
    another_service,
    welcome_with_control_messages, ///< only to clients with that feature, by servers of Comch
};

/// If the client is accepted, the shared memory and the socket for its space doorbells are attached to the message;
/// only the memory if both sides have Feature::one_socket.
struct Welcome {
    std::uint64_t magic;
    std::uint32_t version;
    Answer answer;
    RingShape to_service;
    RingShape to_client;
};
static_assert(sizeof(Welcome) == 32);

/// Connection data of a queue pair.
struct Offer {
    std::uint32_t size; ///< bytes of details that are used; 0 if there is no queue pair
    std::array<std::byte, 256> details;

    [[nodiscard]] std::span<const std::byte> used_details() const noexcept
    {
        return std::span(details).first(std::min<std::size_t>(size, details.size()));
    }
};

/// The service's answer where it offers a queue pair; by TCP only.
struct WelcomeAndOffer {
    Welcome welcome;
    Offer offer;
};
static_assert(sizeof(WelcomeAndOffer) == 296);

/// Returns the shape of the ring from @p sender to @p receiver: the smaller limits of both.
[[nodiscard]] RingShape ring_between(const Limits &sender, const Limits &receiver) noexcept;
/// Return whether a value from the peer respects the limits of limits.hpp.
[[nodiscard]] bool are_valid(const Limits &limits) noexcept;
[[nodiscard]] bool is_valid(const RingShape &shape) noexcept;

/// Returns whether the process at the other end belongs to this user; logs an error if not.
[[nodiscard]] bool is_same_user(int socket);

/// Sends one message with descriptors. Returns false with errno on failure.
[[nodiscard]] bool send_message(int socket, std::span<const std::byte> bytes, std::span<const int> files) noexcept;

/// Returns whether @p error is temporary: no data, no buffer space, or no kernel memory.
[[nodiscard]] constexpr bool is_temporary(int error) noexcept
{
    return error == EAGAIN || error == EINTR || error == ENOMEM || error == ENOBUFS;
}

/// Result of trying to receive one handshake message.
enum class Arrival : std::uint8_t {
    complete,  ///< the requested size, with as many descriptors or fewer: the other files are not open
    nothing,   ///< no message yet
    malformed, ///< another size, or more descriptors
    stripped,  ///< without descriptors, because this process has reached its limit
    ended      ///< the peer has closed the connection
};
/// Receives one handshake message and its descriptors, without blocking.
[[nodiscard]] Arrival receive_message(int socket, std::span<std::byte> bytes, std::span<UniqueFd> files) noexcept;

/// Rings the doorbell of the peer without blocking. Returns false if it was not rung and a retry may succeed.
[[nodiscard]] bool ring_doorbell(int socket) noexcept;
/// Drains doorbells. Returns false when the connection has ended.
[[nodiscard]] bool drain_doorbells_of(int socket) noexcept;
/// Returns whether the peer's end is closed.
[[nodiscard]] bool is_closed_by_peer(int socket) noexcept;

/// Return the memory of a structure of the wire format.
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
