// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstddef>
#include <span>
#include <vector>

#include <doca_error.h>

#include "../base/guard.hpp"
#include "../base/unique_fd.hpp"
#include "../process/fork.hpp"

namespace opendoca {

/// A descriptor on which one thread blocks until one of its completion queues has work: an epoll instance with the
/// descriptors that sources watch, and with an eventfd for events of the thread itself. Shared by the completion queues
/// of that thread; not thread-safe.
class OPENDOCA_INTERNAL EventHandle {
public:
    /// Creates the descriptors. OPERATING_SYSTEM, logged, if the system has none left.
    [[nodiscard]] doca_error_t open() noexcept;

    [[nodiscard]] int fd() const noexcept { return epoll_fd_.get(); }
    /// Adds @p fd or removes it. Contexts of one progress engine share its handle and may watch the same descriptor,
    /// such as that of a common peer process. It is removed with the last unwatch().
    [[nodiscard]] doca_error_t watch(int fd) noexcept;
    void unwatch(int fd) noexcept;
    /// Stores watched descriptors that are readable in @p into, and returns how many. Does not block. If there are
    /// more, the next call begins with others.
    [[nodiscard]] std::size_t readable_descriptors(std::span<int> into) const noexcept;

    /// Makes the handle readable until clear(). Returns whether it is readable; a failure is logged.
    bool wake() noexcept;
    /// Makes the handle unreadable again, unless a watched descriptor keeps it readable.
    [[nodiscard]] doca_error_t clear() noexcept;

    /// Creates the timer of wake_within_a_second(), unless it exists. OPERATING_SYSTEM, logged, if that fails.
    [[nodiscard]] doca_error_t open_timer() noexcept;
    /// Makes the handle readable within a second, for a thread that blocks until a peer wakes it, in case the peer
    /// fails to. Makes at most one system call every half second, since a timer that is set already is left to run. The
    /// handle may therefore also become readable after a clear() in the meantime. Returns false if the timer cannot be
    /// set. open_timer() must have succeeded before.
    [[nodiscard]] bool wake_within_a_second() noexcept;

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool set_timer(std::chrono::seconds time) noexcept;

    ProcessFd wake_fd_;              ///< the eventfd of wake()
    ProcessFd epoll_fd_;             ///< the epoll instance
    ProcessFd timer_;                ///< open after open_timer()
    std::vector<int> watched_again_; ///< one entry for each watch() of a descriptor after its first
    bool is_written_ = false;        ///< wake_fd_ is readable
    Clock::time_point timer_end_{};  ///< expiry of timer_; zero if it is not set
};

} // namespace opendoca
