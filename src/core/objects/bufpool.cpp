// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "bufpool.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_BUFPOOL);

namespace opendoca {
Status BufLayout::in(const MemoryRange &range, std::size_t count, std::size_t size, std::size_t alignment,
                     BufLayout &layout) noexcept
{
    // The bytes up to the first aligned address, and the size rounded up. The rounding of a huge size wraps around to a
    // small stride, which `stride >= size` detects.
    const std::size_t gap = -reinterpret_cast<std::uintptr_t>(range.addr) & (alignment - 1);
    const std::size_t stride = (size + alignment - 1) & ~(alignment - 1);
    // Each comparison subtracts what is certain to be inside of the range, so that none wraps around. The last buffer
    // needs its size only, not the whole stride.
    const bool fits = gap < range.len && size <= range.len - gap && stride >= size &&
                      (count == 1 || stride <= (range.len - gap - size) / (count - 1));
    if (!fits) {
        LOG_ERR("%zu buffers of %zu bytes, aligned to %zu, do not fit in the %zu bytes at %p", count, size, alignment,
                range.len, static_cast<void *>(range.addr));
        return Reason::range_too_small;
    }
    layout = {range.addr + gap, size, stride};
    return DOCA_SUCCESS;
}

doca_error_t BufPool::check_size(std::size_t num_elements, std::size_t element_size) noexcept
{
    // The limit of what BufStore::create() allocates at once.
    constexpr std::size_t most = BufStore::max_num_elements;
    if (num_elements != 0 && num_elements <= most && element_size != 0)
        return DOCA_SUCCESS;
    LOG_ERR("a buffer pool has 1 to %zu buffers of at least 1 byte, not %zu of %zu", most, num_elements, element_size);
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t check_alignment(std::size_t alignment) noexcept
{
    if (std::has_single_bit(alignment))
        return DOCA_SUCCESS;
    // 0 is no power of two either.
    LOG_ERR("the alignment %zu is no power of two", alignment);
    return DOCA_ERROR_INVALID_VALUE;
}

Status BufPool::lay_out(std::size_t alignment) noexcept
{
    return BufLayout::in(mmap_->range(), store_->num_elements(), element_size_, alignment, layout_);
}

/// Checked by start() and by each take(), as the pool does not keep the map started.
doca_error_t BufPool::check_memory() const noexcept
{
    if (mmap_->is_usable())
        return DOCA_SUCCESS;
    LOG_ERR("the buffer pool's memory map is not started");
    return DOCA_ERROR_BAD_STATE;
}

doca_error_t BufPool::start() noexcept
{
    const doca_error_t status = check_memory();
    // A second start has no effect, and is no error.
    if (status == DOCA_SUCCESS && !is_started_) {
        is_started_ = true;
        was_short_ = false;
    }
    return status;
}

Status BufPool::take(doca_buf *&buf)
{
    if (!is_started_) {
        LOG_ERR("the buffer pool is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    // In each call: the program may have stopped the memory map since the start of the pool.
    if (const doca_error_t status = check_memory(); status != DOCA_SUCCESS)
        return status;
    // The buffer's number is only available afterwards: it is taken for the first place, then moved to its own.
    doca_buf *const taken = store_->take(*mmap_, layout_.first, layout_.size, layout_.first, 0);
    if (taken == nullptr) {
        explain_shortage();
        return Reason::no_buffer_left;
    }
    taken->head += taken->number * layout_.stride;
    taken->data = taken->head;
    buf = taken;
    return DOCA_SUCCESS;
}

/// Logs the shortage once, and only as debugging output: programs that wait for a free buffer retry many times.
void BufPool::explain_shortage() noexcept
{
    if (!std::exchange(was_short_, true))
        LOG_DBG("all %u buffers of the pool are in use: this is logged once until the next start",
                store_->num_elements());
}

doca_error_t BufPool::check_unused() const noexcept
{
    const std::uint32_t out = store_->num_in_use();
    if (out == 0)
        return DOCA_SUCCESS;
    LOG_ERR("%u of the pool's %u buffers are still in use", out, store_->num_elements());
    return DOCA_ERROR_IN_USE;
}

} // namespace opendoca
