// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace opendoca::verbs {

/// Returns the data rate in bits per second of a port with @p speed (of a lane) and @p width (number of lanes), each
/// one bit as ibv_query_port() encodes it. It is the nominal rate, as in the kernel's "100 Gb/sec (4X EDR)". Nothing
/// for unknown encodings.
[[nodiscard]] constexpr std::optional<std::uint64_t> rate_of_port(std::uint32_t speed, std::uint8_t width) noexcept
{
    constexpr std::uint64_t unit = 100'000'000;
    constexpr std::array<std::uint64_t, 9> lanes_in_units = {25,  50,  100,  100, 140, // SDR, DDR, QDR, FDR10, FDR
                                                             250, 500, 1000, 2000};    // EDR, HDR, NDR, XDR
    constexpr std::array<std::uint64_t, 5> lanes = {1, 4, 8, 12, 2};
    if (!std::has_single_bit(speed) || !std::has_single_bit(width))
        return std::nullopt;
    const auto kind = static_cast<std::size_t>(std::countr_zero(speed));
    const auto count = static_cast<std::size_t>(std::countr_zero(width));
    if (kind >= lanes_in_units.size() || count >= lanes.size())
        return std::nullopt;
    return lanes_in_units[kind] * unit * lanes[count];
}

/// Does the same for the result of ibv_query_port(). Newer versions have an additional field for speeds that do not fit
/// into 8 bits.
template <typename PortAttributes>
[[nodiscard]] constexpr std::optional<std::uint64_t> rate_of_port(const PortAttributes &port) noexcept
{
    std::uint32_t speed = port.active_speed;
    if constexpr (requires { port.active_speed_ex; }) {
        if (port.active_speed_ex != 0)
            speed = port.active_speed_ex;
    }
    return rate_of_port(speed, port.active_width);
}

} // namespace opendoca::verbs
