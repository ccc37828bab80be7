// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies: setting up the queue pair, and what happens when it breaks. One failed request ends the work of a queue pair:
// the others' are flushed, and are posted once more. Included where a CopyQueue is instantiated.
#pragma once

#include "copy_queue.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "../../log.hpp"
#include "completion_status.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_COPY);

namespace opendoca::verbs {

template <typename Poster>
CopyQueue<Poster>::CopyQueue(const VerbsDevice &device, CompletionQueue &completions)
    : completions_(completions),
      poster_(device, completions),
      queued_(std::make_unique<QueuedCopy[]>(std::bit_ceil(completions.depth()))),
      queued_mask_(std::bit_ceil(completions.depth()) - 1),
      device_(device)
{
}

template <typename Poster>
std::size_t CopyQueue<Poster>::longest_part() const noexcept
{
    return std::min<std::uint64_t>(poster_.limits().length, device_.function().can.dma_max_size);
}

template <typename Poster>
doca_error_t CopyQueue<Poster>::create(const VerbsDevice &device, CompletionQueue &completions,
                                       std::unique_ptr<CopyEngine> &engine)
{
    completions.reserve_polled();
    std::unique_ptr<CopyQueue> created(new CopyQueue(device, completions));
    doca_error_t status = created->poster_.connect();
    if (status != DOCA_SUCCESS)
        return status;
    created->longest_fast_ = created->longest_part();
    created->polled_ = &created->poster_.completions().polled();
    status = created->events_.attach(completions);
    if (status != DOCA_SUCCESS)
        return status;
    completions.poll_also(*created);
    engine = std::move(created);
    return DOCA_SUCCESS;
}

template <typename Poster>
void CopyQueue<Poster>::posting_failed(int error) noexcept
{
    LOG_ERR("posting a copy on queue pair 0x%x: %s", poster_.connection().number(), std::strerror(error));
    failure_.has_happened = true;
    poster_.take_all_credits();
    if (completions_.is_armed())
        completions_.wake(); // recovery is in retrieve
}

/// Of the fast-path copy whose request @p sender was to post.
template <typename Poster>
doca_error_t CopyQueue<Poster>::fast_post_failed(const ibv_qp_ex &sender, int error) noexcept
{
    const Operation &operation = *reinterpret_cast<const Operation *>(sender.wr_id & ~id_flags);
    static_cast<CopyQueue &>(*operation.source).posting_failed(error);
    return DOCA_SUCCESS; // progress() sees to it
}

/// Recovers where the device tells that there will be no completions.
template <typename Poster>
void CopyQueue<Poster>::look_for_failure() noexcept
{
    idle_polls_.restart();
    VerbsCompletions &completions = poster_.completions();
    const DeviceFailure failure = completions.look_for_failure();
    if (failure == DeviceFailure::none && !is_flush_overdue())
        return;
    if (failure == DeviceFailure::fatal)
        events_.ignore_failures();
    while (poll() != 0) // most often the failure is among the completions
        ;
    completions.forget_failure();
    if ((poster_.connection().is_broken() && broken_ == DOCA_SUCCESS) || is_flush_overdue())
        failure_.has_happened = true;
    if (failure_.has_happened)
        recover();
}

/// A copy waits for nobody's program, and so needs no help to end, unless the device has lost its completion.
template <typename Poster>
void CopyQueue<Poster>::flush() noexcept
{
    is_flushing_ = true;
    longest_fast_ = 0;
    look_for_failure();
}

template <typename Poster>
void CopyQueue<Poster>::cancel_flush() noexcept
{
    is_flushing_ = false;
    flush_timer_.restart();
    longest_fast_ = longest_part();
}

template <typename Poster>
bool CopyQueue<Poster>::is_flush_overdue() noexcept
{
    return is_flushing_ && num_in_flight_ != 0 && flush_timer_.has_expired(num_in_flight_);
}

template <typename Poster>
void CopyQueue<Poster>::note_failure(std::uint64_t id, ibv_wc_status status) noexcept
{
    failure_.has_happened = true;
    if (status == IBV_WC_WR_FLUSH_ERR)
        return; // the consequence of another one
    // Both sides of one part can fail. Then the poster's own request only knows that there is something with the
    // other.
    if (failure_.has_cause && failure_.id != (id | of_poster))
        return;
    failure_.has_cause = true;
    failure_.id = id;
    failure_.status = status;
}

/// The job that has not ended and is the one of work request @p id, or null. All are queued now.
template <typename Poster>
typename CopyQueue<Poster>::QueuedCopy *CopyQueue<Poster>::queued_of(std::uint64_t id) noexcept
{
    if ((id & is_queued) == 0) {
        for (std::uint32_t number = first_; number != next_; ++number) {
            if (id_of(*queued_at(number).operation) == (id & ~id_flags))
                return &queued_at(number);
        }
        return nullptr; // it has arrived: what has failed came after that
    }
    const auto is_before = [](std::uint32_t a, std::uint32_t b) {
        return static_cast<std::int32_t>(a - b) < 0;
    };
    const auto position = static_cast<std::uint32_t>(id >> flag_bits);
    if (is_before(position, received_))
        return nullptr; // as above
    for (std::uint32_t number = first_; number != next_; ++number) {
        if (is_before(position, queued_at(number).end))
            return &queued_at(number);
    }
    return has_begun_ ? &queued_at(next_) : nullptr;
}

/// Fast-path jobs that have not ended go to the front of the ring, as if all of them had arrived up to now.
template <typename Poster>
void CopyQueue<Poster>::queue_all() noexcept
{
    completions_.each_operation_of(*this, [this](Operation &operation) {
        Copy &copy = operation.payload<Copy>();
        if (operation.status != Operation::in_flight || operation.kind != kind_fast)
            return;
        queued_at(--first_) = {&operation, copy.data_len, received_, DOCA_SUCCESS};
        operation.kind = kind_queued;
        copy.last = copy.dst;
        copy.is_list = copy.overwrites = false;
    });
}

/// With the next recycling of the queue pair. All are queued now.
template <typename Poster>
void CopyQueue<Poster>::end_all(doca_error_t result) noexcept
{
    for (std::uint32_t number = first_; number != last_; ++number)
        queued_at(number).result = result;
}

/// Finds the job that ends because of the failure. There need not be one, but not twice in a row: the oldest
/// has to make way then. All end where the device cannot reach itself: to wait for the same again would take as long for
/// each.
template <typename Poster>
void CopyQueue<Poster>::blame_copy() noexcept
{
    if (failure_.has_cause && to_error(failure_.status) == DOCA_ERROR_CONNECTION_RESET) {
        LOG_ERR("queue pair 0x%x does not reach its own port, and %u copies end: %s", poster_.connection().number(),
                last_ - first_, ibv_wc_status_str(failure_.status));
        end_all(DOCA_ERROR_CONNECTION_RESET);
        return;
    }
    QueuedCopy *queued = failure_.has_cause ? queued_of(failure_.id) : nullptr;
    doca_error_t result = to_error(failure_.status);
    if (queued == nullptr && first_ == recovered_at_ && first_ != last_) {
        queued = &queued_at(first_);
        result = DOCA_ERROR_IO_FAILED;
    }
    recovered_at_ = first_;
    if (queued == nullptr)
        return;
    const Copy &copy = queued->operation->template payload<Copy>();
    LOG_ERR("copying %u bytes from %p to %p by queue pair 0x%x: %s%s", copy.length,
                 static_cast<void *>(copy.src->data), static_cast<void *>(copy.dst->data),
                 poster_.connection().number(),
                 failure_.has_cause ? ibv_wc_status_str(failure_.status) : "flushed again",
                 Poster::side_of(failure_.id));
    queued->result = result;
}

/// Ends the job that has failed, and starts all others again: copying twice does no harm.
template <typename Poster>
void CopyQueue<Poster>::recover() noexcept
{
    while (poll() != 0) // ends what did go well
        ;
    queue_all();
    if (is_flush_overdue()) {
        LOG_ERR("queue pair 0x%x: the device does not tell of the end of %u copies, which the program waits for to stop",
                poster_.connection().number(), last_ - first_);
        end_all(DOCA_ERROR_IO_FAILED);
    } else {
        blame_copy();
    }
    const doca_error_t status = poster_.recycle();
    if (status != DOCA_SUCCESS) {
        LOG_ERR("queue pair 0x%x can't be used again: %u copies and all later ones fail",
                     poster_.connection().number(), last_ - first_);
        broken_ = DOCA_ERROR_IO_FAILED;
    }
    failure_ = {};
    next_ = first_;
    posted_ = received_ = 0;
    has_begun_ = false;
    post_waiting();
}

} // namespace opendoca::verbs
