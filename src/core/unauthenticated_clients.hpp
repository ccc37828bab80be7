// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Limits on what a client may cost that reaches a TCP port of this process: anybody may, as often as he likes.
#pragma once

#include <chrono>

#include "guard.hpp"

namespace opendoca {

/// How long a client may take for its part of a handshake.
inline constexpr auto max_handshake_time = std::chrono::seconds(10);
/// After how long without an answer of the peer's host a connection has ended. Fits between keepalive_idle and the last
/// of keepalive_probes.
inline constexpr auto max_host_silence = std::chrono::seconds(30);

/// Whether one more log line may be about unauthenticated clients: true twenty times a minute, for the whole process.
[[nodiscard]] OPENDOCA_INTERNAL bool may_log_unauthenticated_client() noexcept;

/// Makes the kernel end the connection of @p socket when the peer's host has not answered for max_host_silence, whether
/// or not data is under way. Only for connections whose peer always receives: the kernel also ends one whose peer's
/// window has been closed for that long.
OPENDOCA_INTERNAL void end_with_silent_host(int socket) noexcept;
/// The same for connections whose peer may leave data unreceived for as long as it likes. Data under way to a host that
/// has gone is noticed by kernels from 6.15 on; older ones repeat it net.ipv4.tcp_retries2 times, which takes 15
/// minutes.
OPENDOCA_INTERNAL void end_with_silent_host_only(int socket) noexcept;

} // namespace opendoca
