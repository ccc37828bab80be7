// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "access.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "link.hpp"
#include "segment_cursor.hpp"

namespace opendoca::card {

namespace {

constexpr int max_levels = 4;                 // nesting depth of indirect keys, which limits the recursion
constexpr std::size_t max_segments = 1 << 16; // segments of one work request after resolution, which limits memory

constexpr std::uint32_t any_write = right::local_write | right::remote_write | right::remote_atomic;

/// Appends `length` bytes of a direct key, from its byte `offset` on. Returns false if the list is full.
bool add_segment(SegmentList &list, const MemoryKey &key, std::uint64_t offset, std::uint64_t length)
{
    if (list.segments.size() == max_segments)
        return false;
    if (key.device_memory) {
        std::uint8_t *const bytes = key.device_memory->pages.bytes().data() + key.start + offset;
        list.segments.push_back({nullptr, reinterpret_cast<std::uintptr_t>(bytes), length});
    } else {
        list.segments.push_back({key.process.get(), key.start + offset, length});
    }
    list.length += length;
    return true;
}

/// Returns the key that was shared, or null once it was destroyed (the index may have a new owner, which the serial
/// number shows), was invalidated, or is itself an alias.
const MemoryKey *find_target(const Card &card, std::uint32_t index, std::uint64_t serial)
{
    const MemoryKey *target = card.keys.by_index(index);
    return target != nullptr && target->serial == serial && target->permission && !target->is_free &&
                   target->alias_of == 0
               ? target
               : nullptr;
}

/// Appends memory at the other end of the link, where the range is checked with each access. Returns false if the
/// alias is of an earlier connection.
bool add_remote_segment(const Card &card, SegmentList &list, const MemoryKey &alias, std::uint32_t rights,
                        std::uint64_t address, std::uint64_t length)
{
    if (card.link == nullptr || card.link->session() != alias.remote_session || list.segments.size() == max_segments)
        return false;
    list.segments.push_back({nullptr, address, length, alias.remote_handle, rights});
    list.length += length;
    ++card.alias_uses;
    return true;
}

// Resolves one level of `key`. The rights of an access are those of the outermost key; keys below an indirect key need
// the same protection domain, and local write permission if the access writes.
bool add_at_level(const Card &card, SegmentList &list, const MemoryKey &key, const Purpose &purpose,
                  std::uint64_t address, std::uint64_t length, int level)
{
    if (key.is_free || key.pd_number != purpose.pd_number || (key.access & purpose.rights) != purpose.rights ||
        (key.bound_to != 0 && key.bound_to != purpose.queue_pair) || level > max_levels)
        return false;
    if (key.alias_of != 0) {
        if (key.remote_session != 0)
            return add_remote_segment(card, list, key, purpose.rights, address, length);
        const MemoryKey *target = find_target(card, key.alias_of, key.alias_serial);
        if (target == nullptr)
            return false;
        ++card.alias_uses;
        // From here on the target's protection domain counts. The alias itself was checked against the domain of the
        // queue pair above.
        const Purpose behind{target->pd_number, purpose.rights, 0};
        return add_at_level(card, list, *target, behind, address, length, level + 1);
    }
    if (address < key.iova || address - key.iova > key.length || length > key.length - (address - key.iova))
        return false;
    std::uint64_t offset = address - key.iova;
    if (!key.is_indirect)
        return add_segment(list, key, offset, length);
    const Purpose below{key.pd_number, (purpose.rights & any_write) != 0 ? right::local_write : 0, purpose.queue_pair};
    for (const KeyEntry &entry : key.entries) {
        if (length == 0)
            return true;
        if (offset >= entry.length) {
            offset -= entry.length;
            continue;
        }
        const std::uint64_t part = std::min(length, entry.length - offset);
        const MemoryKey *next = card.keys.find(entry.key);
        if (next == nullptr || !add_at_level(card, list, *next, below, entry.address + offset, part, level + 1))
            return false;
        length -= part;
        offset = 0;
    }
    return length == 0;
}

} // namespace

Access read_segment(const Segment &segment, std::uint64_t at, std::uint8_t *to, std::uint64_t bytes)
{
    if (segment.remote != 0)
        return Access::fault; // of a request that cannot wait for the link
    if (segment.process != nullptr)
        return segment.process->read(segment.address + at, to, bytes);
    std::memcpy(to, reinterpret_cast<const void *>(segment.address + at), bytes);
    return Access::done;
}

Access write_segment(const Segment &segment, std::uint64_t at, const std::uint8_t *from, std::uint64_t bytes)
{
    if (segment.remote != 0)
        return Access::fault; // of a request that cannot wait for the link
    if (segment.process != nullptr)
        return segment.process->write(segment.address + at, from, bytes);
    std::memcpy(reinterpret_cast<void *>(segment.address + at), from, bytes);
    return Access::done;
}

bool add_range(const Card &card, SegmentList &list, const Purpose &purpose, std::uint32_t key, std::uint64_t address,
               std::uint64_t length)
{
    const MemoryKey *found = card.keys.find(key);
    return found != nullptr && add_at_level(card, list, *found, purpose, address, length, 0);
}

MemoryKey *find_shared_key(const Card &card, std::uint64_t vhca_id, std::uint32_t index,
                           std::span<const std::uint8_t> access_key)
{
    MemoryKey *target = card.keys.by_index(index);
    return target != nullptr && target->permission && target->file.function.profile.vhca_id == vhca_id &&
                   std::ranges::equal(target->permission->access_key, access_key)
               ? target
               : nullptr;
}

bool add_shared_range(const Card &card, SegmentList &list, const SharedKey &shared, std::uint32_t rights,
                      std::uint64_t address, std::uint64_t length)
{
    const MemoryKey *target = find_target(card, shared.index, shared.serial);
    if (target == nullptr)
        return false;
    ++card.alias_uses;
    return add_at_level(card, list, *target, {target->pd_number, rights, 0}, address, length, 1);
}

bool is_at_other_side(const SegmentList &list)
{
    return std::ranges::any_of(list.segments, [](const Segment &segment) { return segment.remote != 0; });
}

Access read_from(const SegmentList &list, std::uint64_t offset, std::span<std::uint8_t> to)
{
    std::uint64_t taken = 0;
    const Access access =
        SegmentCursor(list, offset)
            .take(to.size(), taken,
                  [&](const Segment &segment, std::uint64_t at, std::uint64_t position, std::uint64_t bytes) {
                      return read_segment(segment, at, &to[position], bytes);
                  });
    return access == Access::done && taken != to.size() ? Access::fault : access;
}

Access write_to(const SegmentList &list, std::uint64_t offset, std::span<const std::uint8_t> from)
{
    std::uint64_t taken = 0;
    const Access access =
        SegmentCursor(list, offset)
            .take(from.size(), taken,
                  [&](const Segment &segment, std::uint64_t at, std::uint64_t position, std::uint64_t bytes) {
                      return write_segment(segment, at, &from[position], bytes);
                  });
    return access == Access::done && taken != from.size() ? Access::fault : access;
}

Access swap_word(const SegmentList &list, const LinkAtomic &operation, std::uint64_t &old)
{
    std::array<std::uint8_t, sizeof(std::uint64_t)> bytes{};
    if (const Access access = read_from(list, 0, bytes); access != Access::done)
        return access;
    old = std::bit_cast<std::uint64_t>(bytes);
    const std::uint64_t changed = operation.is_add           ? old + operation.operand
                                  : old == operation.compare ? operation.operand
                                                             : old;
    bytes = std::bit_cast<decltype(bytes)>(changed);
    return write_to(list, 0, bytes);
}

CopyResult copy(const SegmentList &source, const SegmentList &destination, std::uint64_t offset, std::uint64_t length)
{
    // A buffer of 64 KiB stays in the cache and amortises the two system calls of each round. It is static because only
    // the event loop's thread copies.
    static std::array<std::uint8_t, 1 << 16> bounce;
    SegmentCursor from(source, offset), to(destination, offset);
    while (length != 0) {
        std::uint64_t have = 0;
        const Access read =
            from.take(std::min<std::uint64_t>(length, bounce.size()), have,
                      [](const Segment &segment, std::uint64_t at, std::uint64_t position, std::uint64_t bytes) {
                          return read_segment(segment, at, bounce.data() + position, bytes);
                      });
        if (read != Access::done)
            return read == Access::gone ? CopyResult::source_gone : CopyResult::source_fault;
        std::uint64_t put = 0;
        const Access written = to.take(
            have, put, [](const Segment &segment, std::uint64_t at, std::uint64_t position, std::uint64_t bytes) {
                return write_segment(segment, at, bounce.data() + position, bytes);
            });
        if (written != Access::done)
            return written == Access::gone ? CopyResult::destination_gone : CopyResult::destination_fault;
        if (have == 0)
            return CopyResult::source_fault; // the list is shorter than its stated length
        length -= have;
    }
    return CopyResult::done;
}

} // namespace opendoca::card
