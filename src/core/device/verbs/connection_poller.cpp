// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "connection_poller.hpp"

#include <algorithm>

#include "../../log.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_POLLER);

namespace opendoca::verbs {

namespace {

/// Completions that one retrieve looks at.
constexpr int most_at_once = 16;

/// So that the next element needs no memory.
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
    // It may come to a completion queue that is event-driven.
    const doca_error_t status = created->completions_.create(device, size, true);
    if (status == DOCA_SUCCESS)
        poller = std::move(created);
    return status;
}

doca_error_t ConnectionPoller::find(const VerbsDevice &device, CompletionQueue &completions, std::uint32_t size,
                                    std::shared_ptr<ConnectionPoller> &poller)
{
    auto *const known = completions.find_polled<ConnectionPoller>([&](ConnectionPoller &candidate) {
        return candidate.shared_by_ != nullptr && !candidate.is_lost_ && &candidate.device_ == &device &&
               candidate.has_room_for(completions, size);
    });
    if (known != nullptr) {
        poller = known->shared_from_this();
        return DOCA_SUCCESS;
    }
    std::shared_ptr<ConnectionPoller> created(new ConnectionPoller(device, &completions));
    const doca_error_t status = created->completions_.create(
        device, std::min(completions.depth(), device.port().max_completions()), completions.is_event_driven());
    if (status == DOCA_SUCCESS)
        poller = std::move(created);
    return status;
}

ConnectionPoller::~ConnectionPoller() = default;

/// A queue as deep as the engine's always has: each completion is an operation's. Otherwise what its queue pairs can
/// have in flight has to fit in.
bool ConnectionPoller::has_room_for(const CompletionQueue &completions, std::uint32_t size) const noexcept
{
    return completions_.size() >= completions.depth() || used_ + size <= completions_.size();
}

doca_error_t ConnectionPoller::create(const ReliableConnection::Sizes &sizes, unsigned access,
                                      std::unique_ptr<ReliableConnection> &created)
{
    const std::lock_guard guard(lock_);
    make_room(dead_, num_created_);
    auto connection = std::make_unique<ReliableConnection>();
    const doca_error_t status = connection->create(device_, completions_, sizes, access);
    if (status == DOCA_SUCCESS) {
        ++num_created_;
        used_ += connection->num_requests();
        created = std::move(connection);
    }
    return status;
}

void ConnectionPoller::destroy(std::unique_ptr<ReliableConnection> connection) noexcept
{
    const std::lock_guard guard(lock_);
    used_ -= connection->num_requests();
    if (polled_by_ == nullptr) {
        --num_created_;
        connection.reset();
        return;
    }
    connection->disconnect();
    dead_.push_back(std::move(connection)); // create() has made room
    has_dead_.store(true, std::memory_order_relaxed); // only a hint: what it is about is behind the lock
}

void ConnectionPoller::bury_dead() noexcept
{
    if (!has_dead_.load(std::memory_order_relaxed))
        return;
    const std::lock_guard guard(lock_);
    num_created_ -= static_cast<std::uint32_t>(dead_.size());
    dead_.clear();
    has_dead_.store(false, std::memory_order_relaxed);
}

doca_error_t ConnectionPoller::add(VerbsQueuePair &queue_pair, CompletionQueue &completions)
{
    const std::lock_guard guard(lock_);
    make_room(members_, members_.size());
    if (polled_by_ == nullptr) {
        if (const doca_error_t status = attach(queue_pair, completions); status != DOCA_SUCCESS)
            return status;
    } else if (polled_by_ != &completions) {
        LOG_ERR("queue pair 0x%x ends on the completion queue of another work queue, which has others: a peer knows "
                "it, so it cannot get another one",
                queue_pair.number());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    queue_pair.index_ = members_.size();
    members_.push_back(&queue_pair);
    return DOCA_SUCCESS;
}

/// For the first member, or the first one again.
doca_error_t ConnectionPoller::attach(VerbsQueuePair &queue_pair, CompletionQueue &completions)
{
    if (completions.is_event_driven() && !completions_.has_channel()) {
        LOG_ERR("queue pair 0x%x was made for a work queue that is not event-driven, and a peer knows it",
                queue_pair.number());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!has_room_for(completions, 0)) {
        LOG_ERR("a completion queue of %u entries, on which queue pair 0x%x ends, is too small for a work queue of "
                "depth %u",
                completions_.size(), queue_pair.number(), completions.depth());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    completions.reserve_polled();
    if (const doca_error_t status = events_.attach(completions); status != DOCA_SUCCESS) {
        events_.detach();
        completions.unreserve_polled();
        return status;
    }
    completions.poll_also(*this);
    polled_by_ = &completions;
    return DOCA_SUCCESS;
}

void ConnectionPoller::remove(VerbsQueuePair &queue_pair) noexcept
{
    bury_dead();
    const std::lock_guard guard(lock_);
    members_[queue_pair.index_] = members_.back();
    members_[queue_pair.index_]->index_ = queue_pair.index_;
    members_.pop_back();
    if (!members_.empty()) {
        polled_by_->retrieve_by(*this, members_.front()->retriever_);
        return;
    }
    events_.detach();
    polled_by_->poll_no_more(*this);
    polled_by_->unreserve_polled();
    polled_by_ = nullptr;
    // Of a stop between the look above and the lock.
    num_created_ -= static_cast<std::uint32_t>(dead_.size());
    dead_.clear();
}

void ConnectionPoller::retrieve_by(VerbsQueuePair &queue_pair, void *retriever) noexcept
{
    queue_pair.retriever_ = retriever;
    polled_by_->retrieve_by(*this, retriever);
}

/// A fast-path operation that has succeeded goes right to the front end.
Operation *ConnectionPoller::poll_one() noexcept
{
    Operation *ended = nullptr;
    const auto give = [&](Operation &operation, std::uint32_t length) {
        operation.length = length;
        operation.message = {0, Received::send};
        ended = &operation;
    };
    (void)poll_fast(give, [] { return DOCA_ERROR_AGAIN; });
    return ended;
}

/// Now and then the reason is a failure of the device.
void ConnectionPoller::polled_nothing() noexcept
{
    if (idle_polls_.is_spent()) [[unlikely]]
        look_for_failure();
}

void ConnectionPoller::progress() noexcept
{
    if (polled_ == nullptr)
        return;
    int left = most_at_once;
    while (left != 0 && poll())
        --left;
    if (left == most_at_once)
        polled_nothing();
}

/// Ends the operation that the next completion is of. False when there is none.
bool ConnectionPoller::poll() noexcept
{
    if (polled_ == nullptr || !VerbsCompletions::start_one(*polled_))
        return false;
    end_started();
    return true;
}

void ConnectionPoller::drain() noexcept
{
    while (poll())
        ;
}

/// Ends the operation of the completion that was started.
void ConnectionPoller::end_started() noexcept
{
    Operation &operation = VerbsQueuePair::operation_of(polled_->wr_id);
    if (operation.payload<VerbsQueuePair::Work>().kind == VerbsQueuePair::Kind::shared_receive) {
        // From now on it is that of the queue pair by which its message has come.
        const auto &receives = static_cast<const VerbsReceiveQueue &>(*operation.source);
        polled_by_->assign(operation, *receives.find(ibv_wc_read_qp_num(polled_)));
    }
    VerbsQueuePair::of(operation).end_started(*polled_);
}

void ConnectionPoller::fail(VerbsQueuePair &queue_pair, doca_error_t status) noexcept
{
    queue_pair.begin_to_fail(status);
    queue_pair.next_failed_ = std::exchange(first_failed_, &queue_pair);
    finish_failed();
}

/// One after the other: what is polled for one may show that another one has failed.
void ConnectionPoller::finish_failed() noexcept
{
    if (is_finishing_)
        return;
    is_finishing_ = true;
    while (first_failed_ != nullptr) {
        VerbsQueuePair &queue_pair = *std::exchange(first_failed_, first_failed_->next_failed_);
        drain();
        const bool is_reset = queue_pair.connection_->reset() == DOCA_SUCCESS;
        drain(); // some devices have removed its completions, others have not
        queue_pair.finish_failing();
        if (!is_reset)
            lose();
    }
    is_finishing_ = false;
}

/// The device, or the completion queue, does nothing more. What has failed cannot be told from what has not.
void ConnectionPoller::lose() noexcept
{
    if (is_lost_)
        return;
    is_lost_ = true;
    polled_ = nullptr;
    events_.ignore_failures();
    for (VerbsQueuePair *const queue_pair : members_) {
        if (queue_pair->is_connected())
            fail(*queue_pair, DOCA_ERROR_IO_FAILED);
    }
}

/// Ends connections where the device tells that there will be no completions.
void ConnectionPoller::look_for_failure() noexcept
{
    idle_polls_.restart();
    bury_dead();
    const DeviceFailure failure = completions_.look_for_failure();
    if (failure == DeviceFailure::none)
        return;
    drain(); // most often the failure is among the completions
    if (failure == DeviceFailure::fatal)
        return lose(); // DeviceEvents has said why
    completions_.forget_failure();
    for (VerbsQueuePair *const queue_pair : members_) {
        if (!queue_pair->is_connected() || !queue_pair->connection_->is_broken())
            continue;
        LOG_ERR("the device tells that queue pair 0x%x is broken, which ends the connection", queue_pair->number());
        fail(*queue_pair, DOCA_ERROR_CONNECTION_RESET);
    }
}

bool ConnectionPoller::arm() noexcept
{
    if (!events_.arm(false))
        return true; // which makes the program look
    progress();      // what has come before the request is not announced
    return false;
}

void ConnectionPoller::disarm() noexcept
{
    events_.disarm();
    look_for_failure(); // it may be what the program was woken for
}

} // namespace opendoca::verbs
