// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "card.hpp"
#include "devlink.hpp"

namespace opendoca::card {

/// Handles an RDMA netlink request of a program on one side of the card: settings, devices and their nodes in /dev,
/// ports, and the objects of programs, as the commands of `rdma` from iproute2 query them. All others, those that
/// change something among them, get EOPNOTSUPP.
std::vector<Datagram> handle_rdma_netlink(const Card &card, Side side, std::span<const std::uint8_t> request);

} // namespace opendoca::card
