// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "fast_path.hpp"

#include <cerrno>
#include <cstring>
#include <utility>

#include <sys/eventfd.h>

#include "../../core/base/guard.hpp"
#include "../../core/log/log.hpp"
#include "../../core/process/unauthenticated_clients.hpp"

OPENDOCA_LOG_SOURCE(DOCA_COMCH_FAST_PATH);

namespace opendoca::comch {

bool ControlQueue::open() noexcept
{
    const std::lock_guard guard(lock_);
    if (!event_.is_open())
        event_ = UniqueFd(eventfd(has_message() ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
    return event_.is_open();
}

int ControlQueue::fd() const noexcept
{
    const std::lock_guard guard(lock_);
    return event_.get();
}

void ControlQueue::put(const ControlMessage &message)
{
    const std::lock_guard guard(lock_);
    messages_.push_back(message);
    announce();
}

void ControlQueue::wake() noexcept
{
    const std::lock_guard guard(lock_);
    announce();
}

/// Requires lock_, as peek() resets the flag under it: a reader that finds no message sees all earlier stores.
void ControlQueue::announce() noexcept
{
    // Release: pairs with the acquire load in has_message(), so that a reader that sees the flag sees what was stored
    // before it.
    has_message_.store(true, std::memory_order_release);
    if (event_.is_open())
        (void)eventfd_write(event_.get(), 1);
}

void ControlQueue::reset_event() noexcept
{
    eventfd_t count;
    if (event_.is_open())
        (void)eventfd_read(event_.get(), &count);
}

void ControlQueue::drain_doorbell() noexcept
{
    if (!has_message()) // the event has been read already
        return;
    const std::lock_guard guard(lock_);
    reset_event();
}

bool ControlQueue::take(ControlMessage &message) noexcept
{
    settle();
    if (!peek(message))
        return false;
    drop();
    return true;
}

bool ControlQueue::peek(ControlMessage &message) noexcept
{
    const std::lock_guard guard(lock_);
    if (messages_.empty())
        return false;
    message = messages_.front();
    return true;
}

void ControlQueue::settle() noexcept
{
    const std::lock_guard guard(lock_);
    reset_event();
    // Relaxed: lock_ orders this store with those of announce().
    has_message_.store(!messages_.empty(), std::memory_order_relaxed);
}

void ControlQueue::drop() noexcept
{
    const std::lock_guard guard(lock_);
    messages_.pop_front();
}

doca_error_t FastPath::prepare_for_members() noexcept
{
    // Without link_lock, which the thread that closes a connection with another machine may hold for seconds. An end
    // that comes meanwhile is found by add_consumer(), and by the first send of a producer.
    if (is_prepared_.load(std::memory_order_acquire) && !has_ended())
        return DOCA_SUCCESS;
    const std::lock_guard guard(link_lock);
    // Under link_lock: the control context takes it after end(), before it stops watching the descriptor.
    if (has_ended() || link_ == nullptr) {
        LOG_ERR("the connection has ended");
        return DOCA_ERROR_NOT_CONNECTED;
    }
    if (!is_prepared_.load(std::memory_order_relaxed) && (!to_peer.open() || !link_->watch_control_messages())) {
        LOG_ERR("the descriptor for control messages: %s", std::strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    is_prepared_.store(true, std::memory_order_release);
    return DOCA_SUCCESS;
}

doca_error_t FastPath::add_consumer(ControlQueue &control_queue, const ConsumerDetails &details, std::uint32_t &number)
{
    const std::lock_guard guard(lock_);
    if (has_ended()) { // under lock_: end() notifies members that were added before
        LOG_ERR("the connection has ended");
        return DOCA_ERROR_NOT_CONNECTED;
    }
    // Checked before anything changes. The peer applies the same limits to what it receives.
    if (num_unanswered_ == max_unanswered || consumers_.size() >= max_unanswered) {
        LOG_ERR("the connection has %zu consumers, and %u requests without a reply: the limit is %u", consumers_.size(),
                num_unanswered_, max_unanswered);
        return DOCA_ERROR_AGAIN;
    }
    ControlMessage message{};
    message.kind = ControlKind::new_consumer;
    message.consumer = num_joined_ + 1; // programs use 0 for "no consumer"
    message.details_size = sizeof(details);
    std::memcpy(message.details.data(), &details, sizeof(details));
    const auto place = consumers_.emplace(message.consumer, &control_queue).first;
    const doca_error_t status = guarded([&] { return to_peer.put(message), DOCA_SUCCESS; });
    if (status != DOCA_SUCCESS) {
        consumers_.erase(place);
        return status;
    }
    ++num_unanswered_;
    number = ++num_joined_;
    return DOCA_SUCCESS;
}

void FastPath::remove_consumer(std::uint32_t number, ControlQueue &control_queue) noexcept
{
    const std::lock_guard guard(lock_);
    if (consumers_.erase(number) == 0)
        return;
    // Requests that are still queued get a refusal, as their producers wait for an answer. Other messages are dropped.
    ControlMessage message;
    while (control_queue.take(message)) {
        message.details_size = 0;
        if (std::exchange(message.kind, ControlKind::refuse) == ControlKind::connect)
            put(to_peer, message);
    }
    message = {};
    message.kind = ControlKind::expired;
    message.consumer = number;
    put(to_peer, message);
}

std::uint32_t FastPath::add_producer(ControlQueue &control_queue)
{
    const std::lock_guard guard(lock_);
    producers_.emplace(num_joined_ + 1, &control_queue);
    return ++num_joined_;
}

void FastPath::remove_producer(std::uint32_t number) noexcept
{
    const std::lock_guard guard(lock_);
    producers_.erase(number);
}

doca_error_t FastPath::send_request(const ControlMessage &message)
{
    const std::lock_guard guard(lock_);
    if (num_unanswered_ == max_unanswered)
        return DOCA_ERROR_AGAIN;
    to_peer.put(message);
    ++num_unanswered_;
    return DOCA_SUCCESS;
}

void FastPath::send_reply(const ControlMessage &message) noexcept
{
    const std::lock_guard guard(lock_);
    put(to_peer, message);
}

void FastPath::progress_link() noexcept
{
    // A thread that holds link_lock progresses the link itself: waiting for it would gain nothing.
    const std::unique_lock guard(link_lock, std::try_to_lock);
    if (guard.owns_lock() && link_ != nullptr)
        link_->progress_control_messages();
}

void FastPath::detach_link() noexcept
{
    const std::lock_guard guard(link_lock);
    link_ = nullptr;
}

std::uint32_t FastPath::num_members() const noexcept
{
    const std::lock_guard guard(lock_);
    return static_cast<std::uint32_t>(consumers_.size() + producers_.size());
}

std::optional<ConsumerDetails> FastPath::find_consumer(std::uint32_t number) const noexcept
{
    const std::lock_guard guard(lock_);
    const auto found = of_peer_.find(number);
    return found != of_peer_.end() ? std::optional(found->second) : std::nullopt;
}

void FastPath::sent(const ControlMessage &message) noexcept
{
    to_peer.drop();
    const std::lock_guard guard(lock_);
    // Counted when the reply is in the ring: from then on the peer may send another request.
    if (message.kind == ControlKind::known || message.kind == ControlKind::accept ||
        message.kind == ControlKind::refuse)
        --num_pending_replies_;
}

void FastPath::put(ControlQueue &control_queue, const ControlMessage &message) noexcept
{
    if (guarded([&] { return control_queue.put(message), DOCA_SUCCESS; }) != DOCA_SUCCESS)
        fail();
}

bool FastPath::deliver(const Members &members, std::uint32_t number, const ControlMessage &message) noexcept
{
    const auto found = members.find(number);
    if (found == members.end())
        return false;
    put(*found->second, message);
    return true;
}

bool FastPath::note_consumer(const ControlMessage &message) noexcept
{
    if (message.consumer == 0 || of_peer_.size() >= max_unanswered)
        return false;
    ConsumerDetails details;
    // Details that are shorter come from an earlier version of the library: the defaults hold.
    if (const std::span<const std::byte> used = message.used_details(); used.size() >= sizeof(details))
        std::memcpy(&details, used.data(), sizeof(details));
    bool is_new = true;
    if (guarded([&] { return is_new = of_peer_.emplace(message.consumer, details).second, DOCA_SUCCESS; }) !=
        DOCA_SUCCESS)
        fail();
    return is_new;
}

bool FastPath::take(const ControlMessage &message, bool &is_for_program) noexcept
{
    const std::lock_guard guard(lock_);
    ControlMessage answer = message;
    answer.details_size = 0;
    is_for_program = false;
    bool is_right = false;
    switch (message.kind) {
    case ControlKind::new_consumer:
        // Each check bounds what an untrusted peer can make this side store.
        is_right = is_for_program = ++num_pending_replies_ <= max_unanswered && note_consumer(message);
        answer.kind = ControlKind::known;
        if (is_right)
            put(to_peer, answer);
        break;
    case ControlKind::expired:
        is_right = is_for_program = of_peer_.erase(message.consumer) != 0;
        if (!is_right)
            break;
        // Relaxed: the wake-up below orders it.
        num_expired_.fetch_add(1, std::memory_order_relaxed);
        for (const auto &[number, control_queue] : producers_)
            control_queue->wake();
        break;
    case ControlKind::connect:
        is_right = ++num_pending_replies_ <= max_unanswered;
        answer.kind = ControlKind::refuse;
        // A consumer that has stopped, or never existed, cannot answer: this side refuses for it.
        if (is_right && !deliver(consumers_, message.consumer, message))
            put(to_peer, answer);
        break;
    case ControlKind::known:
    case ControlKind::accept:
    case ControlKind::refuse:
        is_right = num_unanswered_ != 0;
        if (is_right) {
            --num_unanswered_;
            const bool is_for_consumer = message.kind == ControlKind::known;
            (void)deliver(is_for_consumer ? consumers_ : producers_,
                          is_for_consumer ? message.consumer : message.producer, message);
        }
        break;
    }
    if (!is_right && may_log_unauthenticated_client())
        LOG_ERR(
            "the peer violates the protocol of consumers and producers: message kind %u for consumer %u; the peer has "
            "%zu consumers; unanswered requests: %u of this side, %u of the peer",
            static_cast<unsigned>(message.kind), message.consumer, of_peer_.size(), num_unanswered_,
            num_pending_replies_);
    return is_right;
}

std::uint32_t FastPath::expire_consumer() noexcept
{
    const std::lock_guard guard(lock_);
    return of_peer_.empty() ? 0 : of_peer_.extract(of_peer_.begin()).key();
}

void FastPath::fail() noexcept
{
    LOG_ERR("out of memory: the connection is closed");
    has_failed_.store(true, std::memory_order_relaxed);
    to_peer.wake();
}

void FastPath::end() noexcept
{
    // Release: pairs with the acquire load in has_ended(). Stored before the members are woken, so that each finds it.
    has_ended_.store(true, std::memory_order_release);
    const std::lock_guard guard(lock_);
    for (const auto &[number, control_queue] : consumers_)
        control_queue->wake();
    for (const auto &[number, control_queue] : producers_)
        control_queue->wake();
}

} // namespace opendoca::comch
