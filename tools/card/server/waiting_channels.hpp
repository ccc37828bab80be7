// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <map>
#include <memory>

#include "../../../src/core/base/unique_fd.hpp"
#include "event_channel.hpp"

namespace opendoca::card {

/// Channels that hold events which their pipes had no room for. They cost nothing until a program has read some. Used
/// by the event loop's thread only.
class WaitingChannels {
public:
    WaitingChannels();

    /// A descriptor that is readable when there is room in a pipe, or when a program has closed its end: then write()
    /// is to be called.
    [[nodiscard]] int descriptor() const { return epoll_.get(); }
    /// Adds a channel that has events that wait, unless it was added before.
    void add(const std::shared_ptr<EventChannel> &channel);
    /// Writes the events for which there is room.
    void write();

private:
    UniqueFd epoll_;
    std::map<int, std::shared_ptr<EventChannel>> channels_; // by the card's ends of their pipes
};

} // namespace opendoca::card
