// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Support for programs that fork. Objects belong to the process that created them. The child can create objects of its
// own, whatever other threads of its parent were doing at the fork. It can destroy its copies of the parent's objects,
// which has no effect on the parent and its peers. docs/threads-and-processes.md describes it for programs.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include <sys/types.h>
#include <unistd.h>

#include "../base/guard.hpp"
#include "../base/unique_fd.hpp"

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
    libraries,     ///< libraries that are loaded when they are first needed
    findings,      ///< results of probing devices
    verbs_devices, ///< the list of libibverbs
    exporters,
    processes, ///< and other objects of which a process has one
    pages,
    lists,
    numbers,
    log_setup,
    log_channels,
    log_names,
    log_sinks,
};

/// A lock of process-wide data. A fork blocks until no other thread holds it, so that in the child the guarded data is
/// consistent and the lock is free. Constant-initialised, and never destroyed; registered by a ForkRegistration before
/// there are threads.
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
    /// The value of this_thread() of the holder. Relaxed: a thread only compares it with its own value, which no other
    /// thread stores.
    std::atomic<const void *> holder_{nullptr};
    ForkSafeMutex *next_ = nullptr;  ///< link in the list of mutexes of the same rank
    bool is_taken_for_fork_ = false; ///< locked by the fork handler, which has to unlock it; used by the forking thread
};

/// Registers a ForkSafeMutex for as long as the process runs. A variable at namespace scope or a static member, next to
/// the mutex.
class OPENDOCA_INTERNAL ForkRegistration {
public:
    ForkRegistration(ForkSafeMutex &mutex, LockRank rank) noexcept;
};

/// The lock of one object. Other threads of the parent may hold it at a fork: in the child it is free, but the guarded
/// data may be inconsistent, so the child may only destroy the object. Locking costs as much as with a std::mutex.
class OPENDOCA_INTERNAL ObjectMutex : public std::mutex {
public:
    ObjectMutex() noexcept;
    ~ObjectMutex();
    ObjectMutex(const ObjectMutex &) = delete;
    ObjectMutex &operator=(const ObjectMutex &) = delete;

private:
    friend class ForkHandlers;

    // Links of the list of all object mutexes, which the fork handler of the child resets.
    ObjectMutex *next_;
    ObjectMutex *previous_ = nullptr;
};

/// A value that is created when it is first needed. Unlike a static variable of a function, it can be created in a
/// forked child even if another thread of the parent was creating it at the fork. Thread-safe, and never destroyed.
template <typename Value>
class MadeOnce {
public:
    /// Returns the value, created by @p make under @p lock if needed. The lock must be of LockRank::libraries.
    template <typename Make>
    [[nodiscard]] const Value &get(ForkSafeMutex &lock, Make &&make)
    {
        // Acquire: pairs with the release store of value_ below, so that the value is complete.
        if (const Value *const known = value_.load(std::memory_order_acquire); known != nullptr)
            return *known;
        const std::lock_guard guard(lock);
        if (const Value *const known = value_.load(std::memory_order_relaxed); known != nullptr)
            return *known;
        const auto *const made = new Value(make()); // never deleted: exit handlers may use it
        value_.store(made, std::memory_order_release);
        return *made;
    }

private:
    std::atomic<const Value *> value_{nullptr};
};

/// Closes @p fd in children that are forked from now on. There, its number refers to a placeholder on which every call
/// fails, until the child's copy of the owner closes it. So a child keeps no connection of its parent open, and can
/// neither send on it, nor change which descriptors an epoll instance of the parent watches, nor consume its wake-ups.
OPENDOCA_INTERNAL void close_in_children(int fd) noexcept;
/// Undoes close_in_children(). Must be called before @p fd is closed, since its number may be reused at once.
OPENDOCA_INTERNAL void keep_in_children(int fd) noexcept;

/// Owns a descriptor that forked children do not inherit: see close_in_children().
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
