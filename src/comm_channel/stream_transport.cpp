// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "stream_transport.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "../core/base/guard.hpp"
#include "../core/log/log.hpp"
#include "../core/process/unauthenticated_clients.hpp"
#include "limits.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_TRANSPORT);

namespace opendoca::comm_channel {

namespace {

/// Limit of the wait for a peer's acknowledgement by TCP. A peer that does not read must not delay the program for
/// longer.
constexpr auto max_drain_time = std::chrono::seconds(1);
/// Limit with a queue pair: longer than the card retries, 7 s by default. The peer's program need not run.
constexpr auto max_drain_time_by_link = std::chrono::seconds(10);

/// Blocks for a millisecond at most. Returns false on a timeout or when the peer has gone.
bool wait_a_moment(int socket, std::chrono::steady_clock::time_point end) noexcept
{
    pollfd fd = {.fd = socket, .events = POLLRDHUP, .revents = 0};
    if (std::chrono::steady_clock::now() >= end)
        return false;
    const int num_ready = poll(&fd, 1, 1); // polled: the kernel has no event for an empty send queue
    return num_ready == 0 || (num_ready < 0 && errno == EINTR);
}

} // namespace

void StreamTransport::open() noexcept
{
    const int yes = 1;
    (void)setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes)); // optional: the connection works without it
    end_with_silent_host_only(socket_);
}

std::size_t StreamTransport::send_by_socket(std::span<const std::byte> bytes) noexcept
{
    ssize_t sent = -1;
    do
        sent = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? 0 : static_cast<std::size_t>(sent); // retried later; receive() detects an end
}

std::size_t StreamTransport::receive_by_socket(std::span<std::byte> bytes) noexcept
{
    const ssize_t size = recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (size < 0 && is_temporary(errno))
        return 0;
    // recv() returns 0 at an orderly end and -1 for a reset: neither can be followed by data.
    has_ended_ = size <= 0;
    return size > 0 ? static_cast<std::size_t>(size) : 0;
}

/// The end of the peer, for any reason, is detected by TCP.
std::size_t StreamTransport::receive_by_link(std::span<std::byte> bytes) noexcept
{
    if (const std::size_t size = link_->receive(bytes); size != 0)
        return size;
    // TCP carries no data any more: anything but "no data for now" is the end of the peer.
    char byte;
    if (recv(socket_, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && is_temporary(errno))
        return 0;
    if (const std::size_t size = link_->receive(bytes); size != 0) // data sent before the end precedes it
        return size;
    has_ended_ = true;
    return 0;
}

bool StreamTransport::wait_to_send(std::chrono::steady_clock::time_point begin, const EventHandle &events) noexcept
{
    const bool is_by_link = sends_by_link();
    const auto end = begin + (is_by_link ? max_drain_time_by_link : max_drain_time);
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0 || (is_by_link && link_->has_failed()))
        return false;
    if (is_by_link)
        link_->arm();
    pollfd fds[] = {{.fd = socket_, .events = is_by_link ? short{POLLRDHUP} : short{POLLOUT}, .revents = 0},
                    {.fd = is_by_link ? events.fd() : -1, .events = POLLIN, .revents = 0}};
    const int num_ready = poll(fds, 2, static_cast<int>(left.count()));
    const bool is_interrupted = num_ready < 0 && errno == EINTR;
    if (is_by_link)
        link_->disarm();
    return is_interrupted || (num_ready > 0 && (fds[0].revents & (POLLERR | POLLHUP | POLLRDHUP)) == 0);
}

void StreamTransport::wait_for_acknowledgement(std::chrono::steady_clock::time_point begin) const noexcept
{
    for (int size = 0; ioctl(socket_, SIOCOUTQ, &size) == 0 && size != 0;) {
        if (!wait_a_moment(socket_, begin + max_drain_time))
            return;
    }
}

bool StreamTransport::create_link(const std::shared_ptr<const DeviceFunction> &function,
                                  const std::shared_ptr<EventHandle> &events, RingShape outgoing,
                                  RingShape incoming) noexcept
{
    std::unique_ptr<QueuePairLink> link;
    if (guarded([&] { return QueuePairLink::create(function, events, outgoing, incoming, link); }) != DOCA_SUCCESS)
        return false;
    link_ = std::move(link);
    return true;
}

Offer StreamTransport::offer() const noexcept
{
    Offer offer{};
    if (link_ == nullptr)
        return offer;
    const std::span<const std::byte> details = link_->details();
    offer.size = static_cast<std::uint32_t>(std::min(details.size(), offer.details.size()));
    std::memcpy(offer.details.data(), details.data(), offer.size);
    return offer;
}

bool StreamTransport::connect(const Offer &offer) noexcept
{
    return guarded([&] { return link_->connect(offer.used_details()); }) == DOCA_SUCCESS;
}

void StreamTransport::connect_to_service(const Offer &offer) noexcept
{
    if (!connect(offer))
        drop_link("the service's queue pair cannot be connected");
}

void StreamTransport::connect_to_client(const Offer &offer) noexcept
{
    if (offer.size == 0)
        drop_link("the client has no queue pair");
    else if (!connect(offer))
        drop_link("the client's queue pair cannot be connected");
}

bool StreamTransport::note_service_connected(bool is_connected) noexcept
{
    if (sending_ != Sending::by_socket)
        return false;
    if (link_ == nullptr)
        return true; // the service has received an empty offer
    if (!is_connected)
        drop_link("the service could not connect the client's queue pair");
    else if (link_->was_connected() && !link_->has_failed())
        probe();
    return true;
}

void StreamTransport::probe() noexcept
{
    link_->probe();
    sending_ = Sending::probes_link;
}

bool StreamTransport::has_lost_link() noexcept
{
    if (link_ == nullptr || has_ended_)
        return false;
    (void)link_->has_unsent(); // polls the queue pair
    if (!link_->has_failed())
        return false;
    if (receives_by_link_ || (sending_ != Sending::by_socket && sending_ != Sending::probes_link))
        return true;
    // Received data stays: the peer's switch may still be on its way by TCP.
    if (std::exchange(sending_, Sending::by_socket) == Sending::probes_link && may_log_unauthenticated_client())
        LOG_WARN("messages use TCP instead of a queue pair: the queue pair has failed");
    return false;
}

void StreamTransport::end_after_failure() noexcept
{
    if (may_log_unauthenticated_client())
        LOG_ERR("the queue pair that carries the messages has failed: the connection is closed");
    shutdown(socket_, SHUT_RDWR); // reports the end to both sides
    has_ended_ = true;
}

void StreamTransport::drop_link(const char *reason) noexcept
{
    if (may_log_unauthenticated_client())
        LOG_WARN("messages use TCP instead of a queue pair: %s", reason);
    link_.reset();
    sending_ = Sending::by_socket;
}

} // namespace opendoca::comm_channel
