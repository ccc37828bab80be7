// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>

#include <doca_error.h>

#include "../base/reason.hpp"
#include "mmap.hpp"

namespace opendoca {
class BufStore;
}

/// One element of a scatter/gather list: [head, head + len) of a memory map, of which [data, data + data_len) holds
/// data. Belongs to a BufStore for good; the program owns it from take() until its last reference is dropped, and uses
/// it in one thread at a time. Existing programs rely on the order of the first four members.
struct doca_buf {
    std::byte *head;
    std::size_t len;
    std::byte *data;
    std::size_t data_len;
    const doca_mmap *mmap;        ///< null while the element is free
    doca_buf *next;               ///< the next element of the list, or of the store's free list
    doca_buf *last;               ///< for a list's head, the last element (itself if alone or free); otherwise null
    std::uint32_t number;         ///< index in the store; constant
    std::uint16_t fast_path_uses; ///< see update_fast_path_uses()
    std::uint16_t
        more_references; ///< beyond the first reference, which its user has. 0 of a free one, and of later members

    [[nodiscard]] bool is_head() const noexcept { return last != nullptr && mmap != nullptr; }
    /// Returns whether this is the only element of a list.
    [[nodiscard]] bool is_alone() const noexcept { return last == this && mmap != nullptr; }
    [[nodiscard]] std::size_t tailroom() const noexcept
    {
        return static_cast<std::size_t>(head + len - data) - data_len; // data + data_len would take a second register
    }

    /// Sets fast_path_uses. For a buffer that fast paths accept (in use, alone in its list, with its data inside of its
    /// memory) it is what the memory map's first device may do with it, as FirstKey::uses; 0 for any other. Called
    /// after each change of one of these, so that a job checks all of them with one load.
    void update_fast_path_uses() noexcept { fast_path_uses = is_alone() && has_data_inside() ? uses_of(*mmap) : 0; }
    /// Returns FirstKey::uses. Its bits fit into 16.
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

    /// Sets the length of the data at the completion of an asynchronous job. The program may have moved the data since
    /// the submission.
    void end_data_at(std::size_t length) noexcept
    {
        data_len = length;
        // If fast_path_uses is set, the beginning of the data is inside, so only its end is checked.
        if (length > static_cast<std::size_t>(head + len - data)) [[unlikely]]
            fast_path_uses = 0;
    }

    [[nodiscard]] bool has_data_inside() const noexcept
    {
        const auto offset = static_cast<std::size_t>(data - head);
        return offset <= len && data_len <= len - offset;
    }

    /// Adds a reference. @p before is set to the count before. NOT_PERMITTED for a free buffer or one that is in a list
    /// but not its head.
    [[nodiscard]] opendoca::Status add_reference(std::uint32_t &before) noexcept;
    /// Drops a reference. @p before is set to the count before. Dropping the last one releases the list. BAD_STATE if
    /// the buffer is free.
    [[nodiscard]] doca_error_t drop_reference(std::uint32_t &before) noexcept;
    [[nodiscard]] std::uint32_t num_references() const noexcept { return mmap != nullptr ? more_references + 1U : 0; }

    /// Appends @p list to the list of which this is the head. INVALID_VALUE unless both are heads of different lists.
    [[nodiscard]] doca_error_t chain(doca_buf &list) noexcept;
    /// Splits the list of which this is the head before @p list. INVALID_VALUE unless @p list is a later member.
    [[nodiscard]] doca_error_t unchain(doca_buf &list) noexcept;
    [[nodiscard]] doca_error_t get_num_elements(std::uint32_t &count) const noexcept;
    [[nodiscard]] doca_buf &last_of_list() noexcept;
    /// Returns every element of the list that starts here to its store, however many references there are.
    [[nodiscard]] doca_error_t release() noexcept;
};

static_assert(sizeof(doca_buf) == 64, "a buffer is one cache line");
static_assert(offsetof(doca_buf, data) == 16 && offsetof(doca_buf, data_len) == 24);

namespace opendoca {

/// A fixed number of buffers and the list of the free ones. Owned by an inventory or a pool; like these, used by one
/// thread at a time. The elements follow it in memory, so that each one finds its store by its number.
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

    /// Takes a free element as a list of one, for memory of @p mmap. Returns null if none is free or the map's count is
    /// not cached; take() distinguishes the two.
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
    /// Does the same, but caches the count if needed. Returns null if no element is free. Throws std::bad_alloc if the
    /// map was not used before.
    [[nodiscard]] doca_buf *take(const doca_mmap &mmap, std::byte *head, std::size_t len, std::byte *data,
                                 std::size_t data_len);

    /// Returns @p buf to its store. Returns false, without any change, if its map's count is not cached.
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
    /// Does the same, but caches the count if needed.
    static void put_back(doca_buf &buf) noexcept;

    [[nodiscard]] bool is_empty() const noexcept { return free_ == nullptr; }
    [[nodiscard]] std::uint32_t num_elements() const noexcept { return num_elements_; }
    [[nodiscard]] std::uint32_t num_in_use() const noexcept;
    [[nodiscard]] std::uint32_t num_free() const noexcept { return num_elements_ - num_in_use(); }

private:
    /// The count of a map that was used recently.
    struct CachedCount {
        std::uint64_t serial; ///< doca_mmap::serial(), or 0
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
    /// Caches the count of @p mmap, which is created if the map was not used before. Throws std::bad_alloc only then.
    void cache_count(const doca_mmap &mmap);

    /// Free list by doca_buf::next, last in first out: the element used last is likely in the cache.
    doca_buf *free_ = nullptr;
    const std::uint32_t num_elements_;
    std::array<CachedCount, num_cached> cached_{}; ///< direct-mapped by the serial number
    /// By the serial numbers of the maps. Counts of destroyed maps are removed when there are max_counts_.
    std::unordered_map<std::uint64_t, std::shared_ptr<BufCount>> counts_;
    std::size_t max_counts_ = 16;
};

} // namespace opendoca
