// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "object_table.hpp"

#include <algorithm>

#include "card.hpp"

namespace opendoca::card {

namespace {

/// Returns the next free slot. The table first grows to its limit, and is then searched in a circle, which delays the
/// reuse of slots. There must be a free slot.
template <typename Slots>
std::uint32_t take_free_slot(Slots &slots, std::uint32_t &next, std::uint32_t first, std::uint32_t capacity)
{
    if (slots.size() < capacity) {
        slots.emplace_back();
        return static_cast<std::uint32_t>(slots.size() - 1);
    }
    do {
        if (++next >= capacity)
            next = first;
    } while (slots[next] != nullptr);
    return next;
}

} // namespace

std::uint32_t ObjectTable::free_handle(OpenFile &file)
{
    // Slot 0 is never used.
    if (used_ + 1 >= max_objects || file.objects >= OpenFile::max_objects)
        return 0;
    ++used_;
    ++file.objects;
    return take_free_slot(slots_, next_, 1, max_objects);
}

void ObjectTable::destroy(Object &object)
{
    --used_;
    --object.file.objects;
    slots_[object.handle].reset();
}

void ObjectTable::destroy_all_of(const OpenFile &file)
{
    // In the order of Kind, which lists users before what they use.
    for (int kind = 0; kind <= static_cast<int>(Kind::protection_domain); ++kind) {
        for (const auto &slot : slots_) {
            if (slot != nullptr && &slot->file == &file && static_cast<int>(slot->kind) == kind)
                destroy(*slot);
        }
    }
}

bool KeyTable::add(MemoryKey &key)
{
    // Slots 0 and 1 are never used.
    if (used_ + 2 >= max_keys)
        return false;
    ++used_;
    const std::uint32_t index = take_free_slot(slots_, next_, 2, max_keys);
    slots_[index] = &key;
    key.key = index << 8 | ++variant_;
    key.serial = ++serial_;
    return true;
}

void KeyTable::remove(const MemoryKey &key)
{
    // A key that was never added has the index 0.
    if (by_index(key.key >> 8) != &key)
        return;
    --used_;
    slots_[key.key >> 8] = nullptr;
}

MemoryKey *KeyTable::by_index(std::uint32_t index) const
{
    return index < slots_.size() ? slots_[index] : nullptr;
}

MemoryKey *KeyTable::find(std::uint32_t key) const
{
    MemoryKey *found = by_index(key >> 8);
    return found != nullptr && found->key == key && !found->is_free ? found : nullptr;
}

} // namespace opendoca::card
