// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_queue.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <doca_dma.h>

#include "../../mmap.hpp"
#include "../../workq.hpp"
#include "../cursor.hpp"
#include "copy.hpp"

namespace opendoca::soft {

namespace {

/// DOCA_SOFT_DEFER=1 in the environment.
bool is_deferring()
{
    const char *const text = std::getenv("DOCA_SOFT_DEFER");
    return text != nullptr && std::string_view(text) == "1";
}

} // namespace

SoftCopyQueue::SoftCopyQueue(doca_workq &workq, const doca_dev &dev)
    : CopyQueue(dev),
      workq_(workq),
      is_deferring_(is_deferring()),
      longest_simple_(is_deferring_ || workq.is_event_driven() ? 0 : dev.function().can.dma_max_size),
      deferred_(is_deferring_ ? workq.depth() : 0)
{
}

/// One buffer a side, with nothing to complain about. Everything else takes the long way.
///
/// Between two buffers of this process nothing can go wrong that is not known before: recording the end first
/// leaves nothing to be done after the copy, and no stack is needed. Only this thread could see the
/// difference, and a work queue that is polled has nobody to wake up.
doca_error_t SoftCopyQueue::submit(const doca_job &base) noexcept
{
    const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
    if (base.type != DOCA_DMA_JOB_MEMCPY || job.src_buff == nullptr || job.dst_buff == nullptr) [[unlikely]]
        return CopyQueue::submit(base);
    const doca_buf &src = *job.src_buff;
    doca_buf &dst = *job.dst_buff;
    if (!src.is_alone() || !dst.is_alone()) [[unlikely]]
        return CopyQueue::submit(base);
    if (!src.mmap->is_source_here(&dev())) [[unlikely]]
        return submit_remote<Hazard::Side::src>(job);
    if (!dst.mmap->is_destination_here(&dev())) [[unlikely]]
        return submit_remote<Hazard::Side::dst>(job);
    std::size_t before = dst.data_len;
    if (!fits_at_once(dst, src, before)) [[unlikely]]
        return CopyQueue::submit(base);
    const std::size_t length = src.data_len;
    dst.data_len = before + length;
    workq_.complete_unarmed(base, *this, DOCA_SUCCESS);
    return copy_bytes(dst.data + before, src.data, length, length);
}

/// @p before, the length of the destination's data, becomes what stays of it.
[[gnu::always_inline]] inline bool SoftCopyQueue::fits_at_once(const doca_buf &dst, const doca_buf &src,
                                                               std::size_t &before) const noexcept
{
    const std::size_t last = src.data_len - 1; // wraps around for copies of nothing, which take the long way
    if (const std::size_t tailroom = dst.tailroom(); last >= tailroom) [[unlikely]] {
        if (tailroom != 0 || last >= before)
            return false;
        before = 0;
    }
    return last < longest_simple_ && !workq_.is_full();
}

/// The memory on one side cannot simply be copied here: mostly because it was imported.
template <Hazard::Side side>
[[gnu::noinline]] doca_error_t SoftCopyQueue::submit_remote(const doca_dma_job_memcpy &job) noexcept
{
    constexpr bool is_read = side == Hazard::Side::src;
    const doca_buf &src = *job.src_buff;
    doca_buf &dst = *job.dst_buff;
    const doca_mmap &there = is_read ? *src.mmap : *dst.mmap;
    std::size_t before = dst.data_len;
    // The numbers of keys are the device's own.
    if (!there.is_first(&dev()) || (is_read && !dst.mmap->is_destination_here(&dev())) ||
        !fits_at_once(dst, src, before)) [[unlikely]]
        return CopyQueue::submit(job.base);
    Route &route = routes_[is_read][there.first_key_number() % num_routes];
    if (!route.leads_to(there.first_key_number())) [[unlikely]]
        return submit_and_find_route<side>(job, route);
    if (!route.is_short(src.data_len)) [[unlikely]]
        return CopyQueue::submit(job.base);
    std::byte *const to = dst.data + before;
    if (!route.copy<side>(is_read ? src.data : to, is_read ? to : src.data, src.data_len)) [[unlikely]]
        return CopyQueue::submit(job.base);
    // Loaded and found anew: keeping it would be more stores, which is what a short copy waits for.
    doca_buf &extended = *job.dst_buff;
    extended.data_len = (extended.tailroom() == 0 ? 0 : extended.data_len) + job.src_buff->data_len;
    workq_.complete_unarmed(job.base, *this, DOCA_SUCCESS);
    return DOCA_SUCCESS;
}

/// Submits a job for which no route is known, or none exists.
template <Hazard::Side side>
[[gnu::noinline, gnu::cold]] doca_error_t SoftCopyQueue::submit_and_find_route(const doca_dma_job_memcpy &job,
                                                                               Route &route) noexcept
{
    const doca_error_t status = CopyQueue::submit(job.base);
    const doca_mmap &there = side == Hazard::Side::src ? *job.src_buff->mmap : *job.dst_buff->mmap;
    const RemoteMemory *const memory = static_cast<const SoftKey &>(there.first_key()).remote();
    if (status == DOCA_SUCCESS && memory != nullptr)
        route = copier_.route_to(there.first_key_number(), *memory, side);
    return status;
}

const SoftKey &SoftCopyQueue::key_of(const doca_buf &buf) const noexcept
{
    return static_cast<const SoftKey &>(*buf.mmap->key_for(&dev()));
}

doca_error_t SoftCopyQueue::copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst,
                                 MemoryKey &src) noexcept
{
    const CopyPayload copy = {job.dst_buff, job.src_buff, plan};
    if (!is_deferring_) {
        if (workq_.is_full())
            return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
        workq_.complete_at_once(job.base, *this,
                                execute(copy, static_cast<SoftKey &>(dst), static_cast<SoftKey &>(src)));
        return DOCA_SUCCESS;
    }
    JobSlot *const slot = workq_.take_slot(job.base, *this);
    if (slot == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    slot->copy = copy;
    deferred_[(first_deferred_ + num_deferred_++) % deferred_.size()] = slot;
    if (workq_.is_armed())
        workq_.wake(); // retrieving is what carries it out
    return DOCA_SUCCESS;
}

/// One job a call, so that each waits for the retrieve that gives it out.
void SoftCopyQueue::progress() noexcept
{
    if (num_deferred_ == 0)
        return;
    JobSlot &job = *deferred_[first_deferred_];
    first_deferred_ = (first_deferred_ + 1) % deferred_.size();
    --num_deferred_;
    workq_.complete(job, execute(job.copy, key_of(*job.copy.dst), key_of(*job.copy.src)));
}

doca_error_t SoftCopyQueue::execute(const CopyPayload &copy, const SoftKey &dst_key,
                                    const SoftKey &src_key) noexcept
{
    if (copy.plan.is_list)
        return execute_list(copy);
    doca_buf &dst = *copy.dst;
    const std::size_t before = copy.plan.overwrites ? 0 : dst.data_len;
    const doca_error_t status = copier_.copy(dst_key.remote(), dst.data + before, src_key.remote(),
                                             copy.src->data, copy.plan.length, copy.plan.length);
    if (status == DOCA_SUCCESS)
        dst.data_len = before + copy.plan.length;
    return status;
}

doca_error_t SoftCopyQueue::execute_list(const CopyPayload &copy) noexcept
{
    Cursor src = Cursor::over_data(*copy.src);
    Cursor dst = Cursor::over_room(*copy.dst, copy.plan.overwrites);
    for (std::size_t left = copy.plan.length; left != 0;) {
        src.skip_empty();
        dst.skip_empty();
        const std::size_t length = std::min({left, src.left(), dst.left()});
        const doca_error_t status =
            copier_.copy(key_of(dst.buf()).remote(), dst.addr(), key_of(src.buf()).remote(), src.addr(),
                         length, copy.plan.length);
        if (status != DOCA_SUCCESS)
            return status;
        src.advance(length);
        dst.advance(length);
        left -= length;
    }
    extend_data(*copy.dst, copy.plan.length, copy.plan.overwrites);
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
