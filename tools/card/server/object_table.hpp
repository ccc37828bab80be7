// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "objects.hpp"

namespace opendoca::card {

/// The memory keys of a card, by index: the upper 24 bits of a key. The owner of a key chooses the lower 8 (the
/// variant), so that an old value of a key that was invalidated is refused. Does not own the keys: MemoryKey removes
/// itself when it is destroyed. Invariant: the key at an index has this index in its upper 24 bits.
class KeyTable {
public:
    static constexpr std::uint32_t max_keys = 1 << 20;

    /// Assigns an index and a variant to a key. Returns false if the card has reached its limit.
    [[nodiscard]] bool add(MemoryKey &key);
    /// Removes a key; no effect if it was never added.
    void remove(const MemoryKey &key);
    [[nodiscard]] std::uint32_t count() const { return used_; }
    /// Returns the key with this value. Returns null if there is none, or if it is invalid at present (an unbound
    /// window).
    [[nodiscard]] MemoryKey *find(std::uint32_t key) const;
    /// Returns the key with this index whatever its variant, or null.
    [[nodiscard]] MemoryKey *by_index(std::uint32_t index) const;

private:
    std::vector<MemoryKey *> slots_ =
        std::vector<MemoryKey *>(2); // 0 is unused, and index 1 gives 0x100, libmlx5's "no key"
    std::uint32_t next_ = 2;         // slot that was reused last, once the table has its full size
    std::uint32_t used_ = 0;         // slots that hold a key
    std::uint8_t variant_ = 0;       // variant of the key that was added last
    std::uint64_t serial_ = 0;       // serial number of the key that was added last
};

/// Owns all objects of a card, by handle. The numbers of queue pairs and other objects are derived from the handle, so
/// they are unique across all functions of the card. The handle of a destroyed object is reused as late as possible, so
/// that stale numbers of programs find nothing. A pointer that find() has returned is valid until the object is
/// destroyed. Used by the event loop's thread only.
class ObjectTable {
public:
    static constexpr std::uint32_t max_objects = 1 << 20;

    /// Creates an object. Returns null if the card or the file has reached its limit.
    template <typename T>
    T *create(OpenFile &file)
    {
        const std::uint32_t handle = free_handle(file);
        if (handle == 0)
            return nullptr;
        auto object = std::make_unique<T>(T::its_kind, file, handle);
        T *result = object.get();
        slots_[handle] = std::move(object);
        return result;
    }

    /// Creates an object that is a memory key, of which `keys` determines the value. Returns null if the card or the
    /// file has reached its limit of either.
    template <typename T>
    T *create_key(OpenFile &file, KeyTable &keys)
    {
        T *key = create<T>(file);
        if (key == nullptr || keys.add(*key))
            return key;
        destroy(*key);
        return nullptr;
    }

    /// Returns the object of any file with this handle, or null.
    template <typename T>
    [[nodiscard]] T *find(std::uint32_t handle) const
    {
        return handle < slots_.size() && slots_[handle] != nullptr && slots_[handle]->kind == T::its_kind
                   ? static_cast<T *>(slots_[handle].get())
                   : nullptr;
    }
    /// Returns the object of this file with this handle, or null.
    template <typename T>
    [[nodiscard]] T *find(std::uint32_t handle, const OpenFile &file) const
    {
        T *found = find<T>(handle);
        return found != nullptr && &found->file == &file ? found : nullptr;
    }
    /// Returns the object with this number, as PRM commands and work requests use it, or null.
    template <typename T>
    [[nodiscard]] T *by_number(std::uint32_t number) const
    {
        return number < T::first_number ? nullptr : find<T>(number - T::first_number);
    }

    /// Returns the number of objects.
    [[nodiscard]] std::uint32_t count() const { return used_; }
    /// Destroys an object. The caller has checked that nothing refers to it.
    void destroy(Object &object);
    /// Destroys all objects of a file, users before what they use.
    void destroy_all_of(const OpenFile &file);

    /// Calls `function` for each object of one type.
    template <typename T, typename Function>
    void for_each(Function &&function) const
    {
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i] != nullptr && slots_[i]->kind == T::its_kind)
                function(*static_cast<T *>(slots_[i].get()));
        }
    }

private:
    /// Reserves a handle. Returns 0 if there is none.
    std::uint32_t free_handle(OpenFile &file);

    std::vector<std::unique_ptr<Object>> slots_{1}; // index: handle; 0 is no valid handle
    std::uint32_t next_ = 1;                        // slot that was reused last, once the table has its full size
    std::uint32_t used_ = 0;                        // slots that hold an object
};

} // namespace opendoca::card
