// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// CopyQueue: submission and completion of copies in the normal case. Included where a CopyQueue is instantiated.
#pragma once

#include "copy_queue.hpp"

#include <cstdint>
#include <cstring>

#include "../../log/log.hpp"
#include "segments.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_COPY);

namespace opendoca::verbs {

inline constexpr std::uint32_t max_polled = 16; ///< most completions to process in one poll()

/// Sets the data lengths of @p list: its data ends in @p last, which then has @p data_len bytes.
inline void set_data_end(doca_buf &list, doca_buf &last, std::size_t data_len, bool overwrites) noexcept
{
    // Buffers before the last one are completely filled.
    for (doca_buf *buf = &list; buf != &last; buf = buf->next)
        buf->data_len += buf->tailroom();
    last.data_len = data_len;
    if (!overwrites)
        return;
    // A destination that is overwritten has no data behind what was written.
    for (doca_buf *buf = last.next; buf != nullptr; buf = buf->next)
        buf->data_len = 0;
}

/// Deregisters from the completion queue. The members are destroyed afterwards: the events before the verbs queue that
/// they watch.
template <typename Poster>
CopyQueue<Poster>::~CopyQueue()
{
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
}

/// Queues a copy that cannot take the fast path: a list, a long copy, or one that has to wait for credits or behind a
/// waiting copy. Posts as much of it as there are credits for.
template <typename Poster>
doca_error_t CopyQueue<Poster>::copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept
{
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY; // not logged: a full queue is normal, programs retrieve completions and retry
    if (is_flushing_) [[unlikely]]
        cancel_flush();
    Operation &operation = completions_.begin(tag, *this);
    Copy &copy = operation.payload<Copy>();
    copy = {};
    copy.dst = copy.last = &dst;
    copy.src = &src;
    copy.length = static_cast<std::uint32_t>(plan.length);
    operation.kind = kind_queued;
    copy.is_list = plan.is_list;
    copy.overwrites = plan.overwrites;
    ++num_in_flight_;
    QueuedCopy &added = queued_at(last_++);
    added.operation = &operation;
    // Fixes the place of a single buffer's copy. For a list, begin() and finish_posting() do this when the copy is
    // posted.
    added.data_len = (plan.overwrites ? 0 : dst.data_len) + copy.length;
    added.result = DOCA_SUCCESS;
    // Without credits, polling may return some, and posts what waits.
    if (poster_.has_credit())
        post_waiting();
    else
        progress_copies();
    // arm() requested events only for solicited completions if no copy was waiting then; the waiter must poll again.
    if (next_ != last_ && completions_.is_armed())
        completions_.wake();
    return DOCA_SUCCESS;
}

/// Posts as many parts of waiting copies as there are credits.
template <typename Poster>
void CopyQueue<Poster>::post_waiting() noexcept
{
    Batch batch;
    while (next_ != last_ && !failure_.has_happened) {
        QueuedCopy &queued = queued_at(next_);
        if (!has_begun_)
            begin(queued);
        while (left_ != 0 && poster_.has_credit() && !failure_.has_happened)
            add_part(batch);
        // No more credits, or a failure: the rest of this copy is posted when credits return.
        if (left_ != 0)
            break;
        finish_posting(queued);
    }
    post(batch);
    complete_queued(); // completes copies without any part
}

template <typename Poster>
void CopyQueue<Poster>::post(Batch &batch) noexcept
{
    if (const int error = poster_.post(batch); error != 0)
        posting_failed(error);
}

/// Prepares to post the parts of @p queued, or sets its result if it cannot be posted.
template <typename Poster>
void CopyQueue<Poster>::begin(QueuedCopy &queued) noexcept
{
    const Copy &copy = queued.operation->template payload<Copy>();
    has_begun_ = true;
    left_ = 0;
    if (queued.result == DOCA_SUCCESS)
        queued.result = permanent_error_;
    if (queued.result != DOCA_SUCCESS)
        return;
    // A single buffer's range was validated at submission. A list is validated again, since the program may have
    // changed its buffers while the copy waited.
    if (!copy.is_list) {
        src_cursor_ = Cursor::over_range(*copy.src, copy.src->data, copy.length);
        dst_cursor_ = Cursor::over_range(*copy.dst, copy.dst->data + (queued.data_len - copy.length), copy.length);
    } else if (copy.length <= data_of(*copy.src) && copy.length <= room_of(*copy.dst, copy.overwrites)) {
        src_cursor_ = Cursor::over_data(*copy.src);
        dst_cursor_ = Cursor::over_destination(*copy.dst, copy.overwrites);
    } else {
        LOG_ERR("a buffer list of a copy of %u bytes has changed since the copy was submitted", copy.length);
        queued.result = DOCA_ERROR_INVALID_VALUE;
        return;
    }
    left_ = copy.length;
}

template <typename Poster>
void CopyQueue<Poster>::add_part(Batch &batch) noexcept
{
    // Takes the longest part that one work request can carry. The credit was checked by the caller; the poster counts
    // it down.
    CopyPart &part = batch.next_part();
    part = take_part(src_cursor_, dst_cursor_, left_, poster_.limits(),
                     [this](const doca_buf &buf) { return key_of(device_, buf); });
    if (const int error = poster_.add(batch, id_of(posted_)); error != 0)
        return posting_failed(error);
    left_ -= part.length;
    ++posted_;
    if (batch.is_full())
        post(batch);
}

template <typename Poster>
void CopyQueue<Poster>::finish_posting(QueuedCopy &queued) noexcept
{
    Copy &copy = queued.operation->template payload<Copy>();
    if (copy.is_list && queued.result == DOCA_SUCCESS) {
        copy.last = const_cast<doca_buf *>(&dst_cursor_.buf()); // a buffer of the list of copy.dst
        queued.data_len = static_cast<std::size_t>(dst_cursor_.addr() - copy.last->data);
    }
    // The copy is complete once received_ reaches this position. That is at once for a copy without parts.
    queued.end = posted_;
    has_begun_ = false;
    ++next_;
}

/// Polls, recovers after a failure, and posts copies that wait for credits. In this order: polling discovers failures
/// and returns credits.
template <typename Poster>
void CopyQueue<Poster>::progress_copies() noexcept
{
    if (poll() == 0)
        count_empty_poll();
    if (failure_.has_happened) [[unlikely]]
        recover();
    if (next_ != last_) [[unlikely]]
        post_waiting();
}

/// Returns a fast-path copy that has succeeded without queueing it.
template <typename Poster>
Operation *CopyQueue<Poster>::poll_one() noexcept
{
    Operation *completed = nullptr;
    (void)poll_fast([&](Operation &operation) { completed = &operation; }, [] { return DOCA_ERROR_AGAIN; });
    return completed;
}

/// Called when a poll has found no completion.
template <typename Poster>
void CopyQueue<Poster>::handle_empty_poll() noexcept
{
    count_empty_poll();
    if (failure_.has_happened || next_ != last_) [[unlikely]]
        progress_copies();
}

/// Handles the completion at which the poll stands, which is not a fast-path copy to return at once. Returns an
/// operation as poll_one() does.
template <typename Poster>
Operation *CopyQueue<Poster>::poll_after_started() noexcept
{
    // Read before complete_started(), which ends the poll.
    const bool only_returns_credits = cq_->status == IBV_WC_SUCCESS && !Poster::completes_part(cq_->wr_id);
    complete_started();
    if (only_returns_credits && next_ == last_)
        return poll_one(); // the completion only returned credits, which no copy waits for
    progress();
    return nullptr;
}

/// Processes up to max_polled completions and returns their number.
template <typename Poster>
std::uint32_t CopyQueue<Poster>::poll() noexcept
{
    std::uint32_t count = 0;
    while (count != max_polled && VerbsCompletions::begin_poll(*cq_)) {
        complete_started();
        ++count;
    }
    return count;
}

/// Handles the completion at which the poll stands.
template <typename Poster>
void CopyQueue<Poster>::complete_started() noexcept
{
    const std::uint64_t id = cq_->wr_id;
    const ibv_wc_status status = cq_->status;
    VerbsCompletions::end_poll(*cq_);
    if (status == IBV_WC_SUCCESS) [[likely]]
        poster_.handle_completion(id);
    if (status != IBV_WC_SUCCESS) [[unlikely]] {
        record_failure(id, status);
    } else if (!Poster::completes_part(id)) {
        // only returns credits
    } else if ((id & is_queued) != 0) {
        // Parts complete in the order in which they were posted.
        ++received_;
        complete_queued();
    } else {
        Operation &operation = *reinterpret_cast<Operation *>(id);
        const Copy &copy = operation.payload<Copy>();
        copy.dst->end_data_at(copy.data_len);
        --num_in_flight_;
        completions_.done(operation, DOCA_SUCCESS);
    }
}

/// Completes the copies at the front, as far as all their parts have completed.
template <typename Poster>
void CopyQueue<Poster>::complete_queued() noexcept
{
    while (first_ != next_) {
        const QueuedCopy &queued = queued_at(first_);
        if (queued.end != received_)
            return;
        ++first_;
        if (queued.result == DOCA_SUCCESS) [[likely]] {
            const Copy &copy = queued.operation->template payload<Copy>();
            if (copy.is_list) [[unlikely]]
                set_data_end(*copy.dst, *copy.last, queued.data_len, copy.overwrites);
            else
                copy.dst->end_data_at(queued.data_len);
        }
        --num_in_flight_;
        completions_.done(*queued.operation, queued.result,
                          {}); // with an empty result, because Operation::length still has the kind
    }
}

template <typename Poster>
bool CopyQueue<Poster>::arm() noexcept
{
    // While copies wait for credits, every completion matters, also unsolicited ones.
    if (!events_.arm(Poster::parts_are_solicited && next_ == last_))
        return true; // makes the program poll
    // Completions from before the request raise no event.
    // Takes everything that is in the queue, in batches of max_polled.
    while (num_in_flight_ != 0 && poll() == max_polled)
        ;
    progress();
    return false;
}

} // namespace opendoca::verbs
