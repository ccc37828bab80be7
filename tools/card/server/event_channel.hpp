// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "event_pipe.hpp"

namespace opendoca::card {

/// An entry of an event queue (EQE), as programs get it with the events of a channel that does not omit data.
using EventEntry = std::array<std::uint8_t, 64>;

/// A channel of DEVX events: a pipe from which the program reads one event for each call, which consists of the cookie
/// of a subscription and, unless the channel omits data, of the event's entry. Events that the pipe has no room for
/// wait here, in their order. Used by the event loop's thread only.
class EventChannel {
public:
    /// Events that wait for room at most; more are lost.
    static constexpr std::size_t max_waiting = 4096, max_waiting_of_file = 16'384;

    /// Creates a channel. Returns null if no descriptor is left. `program_end` is to be passed to the program.
    /// `waiting_of_file` counts the events that wait in all channels of a file.
    static std::shared_ptr<EventChannel> create(bool omits_data, UniqueFd &program_end,
                                                std::shared_ptr<std::size_t> waiting_of_file);
    EventChannel() = default;
    EventChannel(const EventChannel &) = delete;
    EventChannel &operator=(const EventChannel &) = delete;
    ~EventChannel();

    /// Adds an event. Returns its number, which counts from 1, or 0 if it was lost. The log has one line about losses
    /// until the program has read all events.
    std::uint64_t add(std::uint64_t cookie, const EventEntry &entry);
    /// Writes what waits, as far as there is room. Returns whether events are left.
    bool write_waiting();

    [[nodiscard]] bool omits_data() const { return omits_data_; }
    [[nodiscard]] bool has_waiting() const { return !waiting_.empty(); }
    /// Returns whether the program has not read the event with this number yet.
    [[nodiscard]] bool is_unread(std::uint64_t number) const;
    /// Returns whether the program has closed all its copies of the descriptor. Calls with the same `look` in
    /// succession return what the first of them has found.
    [[nodiscard]] bool is_closed(std::uint64_t look);
    /// The card's end of the pipe.
    [[nodiscard]] int descriptor() const { return pipe_->descriptor(); }
    /// Returns whether descriptor `fd` of the process is this channel.
    [[nodiscard]] bool is_open_in(const Process &process, int fd) const { return pipe_->is_open_in(process, fd); }

private:
    static constexpr std::size_t header_bytes = 8; // the cookie: mlx5_ib_uapi_devx_async_event_hdr
    using Event = std::array<std::uint8_t, header_bytes + sizeof(EventEntry)>;
    [[nodiscard]] std::size_t event_bytes() const { return omits_data_ ? header_bytes : sizeof(Event); }

    std::shared_ptr<EventPipe> pipe_;
    std::deque<Event> waiting_;
    std::shared_ptr<std::size_t> waiting_of_file_;
    std::uint64_t last_look_ = 0;
    std::uint64_t added_ = 0; // events that were not lost
    bool omits_data_ = false, is_closed_ = false, has_lost_ = false;
};

} // namespace opendoca::card
