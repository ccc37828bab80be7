// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace opendoca {

/// Returns the CRC-32 (IEEE 802.3) of @p length bytes. Detects damage to export descriptors, which programs transport
/// between processes; no protection against forgery. Without a table: descriptors are short, and this is not a hot
/// path.
[[nodiscard]] inline std::uint32_t crc32(const void *data, std::size_t length) noexcept
{
    std::uint32_t crc = 0xffffffff;
    for (const auto *byte = static_cast<const std::uint8_t *>(data); length-- > 0; ++byte) {
        crc ^= *byte;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320 : 0);
    }
    return ~crc;
}

} // namespace opendoca
