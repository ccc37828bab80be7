// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_queue.hpp"

#include <algorithm>
#include <cinttypes>

#include <doca_dma.h>
#include <doca_log.h>

#include "../buf.hpp"
#include "../mmap.hpp"

DOCA_LOG_REGISTER(DOCA_COPY_QUEUE);

namespace opendoca {

CopyQueue::CopyQueue(const doca_dev &dev) noexcept
    : dev_(dev),
      max_list_elements_(dev.function().can.dma_max_list_elements),
      max_size_(dev.function().can.dma_max_size)
{
}

doca_error_t CopyQueue::submit(const doca_job &base) noexcept
{
    const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
    // One buffer a side and nothing to complain about. Without a call that returns, this needs no stack.
    if (base.type == DOCA_DMA_JOB_MEMCPY && job.src_buff != nullptr && job.dst_buff != nullptr) [[likely]] {
        const doca_buf &src = *job.src_buff;
        const doca_buf &dst = *job.dst_buff;
        if (src.is_alone() && dst.is_alone()) [[likely]] {
            const std::size_t tailroom = dst.tailroom();
            const std::size_t room = tailroom == 0 ? dst.data_len : tailroom;
            if (src.mmap->is_first(&dev_) && dst.mmap->is_first(&dev_) && src.data_len <= room &&
                src.data_len <= max_size_) [[likely]] {
                MemoryKey &src_key = src.mmap->first_key();
                MemoryKey &dst_key = dst.mmap->first_key();
                if (src_key.can(opendoca::KeyUse::dma_source) && dst_key.can(opendoca::KeyUse::dma_destination)) [[likely]]
                    return copy(job, {src.data_len, false, tailroom == 0}, dst_key, src_key);
            }
        }
    }
    return submit_any(job);
}

/// Any job: takes it, or says what is wrong with it.
doca_error_t CopyQueue::submit_any(const doca_dma_job_memcpy &job) noexcept
{
    if (job.base.type != DOCA_DMA_JOB_MEMCPY) {
        DOCA_LOG_ERR("job type %d is not one of DMA's", job.base.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const doca_buf *const src = job.src_buff;
    const doca_buf *const dst = job.dst_buff;
    if (src == nullptr || dst == nullptr || !src->is_head() || !dst->is_head()) {
        DOCA_LOG_ERR("source %p and destination %p must be buffers at the head of their lists",
                     static_cast<const void *>(src), static_cast<const void *>(dst));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_list(*src, false); status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = check_list(*dst, true); status != DOCA_SUCCESS)
        return status;

    // A term is cut off above what a job copies at most: sums of 1024 of them can't wrap around.
    const auto sum = [&](const doca_buf *list, auto &&part) {
        std::size_t total = 0;
        for (const doca_buf *buf = list; buf != nullptr; buf = buf->next)
            total += std::min<std::size_t>(part(*buf), max_size_ + 1);
        return total;
    };
    const auto data_of = [](const doca_buf &buf) { return buf.data_len; };
    const std::size_t length = sum(src, data_of);
    if (length > max_size_) {
        DOCA_LOG_ERR("the source has %zu bytes or more, and a job copies at most %" PRIu64, length,
                     max_size_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    // Data is appended; a list without any tailroom counts as empty, for programs that never reset their
    // destination.
    const std::size_t tailroom = sum(dst, [](const doca_buf &buf) { return buf.tailroom(); });
    const bool overwrites = tailroom == 0;
    const std::size_t room = overwrites ? sum(dst, data_of) : tailroom;
    if (length > room) {
        DOCA_LOG_ERR("%zu bytes do not fit into a destination with room for %zu", length, room);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return copy(job, {length, src->next != nullptr || dst->next != nullptr, overwrites},
                *dst->mmap->key_for(&dev_), *src->mmap->key_for(&dev_));
}

doca_error_t CopyQueue::check_list(const doca_buf &head, bool for_writing) const noexcept
{
    std::uint32_t count = 0;
    for (const doca_buf *buf = &head; buf != nullptr; buf = buf->next) {
        const MemoryKey *const key = buf->mmap->key_for(&dev_);
        if (key == nullptr) {
            DOCA_LOG_ERR("device %s was not added to the memory map of buffer %p", dev_.description().c_str(),
                         static_cast<const void *>(buf));
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (!key->can(for_writing ? opendoca::KeyUse::dma_destination : opendoca::KeyUse::dma_source)) {
            DOCA_LOG_ERR("the permissions of the memory map of buffer %p do not let DMA %s it",
                         static_cast<const void *>(buf), for_writing ? "write" : "read");
            return DOCA_ERROR_NOT_PERMITTED;
        }
        if (++count > max_list_elements_) {
            DOCA_LOG_ERR("the %s has more than %" PRIu32 " buffers", for_writing ? "destination" : "source",
                         max_list_elements_);
            return DOCA_ERROR_INVALID_VALUE;
        }
    }
    return DOCA_SUCCESS;
}

} // namespace opendoca
