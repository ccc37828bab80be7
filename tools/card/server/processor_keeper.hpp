// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace opendoca::card {

/// Keeps the other of two processors from halting while messages come. A program that waits for an event
/// leaves its processor idle, and in a virtual machine one that has halted takes 15 us to come back: more
/// than all that the card does for a message. A thread of the policy SCHED_IDLE spins there meanwhile: it
/// gives way to everybody at once, and the kernel takes a processor that has nothing else for an idle one.
/// With one processor there is no other, and with more than two nobody knows which it will be: nothing is
/// done then. Nor where others use the processor anyway.
class ProcessorKeeper {
public:
    ProcessorKeeper();
    ~ProcessorKeeper();
    ProcessorKeeper(const ProcessorKeeper &) = delete;
    ProcessorKeeper &operator=(const ProcessorKeeper &) = delete;

    void set_busy(bool is_busy);

private:
    enum class State : int { idle, busy, ending };
    void run() const;
    /// Returns once the card is no longer busy, or when somebody else has work for the processor.
    void spin() const;
    void change(State state);

    const bool is_useful_;
    std::atomic<State> state_ = State::idle;
    mutable std::atomic<bool> was_alone_ =
        false; ///< it has had the processor, and has met nobody with other work
    std::uint64_t rests_until_ = 0;
    std::thread thread_; ///< since the first time that the card was busy
};

} // namespace opendoca::card
