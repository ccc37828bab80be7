// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The switch of a stream from TCP to a queue pair. Without a working queue pair the stream stays with TCP.
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include <sys/epoll.h>
#include <sys/socket.h>

#include "../core/base/guard.hpp"
#include "../core/log/log.hpp"
#include "../core/process/unauthenticated_clients.hpp"
#include "stream.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_STREAM);

namespace opendoca::comm_channel {

bool Stream::make_link(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing,
                       RingShape incoming) noexcept
{
    std::unique_ptr<QueuePairLink> link;
    // The link's completions make messages_ readable. A waiter for space that watches space_epoll_ alone must wake as
    // well.
    epoll_event event = {.events = 0, .data = {.fd = messages_->fd()}};
    const bool is_nested = !share_epoll_;
    if ((is_nested && epoll_ctl(space_epoll_.get(), EPOLL_CTL_ADD, messages_->fd(), &event) != 0) ||
        guarded([&] { return QueuePairLink::create(function, messages_, outgoing, incoming, link); }) != DOCA_SUCCESS) {
        if (may_log_unauthenticated_client())
            LOG_WARN("messages use TCP: device %s cannot create a queue pair for them", function->name.c_str());
        return false;
    }
    link_ = std::move(link);
    return true;
}

Offer Stream::offer() const noexcept
{
    Offer offer{};
    if (link_ == nullptr)
        return offer;
    const std::span<const std::byte> details = link_->details();
    offer.size = static_cast<std::uint32_t>(std::min(details.size(), offer.details.size()));
    std::memcpy(offer.details.data(), details.data(), offer.size);
    return offer;
}

void Stream::accept_service_offer(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing,
                                  RingShape incoming, const Offer &offer) noexcept
{
    if (make_link(function, outgoing, incoming) &&
        guarded([&] { return link_->connect(offer.used_details()); }) != DOCA_SUCCESS)
        drop_link("the service's queue pair cannot be connected");
    put(StreamKind::offer, bytes_of(this->offer()));
    arm_link();
}

/// Service: processes the offer of a client that has connected its queue pair.
bool Stream::accept_offer(std::span<const std::byte> bytes) noexcept
{
    Offer offer;
    // A second offer, or one to a service that has no queue pair, is a protocol violation.
    if (!is_service_ || link_ == nullptr || link_->was_connected() || bytes.size() != sizeof(offer))
        return false;
    std::memcpy(&offer, bytes.data(), sizeof(offer));
    if (offer.size == 0)
        drop_link("the client has no queue pair");
    else if (guarded([&] { return link_->connect(offer.used_details()); }) != DOCA_SUCCESS)
        drop_link("the client's queue pair cannot be connected");
    const std::uint32_t is_connected = link_ != nullptr ? 1 : 0;
    put(StreamKind::connected, bytes_of(is_connected));
    if (link_ != nullptr) {
        link_->probe();
        sending_ = Sending::probes_link;
    }
    return true;
}

bool Stream::accept_connected(std::span<const std::byte> bytes) noexcept
{
    std::uint32_t is_connected = 2;
    if (bytes.size() == sizeof(is_connected))
        std::memcpy(&is_connected, bytes.data(), sizeof(is_connected));
    if (is_service_ || is_connected > 1 || sending_ != Sending::by_socket)
        return false;
    if (link_ == nullptr)
        return true; // the service has received an empty offer
    if (is_connected == 0) {
        drop_link("the service could not connect the client's queue pair");
    } else if (link_->was_connected() && !link_->has_failed()) {
        link_->probe();
        sending_ = Sending::probes_link;
    }
    return true;
}

/// Processes the peer's last frame by TCP: everything after it arrives by the queue pair.
bool Stream::accept_switch() noexcept
{
    // by_queue_pair is the last frame by TCP: nothing may follow it.
    const bool is_last = in_size_ == sizeof(Header);
    if (!is_last || receives_by_link_ || link_ == nullptr || !link_->was_connected())
        return false;
    receives_by_link_ = true;
    choose_events();
    return true;
}

/// Returns whether the probe has been acknowledged.
bool Stream::is_probe_acknowledged() noexcept
{
    return !link_->has_unsent() && !link_->has_failed();
}

void Stream::check_link() noexcept
{
    if (link_ == nullptr || has_ended_)
        return;
    (void)link_->has_unsent(); // polls the queue pair
    if (!link_->has_failed())
        return;
    if (!receives_by_link_ && (sending_ == Sending::by_socket || sending_ == Sending::probes_link)) {
        if (std::exchange(sending_, Sending::by_socket) == Sending::probes_link && may_log_unauthenticated_client())
            LOG_WARN("messages use TCP instead of a queue pair: the queue pair has failed");
        return; // received data stays: the peer's switch may still be on its way by TCP
    }
    // The queue pair may have received messages before it failed. They are delivered before the connection ends.
    if (receive() || in_size_ == in_.size() || has_ended_)
        return; // data that arrived before the failure is delivered first
    if (may_log_unauthenticated_client())
        LOG_ERR("the queue pair that carries the messages has failed: the connection is closed");
    shutdown(socket_, SHUT_RDWR); // reports the end to both sides
    has_ended_ = true;
}

void Stream::drop_link(const char *reason) noexcept
{
    if (may_log_unauthenticated_client())
        LOG_WARN("messages use TCP instead of a queue pair: %s", reason);
    link_.reset();
    sending_ = Sending::by_socket;
    choose_events();
}

/// Returns true if data has arrived. The end of the peer, for any reason, is detected by TCP.
bool Stream::receive_by_link() noexcept
{
    const auto take = [this] {
        const std::size_t size = link_->receive(std::span(in_).subspan(in_size_));
        in_size_ += size;
        return size != 0;
    };
    if (take())
        return true;
    // TCP carries no data any more: anything but "no data for now" is the end of the peer.
    char byte;
    if (recv(socket_, &byte, sizeof(byte), MSG_DONTWAIT) < 0 && is_temporary(errno))
        return false;
    if (take()) // data sent before the end precedes it
        return true;
    has_ended_ = true;
    return false;
}

void Stream::arm_link() noexcept
{
    if (link_ == nullptr)
        return;
    // Armed anew at each request: arming polls once, so that completions from before it raise an event as well.
    link_->disarm();
    if (wakes_for_message_ || wakes_for_space_)
        link_->arm();
    // A wake-up before this call may have been consumed while messages are still unread.
    if (wakes_for_message_ && peer_left_ != nullptr && incoming_.in_flight() != 0)
        messages_->wake();
}

} // namespace opendoca::comm_channel
