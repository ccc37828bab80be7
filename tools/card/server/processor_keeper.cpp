// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "processor_keeper.hpp"

#include <system_error>

#include <pthread.h>
#include <sched.h>

#include "card.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint64_t others_ns =
    200'000; // who runs in place of the keeper for so long does not wait for the card
constexpr std::uint64_t rest_ns = 100'000'000; // after it has met such

bool may_run_on_two_processors()
{
    cpu_set_t processors;
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) == 2;
}

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
    if (is_busy && now < rests_until_)
        return;
    change(state);
    if (!is_busy && !was_alone_.exchange(false, std::memory_order_relaxed))
        rests_until_ = now + rest_ns;
    if (thread_.joinable())
        return;
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error &) {
        // No thread to be had: it is only slower, and tried again with the next message.
    }
}

void ProcessorKeeper::change(State state)
{
    state_.store(state, std::memory_order_relaxed);
    state_.notify_one();
}

void ProcessorKeeper::run() const
{
    (void)pthread_setname_np(pthread_self(), "processor"); // as tools show it
    const sched_param no_priority{};
    if (sched_setscheduler(0, SCHED_IDLE, &no_priority) != 0)
        return; // with any other policy it would be in the way
    for (State state = State::idle; state != State::ending; state = state_.load(std::memory_order_relaxed)) {
        if (state == State::busy)
            spin();
        state_.wait(state, std::memory_order_relaxed);
    }
}

void ProcessorKeeper::spin() const
{
    was_alone_.store(true, std::memory_order_relaxed);
    for (std::uint64_t seen = now_ns(), now = seen; state_.load(std::memory_order_relaxed) == State::busy;
         seen = now) {
        pause_processor();
        now = now_ns();
        if (now - seen > others_ns) {
            was_alone_.store(false, std::memory_order_relaxed);
            return;
        }
    }
}

} // namespace opendoca::card
