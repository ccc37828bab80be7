// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "object_table.hpp"

#include <algorithm>

#include "card.hpp"

namespace opendoca::card {

namespace {

// The slot to be used next: the table first grows, and then is gone through in turns.
template <typename Slots>
std::uint32_t take_free_slot(Slots &slots, std::uint32_t &next, std::uint32_t first, std::uint32_t most)
{
    if (slots.size() < most) {
        slots.emplace_back();
        return static_cast<std::uint32_t>(slots.size() - 1);
    }
    do {
        if (++next >= most)
            next = first;
    } while (slots[next] != nullptr);
    return next;
}

} // namespace

std::uint32_t ObjectTable::free_handle(OpenFile &file)
{
    if (used_ + 1 >= most || file.objects >= OpenFile::most_objects)
        return 0;
    ++used_;
    ++file.objects;
    return take_free_slot(slots_, next_, 1, most);
}

void ObjectTable::destroy(Object &object)
{
    --used_;
    --object.file.objects;
    slots_[object.handle].reset();
}

void ObjectTable::destroy_all_of(const OpenFile &file)
{
    // In the order of Kind, so that none is destroyed before what refers to it.
    for (int kind = 0; kind <= static_cast<int>(Kind::protection_domain); ++kind) {
        for (const auto &slot : slots_) {
            if (slot != nullptr && &slot->file == &file && static_cast<int>(slot->kind) == kind)
                destroy(*slot);
        }
    }
}

bool KeyTable::add(MemoryKey &key)
{
    if (used_ + 2 >= most)
        return false;
    ++used_;
    const std::uint32_t index = take_free_slot(slots_, next_, 2, most);
    slots_[index] = &key;
    key.key = index << 8 | ++variant_;
    key.serial = ++serial_;
    return true;
}

void KeyTable::remove(const MemoryKey &key)
{
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
