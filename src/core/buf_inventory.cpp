// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "buf_inventory.hpp"

#include "log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUF_INVENTORY);

using opendoca::Reason;
using opendoca::Status;

Status doca_buf_inventory::take(const doca_mmap &whole, std::byte *addr, std::size_t len, std::byte *data,
                                std::size_t data_len, doca_buf *&buf)
{
    const doca_mmap &mmap = whole.with_range(addr, len);
    doca_buf *const taken = is_possible(mmap, addr, len, data, data_len)
                                ? store_->take(mmap, addr, len, data, data_len)
                                : nullptr;
    if (taken == nullptr)
        return explain(mmap, addr, len, data, data_len);
    buf = taken;
    return DOCA_SUCCESS;
}

Status doca_buf_inventory::explain(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                                   std::size_t data_len) const noexcept
{
    const auto pointer = [](std::byte *at) { return static_cast<void *>(at); };
    if (!is_started_ || !mmap.is_usable()) {
        LOG_ERR("the %s is not started", is_started_ ? "memory map" : "buffer inventory");
        return Reason::not_started;
    }
    if (!mmap.range().contains(addr, len)) {
        LOG_ERR("[%p, +%zu) is outside the memory map's range [%p, +%zu)", pointer(addr), len,
                pointer(mmap.range().addr), mmap.range().len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!opendoca::MemoryRange{addr, len}.contains(data, data_len)) {
        LOG_ERR("the data section [%p, +%zu) is outside the buffer [%p, +%zu)", pointer(data), data_len,
                pointer(addr), len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    LOG_ERR("all %u elements of the buffer inventory are in use", store_->num_elements());
    return DOCA_ERROR_NO_MEMORY;
}

Status doca_buf_inventory::duplicate(const doca_buf &source, doca_buf *&copy)
{
    if (source.mmap == nullptr) {
        LOG_ERR("buffer %p was released", static_cast<const void *>(&source));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return take(*source.mmap, source.head, source.len, source.data, source.data_len, copy);
}

Status doca_buf_inventory::check_unused() const noexcept
{
    const std::uint32_t out = store_->num_out();
    if (out == 0)
        return DOCA_SUCCESS;
    LOG_ERR("%u of the inventory's %u buffers are still out", out, store_->num_elements());
    return Reason::buffers_are_out;
}
