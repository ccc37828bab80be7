// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_queue.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include <doca_dma.h>

#include "../../mmap.hpp"
#include "../../workq.hpp"
#include "copy.hpp"
#include "../cursor.hpp"

namespace opendoca::soft {

namespace {

/// DOCA_SOFT_DEFER=1 in the environment.
bool is_deferring()
{
    const char *const text = std::getenv("DOCA_SOFT_DEFER");
    return text != nullptr && std::string_view(text) == "1";
}

} // namespace

SoftCopyQueue::SoftCopyQueue(doca_workq &workq, const doca_dev &dev, JobQueue &owner)
    : workq_(workq),
      dev_(dev),
      owner_(owner),
      is_deferring_(is_deferring()),
      deferred_(is_deferring_ ? workq.depth() : 0)
{
}

const SoftKey &SoftCopyQueue::key_of(const doca_buf &buf) const noexcept
{
    return static_cast<const SoftKey &>(*buf.mmap->key_for(&dev_));
}

doca_error_t SoftCopyQueue::copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst, MemoryKey &src) noexcept
{
    const auto &dst_key = static_cast<SoftKey &>(dst);
    const auto &src_key = static_cast<SoftKey &>(src);
    if (plan.is_list || dst_key.remote() != nullptr || src_key.remote() != nullptr || is_deferring_ ||
        workq_.is_full() || workq_.is_armed())
        return copy_any(job, plan, dst_key, src_key);
    // Between two buffers of this process nothing can go wrong any more: recording the end first leaves nothing to be
    // done after the copy. Only this thread could see the difference.
    doca_buf &to = *job.dst_buff;
    const std::size_t before = plan.overwrites ? 0 : to.data_len;
    to.data_len = before + plan.length;
    workq_.complete_unarmed(job.base, owner_, DOCA_SUCCESS);
    return copy_bytes(to.data + before, job.src_buff->data, plan.length, plan.length);
}

doca_error_t SoftCopyQueue::copy_any(const doca_dma_job_memcpy &job, CopyPlan plan, const SoftKey &dst,
                                     const SoftKey &src) noexcept
{
    const CopyPayload copy = {job.dst_buff, job.src_buff, plan};
    if (!is_deferring_) {
        if (workq_.is_full())
            return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
        workq_.complete_at_once(job.base, owner_, execute(copy, dst, src));
        return DOCA_SUCCESS;
    }
    JobSlot *const slot = workq_.take_slot(job.base, owner_);
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

doca_error_t SoftCopyQueue::execute(const CopyPayload &copy, const SoftKey &dst_key, const SoftKey &src_key) noexcept
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
