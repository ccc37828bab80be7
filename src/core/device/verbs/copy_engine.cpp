// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies that go well: from submission to completion.
#include "copy_engine.hpp"

#include <cstring>

#include "../../log.hpp"
#include "../../mmap.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_COPY);

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

std::uint32_t VerbsCopyEngine::key_of(const doca_buf &buf) const noexcept
{
    return verbs_key(buf.mmap->key_for(device_)->number);
}

VerbsCopyEngine::~VerbsCopyEngine()
{
    completions_.poll_no_more(*this);
    completions_.unreserve_polled();
}

doca_error_t VerbsCopyEngine::copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept
{
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not worth a message: programs drain the queue and try again
    Operation &operation = completions_.begin(tag, *this);
    Copy &copy = operation.payload<Copy>();
    copy = {};
    copy.dst = copy.last = &dst;
    copy.src = &src;
    copy.length = static_cast<std::uint32_t>(plan.length);
    operation.kind = kind_special;
    copy.is_list = plan.is_list;
    copy.overwrites = plan.overwrites;
    ++num_in_flight_;
    Special &added = special_at(last_++);
    added.operation = &operation;
    added.data_len = (plan.overwrites ? 0 : dst.data_len) + copy.length;
    added.result = DOCA_SUCCESS;
    if (send_credits_ != 0)
        post_waiting();
    else
        progress_copies();
    // What is announced to an armed queue was decided when nothing waited.
    if (next_ != last_ && completions_.is_armed())
        completions_.wake();
    return DOCA_SUCCESS;
}

/// Sends that share a doorbell. By ibv_post_send(), because of rdma_rxe (rdma-core 44), where
/// ibv_wr_set_sge_list() takes all segments to be as long as the first.
struct VerbsCopyEngine::Batch {
    CopyPart parts[most_sends];
    ibv_send_wr requests[most_sends];
    std::uint32_t count = 0;
};

/// Posts as much as the queues have room for.
void VerbsCopyEngine::post_waiting() noexcept
{
    Batch batch;
    while (next_ != last_ && !failure_.has_happened) {
        Special &special = special_at(next_);
        if (!has_begun_)
            begin(special);
        while (left_ != 0 && send_credits_ != 0 && !failure_.has_happened)
            add_part(batch);
        if (left_ != 0)
            break;
        finish_posting(special);
    }
    post(batch);
    end_specials(); // those without any part
}

void VerbsCopyEngine::post(Batch &batch) noexcept
{
    if (batch.count == 0)
        return;
    batch.requests[batch.count - 1].next = nullptr;
    batch.count = 0;
    ibv_send_wr *refused = nullptr;
    if (const int error = ibv_post_send(queue_pair_, batch.requests, &refused); error != 0)
        posting_failed(error, "sends");
}

void VerbsCopyEngine::begin(Special &special) noexcept
{
    const Copy &copy = special.operation->payload<Copy>();
    has_begun_ = true;
    left_ = 0;
    if (special.result == DOCA_SUCCESS)
        special.result = broken_;
    if (special.result != DOCA_SUCCESS)
        return;
    if (!copy.is_list) {
        src_cursor_ = Cursor::over_range(*copy.src, copy.src->data, copy.length);
        dst_cursor_ =
            Cursor::over_range(*copy.dst, copy.dst->data + (special.data_len - copy.length), copy.length);
    } else if (copy.length <= data_of(*copy.src) && copy.length <= room_of(*copy.dst, copy.overwrites)) {
        src_cursor_ = Cursor::over_data(*copy.src);
        dst_cursor_ = Cursor::over_room(*copy.dst, copy.overwrites);
    } else {
        LOG_ERR("a list of a copy of %u bytes has changed since the copy was submitted", copy.length);
        special.result = DOCA_ERROR_INVALID_VALUE;
        return;
    }
    left_ = copy.length;
}

void VerbsCopyEngine::add_part(Batch &batch) noexcept
{
    CopyPart &part = batch.parts[batch.count];
    part = take_part(src_cursor_, dst_cursor_, left_, limits_,
                     [this](const doca_buf &buf) { return key_of(buf); });
    if (const int error = post_receive(id_of(posted_), part.dst.segments.data(), part.dst.count); error != 0) {
        posting_failed(error, "receive");
        return;
    }
    --send_credits_;
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

void VerbsCopyEngine::finish_posting(Special &special) noexcept
{
    Copy &copy = special.operation->payload<Copy>();
    if (copy.is_list && special.result == DOCA_SUCCESS) {
        copy.last = const_cast<doca_buf *>(&dst_cursor_.buf()); // one of dst's list
        special.data_len = static_cast<std::size_t>(dst_cursor_.addr() - copy.last->data);
    }
    special.end = posted_;
    has_begun_ = false;
    ++next_;
}

void VerbsCopyEngine::progress_copies() noexcept
{
    if (poll() == 0)
        count_empty_poll();
    if (failure_.has_happened) [[unlikely]]
        recover();
    if (next_ != last_) [[unlikely]]
        post_waiting();
}

/// A plain copy that has ended well goes right to the front end.
Operation *VerbsCopyEngine::poll_one() noexcept
{
    Operation *ended = nullptr;
    (void)poll_plain([&](Operation &operation) { ended = &operation; }, [] { return DOCA_ERROR_AGAIN; });
    return ended;
}

/// Nothing has ended.
void VerbsCopyEngine::polled_nothing() noexcept
{
    count_empty_poll();
    if (failure_.has_happened || next_ != last_) [[unlikely]]
        progress_copies();
}

/// The completion that was started is not a plain copy's. As poll_one().
Operation *VerbsCopyEngine::poll_after_started() noexcept
{
    const bool is_end_of_send = polled_->status == IBV_WC_SUCCESS && (polled_->wr_id & is_send) != 0;
    end_started();
    if (is_end_of_send && next_ == last_)
        return poll_one(); // nothing waits for that
    progress();
    return nullptr;
}

std::uint32_t VerbsCopyEngine::poll() noexcept
{
    std::uint32_t count = 0;
    while (count != most_polled && ReliableConnection::start_completion(*polled_)) {
        end_started();
        ++count;
    }
    return count;
}

/// Does what the completion that was started asks for.
void VerbsCopyEngine::end_started() noexcept
{
    const std::uint64_t id = polled_->wr_id;
    const ibv_wc_status status = polled_->status;
    ReliableConnection::end_completion(*polled_);
    if (status != IBV_WC_SUCCESS) [[unlikely]] {
        note_failure(id, status);
    } else if ((id & is_send) != 0) {
        send_credits_ += static_cast<std::int32_t>(signal_period_); // its receive has ended before it, as has all that was posted before
    } else if ((id & is_special) != 0) {
        // The data is in its place, which the end of the send would not say. Messages arrive in order.
        ++received_;
        end_specials();
    } else {
        Operation &operation = *reinterpret_cast<Operation *>(id);
        const Copy &copy = operation.payload<Copy>();
        copy.dst->end_data_at(copy.data_len);
        --num_in_flight_;
        completions_.done(operation, DOCA_SUCCESS);
    }
}

/// Those at the front whose last part has arrived, or who have none.
void VerbsCopyEngine::end_specials() noexcept
{
    while (first_ != next_) {
        const Special &special = special_at(first_);
        if (special.end != received_)
            return;
        ++first_;
        if (special.result == DOCA_SUCCESS) [[likely]] {
            const Copy &copy = special.operation->payload<Copy>();
            if (copy.is_list) [[unlikely]]
                set_data_end(*copy.dst, *copy.last, special.data_len, copy.overwrites);
            else
                copy.dst->end_data_at(special.data_len);
        }
        --num_in_flight_;
        completions_.done(*special.operation, special.result, {}); // not with its kind as a length
    }
}

bool VerbsCopyEngine::arm() noexcept
{
    // While copies wait for credits, the end of any message is of interest.
    if (!events_.arm(next_ == last_))
        return true; // which makes the program look
    // What was there before the request is not announced.
    while (num_in_flight_ != 0 && poll() == most_polled)
        ;
    progress();
    return false;
}

} // namespace opendoca::verbs
