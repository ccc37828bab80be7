// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace opendoca::mlx5 {

/// What the kernel says by devlink of the ports of e-switches: interfaces, by name, and their ports' numbers, in which
/// drivers of mlx5 have the number of the vport below 16 other bits. Empty, and @p reason says why, where it cannot be asked.
[[nodiscard]] std::map<std::string, std::uint32_t> list_devlink_ports(std::string &reason);

/// Of such a number.
[[nodiscard]] constexpr std::uint16_t vport_of(std::uint32_t port_index) noexcept
{
    return static_cast<std::uint16_t>(port_index & 0xffff);
}

} // namespace opendoca::mlx5
