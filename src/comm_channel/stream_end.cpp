// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Closing a stream from this side: waits until the data that was sent has reached the peer, up to the limits below.
#include "stream.hpp"

#include <cerrno>
#include <chrono>
#include <cstdint>

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace opendoca::comm_channel {

namespace {

/// Limit by TCP. A peer that does not read must not delay the program for longer.
constexpr auto max_drain_time = std::chrono::seconds(1);
/// Limit with a queue pair: longer than the card retries, 7 s by default. The peer's program need not run.
constexpr auto max_drain_time_by_link = std::chrono::seconds(10);

} // namespace

/// Blocks until more can be sent. Returns false on a timeout or when the peer has gone.
bool Stream::wait_to_write(std::chrono::steady_clock::time_point begin) noexcept
{
    const bool is_by_link = sending_ == Sending::by_link;
    const auto end = begin + (is_by_link ? max_drain_time_by_link : max_drain_time);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || (is_by_link && link_->has_failed()))
        return false;
    if (is_by_link)
        link_->arm();
    pollfd fds[] = {{.fd = socket_, .events = is_by_link ? short{POLLRDHUP} : short{POLLOUT}, .revents = 0},
                    {.fd = is_by_link ? messages_->fd() : -1, .events = POLLIN, .revents = 0}};
    const int num_ready = poll(fds, 2, static_cast<int>(left.count()));
    const bool is_interrupted = num_ready < 0 && errno == EINTR;
    if (is_by_link)
        link_->disarm();
    return is_interrupted || (num_ready > 0 && (fds[0].revents & (POLLERR | POLLHUP | POLLRDHUP)) == 0);
}

/// Blocks for a millisecond at most. Returns false on a timeout or when the peer has gone.
bool Stream::wait_for_acknowledgement(std::chrono::steady_clock::time_point end) const noexcept
{
    pollfd fd = {.fd = socket_, .events = POLLRDHUP, .revents = 0};
    if (std::chrono::steady_clock::now() >= end)
        return false;
    const int num_ready = poll(&fd, 1, 1); // polled: the kernel has no event for an empty send queue
    return num_ready == 0 || (num_ready < 0 && errno == EINTR);
}

void Stream::drain_and_leave() noexcept
{
    if (peer_left_ == nullptr || has_ended_)
        return;
    const auto begin = std::chrono::steady_clock::now();
    for (bool has_framed_notice = false, has_sent = false; !has_sent;) {
        // In this order: the remaining messages, the notice, and the wait until the transport has sent all of it.
        push();
        if (out_size_ == 0 && !has_framed_notice && outgoing_.check_message() != RingResult::done) {
            frame(static_cast<std::uint32_t>(StreamKind::leaving), 0);
            has_framed_notice = true;
        } else if (out_size_ == 0 && has_framed_notice && (sending_ != Sending::by_link || !link_->has_unsent())) {
            has_sent = true;
        } else if ((out_size_ != 0 || has_framed_notice) && !wait_to_write(begin)) {
            return;
        }
    }
    // Closing a socket with unread input resets the connection: data that the peer's kernel has not acknowledged is
    // lost.
    for (int size = 0; ioctl(socket_, SIOCOUTQ, &size) == 0 && size != 0;) {
        if (!wait_for_acknowledgement(begin + max_drain_time))
            return;
    }
}

} // namespace opendoca::comm_channel
