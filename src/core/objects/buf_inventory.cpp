// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buf_inventory.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUF_INVENTORY);

using opendoca::Reason;
using opendoca::Status;

namespace {

/// Checks that the buffer is inside of the memory map's range, and the data section inside of the buffer. Both may be
/// empty, also at the end.
Status check_ranges(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                    std::size_t data_len) noexcept
{
    const auto pointer = [](std::byte *at) { return static_cast<void *>(at); };
    if (!mmap.range().contains(addr, len)) {
        LOG_ERR("[%p, +%zu) is outside the memory map's range [%p, +%zu)", pointer(addr), len,
                pointer(mmap.range().addr), mmap.range().len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!opendoca::MemoryRange{addr, len}.contains(data, data_len)) {
        LOG_ERR("the data section [%p, +%zu) is outside the buffer [%p, +%zu)", pointer(data), data_len, pointer(addr),
                len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

} // namespace

Status doca_buf_inventory::take(const doca_mmap &whole, std::byte *addr, std::size_t len, std::byte *data,
                                std::size_t data_len, doca_buf *&buf)
{
    // A buffer belongs to the map of a single range, so that its keys are found without a search.
    const doca_mmap &mmap = whole.with_range(addr, len);
    // Buffers return to the stores that they came from, so an earlier one may have free buffers again.
    if (store_->is_empty()) {
        const auto other = std::ranges::find_if(stores_, [](const auto &store) { return !store->is_empty(); });
        store_ = other != stores_.end() ? other->get() : store_;
    }
    doca_buf *const taken =
        is_possible(mmap, addr, len, data, data_len) ? store_->take(mmap, addr, len, data, data_len) : nullptr;
    if (taken == nullptr)
        return explain(mmap, addr, len, data, data_len);
    buf = taken;
    return DOCA_SUCCESS;
}

/// Called after take() has failed. Not on the fast path, so that is_possible() needs no messages.
Status doca_buf_inventory::explain(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                                   std::size_t data_len) const noexcept
{
    // Finds the condition of is_possible() that does not hold. If all hold, there was no free buffer.
    if (!is_started_ || !mmap.is_usable()) {
        LOG_ERR("the %s is not started", is_started_ ? "memory map" : "buffer inventory");
        return Reason::not_started;
    }
    if (const Status status = check_ranges(mmap, addr, len, data, data_len); status != DOCA_SUCCESS)
        return status;
    LOG_ERR("all %u elements of the buffer inventory are in use", num_elements());
    return DOCA_ERROR_NO_MEMORY;
}

Status doca_buf_inventory::duplicate(const doca_buf &source, doca_buf *&copy)
{
    // A free buffer still has the values of its last use; only mmap shows that it is free.
    if (source.mmap == nullptr) {
        LOG_ERR("buffer %p was released", static_cast<const void *>(&source));
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Checked like a new buffer: the memory map may have been stopped, or the data section moved outside.
    return take(*source.mmap, source.head, source.len, source.data, source.data_len, copy);
}

Status doca_buf_inventory::reuse(doca_buf &buf, std::byte *addr, std::size_t len, std::byte *data,
                                 std::size_t data_len) noexcept
{
    // The new range must be of the same map, for which the store counts the buffer.
    if (buf.mmap == nullptr || !buf.mmap->is_usable()) {
        LOG_ERR("buffer %p was released, or its memory map is not started", static_cast<void *>(&buf));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (const Status status = check_ranges(*buf.mmap, addr, len, data, data_len); status != DOCA_SUCCESS)
        return status;
    buf.head = addr;
    buf.len = len;
    buf.set_data(data, data_len);
    return DOCA_SUCCESS;
}

void doca_buf_inventory::expand(std::size_t num_elements)
{
    // Existing buffers keep their addresses: a store never grows or moves. The new one, all free, is used first.
    stores_.reserve(stores_.size() + 1);
    stores_.push_back(opendoca::BufStore::create(num_elements));
    store_ = stores_.back().get();
}

std::uint32_t doca_buf_inventory::num_elements() const noexcept
{
    // Summed up on request: stores are few, and no operation on a buffer needs the totals.
    std::uint32_t sum = 0;
    for (const auto &store : stores_)
        sum += store->num_elements();
    return sum;
}

std::uint32_t doca_buf_inventory::num_free() const noexcept
{
    std::uint32_t sum = 0;
    for (const auto &store : stores_)
        sum += store->num_free();
    return sum;
}

Status doca_buf_inventory::check_unused() const noexcept
{
    // Whichever store they came from. An inventory that was destroyed too early would leave them without a store.
    const std::uint32_t out = num_elements() - num_free();
    if (out == 0)
        return DOCA_SUCCESS;
    LOG_ERR("%u of the inventory's %u buffers are still in use", out, num_elements());
    return Reason::buffers_in_use;
}
