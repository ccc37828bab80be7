// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include <sys/epoll.h>

#include "../core/base/unique_fd.hpp"
#include "../core/process/fork.hpp"

namespace opendoca::comm_channel {

/// An epoll instance that the program can watch: readable while a watched descriptor is ready, or after kick() until
/// clear(). Owned by an endpoint or a context; used under the owner's lock.
class EventChannel {
public:
    /// Returns false with errno if a descriptor cannot be created.
    [[nodiscard]] bool create();
    /// The same, for a channel of which kick() is called, which takes one more descriptor.
    [[nodiscard]] bool create_with_kicks();
    void close() noexcept { *this = EventChannel(); }

    [[nodiscard]] bool is_open() const noexcept { return epoll_.is_open(); }
    [[nodiscard]] int get() const noexcept { return epoll_.get(); }

    /// Adds @p fd with @p tag, which poll_events() returns with its events. Returns false with errno on failure.
    [[nodiscard]] bool watch(int fd, std::uint32_t events, void *tag) noexcept;
    void change(int fd, std::uint32_t events, void *tag) noexcept;
    /// Removes @p fd. Does nothing if the channel does not watch it. Call before @p fd is closed.
    void unwatch(int fd) noexcept;

    /// Makes the channel of create_with_kicks() readable until clear(). One system call, however often it is called in
    /// between.
    void kick() noexcept;
    void clear() noexcept; ///< resets the effect of kick()

    /// Returns the events that are ready now, without blocking. The tag of a kick is null.
    [[nodiscard]] int poll_events(epoll_event *events, int most) const noexcept;

private:
    ProcessFd epoll_;
    ProcessFd kicks_;        ///< eventfd that kick() signals
    bool is_kicked_ = false; ///< kicks_ is signalled: repeated kicks and clears then take no system call
};

} // namespace opendoca::comm_channel
