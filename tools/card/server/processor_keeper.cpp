// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "processor_keeper.hpp"

#include <system_error>

#include <pthread.h>
#include <sched.h>

#include "card.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint64_t contention_ns = 200'000; // the thread lost the processor for so long: other work uses it
constexpr std::uint64_t pause_ns = 100'000'000;  // pause after the processor was found in use

bool may_run_on_two_processors()
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) == 2;
}

/// Pauses for a few cycles, which leaves the resources of the core to its other hardware thread.
void pause_processor()
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

} // namespace

ProcessorKeeper::ProcessorKeeper() : is_useful_(may_run_on_two_processors()) {}

ProcessorKeeper::~ProcessorKeeper()
{
    if (thread_.joinable()) {
        change(State::ending);
        thread_.join();
    }
}

void ProcessorKeeper::set_busy(bool is_busy)
{
    const State state = is_busy ? State::busy : State::idle;
    if (!is_useful_ || state_.load(std::memory_order_relaxed) == state)
        return;
    const std::uint64_t now = now_ns();
    if (is_busy && now < paused_until_)
        return;
    change(state);
    // Other work used the processor in this busy phase, so the thread pauses for the next ones. Relaxed: the flag
    // publishes no other data.
    if (!is_busy && !was_alone_.exchange(false, std::memory_order_relaxed))
        paused_until_ = now + pause_ns;
    if (thread_.joinable())
        return;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error &) {
        // No thread is available. The card is slower without it; the next message tries again.
    }
}

// Relaxed: the state publishes no other data. notify_one() pairs with wait() in run().
void ProcessorKeeper::change(State state)
{
    state_.store(state, std::memory_order_relaxed);
    state_.notify_one();
}

void ProcessorKeeper::run() const
{
    (void)pthread_setname_np(pthread_self(), "processor"); // name in tools such as top
    const sched_param no_priority{};
    if (sched_setscheduler(0, SCHED_IDLE, &no_priority) != 0)
        return; // with any other policy it would compete with programs
    for (State state = State::idle; state != State::ending; state = state_.load(std::memory_order_relaxed)) {
        if (state == State::busy)
            spin();
        state_.wait(state, std::memory_order_relaxed);
    }
}

void ProcessorKeeper::spin() const
{
    was_alone_.store(true, std::memory_order_relaxed);
    for (std::uint64_t seen = now_ns(), now = seen; state_.load(std::memory_order_relaxed) == State::busy; seen = now) {
        pause_processor();
        now = now_ns();
        // A gap between two readings of the clock means that another thread had the processor.
        if (now - seen > contention_ns) {
            was_alone_.store(false, std::memory_order_relaxed);
            return;
        }
    }
}

} // namespace opendoca::card
