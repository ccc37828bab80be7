// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "../core/engine/event_handle.hpp"
#include "../core/process/fork.hpp"

namespace opendoca::comm_channel {

/// The two descriptors of a stream on which its program blocks, for a message and for space, and which of the two it
/// has requested. A part of a Stream, used under the lock of its connection. Invariant: the end of the peer makes
/// message_fd() readable whatever is requested.
class StreamEvents {
public:
    /// @p socket is that of the stream, which outlives the object.
    explicit StreamEvents(int socket) noexcept : socket_(socket) {}

    /// Creates the descriptors. Returns false with errno on failure.
    [[nodiscard]] bool open();
    [[nodiscard]] int message_fd() const noexcept { return messages_->fd(); }
    [[nodiscard]] int space_fd() const noexcept { return space_epoll_.get(); }
    /// Declares that one epoll instance watches both descriptors, so that an event need not show in each. This saves
    /// one level of nesting: the kernel limits nested epoll instances to four, including the program's own.
    void descriptors_share_epoll() noexcept { share_epoll_ = true; }
    /// The handle behind message_fd(), for the completion queue of a link.
    [[nodiscard]] const std::shared_ptr<EventHandle> &handle() const noexcept { return messages_; }
    /// Prepares space_fd() for a link. Its completions make message_fd() readable, and a waiter for space that watches
    /// space_fd() alone must wake as well. Returns false with errno on failure.
    [[nodiscard]] bool prepare_for_link() noexcept;

    // Request or cancel wake-ups, and return whether that changes anything; choose() must follow a change.
    [[nodiscard]] bool request_for_message(bool is_wanted) noexcept;
    [[nodiscard]] bool request_for_space(bool is_wanted) noexcept;
    [[nodiscard]] bool is_message_requested() const noexcept { return wakes_for_message_; }
    [[nodiscard]] bool is_any_requested() const noexcept { return wakes_for_message_ || wakes_for_space_; }
    /// Sets which events each descriptor shows, from the requests and from what the stream does next: whether it
    /// @p receives by the socket, has unsent data for it (@p sends), and has a link.
    void choose(bool receives, bool sends, bool has_link) noexcept;

    // Make the descriptor readable until the next request is cancelled.
    void wake_for_message() noexcept { messages_->wake(); }
    void wake_for_space() noexcept;

private:
    const int socket_;
    /// The handle that message_fd() returns, shared with the link's completion queue. Also woken when another thread's
    /// call has received a message.
    std::shared_ptr<EventHandle> messages_;
    /// What space_fd() returns; contains the socket, space_event_ and, for a link, messages_.
    ProcessFd space_epoll_;
    ProcessFd space_event_; ///< eventfd that is signalled when the peer frees space
    bool share_epoll_ = false;
    bool wakes_for_message_ = true; ///< requested; before Stream::attach() for the handshake
    bool wakes_for_space_ = false;
};

} // namespace opendoca::comm_channel
