// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace opendoca::mlx5 {

/// Lists the e-switch ports that devlink reports: interface names and port indices. Drivers of mlx5 put the vport
/// number into the low 16 bits of a port index. If the query fails, the result is empty and @p reason is set.
[[nodiscard]] std::map<std::string, std::uint32_t> list_devlink_ports(std::string &reason);

/// Returns the vport number in a port index of mlx5.
[[nodiscard]] constexpr std::uint16_t vport_of(std::uint32_t port_index) noexcept
{
    return static_cast<std::uint16_t>(port_index & 0xffff);
}

} // namespace opendoca::mlx5
