// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstdint>

namespace opendoca::comm_channel {

inline constexpr std::uint32_t max_service_name_size = 120; ///< with the NUL
inline constexpr std::uint32_t min_message_size = 64;
inline constexpr std::uint32_t max_message_size = 4080;
inline constexpr std::uint32_t min_queue_size = 8;
inline constexpr std::uint32_t max_queue_size = 8192;
inline constexpr std::uint32_t max_connections = 256; ///< of a service; each takes two descriptors
/// Clients of a service that have connected and not said hello; each takes a descriptor.
inline constexpr std::uint32_t max_silent_clients = 64;
/// How long each of them is waited for, by a service that looks.
inline constexpr auto longest_silence = std::chrono::seconds(10);

} // namespace opendoca::comm_channel
