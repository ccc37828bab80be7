// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "objects.hpp"

namespace opendoca::card {

/// All objects of a card by handle. Numbers that a card gives out, of queue pairs and others, are made of the
/// handle, so they are unique over its functions. A handle is used again as late as can be.
class ObjectTable {
public:
    static constexpr std::uint32_t most = 1 << 20;

    /// Null where the card or the file has too many.
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

    /// An object of any file.
    template <typename T>
    [[nodiscard]] T *find(std::uint32_t handle) const
    {
        return handle < slots_.size() && slots_[handle] != nullptr && slots_[handle]->kind == T::its_kind
                   ? static_cast<T *>(slots_[handle].get())
                   : nullptr;
    }
    /// An object of this file.
    template <typename T>
    [[nodiscard]] T *find(std::uint32_t handle, const OpenFile &file) const
    {
        T *found = find<T>(handle);
        return found != nullptr && &found->file == &file ? found : nullptr;
    }
    /// By the number that PRM commands and work requests use.
    template <typename T>
    [[nodiscard]] T *by_number(std::uint32_t number) const
    {
        return number < T::first_number ? nullptr : find<T>(number - T::first_number);
    }

    [[nodiscard]] std::uint32_t count() const { return used_; }
    void destroy(Object &object);
    void destroy_all_of(const OpenFile &file);

    template <typename T, typename Function>
    void for_each(Function &&function) const
    {
        for (std::size_t i = 0; i < slots_.size(); ++i) {
            if (slots_[i] != nullptr && slots_[i]->kind == T::its_kind)
                function(*static_cast<T *>(slots_[i].get()));
        }
    }

private:
    std::uint32_t free_handle(OpenFile &file);

    std::vector<std::unique_ptr<Object>> slots_{1}; // 0 is nobody's handle
    std::uint32_t next_ = 1;
    std::uint32_t used_ = 0;
};

/// Memory keys by index: the upper 24 bits of a key. The lower 8 are the owner's to choose.
class KeyTable {
public:
    static constexpr std::uint32_t most = 1 << 20;

    /// Gives a key its number: false where there are too many.
    [[nodiscard]] bool add(MemoryKey &key);
    void remove(const MemoryKey &key);
    [[nodiscard]] std::uint32_t count() const { return used_; }
    /// Null where no key is that, or it has no range.
    [[nodiscard]] MemoryKey *find(std::uint32_t key) const;
    [[nodiscard]] MemoryKey *by_index(std::uint32_t index) const;

private:
    std::vector<MemoryKey *> slots_ = std::vector<MemoryKey *>(2); // 0x100 is libmlx5's "no key"
    std::uint32_t next_ = 2;
    std::uint32_t used_ = 0;
    std::uint8_t variant_ = 0;
    std::uint64_t serial_ = 0;
};

} // namespace opendoca::card
