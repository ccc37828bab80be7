// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>

#include <pthread.h>

#include "../core/engine/completion_queue.hpp"
#include "../core/process/fork.hpp"

namespace opendoca {

/// A thread that carries out work for the thread of a completion queue, one piece at a time. Owned by what gives the
/// work, and used by the thread of the completion queue; the thread itself accesses nothing but the work. It exists
/// from start() to the destruction, and sleeps while there is no work. In a forked child it does not exist: there the
/// object can only be destroyed.
class WorkerThread {
public:
    using Work = void (*)(void *argument) noexcept;

    /// @p work is called with @p argument for each piece. @p completions must outlive the object.
    WorkerThread(CompletionQueue &completions, Work work, void *argument) noexcept
        : completions_(completions),
          work_(work),
          argument_(argument)
    {
    }
    WorkerThread(const WorkerThread &) = delete;
    WorkerThread &operator=(const WorkerThread &) = delete;
    /// Waits for the end of the work.
    ~WorkerThread();

    /// Creates the thread. Called once at most. If the system has none, a warning is logged and exists() stays false.
    void start() noexcept;
    /// Returns whether there is a thread.
    [[nodiscard]] bool exists() const noexcept { return exists_; }
    /// Starts a piece of work. There is a thread, and the work before has ended.
    void begin() noexcept;
    /// Returns whether work is in progress. After it, what it has written can be read.
    [[nodiscard]] bool is_busy() const noexcept
    {
        // Acquire: pairs with the end of the work in run().
        return (state_.load(std::memory_order_acquire) & busy) != 0;
    }
    /// Blocks until no work is in progress.
    void wait() const noexcept;
    /// Called by a poll that finds the worker busy: lets it run if it has only the CPU of the calling thread.
    void yield_to() const noexcept;

    /// From arm() to disarm(), the end of the work makes a descriptor readable that the completion queue watches.
    /// Returns true if no work is in progress.
    [[nodiscard]] bool arm() noexcept;
    /// Takes the notification back. Waits for the worker if it is about to notify.
    void disarm() noexcept;

private:
    // Bits of state_.
    static constexpr std::uint32_t busy = 1;     ///< work is in progress
    static constexpr std::uint32_t armed = 2;    ///< its end has to be notified
    static constexpr std::uint32_t stopping = 4; ///< the thread has to end

    static void *run_thread(void *self) noexcept;
    void run() noexcept;
    /// Returns after a while, or when there is work or the thread has to end.
    void spin() const noexcept;

    CompletionQueue &completions_;
    const Work work_;
    void *const argument_;
    const CreatorProcess creator_;
    std::atomic<std::uint32_t> state_{0};
    ProcessFd ended_; ///< eventfd that the worker writes if it was armed
    pthread_t thread_{};
    bool exists_ = false;
    bool is_watched_ = false;      ///< ended_ is in the completion queue's handle
    bool has_several_cpus_ = true; ///< the thread may use several CPUs
    bool is_armed_ = false;        ///< arm() was called, and disarm() was not
};

} // namespace opendoca
