// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include <doca_error.h>

#include "mmap.hpp"
#include "reason.hpp"

namespace opendoca {
class BufStore;
}

/// One element of a scatter/gather list: [head, head + len) of a memory map, of which [data, data + data_len)
/// holds data. The order of the first four words is relied on by programs in the wild.
struct doca_buf {
    std::byte *head;
    std::size_t len;
    std::byte *data;
    std::size_t data_len;
    const doca_mmap *mmap;        ///< null when the element is free
    doca_buf *next;               ///< the next element of the list, or of the store's free list
    doca_buf *last;               ///< of a list's head: the last element, itself when alone or free; else null
    std::uint32_t number;         ///< among the store's elements; the same each time that it is taken
    std::uint16_t fast_path_uses; ///< see update_fast_path_uses()
    std::uint16_t
        more_references; ///< beyond the first reference, which its user has. 0 of a free one, and of later members

    [[nodiscard]] bool is_head() const noexcept { return last != nullptr && mmap != nullptr; }
    /// The head of a list that has no other element.
    [[nodiscard]] bool is_alone() const noexcept { return last == this && mmap != nullptr; }
    [[nodiscard]] std::size_t tailroom() const noexcept
    {
        return static_cast<std::size_t>(head + len - data) - data_len; // data + data_len would take a second register
    }

    /// Of a buffer that the fast paths take (in use, alone in its list, with its data inside of its memory): what the
    /// memory map's first device may do with it, as FirstKey::uses. 0 of any other. Updated by every change of one of
    /// these, so that a job checks all of them by one load.
    void update_fast_path_uses() noexcept { fast_path_uses = is_alone() && has_data_inside() ? uses_of(*mmap) : 0; }
    /// They are few.
    [[nodiscard]] static std::uint16_t uses_of(const doca_mmap &mmap) noexcept
    {
        return static_cast<std::uint16_t>(mmap.first().uses);
    }
    [[nodiscard]] bool has_fast_path() const noexcept { return fast_path_uses != 0; }
    /// Moves the data section to any requested place; jobs check it.
    void set_data(std::byte *start, std::size_t length) noexcept
    {
        data = start;
        data_len = length;
        update_fast_path_uses();
    }

    /// The end of a job that took time: the program may have moved the data since it submitted it.
    void end_data_at(std::size_t length) noexcept
    {
        data_len = length;
        // Where fast_path_uses is set the data's beginning is inside, wherever it is.
        if (length > static_cast<std::size_t>(head + len - data)) [[unlikely]]
            fast_path_uses = 0;
    }

    [[nodiscard]] bool has_data_inside() const noexcept
    {
        const auto offset = static_cast<std::size_t>(data - head);
        return offset <= len && data_len <= len - offset;
    }

    /// Gives the count before. NOT_PERMITTED for a later member of a list.
    [[nodiscard]] opendoca::Status add_reference(std::uint32_t &before) noexcept;
    /// The same, and with the last one gives every element of the list that starts here back to its store. BAD_STATE
    /// when it is free.
    [[nodiscard]] doca_error_t drop_reference(std::uint32_t &before) noexcept;
    [[nodiscard]] std::uint32_t num_references() const noexcept { return mmap != nullptr ? more_references + 1U : 0; }

    [[nodiscard]] doca_error_t chain(doca_buf &list) noexcept;
    [[nodiscard]] doca_error_t unchain(doca_buf &list) noexcept;
    [[nodiscard]] doca_error_t get_num_elements(std::uint32_t &count) const noexcept;
    [[nodiscard]] doca_buf &last_of_list() noexcept;
    /// Gives every element of the list that starts here back to its store, however many references there are.
    [[nodiscard]] doca_error_t release() noexcept;
};

static_assert(sizeof(doca_buf) == 64, "a buffer is one cache line");
static_assert(offsetof(doca_buf, data) == 16 && offsetof(doca_buf, data_len) == 24);

namespace opendoca {

/// A fixed number of buffers that are taken and given back. Its elements follow it in memory, so that
/// each finds its store by its number. Not thread-safe, as its owners.
class alignas(64) BufStore {
public:
    struct Delete {
        void operator()(BufStore *store) const noexcept;
    };
    using Ptr = std::unique_ptr<BufStore, Delete>;
    static constexpr std::size_t max_num_elements = std::size_t{1} << 26; ///< 4 GiB of descriptors

    /// Throws std::bad_alloc.
    [[nodiscard]] static Ptr create(std::size_t num_elements);
    BufStore(const BufStore &) = delete;
    BufStore &operator=(const BufStore &) = delete;

    /// A list of one element in @p mmap. Null when none is free, or the map's count is not cached: take() knows.
    [[nodiscard]] doca_buf *try_take(const doca_mmap &mmap, std::byte *head, std::size_t len, std::byte *data,
                                     std::size_t data_len) noexcept
    {
        doca_buf *const buf = free_;
        BufCount *const count = cached_count(mmap);
        if (buf == nullptr || count == nullptr) [[unlikely]]
            return nullptr;
        count->increase();
        free_ = buf->next;
        buf->head = head;
        buf->len = len;
        buf->data = data;
        buf->data_len = data_len;
        buf->mmap = &mmap;
        buf->next = nullptr;
        buf->fast_path_uses = doca_buf::uses_of(mmap); // the inventory has checked the data
        return buf;
    }
    /// The same. Null when none is free. Throws std::bad_alloc for a map that is new to it.
    [[nodiscard]] doca_buf *take(const doca_mmap &mmap, std::byte *head, std::size_t len, std::byte *data,
                                 std::size_t data_len);

    /// Gives @p buf back to its store; false, and no change, when its map's count is not cached.
    [[nodiscard]] static bool try_put_back(doca_buf &buf) noexcept
    {
        BufStore &store = store_of(buf);
        BufCount *const count = store.cached_count(*buf.mmap);
        if (count == nullptr) [[unlikely]]
            return false;
        count->decrease();
        buf.mmap = nullptr;
        buf.fast_path_uses = 0;
        buf.next = store.free_;
        store.free_ = &buf;
        return true;
    }
    static void put_back(doca_buf &buf) noexcept;

    [[nodiscard]] bool is_empty() const noexcept { return free_ == nullptr; }
    [[nodiscard]] std::uint32_t num_elements() const noexcept { return num_elements_; }
    [[nodiscard]] std::uint32_t num_out() const noexcept;
    [[nodiscard]] std::uint32_t num_free() const noexcept { return num_elements_ - num_out(); }

private:
    /// The count of a map that buffers were taken of not long ago.
    struct CachedCount {
        std::uint64_t serial; ///< of the map, or 0
        BufCount *count;
    };
    static constexpr std::size_t num_cached = 16;

    explicit BufStore(std::size_t num_elements) noexcept;

    [[nodiscard]] static BufStore &store_of(doca_buf &buf) noexcept
    {
        return reinterpret_cast<BufStore *>(&buf - buf.number)[-1];
    }
    [[nodiscard]] BufCount *cached_count(const doca_mmap &mmap) const noexcept
    {
        const CachedCount &cached = cached_[mmap.serial() % num_cached];
        return cached.serial == mmap.serial() ? cached.count : nullptr;
    }
    /// Caches the count of @p mmap.
    void cache_count(const doca_mmap &mmap);

    doca_buf *free_ = nullptr;
    const std::uint32_t num_elements_;
    std::array<CachedCount, num_cached> cached_{};
    /// By the serial numbers of the maps. Those of maps that are gone are dropped when there are max_counts_.
    std::unordered_map<std::uint64_t, std::shared_ptr<BufCount>> counts_;
    std::size_t max_counts_ = 16;
};

} // namespace opendoca
