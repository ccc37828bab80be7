// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "bufpool.hpp"

#include <bit>

#include <doca_buf.h>
#include <doca_log.h>

#include "guard.hpp"
#include "mmap.hpp"

DOCA_LOG_REGISTER(DOCA_BUFPOOL);

namespace {
constexpr std::size_t max_num_elements = std::size_t{1} << 26; // as of an inventory
} // namespace

namespace opendoca {

doca_error_t BufPlaces::in(const MemoryRange &range, std::size_t count, std::size_t size,
                           std::size_t alignment, BufPlaces &places) noexcept
{
    const std::size_t gap = -reinterpret_cast<std::uintptr_t>(range.addr) & (alignment - 1);
    const std::size_t stride = (size + alignment - 1) & ~(alignment - 1);
    // Each step stays inside the range, so that none wraps around.
    const bool fits = gap < range.len && size <= range.len - gap && stride >= size &&
                      (count == 1 || stride <= (range.len - gap - size) / (count - 1));
    if (!fits) {
        DOCA_LOG_ERR("%zu buffers of %zu bytes, aligned to %zu, do not fit in the %zu bytes at %p", count,
                     size, alignment, range.len, static_cast<void *>(range.addr));
        return DOCA_ERROR_INVALID_VALUE;
    }
    places = {range.addr + gap, size, stride, count};
    return DOCA_SUCCESS;
}

} // namespace opendoca

doca_error_t doca_bufpool::check_memory() const noexcept
{
    if (!mmap_.is_usable()) {
        DOCA_LOG_ERR("the buffer pool's memory map is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_bufpool::start() noexcept
{
    const doca_error_t status = check_memory();
    is_started_ = is_started_ || status == DOCA_SUCCESS;
    return status;
}

doca_error_t doca_bufpool::alloc(doca_buf *&buf) noexcept
{
    if (!is_started_) {
        DOCA_LOG_ERR("the buffer pool is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = check_memory(); status != DOCA_SUCCESS)
        return status;
    doca_buf *const taken = store.take(mmap_, places_.first, places_.size);
    if (taken == nullptr)
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs wait for one that comes back
    taken->head += store.number_of(*taken) * places_.stride;
    taken->data = taken->head;
    buf = taken;
    return DOCA_SUCCESS;
}

doca_error_t doca_bufpool_create(const union doca_data *user_data, size_t num_elements, uint32_t extensions,
                                 size_t element_size, size_t element_alignment, const struct doca_mmap *mmap,
                                 struct doca_bufpool **bufpool)
{
    if (mmap == nullptr || bufpool == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    if (!mmap->has_range()) {
        DOCA_LOG_ERR("the memory map has no memory range yet");
        return DOCA_ERROR_BAD_STATE;
    }
    if (num_elements == 0 || num_elements > max_num_elements || element_size == 0) {
        DOCA_LOG_ERR("a buffer pool has 1 to %zu buffers of at least 1 byte, not %zu of %zu",
                     max_num_elements, num_elements, element_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (extensions != DOCA_BUF_EXTENSION_NONE) {
        DOCA_LOG_ERR("buffer extensions 0x%x do not exist", extensions);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const std::size_t alignment = element_alignment == 0 ? 1 : element_alignment;
    if (!std::has_single_bit(alignment)) {
        DOCA_LOG_ERR("the alignment %zu is no power of two", alignment);
        return DOCA_ERROR_INVALID_VALUE;
    }
    opendoca::BufPlaces places{};
    const doca_error_t status =
        opendoca::BufPlaces::in(mmap->range(), num_elements, element_size, alignment, places);
    if (status != DOCA_SUCCESS)
        return status;
    return opendoca::guarded([&] {
        *bufpool = new doca_bufpool(user_data != nullptr ? *user_data : doca_data{}, places, *mmap);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_bufpool_destroy(struct doca_bufpool *bufpool)
{
    if (bufpool == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    const auto &store = bufpool->store;
    if (store.num_free() != store.num_elements()) {
        DOCA_LOG_ERR("%u of the pool's %u buffers are still out", store.num_elements() - store.num_free(),
                     store.num_elements());
        return DOCA_ERROR_IN_USE;
    }
    delete bufpool;
    return DOCA_SUCCESS;
}

doca_error_t doca_bufpool_start(struct doca_bufpool *bufpool)
{
    return bufpool == nullptr ? DOCA_ERROR_INVALID_VALUE : bufpool->start();
}

doca_error_t doca_bufpool_stop(struct doca_bufpool *bufpool)
{
    if (bufpool == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    bufpool->stop();
    return DOCA_SUCCESS;
}

doca_error_t doca_bufpool_buf_alloc(struct doca_bufpool *bufpool, struct doca_buf **buf)
{
    if (bufpool == nullptr || buf == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    return bufpool->alloc(*buf);
}

doca_error_t doca_bufpool_get_num_elements(const struct doca_bufpool *bufpool, uint32_t *num_of_elements)
{
    if (bufpool == nullptr || num_of_elements == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *num_of_elements = bufpool->store.num_elements();
    return DOCA_SUCCESS;
}

doca_error_t doca_bufpool_get_num_free_elements(const struct doca_bufpool *bufpool,
                                                uint32_t *num_of_free_elements)
{
    if (bufpool == nullptr || num_of_free_elements == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *num_of_free_elements = bufpool->store.num_free();
    return DOCA_SUCCESS;
}

doca_error_t doca_bufpool_get_user_data(const struct doca_bufpool *bufpool, union doca_data *user_data)
{
    if (bufpool == nullptr || user_data == nullptr)
        return DOCA_ERROR_INVALID_VALUE;
    *user_data = bufpool->user_data;
    return DOCA_SUCCESS;
}
