// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the card does with work queues: reads doorbell records, carries out work requests on the programs'
// memory.
#pragma once

#include <cstdint>
#include <optional>

#include "card.hpp"
#include "completion.hpp"

namespace opendoca::card {

struct Progress {
    unsigned done = 0;       ///< work requests, or parts of long ones
    bool is_waiting = false; ///< for a peer: has to be looked at again though no doorbell rings
};

/// Looks at the queues of a process once.
Progress look_at(Process &process);

/// Changes a queue pair's state as a program asks for it.
void set_state_of(QueuePair &qp, QpState state);
/// A queue pair breaks, with or without an event.
void break_queue_pair(QueuePair &qp, std::optional<Event> event);

/// Breaks the function's queue pairs that are connected, each with a fatal event.
void break_queue_pairs_of(Card &card, const Function &function);

} // namespace opendoca::card
