// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace opendoca {

/// CRC-32 (IEEE 802.3), of descriptors that programs pass on.
[[nodiscard]] std::uint32_t crc32(const void *data, std::size_t length) noexcept;

} // namespace opendoca
