// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "access.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace opendoca::card {

namespace {

constexpr int most_levels = 4;                 // of keys over keys
constexpr std::size_t most_segments = 1 << 16; // of a work request

constexpr std::uint32_t any_write = right::local_write | right::remote_write | right::remote_atomic;

bool add_segment(SegmentList &list, const MemoryKey &key, std::uint64_t address, std::uint64_t length)
{
    if (list.segments.size() == most_segments)
        return false;
    list.segments.push_back({key.process.get(), address, length});
    list.length += length;
    return true;
}

// A key that stands for another function's is that key, as long as it is there and its owner lets others use
// it.
const MemoryKey *behind_alias(const Card &card, const MemoryKey &alias)
{
    const MemoryKey *target = card.keys.by_index(alias.alias_of);
    return target != nullptr && target->serial == alias.alias_serial && target->permission &&
                   !target->is_free && target->alias_of == 0
               ? target
               : nullptr;
}

// Rights below an indirect key are the indirect key's. What is below must only not be written against its
// owner's will.
bool add_at_level(const Card &card, SegmentList &list, const MemoryKey &key, const Purpose &purpose,
                  std::uint64_t address, std::uint64_t length, int level)
{
    if (key.is_free || key.pd_number != purpose.pd_number ||
        (key.access & purpose.rights) != purpose.rights ||
        (key.bound_to != 0 && key.bound_to != purpose.queue_pair) || level > most_levels)
        return false;
    if (key.alias_of != 0) {
        const MemoryKey *target = behind_alias(card, key);
        if (target == nullptr)
            return false;
        ++card.alias_uses;
        // The owner's key with its own protection domain; the user's was checked on the alias.
        const Purpose behind{target->pd_number, purpose.rights, 0};
        return add_at_level(card, list, *target, behind, address, length, level + 1);
    }
    if (address < key.iova || address - key.iova > key.length || length > key.length - (address - key.iova))
        return false;
    std::uint64_t offset = address - key.iova;
    if (!key.is_indirect)
        return add_segment(list, key, key.start + offset, length);
    const Purpose below{key.pd_number, (purpose.rights & any_write) != 0 ? right::local_write : 0,
                        purpose.queue_pair};
    for (const KeyEntry &entry : key.entries) {
        if (length == 0)
            return true;
        if (offset >= entry.length) {
            offset -= entry.length;
            continue;
        }
        const std::uint64_t part = std::min(length, entry.length - offset);
        const MemoryKey *next = card.keys.find(entry.key);
        if (next == nullptr ||
            !add_at_level(card, list, *next, below, entry.address + offset, part, level + 1))
            return false;
        length -= part;
        offset = 0;
    }
    return length == 0;
}

/// Goes through a list, from an offset on.
class Cursor {
public:
    Cursor(const SegmentList &list, std::uint64_t offset)
        : next_(list.segments.data()),
          end_(next_ + list.segments.size())
    {
        while (next_ != end_ && offset >= next_->length)
            offset -= next_++->length;
        offset_ = offset;
    }

    /// Calls `transfer(segment, offset, position, bytes)` for parts of up to `most` bytes in all. Where it
    /// fails, how.
    template <typename Transfer>
    Access take(std::uint64_t most, std::uint64_t &taken, Transfer &&transfer)
    {
        taken = 0;
        while (taken < most && next_ != end_) {
            const std::uint64_t part = std::min(most - taken, next_->length - offset_);
            if (const Access access = transfer(*next_, offset_, taken, part); access != Access::done)
                return access;
            taken += part;
            offset_ += part;
            if (offset_ == next_->length) {
                ++next_;
                offset_ = 0;
            }
        }
        return Access::done;
    }

private:
    const Segment *next_, *end_;
    std::uint64_t offset_ = 0;
};

} // namespace

bool add_range(const Card &card, SegmentList &list, const Purpose &purpose, std::uint32_t key,
               std::uint64_t address, std::uint64_t length)
{
    const MemoryKey *found = card.keys.find(key);
    return found != nullptr && add_at_level(card, list, *found, purpose, address, length, 0);
}

CopyResult copy(const SegmentList &source, const SegmentList &destination, std::uint64_t offset,
                std::uint64_t length)
{
    // 64 KiB stays in the cache, and is enough for the cost of the two system calls not to count.
    static std::array<std::uint8_t, 1 << 16> bounce;
    Cursor from(source, offset), to(destination, offset);
    while (length != 0) {
        std::uint64_t have = 0;
        const Access read = from.take(
            std::min<std::uint64_t>(length, bounce.size()), have,
            [](const Segment &segment, std::uint64_t at, std::uint64_t position, std::uint64_t bytes) {
                if (segment.process != nullptr)
                    return segment.process->read(segment.address + at, bounce.data() + position, bytes);
                std::memcpy(bounce.data() + position, reinterpret_cast<const void *>(segment.address + at),
                            bytes);
                return Access::done;
            });
        if (read != Access::done)
            return read == Access::gone ? CopyResult::source_gone : CopyResult::source_fault;
        std::uint64_t put = 0;
        const Access written = to.take(
            have, put,
            [](const Segment &segment, std::uint64_t at, std::uint64_t position, std::uint64_t bytes) {
                return segment.process->write(segment.address + at, bounce.data() + position, bytes);
            });
        if (written != Access::done)
            return written == Access::gone ? CopyResult::destination_gone : CopyResult::destination_fault;
        if (have == 0)
            return CopyResult::source_fault; // shorter than its list says
        length -= have;
    }
    return CopyResult::done;
}

} // namespace opendoca::card
