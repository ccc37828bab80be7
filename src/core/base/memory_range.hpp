// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

namespace opendoca {

/// [addr, addr + len), which never wraps around. The address may be one of another process.
struct MemoryRange {
    std::byte *addr = nullptr;
    std::size_t len = 0; ///< bytes

    /// Returns whether [start, start + size) is inside of the range. Correct for any values: a start below `addr` wraps
    /// around to a large offset.
    [[nodiscard]] bool contains(const std::byte *start, std::size_t size) const noexcept
    {
        const auto offset = reinterpret_cast<std::uintptr_t>(start) - reinterpret_cast<std::uintptr_t>(addr);
        return offset <= len && size <= len - offset;
    }
};

} // namespace opendoca
