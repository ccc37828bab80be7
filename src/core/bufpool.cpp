// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "bufpool.hpp"

#include <bit>
#include <optional>

#include <doca_log.h>

#include "guard.hpp"
#include "mmap.hpp"

DOCA_LOG_REGISTER(DOCA_BUFPOOL);

namespace {

constexpr std::size_t max_num_elements = std::size_t{1} << 26; // 4 GiB of descriptors

/// Where the buffers are: the first of them, and how far each is from the one before.
struct Layout {
    std::byte *first;
    std::size_t stride;
};

/// The buffers one after the other, from the first aligned address of the range on. Nothing when they do not
/// fit.
std::optional<Layout> lay_out(const opendoca::MemoryRange &range, std::size_t num_elements,
                              std::size_t element_size, std::size_t alignment) noexcept
{
    const auto up = [&](std::uintptr_t value) { return (value + alignment - 1) & ~(alignment - 1); };
    const auto start = reinterpret_cast<std::uintptr_t>(range.addr);
    const std::size_t lead = up(start) - start; // below the alignment, also when the address wraps around
    if (lead > range.len || element_size > range.len - lead)
        return std::nullopt;
    const std::size_t stride = up(element_size);
    const std::size_t for_others = range.len - lead - element_size; // the last buffer needs no gap behind it
    if (num_elements > 1 && (stride < element_size || num_elements - 1 > for_others / stride))
        return std::nullopt;
    return Layout{range.addr + lead, stride};
}

} // namespace

doca_error_t doca_bufpool::start() noexcept
{
    if (!mmap_.is_usable()) {
        DOCA_LOG_ERR("the memory map of the buffer pool is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    is_started_ = true;
    return DOCA_SUCCESS;
}

doca_error_t doca_bufpool::buf_alloc(doca_buf *&buf) noexcept
{
    if (!is_started_ || !mmap_.is_usable()) {
        DOCA_LOG_ERR("the %s is not started", is_started_ ? "memory map of the buffer pool" : "buffer pool");
        return DOCA_ERROR_BAD_STATE;
    }
    doca_buf *const taken = store.take(mmap_, first_, element_size_);
    if (taken == nullptr) {
        DOCA_LOG_ERR("all %u buffers of the pool are out", store.num_elements());
        return DOCA_ERROR_NO_MEMORY;
    }
    taken->head += store.number_of(*taken) * stride_;
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
    if (num_elements == 0 || num_elements > max_num_elements || element_size == 0) {
        DOCA_LOG_ERR("%zu buffers of %zu bytes: 1 to %zu of at least 1 byte are possible", num_elements,
                     element_size, max_num_elements);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (extensions != DOCA_BUF_EXTENSION_NONE) {
        DOCA_LOG_ERR("buffer extensions 0x%x do not exist", extensions);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (element_alignment != 0 && !std::has_single_bit(element_alignment)) {
        DOCA_LOG_ERR("an alignment of %zu is not a power of two", element_alignment);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!mmap->has_range()) {
        DOCA_LOG_ERR("the memory map has no memory range yet");
        return DOCA_ERROR_BAD_STATE;
    }
    const auto layout =
        lay_out(mmap->range(), num_elements, element_size, element_alignment == 0 ? 1 : element_alignment);
    if (!layout) {
        DOCA_LOG_ERR(
            "%zu buffers of %zu bytes, aligned to %zu, do not fit into the memory map's range [%p, +%zu)",
            num_elements, element_size, element_alignment, static_cast<void *>(mmap->range().addr),
            mmap->range().len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return opendoca::guarded([&] {
        *bufpool = new doca_bufpool(user_data != nullptr ? *user_data : doca_data{}, *mmap, layout->first,
                                    layout->stride, element_size, num_elements);
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
    return bufpool->buf_alloc(*buf);
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
