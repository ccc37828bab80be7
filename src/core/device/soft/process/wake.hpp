// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Blocks a thread in epoll until a peer, which may be another process, has stored something. The eventfd of another
// process cannot be opened, but a process of the same user can open its pipe through /proc.
//
// A lost wake-up is ruled out by the order of two words. The waker stores its data, then loads SleepState::sleeping.
// The waiter stores `sleeping`, then checks for data once more. At least one of them sees the store of the other. All
// stores and loads of `sleeping` are in this file, each with the ordering that it needs; the accesses to the data are
// the callers'.
//
// The waker resets `sleeping` after it has written a byte to the pipe. If the waker is killed first, or cannot open or
// write the pipe, `sleeping` stays set, so that the next waker retries. A waiter that may have no further waker polls
// at intervals: CompletionQueue::wake_within_a_second(). `sleeping` is also reset if the waiter's process has ended, so
// that no waker searches for it again.
#pragma once

#include <atomic>
#include <cstdint>

#include "../../../base/guard.hpp"
#include "../../../base/unique_fd.hpp"
#include "../../../process/fork.hpp"
#include "barrier.hpp"
#include "process.hpp"
#include "reserve.hpp"

namespace opendoca::soft {

/// The shared words of one waiter and its wakers. Lies in shared memory; the waiter's process owns it.
struct SleepState {
    /// 0 while the waiter is not armed; otherwise the mask of requested events, below a number that differs each time.
    std::atomic<std::uint64_t> sleeping;
    // The location of the pipe, constant while `owner` is.
    std::atomic<std::uint64_t> owner; ///< a ProcessId
    std::atomic<std::uint64_t> pipe_inode;
    std::atomic<std::int32_t> pipe_fd; ///< the pipe's writing end in the owner's process

    static constexpr std::uint32_t event_bits = 8;
};

/// A pipe through which other processes wake a thread of this process. Non-blocking at both ends.
class WakePipe {
public:
    /// Creates the pipe. OPERATING_SYSTEM, after a log line.
    [[nodiscard]] doca_error_t open() noexcept;
    /// Readable after signal(), until drain().
    [[nodiscard]] int read_fd() const noexcept { return read_.get(); }
    /// The descriptor number that peers open through /proc.
    [[nodiscard]] int write_fd() const noexcept { return write_.get(); }
    [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }
    /// Empties the pipe. Returns whether it held any byte.
    bool drain() const noexcept;

private:
    ProcessFd read_;
    ProcessFd write_;
    std::uint64_t inode_ = 0;
};

/// The waker's end of a WakePipe, which belongs to another process or to this one.
class PeerPipe {
public:
    /// Opens the pipe with the writing end @p fd in process @p pid. @p inode distinguishes the pipe from a later file
    /// with the same number. Returns 0 or an error number: ESRCH if the process certainly no longer has the pipe; after
    /// any other error a retry may succeed.
    [[nodiscard]] int open(pid_t pid, int fd, std::uint64_t inode, ReserveUse &reserve) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return fd_.is_open(); }
    [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }
    void close() noexcept { fd_.reset(); }
    /// Writes one byte. Returns 0 or an error number.
    [[nodiscard]] int signal() const noexcept;

private:
    ProcessFd fd_;
    std::uint64_t inode_ = 0;
};

/// The waiter's side of a SleepState: arms and disarms the notification. Belongs to one thread.
class SleepingSide {
public:
    /// Creates the pipe and publishes it in @p state, which belongs to this process and must outlive this object.
    /// Called once. OPERATING_SYSTEM or NO_MEMORY, after a log line; the waiter can then not be woken.
    [[nodiscard]] doca_error_t open(SleepState &state) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return state_ != nullptr; }
    /// Readable from the first wake-up until disarm().
    [[nodiscard]] int wake_fd() const noexcept { return pipe_.read_fd(); }

    /// Arms the waiter for the events in the mask @p events. The caller must check for these events afterwards, and
    /// must call heavy_barrier() in between if its wakers use WakingSide::wake_cheaply().
    void arm(std::uint32_t events) noexcept
    {
        // Sequentially consistent: ordered before the caller's check. Pairs with the loads in WakingSide.
        state_->sleeping.store(++number_ << SleepState::event_bits | events, std::memory_order_seq_cst);
    }
    /// Disarms the waiter. Returns whether it was woken.
    bool disarm() noexcept
    {
        state_->sleeping.store(
            0, std::memory_order_relaxed); // a waker that still loads the old value writes one superfluous byte
        return pipe_.drain();
    }

private:
    SleepState *state_ = nullptr;
    WakePipe pipe_;
    std::uint64_t number_ = 0; ///< the number of the last arming; its start differs for each pipe
};

/// The waker's side of a SleepState: keeps the waiter's pipe open. Belongs to one thread, or is guarded by a lock.
class WakingSide {
public:
    /// Opens the pipe, so that a later wake-up needs no descriptor. Has no effect if there is no waiter yet: wake()
    /// retries.
    void prepare(const SleepState &state) noexcept;

    /// Wakes the waiter if it is armed for @p event. The caller's store of the event must be sequentially consistent.
    void wake(SleepState &state, std::uint32_t event) noexcept
    {
        // Pairs with the store in SleepingSide::arm().
        (void)signal(state, state.sleeping.load(std::memory_order_seq_cst), event);
    }
    /// The same as wake(), after a store of any memory order.
    void wake_with_barrier(SleepState &state, std::uint32_t event) noexcept
    {
        // Orders the caller's store before this load, because fetch_or(0) also writes. Pairs with the store in
        // SleepingSide::arm().
        (void)signal(state, state.sleeping.fetch_or(0, std::memory_order_seq_cst), event);
    }
    /// The same as wake_with_barrier(), but without its cost: for processes that can use light_barrier(), and
    /// waiters that call heavy_barrier().
    void wake_cheaply(SleepState &state, std::uint32_t event) noexcept
    {
        light_barrier(); // pairs with the waiter's heavy_barrier() after SleepingSide::arm()
        (void)signal(state, state.sleeping.load(std::memory_order_relaxed), event);
    }
    /// Wakes the waiter if @p seen, a value of `sleeping`, includes @p event. Returns false if the waiter stays blocked
    /// because it cannot be reached now, for example without descriptors or memory: a retry may succeed. Logs the first
    /// of successive failures.
    bool signal(SleepState &state, std::uint64_t seen, std::uint32_t event) noexcept
    {
        if ((seen & event) != 0) [[unlikely]]
            return signal_now(state, seen);
        return true;
    }

private:
    [[gnu::cold]] bool signal_now(SleepState &state, std::uint64_t seen) noexcept;
    [[nodiscard]] int reach(const SleepState &state, ReserveUse &reserve) noexcept;
    [[nodiscard]] int try_to_signal(const SleepState &state, ReserveUse &reserve) noexcept;
    void keep_or_close() noexcept;
    void explain_failure(const SleepState &state, int error) noexcept;

    PeerPipe pipe_;
    bool has_failed_ = false; ///< true if the last wake-up failed
};

} // namespace opendoca::soft
