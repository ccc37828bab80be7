// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "card.hpp"

namespace opendoca::card {

/// One netlink datagram, as it is sent.
using Datagram = std::vector<std::uint8_t>;

/// Handles one generic netlink request, for the families nlctrl and devlink. Returns the datagrams of the reply.
std::vector<Datagram> handle_netlink(const Card &card, std::span<const std::uint8_t> request);

} // namespace opendoca::card
