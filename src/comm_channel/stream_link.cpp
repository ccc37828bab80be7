// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How the two sides of a stream come to send by queue pairs, and go on without where that fails.
#include <cstring>

#include <sys/epoll.h>
#include <sys/socket.h>

#include "../core/guard.hpp"
#include "../core/log.hpp"
#include "stream.hpp"

OPENDOCA_LOG_SOURCE(DOCA_CC_STREAM);

namespace opendoca::comm_channel {

namespace {

/// After the service has sent its probe: one on its way between two functions of a card takes microseconds.
constexpr auto longest_probe = std::chrono::seconds(3);

using Word = std::uint32_t;

std::span<const std::byte> bytes_of(const Word &word)
{
    return std::as_bytes(std::span(&word, 1));
}

/// 0 or 1; 2 for anything else.
Word word_of(std::span<const std::byte> bytes) noexcept
{
    Word word = 2;
    if (bytes.size() == sizeof(word))
        std::memcpy(&word, bytes.data(), sizeof(word));
    return word;
}

} // namespace

bool Stream::make_link(const std::shared_ptr<const DeviceFunction> &function) noexcept
{
    std::unique_ptr<QueuePairLink> link;
    epoll_event event = {.events = 0, .data = {.fd = messages_->fd()}};
    if (epoll_ctl(space_epoll_.get(), EPOLL_CTL_ADD, messages_->fd(), &event) != 0 ||
        guarded([&] { return QueuePairLink::create(function, messages_, link); }) != DOCA_SUCCESS) {
        LOG_WARN("messages go by TCP: device %s gives no queue pair for them", function->name.c_str());
        return false;
    }
    link_ = std::move(link);
    way_ = Way::undecided;
    return true;
}

Offer Stream::offer() const noexcept
{
    Offer offer{};
    const std::span<const std::byte> details = link_->details();
    offer.size = static_cast<std::uint32_t>(std::min(details.size(), offer.details.size()));
    std::memcpy(offer.details.data(), details.data(), offer.size);
    return offer;
}

void Stream::take_up(const std::shared_ptr<const DeviceFunction> &function, const Offer &offer) noexcept
{
    if (!make_link(function))
        return put(StreamKind::choice, bytes_of(0));
    wakes_for_message_ = true; // until it is known by what messages go
    if (guarded([&] { return link_->connect(offer.used_details()); }) != DOCA_SUCCESS)
        return refuse_link("there is no way to the other side's");
    choose_events();
    arm_link();
    const Offer own = this->offer();
    put(StreamKind::offer, std::as_bytes(std::span(&own, 1)));
}

bool Stream::has_chosen() noexcept
{
    if (way_ != Way::undecided)
        return true;
    if (link_->has_failed())
        refuse_link("it has failed");
    else if (give_up_at_ && std::chrono::steady_clock::now() > *give_up_at_)
        refuse_link("nothing comes by it");
    return way_ != Way::undecided;
}

void Stream::refuse_link(const char *reason) noexcept
{
    LOG_WARN("messages go by TCP, and not by a queue pair: %s", reason);
    choose(Way::socket);
    put(StreamKind::choice, bytes_of(0));
}

void Stream::choose(Way way) noexcept
{
    way_ = way;
    give_up_at_.reset();
    if (way == Way::socket)
        link_.reset();
    else
        LOG_DBG("messages go by a queue pair");
    choose_events();
    arm_link();
}

/// A client's, which has connected its queue pair.
bool Stream::accept_offer(std::span<const std::byte> bytes) noexcept
{
    Offer offer;
    if (!is_service_ || way_ != Way::undecided || link_->is_connected() || bytes.size() != sizeof(offer))
        return false;
    std::memcpy(&offer, bytes.data(), sizeof(offer));
    if (guarded([&] { return link_->connect(offer.used_details()); }) != DOCA_SUCCESS) {
        refuse_link("there is no way to the other side's");
        return true;
    }
    struct {
        Header header = {sizeof(Word), static_cast<std::uint32_t>(StreamKind::probe)};
        Word by_link = 1;
    } const probe;
    if (link_->send(std::as_bytes(std::span(&probe, 1)))) // else it has failed, which the next look finds
        put(StreamKind::probe, bytes_of(0));
    return true;
}

bool Stream::accept_probe(std::span<const std::byte> bytes) noexcept
{
    const Word by_link = word_of(bytes);
    if (is_service_ || by_link > 1 || (way_ == Way::undecided && !link_->is_connected()))
        return false;
    if (way_ != Way::undecided)
        return true; // it comes late
    if (by_link == 0) {
        give_up_at_ = std::chrono::steady_clock::now() + longest_probe;
    } else {
        choose(Way::link);
        put(StreamKind::choice, bytes_of(1));
    }
    return true;
}

bool Stream::accept_choice(std::span<const std::byte> bytes) noexcept
{
    const Word by_link = word_of(bytes);
    if (way_ == Way::socket)
        return by_link == 0; // both have refused it
    // A service that leaves has not heard of the client's choice: the rest comes by TCP.
    if (by_link == 0 && (way_ == Way::undecided || !is_service_)) {
        choose(Way::socket);
        return true;
    }
    if (by_link != 1 || !is_service_ || way_ != Way::undecided || !link_->is_connected())
        return false;
    choose(Way::link);
    return true;
}

/// True when something has come.
bool Stream::receive_by_link() noexcept
{
    if (const std::size_t size = link_->receive(std::span(in_).subspan(in_size_)); size != 0) {
        in_size_ += size;
        is_of_socket_ = false;
        return true;
    }
    if (way_ == Way::link && link_->has_failed()) {
        LOG_ERR("the queue pair by which messages go has failed, which ends the connection");
        shutdown(socket_, SHUT_RDWR); // tells both sides
        has_ended_ = true;
    }
    return false;
}

void Stream::arm_link() noexcept
{
    if (link_ == nullptr)
        return;
    link_->disarm();
    if (wakes_for_message_ || wakes_for_space_)
        link_->arm();
}

} // namespace opendoca::comm_channel
