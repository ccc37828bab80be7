// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// CopyQueue: creation, and recovery of a broken queue pair. One failed work request breaks the queue pair, and all
// others are flushed. The copies that have not failed themselves are then posted again. Included where a CopyQueue is
// instantiated.
#pragma once

#include "copy_queue.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>

#include "../../log/log.hpp"
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

/// Reserves the place among the polled sources first, since start_polling() must not fail. On failure the destructor
/// gives the reservation back.
template <typename Poster>
doca_error_t CopyQueue<Poster>::create(const VerbsDevice &device, CompletionQueue &completions,
                                       std::unique_ptr<CopyEngine> &engine)
{
    completions.reserve_polled();
    std::unique_ptr<CopyQueue> created(new CopyQueue(device, completions));
    doca_error_t status = created->poster_.connect();
    if (status != DOCA_SUCCESS)
        return status;
    // The fast path opens only with a connected queue pair.
    created->longest_fast_ = created->longest_part();
    created->cq_ = &created->poster_.completions().extended_cq();
    status = created->events_.attach(completions);
    if (status != DOCA_SUCCESS)
        return status;
    completions.start_polling(*created);
    engine = std::move(created);
    return DOCA_SUCCESS;
}

/// Handles errno's value @p error of a posting call. The queue pair is treated as broken, since it is not certain what
/// part of a batch the driver has accepted.
template <typename Poster>
void CopyQueue<Poster>::posting_failed(int error) noexcept
{
    LOG_ERR("posting a copy on queue pair 0x%x: %s", poster_.connection().number(), std::strerror(error));
    failure_.has_happened = true;
    poster_.take_all_credits();
    if (completions_.is_armed())
        completions_.wake(); // the waiter must poll, since recovery is part of polling
}

/// Handles a failure to post the work request of a fast-path copy, which is the last one of @p sender.
template <typename Poster>
doca_error_t CopyQueue<Poster>::fast_post_failed(const ibv_qp_ex &sender, int error) noexcept
{
    const Operation &operation = *reinterpret_cast<const Operation *>(sender.wr_id & ~id_flags);
    static_cast<CopyQueue &>(*operation.source).posting_failed(error);
    return DOCA_SUCCESS; // progress() recovers, which completes the copy
}

/// Recovers if the device reports a failure because of which there will be no completions.
template <typename Poster>
void CopyQueue<Poster>::check_for_failure() noexcept
{
    idle_polls_.restart();
    VerbsCompletions &completions = poster_.completions();
    const DeviceFailure failure = completions.check_for_failure();
    // The common case: the device is merely idle, or slow.
    if (failure == DeviceFailure::none && !is_flush_overdue())
        return;
    if (failure == DeviceFailure::fatal)
        events_.unwatch_failures();
    while (poll() != 0) // usually the failure is reported by a completion
        ;
    completions.clear_failure();
    // The queue pair is queried, since a suspected failure may have been a false alarm. After a failed recovery it
    // stays broken, and is not recovered again.
    if ((poster_.connection().is_broken() && permanent_error_ == DOCA_SUCCESS) || is_flush_overdue())
        failure_.has_happened = true;
    if (failure_.has_happened)
        recover();
}

/// Copies complete without action of any peer, so they only have to be ended if the device has lost a completion.
template <typename Poster>
void CopyQueue<Poster>::flush() noexcept
{
    is_flushing_ = true;
    longest_fast_ = 0;
    check_for_failure();
}

/// Ends the flush, because the program submits copies again.
template <typename Poster>
void CopyQueue<Poster>::cancel_flush() noexcept
{
    is_flushing_ = false;
    flush_timer_.restart();
    longest_fast_ = longest_part();
}

/// Returns whether the program waits for the copies to complete, and none has completed for the peer timeout.
template <typename Poster>
bool CopyQueue<Poster>::is_flush_overdue() noexcept
{
    return is_flushing_ && num_in_flight_ != 0 && flush_timer_.has_expired(num_in_flight_);
}

/// Records a completion with an error. Only the first error that is not a flush is a cause; it determines which copy
/// fails.
template <typename Poster>
void CopyQueue<Poster>::record_failure(std::uint64_t id, ibv_wc_status status) noexcept
{
    failure_.has_happened = true;
    if (status == IBV_WC_WR_FLUSH_ERR)
        return; // consequence of another failure
    // Both sides of a part can fail. The poster's own request (a send) then only reports that its counterpart has
    // failed, so the status of the counterpart is preferred.
    if (failure_.has_cause && failure_.id != (id | of_poster))
        return;
    failure_.has_cause = true;
    failure_.id = id;
    failure_.status = status;
}

/// Returns the copy of work request @p id if it has not completed, else null. All copies are queued at this point.
template <typename Poster>
typename CopyQueue<Poster>::QueuedCopy *CopyQueue<Poster>::queued_of(std::uint64_t id) noexcept
{
    if ((id & is_queued) == 0) {
        for (std::uint32_t number = first_; number != next_; ++number) {
            if (id_of(*queued_at(number).operation) == (id & ~id_flags))
                return &queued_at(number);
        }
        return nullptr; // the copy has completed: the failure occurred after its data had arrived
    }
    // Positions wrap around after 2^32 parts. They differ by less than the ring's size, so the sign of the difference
    // orders them.
    const auto is_before = [](std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b) < 0; };
    const auto position = static_cast<std::uint32_t>(id >> flag_bits);
    if (is_before(position, received_))
        return nullptr; // the same for a queued copy
    for (std::uint32_t number = first_; number != next_; ++number) {
        if (is_before(position, queued_at(number).end))
            return &queued_at(number);
    }
    // The part belongs to the copy that is posted only partly, if to any.
    return has_begun_ ? &queued_at(next_) : nullptr;
}

/// Moves the fast-path copies in flight to the front of the ring, so that all copies are queued. Their end position is
/// the number of parts that have been received so far.
template <typename Poster>
void CopyQueue<Poster>::move_fast_copies_to_ring() noexcept
{
    completions_.each_operation_of(*this, [this](Operation &operation) {
        Copy &copy = operation.payload<Copy>();
        if (operation.status != Operation::in_flight || operation.kind != kind_fast)
            return;
        queued_at(--first_) = {&operation, copy.data_len, received_, DOCA_SUCCESS};
        operation.kind = kind_queued;
        // A fast-path copy has used the union for the data length, which is now in the ring's entry.
        copy.last = copy.dst;
        copy.is_list = copy.overwrites = false;
    });
}

/// Completes all copies with @p result at the next post_waiting(). All copies are queued at this point.
template <typename Poster>
void CopyQueue<Poster>::fail_all(doca_error_t result) noexcept
{
    for (std::uint32_t number = first_; number != last_; ++number)
        queued_at(number).result = result;
}

/// Chooses the copy that completes with an error because of the failure. The failure may belong to no copy; but if that
/// happens twice without progress, the oldest copy is chosen, so that recovery cannot repeat forever. If the device
/// cannot reach its own port, all copies fail, since each further attempt would take the full timeout.
template <typename Poster>
void CopyQueue<Poster>::choose_failed_copy() noexcept
{
    if (failure_.has_cause && to_error(failure_.status) == DOCA_ERROR_CONNECTION_RESET) {
        LOG_ERR("queue pair 0x%x cannot reach its own port, and %u copies fail: %s", poster_.connection().number(),
                last_ - first_, ibv_wc_status_str(failure_.status));
        fail_all(DOCA_ERROR_CONNECTION_RESET);
        return;
    }
    QueuedCopy *queued = failure_.has_cause ? queued_of(failure_.id) : nullptr;
    doca_error_t result = to_error(failure_.status);
    // first_ has not advanced since the last recovery: posting the same copies again has failed again.
    if (queued == nullptr && first_ == recovered_at_ && first_ != last_) {
        queued = &queued_at(first_);
        result = DOCA_ERROR_IO_FAILED;
    }
    recovered_at_ = first_;
    if (queued == nullptr)
        return;
    const Copy &copy = queued->operation->template payload<Copy>();
    LOG_ERR("copying %u bytes from %p to %p by queue pair 0x%x: %s%s", copy.length, static_cast<void *>(copy.src->data),
            static_cast<void *>(copy.dst->data), poster_.connection().number(),
            failure_.has_cause ? ibv_wc_status_str(failure_.status)
                               : "flushed repeatedly, without an error that is the cause",
            Poster::side_name(failure_.id));
    queued->result = result;
}

/// Completes the copy that has failed and posts all others again. A copy may be executed twice, which is harmless.
template <typename Poster>
void CopyQueue<Poster>::recover() noexcept
{
    while (poll() != 0) // completes the copies that have succeeded
        ;
    move_fast_copies_to_ring();
    if (is_flush_overdue()) {
        LOG_ERR("queue pair 0x%x: the device reports no completion of %u copies, and the flush ends them without it",
                poster_.connection().number(), last_ - first_);
        fail_all(DOCA_ERROR_IO_FAILED);
    } else {
        choose_failed_copy();
    }
    // Before any copy completes or is posted again: until the reset, the device may still write to the destinations.
    const doca_error_t status = poster_.reset_and_reconnect();
    if (status != DOCA_SUCCESS) {
        LOG_ERR("queue pair 0x%x cannot be recovered: %u copies and all later ones fail", poster_.connection().number(),
                last_ - first_);
        permanent_error_ = DOCA_ERROR_IO_FAILED;
    }
    // All copies in the ring count as not posted, and the positions of parts start again from 0. Copies that have a
    // result complete with it in post_waiting().
    failure_ = {};
    next_ = first_;
    posted_ = received_ = 0;
    has_begun_ = false;
    post_waiting();
}

} // namespace opendoca::verbs
