// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <vector>

#include <doca_error.h>

#include "../guard.hpp"
#include "../unique_fd.hpp"

namespace opendoca {

/// A descriptor that a thread sleeps on until something has happened in one of its completion queues: an epoll of
/// what sources have to watch, and of an eventfd for what happens in the thread itself. Belongs to that thread.
class OPENDOCA_INTERNAL EventHandle {
public:
    /// OPERATING_SYSTEM when there are no descriptors left.
    [[nodiscard]] doca_error_t open() noexcept;

    [[nodiscard]] int fd() const noexcept { return handle_.get(); }
    /// Adds a descriptor, or takes it away. Contexts of one progress engine share its handle, and some watch the same
    /// descriptor, such as that of a peer's end: it stays until the last of them takes it away.
    [[nodiscard]] doca_error_t watch(int fd) noexcept;
    void unwatch(int fd) noexcept;

    /// Makes the handle readable, until clear(). Says whether it is.
    bool wake() noexcept;
    [[nodiscard]] doca_error_t clear() noexcept;

    /// For who sleeps until others tell him of something, who may fail to: the handle becomes readable within a second.
    /// Costs a system call once in half a second at most, and so the handle may do so also where it was cleared
    /// meanwhile. False when there is no such timer to be had now. open_timer() comes first: OPERATING_SYSTEM.
    [[nodiscard]] doca_error_t open_timer() noexcept;
    [[nodiscard]] bool wake_within_a_second() noexcept;

private:
    using Clock = std::chrono::steady_clock;

    [[nodiscard]] bool set_timer(std::chrono::seconds time) noexcept;

    UniqueFd own_;
    UniqueFd handle_;
    UniqueFd timer_;
    std::vector<int> watched_again_; ///< each watch of a descriptor but its first
    bool is_written_ = false;        ///< own_
    Clock::time_point timer_end_{};  ///< of timer_; none where it is not set
};

} // namespace opendoca
