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

// The id of a work request: its position, and on which side it is.
constexpr std::uint64_t send_id = 0;
constexpr std::uint64_t receive_id = 1;

std::uint64_t id_of(std::uint32_t position, std::uint64_t side) noexcept
{
    return std::uint64_t{position} << 1 | side;
}

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
    return buf.mmap->key_for(&dev())->number;
}

doca_error_t VerbsCopyQueue::copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst_key,
                                  MemoryKey &src_key) noexcept
{
    JobSlot *const slot = workq_.take_slot(job.base, *this);
    if (slot == nullptr)
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    doca_buf &dst = *job.dst_buff;
    const doca_buf &src = *job.src_buff;
    const auto length = static_cast<std::uint32_t>(plan.length);
    const std::size_t before = plan.overwrites ? 0 : dst.data_len;
    slot->payload<Copy>() = {&dst, &src, &dst, length, plan.is_list, plan.overwrites};
    const bool must_wait = next_ != last_;
    Job &added = job_at(last_++);
    added.slot = slot;
    added.data_len = before + length;
    added.result = DOCA_SUCCESS;
    if (must_wait || plan.is_list || length - 1 >= limits_.length || !has_room()) [[unlikely]] {
        post_unusual();
        return DOCA_SUCCESS;
    }

    next_ = last_;
    added.end = posted_ + 1;
    ibv_sge to = {reinterpret_cast<std::uintptr_t>(dst.data + before), length, dst_key.number};
    if (!post_receive(&to, 1)) [[unlikely]]
        return DOCA_SUCCESS; // progress() sees to it
    ibv_qp_ex &sender = connection_.sender();
    const bool is_inline = length <= connection_.max_inline();
    ibv_wr_start(&sender);
    sender.wr_id = id_of(posted_, send_id);
    sender.wr_flags = send_flags(is_inline); // rdma_rxe wants to know of inline data before it comes
    ibv_wr_send(&sender);
    if (is_inline)
        ibv_wr_set_inline_data(&sender, src.data, length);
    else
        ibv_wr_set_sge(&sender, src_key.number, reinterpret_cast<std::uintptr_t>(src.data), length);
    ++posted_;
    if (const int error = ibv_wr_complete(&sender); error != 0) [[unlikely]]
        posting_failed(error, "send");
    return DOCA_SUCCESS;
}

/// A job that is not one message, or has to wait for others.
void VerbsCopyQueue::post_unusual() noexcept
{
    if (has_room())
        post_waiting();
    else
        progress_jobs();
    // What is announced to an armed queue was decided when nothing waited.
    if (next_ != last_ && workq_.is_armed())
        workq_.wake();
}

bool VerbsCopyQueue::post_receive(ibv_sge *segments, std::uint32_t count) noexcept
{
    ibv_recv_wr request = {};
    request.wr_id = id_of(posted_, receive_id);
    request.sg_list = segments;
    request.num_sge = static_cast<int>(count);
    ibv_recv_wr *bad = nullptr;
    const int error = ibv_post_recv(&connection_.queue_pair(), &request, &bad);
    if (error != 0) [[unlikely]]
        posting_failed(error, "receive");
    return error == 0;
}

unsigned VerbsCopyQueue::send_flags(bool is_inline) const noexcept
{
    const bool is_signaled = (posted_ & signal_mask_) == signal_mask_;
    return send_flags_ | (is_signaled ? unsigned{IBV_SEND_SIGNALED} : 0) |
           (is_inline ? unsigned{IBV_SEND_INLINE} : 0);
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
        while (left_ != 0 && has_room() && !failure_.has_happened)
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
    if (const int error = ibv_post_send(&connection_.queue_pair(), batch.requests, &refused); error != 0)
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
    if (!post_receive(part.dst.segments.data(), part.dst.count))
        return;
    ibv_send_wr &request = batch.requests[batch.count];
    request = {};
    request.wr_id = id_of(posted_, send_id);
    request.next = &request + 1;
    request.sg_list = part.src.segments.data();
    request.num_sge = static_cast<int>(part.src.count);
    request.opcode = IBV_WR_SEND;
    request.send_flags = send_flags(false);
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

std::uint32_t VerbsCopyQueue::poll() noexcept
{
    ibv_cq_ex &completions = connection_.completions();
    std::uint32_t count = 0;
    for (; count != most_polled && ReliableConnection::start_completion(completions); ++count) {
        const std::uint64_t id = completions.wr_id;
        const ibv_wc_status status = completions.status;
        ReliableConnection::end_completion(completions);
        if (status != IBV_WC_SUCCESS) [[unlikely]] {
            note_failure(id, status);
        } else if ((id & receive_id) != 0) {
            // The data is in its place, which the end of the send would not say. Messages arrive in order.
            ++received_;
            end_jobs();
        } else {
            reclaimed_ = static_cast<std::uint32_t>(id >> 1) + 1;
        }
    }
    return count;
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
        workq_.complete(*job.slot, job.result);
    }
}

bool VerbsCopyQueue::arm() noexcept
{
    // While jobs wait for room, the end of any message is of interest.
    if (!events_.arm(next_ == last_))
        return true; // which makes the program look
    // What was there before the request is not announced.
    while (first_ != last_ && poll() == most_polled)
        ;
    progress();
    return false;
}

} // namespace opendoca::verbs
