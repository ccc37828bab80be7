// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sleeping in epoll until a peer, which may be another process, has stored something. Nobody can open the eventfd
// of another process, but anybody of the same user can open its pipe, through /proc.
//
// A lost wake-up is ruled out by the order of two words. Who stores something looks at SleepState::sleeping after
// it; who goes to sleep stores `sleeping`, and then looks a last time whether there is something. One of the two
// sees what the other has stored. The stores and looks that this takes of `sleeping` are in this file, and each
// says what orders it; those of the something are the callers'.
//
// `sleeping` is taken back by who has woken the sleeper, after the byte was written: a waker that is killed, or that
// can't reach the pipe or write to it for now, leaves it to the next one. Who sleeps where there may be no next one
// looks by itself from time to time: CompletionQueue::wake_within_a_second(). It is also taken back where the sleeper
// has gone for good, so that nobody looks for it again.
#pragma once

#include <atomic>
#include <cstdint>

#include "../../../fork.hpp"
#include "../../../guard.hpp"
#include "../../../unique_fd.hpp"
#include "barrier.hpp"
#include "process.hpp"
#include "reserve.hpp"

namespace opendoca::soft {

/// What a sleeper and its wakers share.
struct SleepState {
    /// 0 while awake; otherwise the wishes, with a number above them that is another one each time.
    std::atomic<std::uint64_t> sleeping;
    // Where the pipe is, constant as long as `owner` is.
    std::atomic<std::uint64_t> owner; ///< a ProcessId
    std::atomic<std::uint64_t> pipe_inode;
    std::atomic<std::int32_t> pipe_fd; ///< its writing end in the owner

    static constexpr std::uint32_t wishes_bits = 8;
};

/// A pipe that wakes this process.
class WakePipe {
public:
    /// OPERATING_SYSTEM, with a message.
    [[nodiscard]] doca_error_t open() noexcept;
    /// Readable after signal(), until drain().
    [[nodiscard]] int read_fd() const noexcept { return read_.get(); }
    /// What peers open: a number in this process.
    [[nodiscard]] int write_fd() const noexcept { return write_.get(); }
    [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }
    /// Says whether there was anything.
    bool drain() const noexcept;

private:
    ProcessFd read_;
    ProcessFd write_;
    std::uint64_t inode_ = 0;
};

/// The waker's end of a pipe.
class PeerPipe {
public:
    /// Opens the pipe whose writing end is @p fd in process @p pid. @p inode tells that pipe from any other that has
    /// got its number since. 0, or an error number: ESRCH where it is certain that the process has it no more, else
    /// another try may work.
    [[nodiscard]] int open(pid_t pid, int fd, std::uint64_t inode, ReserveUse &reserve) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return fd_.is_open(); }
    [[nodiscard]] std::uint64_t inode() const noexcept { return inode_; }
    void close() noexcept { fd_.reset(); }
    /// 0, or an error number.
    [[nodiscard]] int signal() const noexcept;

private:
    ProcessFd fd_;
    std::uint64_t inode_ = 0;
};

/// The sleeper. Belongs to one thread.
class SleepingSide {
public:
    /// @p state belongs to this process and outlives this. Once. OPERATING_SYSTEM, NO_MEMORY: with a message, and who
    /// would sleep here could not be woken.
    [[nodiscard]] doca_error_t open(SleepState &state) noexcept;
    [[nodiscard]] bool is_open() const noexcept { return state_ != nullptr; }
    /// Readable once somebody has woken the sleeper, until get_up().
    [[nodiscard]] int wake_fd() const noexcept { return pipe_.read_fd(); }

    /// From now on, whoever fulfils one of @p wishes, a mask, wakes the sleeper. The caller looks for what it wishes
    /// after it, and after a barrier_for_all() if its wakers use WakingSide::wake_cheaply().
    void lie_down(std::uint32_t wishes) noexcept
    {
        // Sequentially consistent: before the caller's look. Pairs with the loads in WakingSide.
        state_->sleeping.store(++number_ << SleepState::wishes_bits | wishes, std::memory_order_seq_cst);
    }
    /// Says whether somebody has woken it.
    bool get_up() noexcept
    {
        state_->sleeping.store(0, std::memory_order_relaxed); // who sees it late writes one byte for nothing
        return pipe_.drain();
    }

private:
    SleepState *state_ = nullptr;
    WakePipe pipe_;
    std::uint64_t number_ = 0; ///< of the last time; begins elsewhere for each pipe
};

/// The waker: it keeps the sleeper's pipe open. Belongs to one thread, or is used under a lock.
class WakingSide {
public:
    /// Opens the pipe, so that waking needs no descriptor later. Without effect where there is no sleeper, or not
    /// yet: wake() tries again.
    void prepare(const SleepState &state) noexcept;

    /// After something was stored that @p wish is for. Its store must be sequentially consistent.
    void wake(SleepState &state, std::uint32_t wish) noexcept
    {
        // Pairs with the store in SleepingSide::lie_down().
        (void)signal(state, state.sleeping.load(std::memory_order_seq_cst), wish);
    }
    /// The same after any store.
    void wake_with_barrier(SleepState &state, std::uint32_t wish) noexcept
    {
        // A full barrier, since it writes. Pairs with the store in SleepingSide::lie_down().
        (void)signal(state, state.sleeping.fetch_or(0, std::memory_order_seq_cst), wish);
    }
    /// The same after any store, where this process allows barriers by others and the sleeper makes them.
    void wake_cheaply(SleepState &state, std::uint32_t wish) noexcept
    {
        barrier_by_others(); // pairs with the sleeper's barrier_for_all() after SleepingSide::lie_down()
        (void)signal(state, state.sleeping.load(std::memory_order_relaxed), wish);
    }
    /// Wakes a sleeper whose `sleeping` was @p seen if it wishes @p wish. False when it sleeps on, because it can't be
    /// reached for now, as without descriptors or memory: another try may work. That is said in the log once, until one
    /// has worked.
    bool signal(SleepState &state, std::uint64_t seen, std::uint32_t wish) noexcept
    {
        if ((seen & wish) != 0) [[unlikely]]
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
    bool has_failed_ = false; ///< the last time
};

} // namespace opendoca::soft
