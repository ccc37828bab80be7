// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include <sys/epoll.h>

#include "../core/fork.hpp"
#include "../core/unique_fd.hpp"

namespace opendoca::comm_channel {

/// A descriptor that is readable while one of those that it watches is, or since it was kicked.
class EventChannel {
public:
    /// False with errno.
    [[nodiscard]] bool create();
    void close() noexcept { *this = EventChannel(); }

    [[nodiscard]] bool is_open() const noexcept { return epoll_.is_open(); }
    [[nodiscard]] int get() const noexcept { return epoll_.get(); }

    [[nodiscard]] bool watch(int fd, std::uint32_t events, void *tag) noexcept;
    void change(int fd, std::uint32_t events, void *tag) noexcept;
    void forget(int fd) noexcept;

    void kick() noexcept;
    void clear() noexcept; ///< of kicks

    /// What is ready now. The tag of a kick is null.
    [[nodiscard]] int look(epoll_event *events, int most) const noexcept;

private:
    ProcessFd epoll_;
    ProcessFd kicks_;
    bool is_kicked_ = false;
};

} // namespace opendoca::comm_channel
