// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Access to memory in the way that work requests name it (key, address, length), and copies between such ranges.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "../link/link_message.hpp"
#include "card.hpp"
#include "completion.hpp"

namespace opendoca::card {

namespace right { // Bits of ibv_access_flags.
inline constexpr std::uint32_t local_write = 1, remote_write = 2, remote_read = 4, remote_atomic = 8, bind_window = 16,
                               zero_based = 32, on_demand = 64;
inline constexpr std::uint32_t optional = 0x3ff00000; ///< a device may ignore these
/// All defined bits: the first eight, and the optional ones.
inline constexpr std::uint32_t all = 0xff | optional;
/// Returns whether a registration may have these rights together: remote writes and atomics require local write
/// permission.
constexpr bool is_consistent(std::uint32_t access)
{
    return (access & (remote_write | remote_atomic)) == 0 || (access & local_write) != 0;
}
} // namespace right

/// The queue pair that uses a key, and the rights that the use requires. An access is permitted only if the key has the
/// same protection domain and all of these rights.
struct Purpose {
    std::uint32_t pd_number;
    std::uint32_t rights;     ///< bits of `right`; 0 to read locally
    std::uint32_t queue_pair; ///< number of the using queue pair, for windows that are bound to one
};

/// Appends the memory of `key`, `length` bytes from `address` on, to the list. Returns false if the card must refuse
/// the access: unknown key, other protection domain, range not completely covered by the key, or missing right. The
/// list is then incomplete and must not be used.
[[nodiscard]] bool add_range(const Card &card, SegmentList &list, const Purpose &purpose, std::uint32_t key,
                             std::uint64_t address, std::uint64_t length);

/// Names a key that has been shared with the other side of the card. A value: the key may be destroyed meanwhile.
struct SharedKey {
    std::uint32_t index;
    std::uint64_t serial;
};
/// Returns the key with this index if it is of this function and was shared with these bytes, else null.
[[nodiscard]] MemoryKey *find_shared_key(const Card &card, std::uint64_t vhca_id, std::uint32_t index,
                                         std::span<const std::uint8_t> access_key);
/// Appends memory of a shared key, as add_range() does, if the key is still there and has these rights.
[[nodiscard]] bool add_shared_range(const Card &card, SegmentList &list, const SharedKey &shared, std::uint32_t rights,
                                    std::uint64_t address, std::uint64_t length);

/// Returns whether a part of the memory is at the other end of the link, so that an access takes several polls.
[[nodiscard]] bool is_at_other_side(const SegmentList &list);

/// Reads bytes of a segment from `at` on, or writes them. Memory at the other end of the link counts as a fault.
[[nodiscard]] Access read_segment(const Segment &segment, std::uint64_t at, std::uint8_t *to, std::uint64_t bytes);
[[nodiscard]] Access write_segment(const Segment &segment, std::uint64_t at, const std::uint8_t *from,
                                   std::uint64_t bytes);

/// Reads bytes [offset, offset + to.size()) of a list, or writes them. A list that is shorter counts as a fault.
[[nodiscard]] Access read_from(const SegmentList &list, std::uint64_t offset, std::span<std::uint8_t> to);
[[nodiscard]] Access write_to(const SegmentList &list, std::uint64_t offset, std::span<const std::uint8_t> from);

/// Carries out an atomic operation on the 8 bytes of a list at this place, and sets `old` to their value before.
[[nodiscard]] Access swap_word(const SegmentList &list, const LinkAtomic &operation, std::uint64_t &old);

/// Result of a copy. The name shows which memory failed: `fault` for unmapped memory, `gone` for a dead process.
/// `pending`: the other side of the card has not replied yet; the same copy must be tried again in a later poll.
enum class CopyResult : std::uint8_t { done, source_fault, destination_fault, source_gone, destination_gone, pending };

/// Copies bytes [offset, offset + length) of `source` to the same offset of `destination`, through a buffer of the
/// card.
CopyResult copy(const SegmentList &source, const SegmentList &destination, std::uint64_t offset, std::uint64_t length);

} // namespace opendoca::card
