// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Limits on the resources that clients of a TCP port may use before they are authenticated. Any host that can connect
// to the port may do so any number of times.
#pragma once

#include <chrono>

#include "../base/guard.hpp"

namespace opendoca {

/// The timeout for a client's part of a handshake.
inline constexpr auto max_handshake_time = std::chrono::seconds(10);
/// The time without any packet of the peer's host after which a connection is reset. It is keepalive_idle and all
/// keepalive probes together.
inline constexpr auto max_host_silence = std::chrono::seconds(30);

/// Returns whether one more line about unauthenticated clients may be logged: true 20 times a minute per process.
/// Thread-safe.
[[nodiscard]] OPENDOCA_INTERNAL bool may_log_unauthenticated_client() noexcept;

/// Makes the kernel reset the connection of @p socket if the peer's host has not answered for max_host_silence, whether
/// or not data is in flight. Only for peers that always receive: the kernel also resets a connection if the peer's
/// receive window was closed for that long.
OPENDOCA_INTERNAL void end_with_silent_host(int socket) noexcept;
/// Does the same for a peer that may leave data unreceived for any time. While data is in flight, only kernels
/// from 6.15 on notice the loss of the host in time; older ones retransmit net.ipv4.tcp_retries2 times, which takes 15
/// minutes.
OPENDOCA_INTERNAL void end_with_silent_host_only(int socket) noexcept;

} // namespace opendoca
