// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <mutex>

#include <sys/single_threaded.h>

#include "../../core/log/deferred_log.hpp"

namespace opendoca::comm_channel {

/// The mutex of an endpoint. Most endpoints belong to one thread that polls: so the uncontended case is
/// inline, and costs no atomic operation while the process has one thread. A waiter first spins, since the critical
/// sections are shorter than a system call.
class EndpointLock {
public:
    EndpointLock() = default;
    EndpointLock(const EndpointLock &) = delete;
    EndpointLock &operator=(const EndpointLock &) = delete;

    void lock() noexcept
    {
        if (__libc_single_threaded) {
            state_.store(
                held, std::memory_order_relaxed); // thread creation orders this store before any load of the new thread
            return;
        }
        int expected = free;
        // Acquire: pairs with the release in unlock().
        if (!state_.compare_exchange_strong(expected, held, std::memory_order_acquire, std::memory_order_relaxed))
            [[unlikely]]
            wait();
    }

    void unlock() noexcept
    {
        if (__libc_single_threaded)
            state_.store(free, std::memory_order_relaxed);
        else if (state_.exchange(free, std::memory_order_release) == contended)
            [[unlikely]] // pairs with the acquire in lock() and wait()
            state_.notify_one();
    }

private:
    /// State of the word. Contended: a waiter may be blocked, so that unlock() has to wake one.
    enum State : int { free, held, contended };

    /// Blocks until the lock is taken: spins first, then waits on the word.
    [[gnu::cold, gnu::noinline]] void wait() noexcept;

    std::atomic<int> state_{free};
};

/// Holds the lock of an endpoint. The log lines of the scope are written after it has been released: log backends of
/// the program may take locks of the program, or use the endpoint.
class EndpointGuard {
public:
    explicit EndpointGuard(EndpointLock &lock) noexcept : guard_(lock) {}

private:
    DeferredLog log_; // destroyed after guard_
    std::lock_guard<EndpointLock> guard_;
};

} // namespace opendoca::comm_channel
