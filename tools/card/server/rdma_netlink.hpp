// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "devlink.hpp"

namespace opendoca::card {

/// Handles a program's RDMA netlink request. Only the query of the system's settings is supported; all others get
/// EOPNOTSUPP, upon which libibverbs discovers devices through sysfs.
std::vector<Datagram> handle_rdma_netlink(std::span<const std::uint8_t> request);

} // namespace opendoca::card
