// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstdint>

// Of Comm Channel and Comch of both generations. Sizes of messages are in bytes, those of queues in messages.
namespace opendoca::comm_channel {

inline constexpr std::uint32_t max_service_name_size = 120; ///< bytes, with the terminating NUL
inline constexpr std::uint32_t min_message_size = 64;       ///< in bytes
inline constexpr std::uint32_t max_message_size = 4080;
inline constexpr std::uint32_t min_queue_size = 8; ///< queue sizes are powers of two
inline constexpr std::uint32_t max_queue_size = 8192;
inline constexpr std::uint32_t max_connections = 256; ///< per service
/// Connected clients of a service that have sent no hello; each takes a descriptor.
inline constexpr std::uint32_t max_silent_clients = 64;
/// Time after which such a client is closed, the next time that the service polls.
inline constexpr auto hello_timeout = std::chrono::seconds(10);

} // namespace opendoca::comm_channel
