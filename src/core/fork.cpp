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
constinit std::array<std::atomic<ForkSafeMutex *>, num_ranks> ranked{};

constinit std::mutex objects_lock; // innermost
constinit ObjectMutex *objects = nullptr;

/// The most descriptors that a process has by default is 2^20 where systemd sets it.
constexpr std::size_t max_descriptors = std::size_t{1} << 20, bits = 64;
constinit std::array<std::atomic<std::uint64_t>, max_descriptors / bits> own_descriptors{};
constinit std::atomic<std::size_t> num_words{0}; ///< that have had a bit set

/// Differs between threads, and is the same for the thread that forks and the child's first.
const void *this_thread() noexcept
{
    static thread_local char name;
    return &name;
}

/// A descriptor on which every call fails, and which is no directory.
int open_dead_descriptor() noexcept
{
    const int made = open("/dev/null", O_PATH | O_CLOEXEC);
    return made >= 0 ? made : open("/proc/self/exe", O_PATH | O_CLOEXEC);
}

/// The same. Needs a free number, so @p to_replace is given up for it where there is none.
int open_dead_descriptor(int to_replace) noexcept
{
    if (const int made = open_dead_descriptor(); made >= 0)
        return made;
    close(to_replace);
    return open_dead_descriptor();
}

void replace_descriptors() noexcept
{
    int dead = -1;
    bool has_number_of_first = false;
    const std::size_t count = num_words.load(std::memory_order_relaxed);
    for (std::size_t i = 0; i < count; ++i) {
        for (std::uint64_t word = own_descriptors[i].exchange(0, std::memory_order_relaxed); word != 0;
             word &= word - 1) {
            const int fd = static_cast<int>(i * bits + static_cast<std::size_t>(std::countr_zero(word)));
            if (dead < 0) {
                dead = open_dead_descriptor(fd);
                has_number_of_first = dead == fd;
            }
            if (dead >= 0 && dead != fd)
                (void)dup3(dead, fd, O_CLOEXEC);
        }
    }
    // Where no number was free, it has that of the first, which stays taken by it.
    if (dead >= 0 && !has_number_of_first)
        close(dead);
}

} // namespace

/// Called by fork(), in this thread.
class ForkHandlers {
public:
    ForkHandlers() noexcept { pthread_atfork(before, after_in_parent, after_in_child); }

private:
    static void before() noexcept
    {
        const bool holds_one = any_held_here();
        for (const auto &first : ranked) {
            for (ForkSafeMutex *mutex = first.load(std::memory_order_acquire); mutex != nullptr; mutex = mutex->next_)
                mutex->is_taken_for_fork_ = take(*mutex, holds_one);
        }
        objects_lock.lock();
    }

    /// A thread that holds a lock already forks in a log handler of the program. Others may wait for it while they hold
    /// the lock that it would wait for.
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

    static bool take(ForkSafeMutex &mutex, bool may_not_wait) noexcept
    {
        if (mutex.is_held_here())
            return false;
        if (!may_not_wait) {
            mutex.mutex_.lock();
            return true;
        }
        using Clock = std::chrono::steady_clock;
        constexpr std::chrono::milliseconds patience(100);
        for (const Clock::time_point end = Clock::now() + patience; Clock::now() < end; sched_yield()) {
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
        std::construct_at(&objects_lock);
        for (ObjectMutex *mutex = objects; mutex != nullptr; mutex = mutex->next_)
            std::construct_at(static_cast<std::mutex *>(mutex));
        for (const auto &first : ranked) {
            for (ForkSafeMutex *mutex = first.load(std::memory_order_relaxed); mutex != nullptr; mutex = mutex->next_) {
                mutex->is_taken_for_fork_ = false;
                if (mutex->is_held_here())
                    continue; // by the function that has forked
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
    // Release: pairs with the loads before a fork.
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
