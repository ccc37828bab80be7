// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <utility>

#include <unistd.h>

namespace opendoca {

/// Owns a file descriptor, or none, which is -1. Not for descriptors that forked children must not inherit: see
/// ProcessFd.
class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) noexcept : fd_(fd) {}
    UniqueFd(UniqueFd &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd &operator=(UniqueFd &&other) noexcept
    {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~UniqueFd() { reset(); }

    void reset() noexcept
    {
        if (const int fd = std::exchange(fd_, -1); fd >= 0)
            close(fd);
    }

    [[nodiscard]] int get() const noexcept { return fd_; }
    /// Returns the descriptor, which the caller owns from now on.
    [[nodiscard]] int release() noexcept { return std::exchange(fd_, -1); }
    [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }

private:
    int fd_ = -1;
};

} // namespace opendoca
