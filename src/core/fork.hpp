// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a fork leaves to the child. Objects belong to the process that made them. The child can create objects of its
// own, whatever other threads of its parent were doing; it can destroy copies of its parent's, which has no effect on
// the parent and its peers. docs/threads-and-processes.md describes it for programs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include <sys/types.h>
#include <unistd.h>

#include "guard.hpp"
#include "unique_fd.hpp"

namespace opendoca {

/// The process that has created an object. Immutable, so any thread may use it. Compared where an object is destroyed,
/// stopped or connected, and not where it moves data: each comparison costs a system call.
class CreatorProcess {
public:
    CreatorProcess() noexcept : pid_(getpid()) {}

    /// Returns whether the calling process has created the object; false in a forked child, which has a copy of it.
    [[nodiscard]] bool is_current() const noexcept { return pid_ == getpid(); }

private:
    pid_t pid_;
};

/// The order in which a thread takes locks of the process, outer ones first; it is also the order in which they are
/// taken before a fork.
enum class LockRank : std::uint8_t {
    devices,
    maps,
    log_buckets,
    libraries,     ///< that are loaded when they are needed
    findings,      ///< about devices
    verbs_devices, ///< libibverbs's list
    exporters,
    processes, ///< and what else a process of the software device has once
    pages,
    lists,
    numbers,
    log_setup,
    log_channels,
    log_names,
    log_sinks,
};

/// A lock of what a process has once. A fork waits until no other thread holds it, so that the child finds what it
/// guards complete, and the lock free. Constant-initialised, and never destroyed; registered by a ForkRegistration
/// before there are threads.
class OPENDOCA_INTERNAL ForkSafeMutex {
public:
    constexpr ForkSafeMutex() noexcept = default;
    ForkSafeMutex(const ForkSafeMutex &) = delete;
    ForkSafeMutex &operator=(const ForkSafeMutex &) = delete;

    void lock();
    void unlock() noexcept;
    [[nodiscard]] bool is_held_here() const noexcept;

private:
    friend class ForkHandlers;
    friend class ForkRegistration;

    std::mutex mutex_;
    std::atomic<const void *> holder_{nullptr}; ///< names a thread, in the child as in the parent
    ForkSafeMutex *next_ = nullptr;             ///< of the same rank
    bool is_taken_for_fork_ = false;
};

/// A variable beside the lock, at namespace scope or static in a class.
class OPENDOCA_INTERNAL ForkRegistration {
public:
    ForkRegistration(ForkSafeMutex &mutex, LockRank rank) noexcept;
};

/// A lock of one object, which other threads of the parent may hold at a fork: the child's copy is free. What it guards
/// may be incomplete there, which is enough to destroy the object. Locking costs what it costs with a std::mutex.
class OPENDOCA_INTERNAL ObjectMutex : public std::mutex {
public:
    ObjectMutex() noexcept;
    ~ObjectMutex();
    ObjectMutex(const ObjectMutex &) = delete;
    ObjectMutex &operator=(const ObjectMutex &) = delete;

private:
    friend class ForkHandlers;

    ObjectMutex *next_;
    ObjectMutex *previous_ = nullptr;
};

/// A value that is made when it is first needed. Unlike a static variable of a function, it can be made in a forked
/// child although another thread of the parent was about to make it.
template <typename Value>
class MadeOnce {
public:
    /// @p lock is of LockRank::libraries.
    template <typename Make>
    [[nodiscard]] const Value &get(ForkSafeMutex &lock, Make &&make)
    {
        // Acquire: pairs with the release below.
        if (const Value *const known = value_.load(std::memory_order_acquire); known != nullptr)
            return *known;
        const std::lock_guard guard(lock);
        if (const Value *const known = value_.load(std::memory_order_relaxed); known != nullptr)
            return *known;
        const auto *const made = new Value(make()); // for good
        value_.store(made, std::memory_order_release);
        return *made;
    }

private:
    std::atomic<const Value *> value_{nullptr};
};

/// Closes @p fd in children that are forked from now on. Its number stays taken there, by a descriptor on which every
/// call fails, until the child's copy of its owner closes it. So a child keeps no connection of its parent open, and
/// can neither send by it, nor change what an epoll of the parent watches, nor read what wakes the parent.
OPENDOCA_INTERNAL void close_in_children(int fd) noexcept;
/// Before @p fd is closed.
OPENDOCA_INTERNAL void keep_in_children(int fd) noexcept;

/// Owns a descriptor that forked children do not get: see close_in_children().
class ProcessFd {
public:
    ProcessFd() = default;
    // NOLINTNEXTLINE(google-explicit-constructor): members take what functions return
    ProcessFd(UniqueFd &&fd) noexcept : fd_(std::move(fd)) { close_in_children(fd_.get()); }
    ProcessFd(ProcessFd &&other) noexcept = default;
    ProcessFd &operator=(ProcessFd &&other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~ProcessFd() { reset(); }

    void reset() noexcept
    {
        keep_in_children(fd_.get());
        fd_.reset();
    }
    [[nodiscard]] int get() const noexcept { return fd_.get(); }
    [[nodiscard]] bool is_open() const noexcept { return fd_.is_open(); }

private:
    UniqueFd fd_;
};

} // namespace opendoca
