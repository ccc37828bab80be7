// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection_poller.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../../log/log.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_POLLER);

namespace opendoca::verbs {

namespace {

/// Most completions to process in one progress().
constexpr int max_per_progress = 16;

/// Reserves memory, so that adding one more element cannot fail.
template <typename T>
void make_room(std::vector<T> &list, std::size_t size)
{
    if (size == list.capacity())
        list.reserve(std::max<std::size_t>(2 * size, 4));
}

} // namespace

doca_error_t ConnectionPoller::create_own(const VerbsDevice &device, std::uint32_t size,
                                          std::shared_ptr<ConnectionPoller> &poller)
{
    std::shared_ptr<ConnectionPoller> created(new ConnectionPoller(device, nullptr));
    // With a channel, since it may be attached to an event-driven completion queue.
    const doca_error_t status = created->cq_.create(device, size, true);
    if (status == DOCA_SUCCESS)
        poller = std::move(created);
    return status;
}

/// Shares a verbs completion queue among the queue pairs of one device on one CompletionQueue: one poll then serves
/// them all. A new verbs queue is limited by what the device supports; once it cannot hold the work requests of another
/// queue pair, that queue pair gets another poller.
doca_error_t ConnectionPoller::find_or_create(const VerbsDevice &device, CompletionQueue &completions,
                                              std::uint32_t size, std::shared_ptr<ConnectionPoller> &poller)
{
    auto *const existing = completions.find_polled<ConnectionPoller>([&](ConnectionPoller &candidate) {
        return candidate.shared_by_ != nullptr && !candidate.has_failed_ && &candidate.device_ == &device &&
               candidate.has_room_for(completions, size);
    });
    if (existing != nullptr) {
        poller = existing->shared_from_this();
        return DOCA_SUCCESS;
    }
    std::shared_ptr<ConnectionPoller> created(new ConnectionPoller(device, &completions));
    const doca_error_t status = created->cq_.create(
        device, std::min(completions.depth(), device.port().max_completions()), completions.is_event_driven());
    if (status == DOCA_SUCCESS)
        poller = std::move(created);
    return status;
}

ConnectionPoller::~ConnectionPoller() = default;

/// Each completion belongs to an Operation, so a queue as deep as the engine's completion queue always suffices. A
/// smaller one must have room for everything that its queue pairs can have in flight.
bool ConnectionPoller::has_room_for(const CompletionQueue &completions, std::uint32_t size) const noexcept
{
    return cq_.size() >= completions.depth() || num_reserved_ + size <= cq_.size();
}

doca_error_t ConnectionPoller::create(const ReliableConnection::Sizes &sizes, unsigned access,
                                      std::unique_ptr<ReliableConnection> &created)
{
    const std::lock_guard guard(lock_);
    // destroy() must not allocate memory, since it is called from destructors.
    make_room(retired_, num_existing_);
    auto connection = std::make_unique<ReliableConnection>();
    const doca_error_t status = connection->create(device_, cq_, sizes, access);
    if (status == DOCA_SUCCESS) {
        ++num_existing_;
        num_reserved_ += connection->num_requests();
        created = std::move(connection);
    }
    return status;
}

/// Without a polling thread, no other thread accesses the verbs queue, and the queue pair is destroyed here. Otherwise
/// the queue pair is moved to ERR, after which the device accesses no memory for it, and destroy_retired() destroys it
/// in the polling thread.
void ConnectionPoller::destroy(std::unique_ptr<ReliableConnection> connection) noexcept
{
    const std::lock_guard guard(lock_);
    num_reserved_ -= connection->num_requests();
    if (polled_by_ == nullptr) {
        --num_existing_;
        connection.reset();
        return;
    }
    connection->disconnect();
    retired_.push_back(std::move(connection)); // create() has reserved the memory
    // Relaxed: pairs with the relaxed load in destroy_retired() and is only a hint that there is work. The lock orders
    // the accesses to retired_ itself.
    has_retired_.store(true, std::memory_order_relaxed);
}

/// Destroys the connections that other threads have passed to destroy(). Called by the polling thread, outside of the
/// hot path: without retired connections, it costs one relaxed load.
void ConnectionPoller::destroy_retired() noexcept
{
    if (!has_retired_.load(std::memory_order_relaxed))
        return;
    const std::lock_guard guard(lock_);
    num_existing_ -= static_cast<std::uint32_t>(retired_.size());
    retired_.clear();
    has_retired_.store(false, std::memory_order_relaxed);
}

doca_error_t ConnectionPoller::add(VerbsQueuePair &queue_pair, CompletionQueue &completions)
{
    const std::lock_guard guard(lock_);
    make_room(members_, members_.size());
    if (polled_by_ == nullptr) {
        if (const doca_error_t status = attach(queue_pair, completions); status != DOCA_SUCCESS)
            return status;
    } else if (polled_by_ != &completions) {
        LOG_ERR("queue pair 0x%x uses the completion queue of another work queue, and cannot be created again on "
                "this one because a peer has its number",
                queue_pair.number());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    // The index makes removal take constant time: the last member takes the place of the removed one.
    queue_pair.index_ = members_.size();
    members_.push_back(&queue_pair);
    return DOCA_SUCCESS;
}

doca_error_t ConnectionPoller::attach(VerbsQueuePair &queue_pair, CompletionQueue &completions)
{
    if (completions.is_event_driven() && !cq_.has_channel()) {
        LOG_ERR("queue pair 0x%x was created for a work queue that is not event-driven, and cannot be created again "
                "because a peer has its number",
                queue_pair.number());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!has_room_for(completions, 0)) {
        LOG_ERR("the completion queue of %u entries that queue pair 0x%x uses is too small for a work queue of "
                "depth %u",
                cq_.size(), queue_pair.number(), completions.depth());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    completions.reserve_polled();
    if (const doca_error_t status = events_.attach(completions); status != DOCA_SUCCESS) {
        events_.detach();
        completions.unreserve_polled();
        return status;
    }
    completions.start_polling(*this);
    polled_by_ = &completions;
    return DOCA_SUCCESS;
}

void ConnectionPoller::remove(VerbsQueuePair &queue_pair) noexcept
{
    destroy_retired();
    const std::lock_guard guard(lock_);
    members_[queue_pair.index_] = members_.back();
    members_[queue_pair.index_]->index_ = queue_pair.index_;
    members_.pop_back();
    // The last member detaches the poller from the CompletionQueue. It can then be attached to another one.
    if (!members_.empty())
        return;
    events_.detach();
    polled_by_->stop_polling(*this);
    polled_by_->unreserve_polled();
    polled_by_ = nullptr;
    // Connections that another thread has passed to destroy() after destroy_retired() above, before the lock was taken.
    num_existing_ -= static_cast<std::uint32_t>(retired_.size());
    retired_.clear();
}

Operation *ConnectionPoller::poll_one() noexcept
{
    if (active_cq_ == nullptr)
        return nullptr;
    if (!VerbsCompletions::begin_poll(*active_cq_)) {
        count_empty_poll();
        return nullptr;
    }
    return take_current();
}

/// Counts a poll without a completion; occasionally checks whether a device failure is the reason.
void ConnectionPoller::count_empty_poll() noexcept
{
    if (idle_polls_.is_spent()) [[unlikely]]
        check_for_failure();
}

void ConnectionPoller::progress() noexcept
{
    if (active_cq_ == nullptr)
        return;
    int left = max_per_progress;
    while (left != 0 && poll())
        --left;
    // No completion: the device may have failed without reporting any.
    if (left == max_per_progress)
        count_empty_poll();
}

/// Completes the operation of the next verbs completion. Returns false if there is none.
bool ConnectionPoller::poll() noexcept
{
    if (active_cq_ == nullptr || !VerbsCompletions::begin_poll(*active_cq_))
        return false;
    if (Operation *const operation = take_current(); operation != nullptr)
        polled_by_->done(*operation, DOCA_SUCCESS);
    return true;
}

void ConnectionPoller::drain() noexcept
{
    if (!creator_.is_current())
        return; // the completions are those of the parent process, which shares the queue's memory
    while (poll())
        ;
}

/// Reads the completion at which the poll stands (after ibv_start_poll()), and ends the poll. If the operation has
/// succeeded, returns it with its result set; the caller completes or releases it. Otherwise fails its connection and
/// returns null.
[[gnu::always_inline]] inline Operation *ConnectionPoller::take_current() noexcept
{
    if (active_cq_->status != IBV_WC_SUCCESS) [[unlikely]] {
        fail_current();
        return nullptr;
    }
    Operation &operation = VerbsQueuePair::operation_of(active_cq_->wr_id);
    VerbsQueuePair::take_result(*active_cq_, operation);
    VerbsCompletions::end_poll(*active_cq_);
    return &operation;
}

void ConnectionPoller::fail_current() noexcept
{
    Operation &operation = VerbsQueuePair::operation_of(active_cq_->wr_id);
    const ibv_wc_status status = active_cq_->status;
    VerbsQueuePair::assign_receiver(*active_cq_, operation);
    VerbsCompletions::end_poll(*active_cq_);
    VerbsQueuePair::of(operation).complete_failed(operation, status);
}

void ConnectionPoller::fail(VerbsQueuePair &queue_pair, doca_error_t status) noexcept
{
    // The state changes at once, so that no more operations are posted. Finishing is deferred if a call of
    // finish_failed() is already active further up the stack.
    queue_pair.begin_to_fail(status);
    queue_pair.next_failed_ = std::exchange(first_failed_, &queue_pair);
    finish_failed();
}

/// Finishes failed queue pairs one after the other: draining the queue for one may reveal that another has failed. The
/// order is: drain, so that operations that have succeeded complete with success; reset, after which the device
/// produces no more completions for this queue pair; drain again; complete all others. Only then may Operations be
/// reused, see the class comment.
void ConnectionPoller::finish_failed() noexcept
{
    if (is_finishing_)
        return;
    is_finishing_ = true;
    while (first_failed_ != nullptr) {
        VerbsQueuePair &queue_pair = *std::exchange(first_failed_, first_failed_->next_failed_);
        drain();
        const bool is_reset = queue_pair.connection_->reset() == DOCA_SUCCESS;
        drain(); // reset() removes the queue pair's completions on some devices only
        queue_pair.finish_failing();
        // Completions of the queue pair may still arrive, for Operations that were completed above. The poller must not
        // take them.
        if (!is_reset)
            fail_all();
    }
    is_finishing_ = false;
}

/// Ends polling for good: the device has failed, or a queue pair could not be reset. Since it is unknown what has
/// completed, all members fail.
void ConnectionPoller::fail_all() noexcept
{
    if (has_failed_)
        return;
    has_failed_ = true;
    active_cq_ = nullptr;
    events_.unwatch_failures();
    for (VerbsQueuePair *const queue_pair : members_) {
        if (queue_pair->is_connected())
            fail(*queue_pair, DOCA_ERROR_IO_FAILED);
    }
}

/// Fails connections for which the device reports that there will be no completions.
void ConnectionPoller::check_for_failure() noexcept
{
    idle_polls_.restart();
    destroy_retired();
    const DeviceFailure failure = cq_.check_for_failure();
    if (failure == DeviceFailure::none)
        return;
    drain(); // usually the failure is reported by a completion
    if (failure == DeviceFailure::fatal)
        return fail_all(); // DeviceEvents has logged the reason
    // Cleared before the queue pairs are queried: a failure that is reported in between is found by the next check.
    cq_.clear_failure();
    for (VerbsQueuePair *const queue_pair : members_) {
        if (!queue_pair->is_connected() || !queue_pair->connection_->is_broken())
            continue;
        LOG_ERR("the device reports that queue pair 0x%x is broken, which ends the connection", queue_pair->number());
        fail(*queue_pair, DOCA_ERROR_CONNECTION_RESET);
    }
}

/// Returns false if the next completion raises an event. True: the device refuses, and no event will come, so the
/// program must not block but poll.
bool ConnectionPoller::arm() noexcept
{
    if (!events_.arm(false))
        return true;
    progress(); // takes the completions from before the request, which raise no event
    return false;
}

void ConnectionPoller::disarm() noexcept
{
    events_.disarm();
    check_for_failure(); // the wake-up may have been for a failure
}

} // namespace opendoca::verbs
