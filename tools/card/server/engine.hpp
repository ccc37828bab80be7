// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The engine of the card: it polls doorbell records and carries out work requests on the memory of the programs.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "card.hpp"
#include "completion.hpp"

namespace opendoca::card {

/// Result of one poll of a process. Server decides from it when to poll the process again.
struct Progress {
    unsigned done = 0;       ///< completed work requests, and parts of long ones
    bool is_waiting = false; ///< a request waits for its peer, or a queue pair is broken: poll without a doorbell
};

/// Polls all queues of a process once.
Progress poll_process(Process &process);

/// Slots of a send ring in consecutive memory.
inline constexpr std::size_t window_slots = 64;
using SlotWindow = std::array<std::uint8_t, window_slots * 64>;
/// Reads `slots` slots of the send ring, from the one with the counter `first` on. The ring may wrap in between.
bool read_slots(const QueuePair &qp, std::uint16_t first, std::uint32_t slots, SlotWindow &window);

/// Changes a queue pair's state on the program's request. Drops in-flight state upon RESET; flushes upon ERR.
void set_state_of(QueuePair &qp, QpState state);
/// Moves a queue pair to the error state, and sends `event` if there is one. The next poll flushes its requests.
void break_queue_pair(QueuePair &qp, std::optional<Event> event);

/// Moves the function's connected queue pairs to the error state, each with a fatal event.
void break_queue_pairs_of(Card &card, const Function &function);

} // namespace opendoca::card
