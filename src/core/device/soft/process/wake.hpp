// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Waking another process that sleeps in epoll. Nobody can open the eventfd of another process, but anybody of the same
// user can open its pipe, through /proc.
#pragma once

#include <cstdint>

#include "../../../guard.hpp"
#include "../../../unique_fd.hpp"

namespace opendoca::soft {

/// The sleeper's end.
class WakePipe {
public:
    [[nodiscard]] doca_error_t open() noexcept;
    /// Readable after signal(), until drain().
    [[nodiscard]] int read_fd() const noexcept { return read_.get(); }
    /// What peers open: a number in this process.
    [[nodiscard]] int write_fd() const noexcept { return write_.get(); }
    /// Of the pipe, or 0.
    [[nodiscard]] std::uint64_t inode() const noexcept;
    void signal() const noexcept;
    /// Says whether there was anything.
    bool drain() const noexcept;

private:
    UniqueFd read_;
    UniqueFd write_;
};

/// The waker's end.
class PeerPipe {
public:
    /// Opens the pipe whose writing end is @p fd in process @p pid. The caller has made sure who that process is.
    /// @p inode, if not 0, tells that pipe from one that has got its number since.
    [[nodiscard]] doca_error_t open(std::int32_t pid, std::int32_t fd, std::uint64_t inode = 0);
    [[nodiscard]] bool is_open() const noexcept { return fd_.is_open(); }
    void signal() const noexcept;

private:
    UniqueFd fd_;
};

} // namespace opendoca::soft
