// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cerrno>
#include <stdexcept>

#include <sys/epoll.h>

#include "../../src/core/base/unique_fd.hpp"
#include "other_process.hpp"
#include "patience.hpp"

namespace opendoca::tools {

/// Blocks until a descriptor is readable, as programs in event-driven mode do. Owns an epoll instance; the descriptor
/// stays the caller's and must be open for as long. Used by one thread.
class Poller {
public:
    /// Watches @p fd.
    explicit Poller(int fd) : epoll_(epoll_create1(EPOLL_CLOEXEC))
    {
        epoll_event interest = {.events = EPOLLIN, .data = {.fd = fd}};
        if (!epoll_.is_open() || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &interest) != 0)
            fail("epoll");
    }

    /// Throws if nothing has arrived for patience_seconds.
    void wait() const
    {
        epoll_event event;
        int count = 0;
        while ((count = epoll_wait(epoll_.get(), &event, 1, static_cast<int>(patience_seconds * 1e3))) < 0 &&
               errno == EINTR) {
        }
        if (count < 0)
            fail("epoll_wait");
        if (count == 0)
            throw std::runtime_error("no event has come");
    }

private:
    UniqueFd epoll_;
};

} // namespace opendoca::tools
