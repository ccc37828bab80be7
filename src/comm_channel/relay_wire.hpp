// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How clients reach services through a relay on their own machine: a program, such as the card of software, that
// carries the bytes of connections to another place. Both ends have a directory that only their user can enter.
// Services listen in theirs, and clients connect to the relay's socket in theirs, by stream sockets. Also used by the
// relay.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

namespace opendoca::comm_channel {

/// Begins the addresses of services with a relay. The path of the directory follows.
inline constexpr char relay_prefix[] = "unix:";
/// The relay's socket, where clients are.
inline constexpr char relay_name[] = "relay";

/// A client's first bytes: which service it wants.
using RelayRequest = std::array<std::uint64_t, 2>;

/// The relay's first bytes. After `connected`, the connection is that with the service; otherwise it ends.
enum class RelayAnswer : std::uint32_t {
    connected,
    not_found, ///< no service of this name listens, or the other place is not reached
    full,      ///< the relay has no room for more connections, or too many clients wait for the service
};

/// Returns the name of a service's socket. @p key identifies the service: see ServiceKey.
[[nodiscard]] inline std::string service_file_name(const std::array<std::uint64_t, 2> &key)
{
    char text[40];
    std::snprintf(text, sizeof(text), "cc-%016llx%016llx", static_cast<unsigned long long>(key[0]),
                  static_cast<unsigned long long>(key[1]));
    return text;
}

} // namespace opendoca::comm_channel
