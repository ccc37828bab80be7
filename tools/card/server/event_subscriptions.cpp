// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "event_subscriptions.hpp"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>

namespace opendoca::card {

bool EventSubscriptions::add(std::shared_ptr<EventChannel> channel)
{
    drop_closed();
    if (channels_.size() >= max_channels)
        return false;
    channels_.push_back(std::move(channel));
    return true;
}

std::shared_ptr<EventChannel> EventSubscriptions::find(const Process &process, int fd) const
{
    const auto found =
        std::ranges::find_if(channels_, [&](const auto &channel) { return channel->is_open_in(process, fd); });
    return found == channels_.end() ? nullptr : *found;
}

int EventSubscriptions::add(const Object *source, std::span<const EventNumber> numbers, const Subscription &wanted)
{
    const bool has_eventfd = wanted.eventfd.is_open();
    if (subscribed_ + numbers.size() > max_subscriptions || eventfds_ + numbers.size() > max_eventfds)
        drop_closed();
    if (subscribed_ + numbers.size() > max_subscriptions)
        return ENOMEM;
    if (has_eventfd && eventfds_ + numbers.size() > max_eventfds)
        return EMFILE;
    if (const int error = has_eventfd ? signals_.open() : 0)
        return error;
    std::vector<Subscription> added;
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        added.push_back({wanted.channel, UniqueFd(), wanted.cookie, 0});
        if (!has_eventfd)
            continue;
        added.back().eventfd = UniqueFd(fcntl(wanted.eventfd.get(), F_DUPFD_CLOEXEC, 0));
        if (!added.back().eventfd.is_open())
            return EMFILE;
    }
    for (std::size_t i = 0; i < numbers.size(); ++i)
        subscriptions_[{source, numbers[i]}].push_back(std::move(added[i]));
    subscribed_ += numbers.size();
    eventfds_ += has_eventfd ? numbers.size() : 0;
    return 0;
}

void EventSubscriptions::remove(const Object &source)
{
    const auto first = subscriptions_.lower_bound({&source, EventNumber{}});
    auto last = first;
    for (; last != subscriptions_.end() && last->first.first == &source; ++last) {
        subscribed_ -= last->second.size();
        eventfds_ -= static_cast<std::size_t>(
            std::ranges::count_if(last->second, [](const Subscription &ended) { return ended.eventfd.is_open(); }));
    }
    subscriptions_.erase(first, last);
}

void EventSubscriptions::deliver(const Object *source, EventNumber number, const EventEntry &entry)
{
    const auto found = subscriptions_.find({source, number});
    if (found == subscriptions_.end())
        return;
    bool is_any_closed = false;
    ++looks_;
    for (Subscription &subscription : found->second)
        is_any_closed = !deliver(subscription, entry) || is_any_closed;
    if (is_any_closed)
        drop_closed();
}

bool EventSubscriptions::deliver(Subscription &subscription, const EventEntry &entry)
{
    EventChannel &channel = *subscription.channel;
    if (channel.is_closed(looks_))
        return false;
    if (subscription.eventfd.is_open()) {
        signals_.send(subscription.eventfd.get());
        return true;
    }
    if (channel.omits_data() && channel.is_unread(subscription.last_event))
        return true;
    if (const std::uint64_t added = channel.add(subscription.cookie, entry))
        subscription.last_event = added;
    if (channel.has_waiting())
        waiting_.add(subscription.channel);
    return true;
}

void EventSubscriptions::drop_closed()
{
    ++looks_;
    std::erase_if(channels_, [this](const auto &channel) { return channel->is_closed(looks_); });
    subscribed_ = eventfds_ = 0;
    for (auto &[key, subscriptions] : subscriptions_) {
        std::erase_if(subscriptions, [this](const Subscription &other) { return other.channel->is_closed(looks_); });
        subscribed_ += subscriptions.size();
        eventfds_ += static_cast<std::size_t>(
            std::ranges::count_if(subscriptions, [](const Subscription &other) { return other.eventfd.is_open(); }));
    }
    std::erase_if(subscriptions_, [](const auto &entry) { return entry.second.empty(); });
}

} // namespace opendoca::card
