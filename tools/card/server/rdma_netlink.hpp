// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "devlink.hpp"

namespace opendoca::card {

/// Answers a program's RDMA netlink request. There is one, for the system's settings; all others are refused with
/// EOPNOTSUPP, upon which libibverbs looks for devices in sysfs.
std::vector<Datagram> answer_rdma_netlink(std::span<const std::uint8_t> request);

} // namespace opendoca::card
