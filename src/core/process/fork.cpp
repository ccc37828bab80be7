// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "fork.hpp"

#include <bit>
#include <chrono>
#include <cstddef>
#include <memory>
#include <new>

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

namespace opendoca {

namespace {

constexpr std::size_t num_ranks = static_cast<std::size_t>(LockRank::log_sinks) + 1;
constinit std::array<std::atomic<ForkSafeMutex *>, num_ranks> ranked{}; ///< lists of the registered mutexes, by rank

constinit std::mutex objects_lock; ///< guards `objects`; no other lock is taken while it is held
constinit ObjectMutex *objects = nullptr;

/// Descriptors with higher numbers are inherited. systemd limits processes to 2^20 by default.
constexpr std::size_t max_descriptors = std::size_t{1} << 20, bits = 64;
/// One bit for each descriptor of close_in_children(). Only the pages that are used take memory.
constinit std::array<std::atomic<std::uint64_t>, max_descriptors / bits> own_descriptors{};
constinit std::atomic<std::size_t> num_words{0}; ///< one more than the highest index of a word that was ever changed

/// Returns a value that differs between threads, and that the child's only thread shares with the thread that has
/// forked it. A thread ID would change.
const void *this_thread() noexcept
{
    static thread_local char name;
    return &name;
}

/// Returns a new descriptor on which every call fails, or -1. O_PATH allows no I/O. Not of a directory, which would
/// serve as the base of openat(). /dev may be missing in a container.
int open_placeholder() noexcept
{
    const int opened = open("/dev/null", O_PATH | O_CLOEXEC);
    return opened >= 0 ? opened : open("/proc/self/exe", O_PATH | O_CLOEXEC);
}

/// Does the same, but if the process has no free number, closes @p to_replace first, to use its number.
int open_placeholder(int to_replace) noexcept
{
    if (const int opened = open_placeholder(); opened >= 0)
        return opened;
    close(to_replace);
    return open_placeholder();
}

/// Replaces all descriptors of close_in_children() by duplicates of a placeholder. Called in the child, which has one
/// thread. Uses only async-signal-safe functions.
void replace_descriptors() noexcept
{
    int placeholder = -1;
    bool has_replaced_first = false;
    const std::size_t count = num_words.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::uint64_t word = own_descriptors[i].exchange(0, std::memory_order_relaxed); word != 0;
             word &= word - 1) {
            const int fd = static_cast<int>(i * bits + static_cast<std::size_t>(std::countr_zero(word)));
            if (placeholder < 0) {
                placeholder = open_placeholder(fd);
                has_replaced_first = placeholder == fd;
            }
            if (placeholder >= 0 && placeholder != fd)
                (void)dup3(placeholder, fd, O_CLOEXEC);
        }
    }
    // If no number was free, the placeholder itself replaces the first descriptor, and must stay open.
    if (placeholder >= 0 && !has_replaced_first)
        close(placeholder);
}

} // namespace

/// The handlers that fork() calls in the forking thread, before and after, and in the child's copy of this thread.
class ForkHandlers {
public:
    ForkHandlers() noexcept { pthread_atfork(before, after_in_parent, after_in_child); }

private:
    /// Takes all registered locks in the order of their ranks, so that no other thread is changing what they guard.
    static void before() noexcept
    {
        const bool holds_one = any_held_here();
        for (const auto &first : ranked) {
            for (ForkSafeMutex *mutex = first.load(std::memory_order_acquire); mutex != nullptr; mutex = mutex->next_)
                mutex->is_taken_for_fork_ = take(*mutex, holds_one);
        }
        objects_lock.lock();
    }

    /// Returns whether this thread holds a registered lock: it forks in a log handler of the program. Another thread
    /// may then be waiting for that lock while it holds one that before() has to take: a deadlock, unless the wait is
    /// bounded.
    static bool any_held_here() noexcept
    {
        for (const auto &first : ranked) {
            for (const ForkSafeMutex *mutex = first.load(std::memory_order_acquire); mutex != nullptr;
                 mutex = mutex->next_) {
                if (mutex->is_held_here())
                    return true;
            }
        }
        return false;
    }

    /// Locks @p mutex. Returns false if this thread holds it already, or if a bounded wait has timed out: the child
    /// then may find the guarded data inconsistent, which is better than a deadlock of the parent.
    static bool take(ForkSafeMutex &mutex, bool is_wait_bounded) noexcept
    {
        if (mutex.is_held_here())
            return false;
        if (!is_wait_bounded) {
            mutex.mutex_.lock();
            return true;
        }
        using Clock = std::chrono::steady_clock;
        constexpr std::chrono::milliseconds max_wait(100);
        for (const Clock::time_point end = Clock::now() + max_wait; Clock::now() < end; sched_yield()) {
            if (mutex.mutex_.try_lock())
                return true;
        }
        return false;
    }

    static void after_in_parent() noexcept
    {
        objects_lock.unlock();
        for (const auto &first : ranked) {
            for (ForkSafeMutex *mutex = first.load(std::memory_order_relaxed); mutex != nullptr; mutex = mutex->next_) {
                if (std::exchange(mutex->is_taken_for_fork_, false))
                    mutex->mutex_.unlock();
            }
        }
    }

    static void after_in_child() noexcept
    {
        // Other threads do not exist here, but mutexes that they held are locked: replaced by new ones.
        std::construct_at(&objects_lock);
        for (ObjectMutex *mutex = objects; mutex != nullptr; mutex = mutex->next_)
            std::construct_at(static_cast<std::mutex *>(mutex));
        for (const auto &first : ranked) {
            for (ForkSafeMutex *mutex = first.load(std::memory_order_relaxed); mutex != nullptr; mutex = mutex->next_) {
                mutex->is_taken_for_fork_ = false;
                if (mutex->is_held_here())
                    continue; // held by a caller of fork(), which will unlock it
                std::construct_at(&mutex->mutex_);
                mutex->holder_.store(nullptr, std::memory_order_relaxed);
            }
        }
        replace_descriptors();
    }
};

namespace {

const ForkHandlers fork_handlers;

} // namespace

void ForkSafeMutex::lock()
{
    mutex_.lock();
    holder_.store(this_thread(), std::memory_order_relaxed);
}

void ForkSafeMutex::unlock() noexcept
{
    holder_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
}

bool ForkSafeMutex::is_held_here() const noexcept
{
    return holder_.load(std::memory_order_relaxed) == this_thread();
}

ForkRegistration::ForkRegistration(ForkSafeMutex &mutex, LockRank rank) noexcept
{
    std::atomic<ForkSafeMutex *> &first = ranked[static_cast<std::size_t>(rank)];
    mutex.next_ = first.load(std::memory_order_relaxed);
    // Release: pairs with the acquire loads in before() and any_held_here(), so that next_ is visible.
    while (!first.compare_exchange_weak(mutex.next_, &mutex, std::memory_order_release, std::memory_order_relaxed)) {
    }
}

ObjectMutex::ObjectMutex() noexcept
{
    const std::lock_guard guard(objects_lock);
    next_ = std::exchange(objects, this);
    if (next_ != nullptr)
        next_->previous_ = this;
}

ObjectMutex::~ObjectMutex()
{
    const std::lock_guard guard(objects_lock);
    (previous_ != nullptr ? previous_->next_ : objects) = next_;
    if (next_ != nullptr)
        next_->previous_ = previous_;
}

void close_in_children(int fd) noexcept
{
    if (fd < 0 || static_cast<std::size_t>(fd) >= max_descriptors)
        return;
    const std::size_t word = static_cast<std::size_t>(fd) / bits;
    own_descriptors[word].fetch_or(std::uint64_t{1} << (static_cast<std::size_t>(fd) % bits),
                                   std::memory_order_relaxed);
    // Raises num_words to word + 1. Relaxed: read in the child, after the fork has ordered everything.
    std::size_t count = num_words.load(std::memory_order_relaxed);
    while (count <= word && !num_words.compare_exchange_weak(count, word + 1, std::memory_order_relaxed)) {
    }
}

void keep_in_children(int fd) noexcept
{
    if (fd < 0 || static_cast<std::size_t>(fd) >= max_descriptors)
        return;
    own_descriptors[static_cast<std::size_t>(fd) / bits].fetch_and(
        ~(std::uint64_t{1} << (static_cast<std::size_t>(fd) % bits)), std::memory_order_relaxed);
}

} // namespace opendoca
