// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buf.hpp"

#include <atomic>
#include <new>

#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUF);

doca_error_t doca_buf::chain(doca_buf &list) noexcept
{
    // A later member cannot be chained: its list would have two predecessors.
    if (this == &list || !is_head() || !list.is_head()) {
        LOG_ERR("cannot chain %p and %p: both must be heads of different lists", static_cast<void *>(this),
                static_cast<void *>(&list));
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Neither is alone any more, so no fast path may take them.
    last->next = &list;
    last = list.last;
    list.last = nullptr;
    fast_path_uses = 0;
    list.fast_path_uses = 0;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf::unchain(doca_buf &list) noexcept
{
    if (this == &list || !is_head()) {
        LOG_ERR("cannot unchain %p from %p: the latter must be the head of a list, and another buffer",
                static_cast<void *>(&list), static_cast<void *>(this));
        return DOCA_ERROR_INVALID_VALUE;
    }
    // The list is linked in one direction, so the predecessor is searched from the head.
    doca_buf *before = this;
    while (before->next != nullptr && before->next != &list)
        before = before->next;
    if (before->next == nullptr) {
        LOG_ERR("buffer %p is not a later member of the list that starts at %p", static_cast<void *>(&list),
                static_cast<void *>(this));
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Both parts are lists of their own, and may be alone again.
    before->next = nullptr;
    list.last = last;
    last = before;
    update_fast_path_uses();
    list.update_fast_path_uses();
    return DOCA_SUCCESS;
}

doca_error_t doca_buf::get_num_elements(std::uint32_t &count) const noexcept
{
    if (!is_head()) {
        LOG_ERR("buffer %p is not the head of its list", static_cast<const void *>(this));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    // Counted on request: chain() and unchain() are then cheaper, and this is rare.
    std::uint32_t found = 0;
    for (const doca_buf *element = this; element != nullptr; element = element->next)
        ++found;
    count = found;
    return DOCA_SUCCESS;
}

/// Works for any member of a list: only the head has `last`, so from a later member the list is followed to its end.
doca_buf &doca_buf::last_of_list() noexcept
{
    doca_buf *element = this;
    while (!element->is_head() && element->next != nullptr)
        element = element->next;
    return element->is_head() ? *element->last : *element;
}

opendoca::Status doca_buf::add_reference(std::uint32_t &before) noexcept
{
    if (!is_head()) {
        LOG_ERR("buffer %p is free, or a member of a list and not its head", static_cast<void *>(this));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const std::uint32_t count = num_references();
    // The counter has 16 bits. DOCA's error codes for this differ between the generations.
    if (count == UINT16_MAX) {
        LOG_ERR("buffer %p has %u references, which is the limit", static_cast<void *>(this), count);
        return opendoca::Reason::too_many_references;
    }
    ++more_references;
    before = count;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf::drop_reference(std::uint32_t &before) noexcept
{
    if (mmap == nullptr) {
        LOG_ERR("buffer %p was released before", static_cast<void *>(this));
        return DOCA_ERROR_BAD_STATE;
    }
    // The last reference of a later member of a list cannot be dropped: release() refuses it.
    const std::uint32_t count = num_references();
    if (more_references != 0)
        --more_references;
    else if (const doca_error_t status = release(); status != DOCA_SUCCESS)
        return status;
    before = count;
    return DOCA_SUCCESS;
}

doca_error_t doca_buf::release() noexcept
{
    if (!is_head()) {
        LOG_ERR("buffer %p is free already, or a member of a list and not its head", static_cast<void *>(this));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    // Elements of one list may be of different stores; put_back() reuses `next`.
    for (doca_buf *element = this; element != nullptr;) {
        doca_buf *const following = element->next;
        element->more_references = 0;
        opendoca::BufStore::put_back(*element);
        element = following;
    }
    return DOCA_SUCCESS;
}

namespace opendoca {

BufStore::Ptr BufStore::create(std::size_t num_elements)
{
    // One allocation for the store and its elements: see store_of().
    void *const memory =
        ::operator new(sizeof(BufStore) + num_elements * sizeof(doca_buf), std::align_val_t(alignof(BufStore)));
    return Ptr(new (memory) BufStore(num_elements));
}

BufStore::BufStore(std::size_t num_elements) noexcept : num_elements_(static_cast<std::uint32_t>(num_elements))
{
    // From the last to the first, so that they are taken in ascending order.
    auto *const elements = reinterpret_cast<doca_buf *>(this + 1);
    for (std::uint32_t number = num_elements_; number-- > 0;)
        free_ =
            new (elements + number) doca_buf{nullptr, 0, nullptr, 0, nullptr, free_, elements + number, number, 0, 0};
}

void BufStore::Delete::operator()(BufStore *store) const noexcept
{
    store->~BufStore();
    ::operator delete(store, std::align_val_t(alignof(BufStore)));
}

doca_buf *BufStore::take(const doca_mmap &mmap, std::byte *head, std::size_t len, std::byte *data, std::size_t data_len)
{
    // The slow path only allocates; taking the element has one implementation. Null now means that none is free.
    cache_count(mmap);
    return try_take(mmap, head, len, data, data_len);
}

void BufStore::put_back(doca_buf &buf) noexcept
{
    store_of(buf).cache_count(*buf.mmap); // exists since the buffer was taken, so this does not throw
    buf.last = &buf;                      // as a free element, also if it was a later member of a list
    (void)try_put_back(buf);
}

void BufStore::cache_count(const doca_mmap &mmap)
{
    if (cached_count(mmap) != nullptr)
        return;
    auto found = counts_.find(mmap.serial());
    if (found == counts_.end()) {
        // A count without another owner is that of a destroyed map. The limit grows with the number of live ones, so
        // that the search costs little per insertion. An outdated cached_ entry is never used, as serial numbers are
        // unique.
        if (counts_.size() >= max_counts_) {
            std::erase_if(counts_, [](const auto &entry) { return entry.second.use_count() == 1; });
            max_counts_ = 2 * counts_.size() + 16;
        }
        const auto count = std::make_shared<BufCount>();
        mmap.add_count(count);
        found = counts_.emplace(mmap.serial(), count).first;
    }
    cached_[mmap.serial() % num_cached] = {mmap.serial(), found->second.get()};
}

std::uint32_t BufStore::num_in_use() const noexcept
{
    std::uint32_t sum = 0;
    for (const auto &[serial, count] : counts_)
        // Relaxed: only the store's own thread writes the counts, and calls this.
        sum += count->value.load(std::memory_order_relaxed);
    return sum;
}

} // namespace opendoca
