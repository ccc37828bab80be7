// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace opendoca::card {

/// Keeps the second of two processors from halting while messages are in flight. A program that waits for an event
/// leaves its processor idle, and a halted processor of a virtual machine takes 15 us to wake up, which is more than
/// the card needs for a message. A thread with the policy SCHED_IDLE spins on that processor: it yields to every other
/// thread at once, and the scheduler treats the processor as idle. Not used with one processor (there is no other),
/// with more than two (the processor of the next wake-up is unknown), or while other work uses the processor. Owned by
/// Server; set_busy() is called by the thread of the event loop only.
class ProcessorKeeper {
public:
    ProcessorKeeper();
    ~ProcessorKeeper();
    ProcessorKeeper(const ProcessorKeeper &) = delete;
    ProcessorKeeper &operator=(const ProcessorKeeper &) = delete;

    /// Starts or stops the spinning. Starts the thread when it is first needed.
    void set_busy(bool is_busy);

private:
    enum class State : int { idle, busy, ending };
    /// The thread's function: spins while the card is busy, and blocks otherwise.
    void run() const;
    /// Returns when the card is no longer busy, or when another thread has used the processor.
    void spin() const;
    /// Stores the state and wakes the thread.
    void change(State state);

    const bool is_useful_; ///< the process may run on exactly two processors
    std::atomic<State> state_ = State::idle;
    mutable std::atomic<bool> was_alone_ = false; ///< the thread has spun without losing the processor
    // Time until which the thread must not spin, since other work uses the processor. Used by the event loop only.
    std::uint64_t paused_until_ = 0;
    std::thread thread_; ///< not started before the card is busy for the first time
};

} // namespace opendoca::card
