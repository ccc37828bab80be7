// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "card.hpp"

namespace opendoca::card {

using Datagram = std::vector<std::uint8_t>;

/// Answers a program's generic netlink request, of which the card knows the families nlctrl and devlink: the
/// datagrams to be sent back.
std::vector<Datagram> answer_netlink(const Card &card, std::span<const std::uint8_t> request);

} // namespace opendoca::card
