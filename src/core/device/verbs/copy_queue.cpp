// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies that go well: from submission to completion.
#include "copy_queue.hpp"

#include <cstring>

#include <doca_dma.h>
#include <doca_log.h>

#include "../../mmap.hpp"
#include "../../workq.hpp"

DOCA_LOG_REGISTER(DOCA_VERBS_COPY);

namespace opendoca::verbs {

namespace {

constexpr std::uint32_t most_polled = 16; ///< completions at a time
constexpr std::uint32_t most_sends = 16;  ///< with one doorbell

/// The data sections of @p list now end in @p last, which has @p data_len bytes.
void set_data_end(doca_buf &list, doca_buf &last, std::size_t data_len, bool overwrites) noexcept
{
    for (doca_buf *buf = &list; buf != &last; buf = buf->next)
        buf->data_len += buf->tailroom();
    last.data_len = data_len;
    if (!overwrites)
        return;
    for (doca_buf *buf = last.next; buf != nullptr; buf = buf->next)
        buf->data_len = 0;
}

} // namespace

std::uint32_t VerbsCopyQueue::key_of(const doca_buf &buf) const noexcept
{
    return verbs_key(buf.mmap->key_for(&dev())->number);
}

doca_error_t VerbsCopyQueue::submit(const doca_job &base) noexcept
{
    const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
    const doca_buf *const src = job.src_buff;
    doca_buf *const dst = job.dst_buff;
    if (base.type != DOCA_DMA_JOB_MEMCPY || src == nullptr || dst == nullptr || !src->is_alone() ||
        !src->mmap->is_rdma_local(&dev()) || !dst->is_alone() || !dst->mmap->is_rdma_local(&dev()) ||
        src->data_len > dst->tailroom() || send_room_ == 0 || next_ != last_ || workq_.is_full()) [[unlikely]]
        return CopyQueue::submit(base);
    if (src->data_len - 1 < longest_inline_) // rdma_rxe wants the flag when the request is started
        return post_plain(base, *src, *dst, IBV_SEND_INLINE, [](ibv_qp_ex *sender, const doca_buf &from) {
            ibv_wr_set_inline_data(sender, from.data, from.data_len);
        });
    if (src->data_len - 1 < limits_.length)
        return post_plain(base, *src, *dst, 0, [](ibv_qp_ex *sender, const doca_buf &from) {
            ibv_wr_set_sge(sender, verbs_key(from.mmap->first_key_number()),
                           reinterpret_cast<std::uintptr_t>(from.data),
                           static_cast<std::uint32_t>(from.data_len));
        });
    return CopyQueue::submit(base);
}

template <typename SetData>
[[gnu::always_inline]] inline doca_error_t
VerbsCopyQueue::post_plain(const doca_job &job, const doca_buf &src, doca_buf &dst, unsigned flags,
                           SetData set_data) noexcept
{
    const auto length = static_cast<std::uint32_t>(src.data_len);
    JobSlot &slot = workq_.take_free_slot(job, *this);
    Copy &copy = slot.payload<Copy>();
    copy.dst = &dst;
    copy.src = &src;
    copy.data_len = dst.data_len + length;
    copy.length = length;
    copy.stage = Stage::plain;
    ++num_in_flight_;
    ibv_sge to = {reinterpret_cast<std::uintptr_t>(dst.data) + dst.data_len, length,
                  verbs_key(dst.mmap->first_key_number())};
    if (!post_receive(id_of(slot), &to, 1)) [[unlikely]]
        return DOCA_SUCCESS; // progress() sees to it
    ibv_qp_ex *const sender = sender_;
    ibv_wr_start(sender);
    sender->wr_id = id_of(slot) | is_send;
    sender->wr_flags = flags | signal_flags();
    ibv_wr_send(sender);
    set_data(sender, src);
    if (const int error = ibv_wr_complete(sender); error != 0) [[unlikely]]
        posting_failed(error, "send");
    return DOCA_SUCCESS;
}

doca_error_t VerbsCopyQueue::copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &,
                                  MemoryKey &) noexcept
{
    JobSlot *const slot = workq_.take_slot(job.base, *this);
    if (slot == nullptr)
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    doca_buf &dst = *job.dst_buff;
    Copy &copy = slot->payload<Copy>();
    copy = {};
    copy.dst = copy.last = &dst;
    copy.src = job.src_buff;
    copy.length = static_cast<std::uint32_t>(plan.length);
    copy.stage = Stage::special;
    copy.is_list = plan.is_list;
    copy.overwrites = plan.overwrites;
    ++num_in_flight_;
    Job &added = job_at(last_++);
    added.slot = slot;
    added.data_len = (plan.overwrites ? 0 : dst.data_len) + copy.length;
    added.result = DOCA_SUCCESS;
    if (send_room_ != 0)
        post_waiting();
    else
        progress_jobs();
    // What is announced to an armed queue was decided when nothing waited.
    if (next_ != last_ && workq_.is_armed())
        workq_.wake();
    return DOCA_SUCCESS;
}

[[gnu::always_inline]] inline bool VerbsCopyQueue::post_receive(std::uint64_t id, ibv_sge *segments,
                                                                std::uint32_t count) noexcept
{
    ibv_recv_wr request;
    request.wr_id = id;
    request.next = nullptr;
    request.sg_list = segments;
    request.num_sge = static_cast<int>(count);
    ibv_recv_wr *bad = nullptr;
    const int error = ibv_post_recv(queue_pair_, &request, &bad);
    if (error != 0) [[unlikely]]
        posting_failed(error, "receive");
    return error == 0;
}

/// Of the message that is posted now.
[[gnu::always_inline]] inline unsigned VerbsCopyQueue::signal_flags() noexcept
{
    --send_room_;
    if (--until_signal_ != 0) [[likely]]
        return send_flags_;
    until_signal_ = signal_period_;
    return send_flags_ | IBV_SEND_SIGNALED;
}

/// Sends that share a doorbell. By ibv_post_send(), because of rdma_rxe (rdma-core 44), where
/// ibv_wr_set_sge_list() takes all segments to be as long as the first.
struct VerbsCopyQueue::Batch {
    CopyPart parts[most_sends];
    ibv_send_wr requests[most_sends];
    std::uint32_t count = 0;
};

/// Posts as much as the queues have room for.
void VerbsCopyQueue::post_waiting() noexcept
{
    Batch batch;
    while (next_ != last_ && !failure_.has_happened) {
        Job &job = job_at(next_);
        if (!has_begun_)
            begin(job);
        while (left_ != 0 && send_room_ != 0 && !failure_.has_happened)
            add_part(batch);
        if (left_ != 0)
            break;
        finish_posting(job);
    }
    post(batch);
    end_jobs(); // those without any part
}

void VerbsCopyQueue::post(Batch &batch) noexcept
{
    if (batch.count == 0)
        return;
    batch.requests[batch.count - 1].next = nullptr;
    batch.count = 0;
    ibv_send_wr *refused = nullptr;
    if (const int error = ibv_post_send(queue_pair_, batch.requests, &refused); error != 0)
        posting_failed(error, "sends");
}

void VerbsCopyQueue::begin(Job &job) noexcept
{
    const Copy &copy = job.slot->payload<Copy>();
    has_begun_ = true;
    left_ = 0;
    if (job.result == DOCA_SUCCESS)
        job.result = broken_;
    if (job.result != DOCA_SUCCESS)
        return;
    if (!copy.is_list) {
        src_cursor_ = Cursor::over_range(*copy.src, copy.src->data, copy.length);
        dst_cursor_ =
            Cursor::over_range(*copy.dst, copy.dst->data + (job.data_len - copy.length), copy.length);
    } else if (copy.length <= data_of(*copy.src) && copy.length <= room_of(*copy.dst, copy.overwrites)) {
        src_cursor_ = Cursor::over_data(*copy.src);
        dst_cursor_ = Cursor::over_room(*copy.dst, copy.overwrites);
    } else {
        DOCA_LOG_ERR("a list of a copy of %u bytes has changed since the job was submitted", copy.length);
        job.result = DOCA_ERROR_INVALID_VALUE;
        return;
    }
    left_ = copy.length;
}

void VerbsCopyQueue::add_part(Batch &batch) noexcept
{
    CopyPart &part = batch.parts[batch.count];
    part = take_part(src_cursor_, dst_cursor_, left_, limits_,
                     [this](const doca_buf &buf) { return key_of(buf); });
    if (!post_receive(id_of(posted_), part.dst.segments.data(), part.dst.count))
        return;
    ibv_send_wr &request = batch.requests[batch.count];
    request = {};
    request.wr_id = id_of(posted_) | is_send;
    request.next = &request + 1;
    request.sg_list = part.src.segments.data();
    request.num_sge = static_cast<int>(part.src.count);
    request.opcode = IBV_WR_SEND;
    request.send_flags = signal_flags();
    left_ -= part.length;
    ++posted_;
    if (++batch.count == most_sends)
        post(batch);
}

void VerbsCopyQueue::finish_posting(Job &job) noexcept
{
    Copy &copy = job.slot->payload<Copy>();
    if (copy.is_list && job.result == DOCA_SUCCESS) {
        copy.last = const_cast<doca_buf *>(&dst_cursor_.buf()); // one of dst's list
        job.data_len = static_cast<std::size_t>(dst_cursor_.addr() - copy.last->data);
    }
    job.end = posted_;
    has_begun_ = false;
    ++next_;
}

void VerbsCopyQueue::progress_jobs() noexcept
{
    poll();
    if (failure_.has_happened) [[unlikely]]
        recover();
    if (next_ != last_) [[unlikely]]
        post_waiting();
}

/// A plain job that has ended well goes right to the program.
doca_error_t VerbsCopyQueue::retrieve(doca_event &event, doca_workq &workq) noexcept
{
    if (num_in_flight_ == 0)
        return workq.give_waiting(event);
    if (!ReliableConnection::start_completion(*completions_))
        return retrieve_waiting(event);
    const std::uint64_t id = completions_->wr_id;
    if (completions_->status != IBV_WC_SUCCESS || (id & id_flags) != 0) [[unlikely]] {
        end_started();
        progress();
        return workq.give_waiting(event);
    }
    ReliableConnection::end_completion(*completions_);
    JobSlot &slot = *reinterpret_cast<JobSlot *>(id);
    const Copy &copy = slot.payload<Copy>();
    --num_in_flight_;
    copy.dst->data_len = copy.data_len;
    event.type = slot.type;
    event.user_data = slot.user_data;
    event.result.u64 = DOCA_SUCCESS;
    workq.release(slot);
    return DOCA_SUCCESS;
}

/// The device has ended nothing, but there can be something else to do.
doca_error_t VerbsCopyQueue::retrieve_waiting(doca_event &event) noexcept
{
    if (failure_.has_happened || next_ != last_) [[unlikely]]
        progress_jobs();
    return workq_.give_waiting(event);
}

std::uint32_t VerbsCopyQueue::poll() noexcept
{
    std::uint32_t count = 0;
    while (count != most_polled && ReliableConnection::start_completion(*completions_)) {
        end_started();
        ++count;
    }
    return count;
}

/// Does what the completion that was started asks for.
void VerbsCopyQueue::end_started() noexcept
{
    const std::uint64_t id = completions_->wr_id;
    const ibv_wc_status status = completions_->status;
    ReliableConnection::end_completion(*completions_);
    if (status != IBV_WC_SUCCESS) [[unlikely]] {
        note_failure(id, status);
    } else if ((id & is_send) != 0) {
        send_room_ += signal_period_; // its receive has ended before it, as has all that was posted before
    } else if ((id & is_special) != 0) {
        // The data is in its place, which the end of the send would not say. Messages arrive in order.
        ++received_;
        end_jobs();
    } else {
        JobSlot &slot = *reinterpret_cast<JobSlot *>(id);
        Copy &copy = slot.payload<Copy>();
        copy.dst->data_len = copy.data_len;
        copy.stage = Stage::ended;
        slot.write_result = nullptr;
        --num_in_flight_;
        workq_.complete(slot, DOCA_SUCCESS);
    }
}

/// Those at the front whose last part has arrived, or who have none.
void VerbsCopyQueue::end_jobs() noexcept
{
    while (first_ != next_) {
        const Job &job = job_at(first_);
        if (job.end != received_)
            return;
        ++first_;
        if (job.result == DOCA_SUCCESS) [[likely]] {
            const Copy &copy = job.slot->payload<Copy>();
            if (copy.is_list) [[unlikely]]
                set_data_end(*copy.dst, *copy.last, job.data_len, copy.overwrites);
            else
                copy.dst->data_len = job.data_len;
        }
        job.slot->payload<Copy>().stage = Stage::ended;
        --num_in_flight_;
        workq_.complete(*job.slot, job.result);
    }
}

bool VerbsCopyQueue::arm() noexcept
{
    // While jobs wait for room, the end of any message is of interest.
    if (!events_.arm(next_ == last_))
        return true; // which makes the program look
    // What was there before the request is not announced.
    while (num_in_flight_ != 0 && poll() == most_polled)
        ;
    progress();
    return false;
}

} // namespace opendoca::verbs
