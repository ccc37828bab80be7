// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory as work requests name it: by key, address and length; and copies between such ranges.
#pragma once

#include <cstdint>
#include <optional>

#include "card.hpp"
#include "completion.hpp"

namespace opendoca::card {

namespace right { // as ibv_access_flags
inline constexpr std::uint32_t local_write = 1, remote_write = 2, remote_read = 4, remote_atomic = 8,
                               bind_window = 16, on_demand = 64;
/// All that there are: the first eight, and those that a device may ignore.
inline constexpr std::uint32_t all = 0xff | 0x3ff00000;
} // namespace right

/// Who uses a key, and for what.
struct Purpose {
    std::uint32_t pd_number;
    std::uint32_t rights;
    std::uint32_t queue_pair; ///< windows may be bound to one
};

/// Adds the memory of `key` from `address` to the list. False where the card may not touch it so: no such
/// key, another protection domain, a range that is not all the key's, a missing right.
[[nodiscard]] bool add_range(const Card &card, SegmentList &list, const Purpose &purpose, std::uint32_t key,
                             std::uint64_t address, std::uint64_t length);

/// How a copy ended. `source` and `destination` say whose memory failed.
enum class CopyResult : std::uint8_t { done, source_fault, destination_fault, source_gone, destination_gone };

/// Copies bytes [offset, offset + length) of one list to those of the other.
CopyResult copy(const SegmentList &source, const SegmentList &destination, std::uint64_t offset,
                std::uint64_t length);

} // namespace opendoca::card
