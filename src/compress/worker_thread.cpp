// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "worker_thread.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>

#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>

#include "../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_WORKER_THREAD);

namespace opendoca {

namespace {

using Clock = std::chrono::steady_clock;

/// How long the worker spins after a piece of work: longer than a program takes for the next submit.
constexpr std::chrono::microseconds spin_time(50);

void pause_cpu() noexcept
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("isb");
#endif
}

/// Returns whether the calling thread may use more than one CPU.
bool has_several_cpus() noexcept
{
    cpu_set_t cpus;
    // Fails on machines with more CPUs than the set has.
    return sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) > 1;
}

/// Creates a thread in which all signals are blocked: the program's handlers expect its own threads. Returns an errno.
int create_thread(pthread_t &thread, void *(*function)(void *), void *argument) noexcept
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, nullptr, function, argument);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    if (error == 0)
        pthread_setname_np(thread, "doca_compress");
    return error;
}

} // namespace

WorkerThread::~WorkerThread()
{
    if (is_watched_)
        completions_.unwatch(ended_.get());
    if (!exists_ || !creator_.is_current())
        return;
    state_.fetch_or(stopping, std::memory_order_release);
    state_.notify_all();
    pthread_join(thread_, nullptr);
}

void WorkerThread::start() noexcept
{
    const char *reason = nullptr;
    ended_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!ended_.is_open())
        reason = std::strerror(errno);
    if (reason == nullptr && completions_.is_event_driven()) {
        is_watched_ = completions_.watch(ended_.get()) == DOCA_SUCCESS;
        if (!is_watched_)
            reason = "its descriptor cannot be watched";
    }
    if (reason == nullptr) {
        has_several_cpus_ = has_several_cpus(); // the thread inherits the set
        const int error = create_thread(thread_, run_thread, this);
        exists_ = error == 0;
        if (!exists_)
            reason = std::strerror(error);
    }
    if (reason != nullptr)
        LOG_WARN("no thread for long tasks: %s; they are carried out in the progress engine's thread", reason);
}

void WorkerThread::begin() noexcept
{
    // Release: pairs with the acquire in run(), so that the worker sees the work.
    state_.fetch_or(busy, std::memory_order_release);
    state_.notify_all();
}

void WorkerThread::wait() const noexcept
{
    for (std::uint32_t state = state_.load(std::memory_order_acquire); (state & busy) != 0;
         state = state_.load(std::memory_order_acquire))
        state_.wait(state, std::memory_order_acquire);
}

void WorkerThread::yield_to() const noexcept
{
    if (!has_several_cpus_)
        sched_yield();
    else
        pause_cpu(); // the worker may be on the other thread of the same core
}

bool WorkerThread::arm() noexcept
{
    disarm(); // takes back an earlier notification
    is_armed_ = true;
    // Acquire: pairs with the end of the work in run(). One word has both bits, so either this call finds that the work
    // has ended, or the worker finds that it has to notify.
    return (state_.fetch_or(armed, std::memory_order_acquire) & busy) == 0;
}

void WorkerThread::disarm() noexcept
{
    if (!std::exchange(is_armed_, false) || (state_.fetch_and(~armed, std::memory_order_relaxed) & armed) != 0)
        return;
    // The worker has found that it has to notify, and writes at once. The notification is taken back here, since
    // nothing may look at the descriptor later, and it would keep the handle readable.
    eventfd_t count = 0;
    while (eventfd_read(ended_.get(), &count) != 0 && errno == EAGAIN)
        sched_yield();
}

void *WorkerThread::run_thread(void *self) noexcept
{
    static_cast<WorkerThread *>(self)->run();
    return nullptr;
}

void WorkerThread::run() noexcept
{
    for (;;) {
        // Acquire: pairs with the release in begin().
        const std::uint32_t state = state_.load(std::memory_order_acquire);
        if ((state & busy) != 0) {
            work_(argument_);
            // Release: pairs with the acquires in is_busy(), arm() and wait(), so that these see the result. The
            // object stays valid meanwhile: its destructor joins this thread first.
            if ((state_.fetch_and(~(busy | armed), std::memory_order_release) & armed) != 0)
                (void)eventfd_write(ended_.get(), 1);
            state_.notify_all();
            if (has_several_cpus_)
                spin();
        } else if ((state & stopping) != 0) {
            return;
        } else {
            state_.wait(state, std::memory_order_acquire);
        }
    }
}

void WorkerThread::spin() const noexcept
{
    constexpr int polls_per_clock = 64;
    for (const Clock::time_point end = Clock::now() + spin_time; Clock::now() < end;) {
        for (int i = 0; i != polls_per_clock; ++i) {
            if ((state_.load(std::memory_order_relaxed) & (busy | stopping)) != 0)
                return;
            pause_cpu();
        }
    }
}

} // namespace opendoca
