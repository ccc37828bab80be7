// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../../../src/core/base/unique_fd.hpp"
#include "event_channel.hpp"
#include "eventfd_signals.hpp"
#include "waiting_channels.hpp"

namespace opendoca::card {

struct Object;

/// Numbers of a device's events, in the first bytes of their entries (PRM, event types).
enum class EventNumber : std::uint16_t {
    completion = 0x00,
    path_migrated = 0x01,
    communication_established = 0x02,
    send_queue_drained = 0x03,
    cq_error = 0x04,
    work_queue_fatal = 0x05,
    path_migration_failed = 0x07,
    port_change = 0x09,
    work_queue_request_error = 0x10,
    work_queue_access_error = 0x11,
    srq_fatal = 0x12,
    srq_last_request = 0x13,
    srq_limit = 0x14,
    xrq_error = 0x18,
    dct_drained = 0x1c,
};

/// What a program has asked for: the events of one number of one object, or those of the device.
struct Subscription {
    std::shared_ptr<EventChannel> channel; ///< never null
    UniqueFd eventfd;                      ///< signalled in place of the channel if there is one
    std::uint64_t cookie = 0;
    std::uint64_t last_event = 0; ///< number of the channel's last event of this subscription; 0: none
};

/// The channels of DEVX events of an open file, and what they are subscribed to. A member of the file; used by the
/// event loop's thread only.
class EventSubscriptions {
public:
    // Limits for one file.
    static constexpr std::size_t max_channels = 1024, max_eventfds = 1024, max_subscriptions = 4096;

    /// Channels that have to wait for room in their pipes are added to `waiting`.
    EventSubscriptions(WaitingChannels &waiting, EventfdSignals &signals) : waiting_(waiting), signals_(signals) {}

    /// The number of events that wait in the file's channels, which they keep.
    [[nodiscard]] const std::shared_ptr<std::size_t> &waiting_events() const { return waiting_events_; }
    /// Adds a channel. Returns false if there are too many.
    [[nodiscard]] bool add(std::shared_ptr<EventChannel> channel);
    /// Returns the channel at a descriptor of the process, or null.
    [[nodiscard]] std::shared_ptr<EventChannel> find(const Process &process, int fd) const;
    /// Subscribes to events of an object; null stands for the device. Returns an errno, or 0.
    [[nodiscard]] int add(const Object *source, std::span<const EventNumber> numbers, const Subscription &wanted);
    /// Ends the subscriptions to the events of an object that is about to be destroyed. Those that have happened stay.
    void remove(const Object &source);
    /// Passes an event to every subscription. A channel without data holds one event of a subscription at a time.
    void deliver(const Object *source, EventNumber number, const EventEntry &entry);

private:
    using Key = std::pair<const Object *, EventNumber>;
    /// Returns false if the program has closed the subscription's channel.
    bool deliver(Subscription &subscription, const EventEntry &entry);
    /// Drops the channels that the program has closed, with their subscriptions.
    void drop_closed();

    WaitingChannels &waiting_;
    EventfdSignals &signals_;
    std::shared_ptr<std::size_t> waiting_events_ = std::make_shared<std::size_t>(0);
    std::vector<std::shared_ptr<EventChannel>> channels_;
    std::map<Key, std::vector<Subscription>> subscriptions_;
    std::size_t subscribed_ = 0, eventfds_ = 0; // numbers of subscriptions, and of those with an eventfd
    std::uint64_t looks_ = 0;                   // at the programs' ends of the channels
};

} // namespace opendoca::card
