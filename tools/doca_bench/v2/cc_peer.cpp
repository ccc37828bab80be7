// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cc_peer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

#include "../machine.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t warm_up = 100; ///< round trips that do not count

/// A request to the other process: send back this many messages.
struct Request {
    CcWay way;
    std::uint32_t size;
    std::uint64_t count;
};

/// The other process's report that its services listen.
struct Ready {
    std::byte filler; ///< a message must not be empty
};

using Room = std::array<std::byte, cc_max_size>;

SocketTrips::Wait wait_of(CcWay way)
{
    return way == CcWay::socket ? SocketTrips::Wait::poll : SocketTrips::Wait::block;
}

} // namespace

const char *name_of(CcWay way)
{
    switch (way) {
    case CcWay::channel:
        return "Comm Channel, polled";
    case CcWay::channel_events:
        return "Comm Channel, events";
    case CcWay::socket:
        return "socket pair, polled";
    case CcWay::socket_block:
        return "socket pair, asleep";
    }
    return "";
}

// A service listens on a representor, a client connects with its own device.
CcEnd::CcEnd(doca_dev *dev, const std::string *host_pci, const std::string &name, bool blocks)
{
    doca_comm_channel_ep_t *ep = nullptr;
    must(doca_comm_channel_ep_create(&ep), "creating an endpoint");
    ep_.reset(ep);
    must(doca_comm_channel_ep_set_device(ep, dev), "setting the device of an endpoint");
    if (host_pci != nullptr) {
        rep_ = open_representor(dev, *host_pci);
        must(doca_comm_channel_ep_set_device_rep(ep, rep_.get()), "setting the representor of an endpoint");
        must(doca_comm_channel_ep_listen(ep, name.c_str()), "listening");
    } else {
        must(doca_comm_channel_ep_connect(ep, name.c_str(), &peer_), "connecting");
    }
    if (blocks)
        arm();
}

// Armed once: the descriptor stays armed, and readable until a receive returns DOCA_ERROR_AGAIN.
void CcEnd::arm()
{
    int fd = -1;
    must(doca_comm_channel_ep_get_event_channel(ep_.get(), nullptr, &fd), "an event channel");
    must(doca_comm_channel_ep_event_handle_arm_recv(ep_.get()), "arming an event channel");
    epoll_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
    epoll_event event = {.events = EPOLLIN, .data = {}};
    if (!epoll_.is_open() || epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event) != 0)
        fail("epoll");
}

void CcEnd::complete()
{
    doca_error_t status;
    while ((status = doca_comm_channel_peer_addr_update_info(peer_)) == DOCA_ERROR_CONNECTION_INPROGRESS) {
    }
    must(status, "connecting");
}

void CcEnd::send(std::span<const std::byte> message)
{
    doca_error_t status;
    while ((status = doca_comm_channel_ep_sendto(ep_.get(), message.data(), message.size(), DOCA_CC_MSG_FLAG_NONE,
                                                 peer_)) == DOCA_ERROR_AGAIN) {
    }
    must(status, "sending");
}

std::size_t CcEnd::receive(std::span<std::byte> room)
{
    for (;;) {
        std::size_t length = room.size();
        const doca_error_t status =
            doca_comm_channel_ep_recvfrom(ep_.get(), room.data(), &length, DOCA_CC_MSG_FLAG_NONE, &peer_);
        if (status == DOCA_SUCCESS)
            return length;
        if (status != DOCA_ERROR_AGAIN)
            must(status, "receiving");
        // The queue is empty. Without epoll the loop polls.
        epoll_event event;
        if (epoll_.is_open() && epoll_wait(epoll_.get(), &event, 1, -1) < 0 && errno != EINTR)
            fail("epoll_wait");
    }
}

CcPeer::CcPeer(int cpu)
// The name contains the PID, so that benchmarks can run at the same time.
{
    const std::string name = "doca_bench " + std::to_string(getpid());
    process_.emplace(cpu, [&](int control) { serve(control, name); });
    // Clients connect after the services listen.
    Ready ready{};
    if (!receive_message(process_->channel(), ready))
        throw std::runtime_error("the other process has no services");
    CardFunctions functions = find_functions();
    dev_ = std::move(functions.host);
    description_ = functions.description;
    channel_ = std::make_unique<CcEnd>(dev_.get(), nullptr, name, false);
    channel_events_ = std::make_unique<CcEnd>(dev_.get(), nullptr, name + " events", true);
}

CcPeer::~CcPeer() = default;

/// Creates the services, and sends back as many messages as each request asks for.
void CcPeer::serve(int control, const std::string &name) const
{
    const CardFunctions functions = find_functions();
    CcEnd channel(functions.dpu.get(), &functions.host_pci, name, false);
    CcEnd channel_events(functions.dpu.get(), &functions.host_pci, name + " events", true);
    send_message(control, Ready{});
    Request request;
    Room room;
    while (receive_message(control, request)) {
        for (std::uint64_t i = 0; i < request.count; ++i) {
            std::size_t size = 0;
            switch (request.way) {
            case CcWay::channel:
                size = channel.receive(room);
                channel.send(std::span(room).first(size));
                break;
            case CcWay::channel_events:
                size = channel_events.receive(room);
                channel_events.send(std::span(room).first(size));
                break;
            case CcWay::socket:
            case CcWay::socket_block:
                sockets_.echo(wait_of(request.way), room);
                break;
            }
        }
    }
}

// The other process has the same message buffer for all ways.
void CcPeer::trip(CcWay way, std::span<const std::byte> message, bool compares)
{
    Room room;
    std::size_t size = 0;
    switch (way) {
    case CcWay::channel:
        channel_->send(message);
        size = channel_->receive(room);
        break;
    case CcWay::channel_events:
        channel_events_->send(message);
        size = channel_events_->receive(room);
        break;
    case CcWay::socket:
    case CcWay::socket_block:
        size = sockets_.trip(wait_of(way), message, room);
        break;
    }
    if (size != message.size())
        throw std::runtime_error(std::string(name_of(way)) + ": the answer has another length");
    if (compares && !std::ranges::equal(message, std::span(room).first(size)))
        throw std::runtime_error(std::string(name_of(way)) + ": the answer is another");
}

void CcPeer::trips(CcWay way, std::span<const std::byte> message, std::size_t count)
{
    for (std::size_t i = 0; i < count; ++i)
        trip(way, message, i == 0);
}

std::vector<std::byte> CcPeer::begin(CcWay way, std::size_t size, std::size_t count)
{
    std::vector<std::byte> message(size);
    for (std::size_t i = 0; i < size; ++i)
        message[i] = static_cast<std::byte>((i * 131 + count) & 0xff);
    const Request request = {way, static_cast<std::uint32_t>(size), count};
    send_message(process_->channel(), request);
    // The service accepts while it receives, so the client completes its connection after the request.
    if (way == CcWay::channel)
        channel_->complete();
    if (way == CcWay::channel_events)
        channel_events_->complete();
    return message;
}

double CcPeer::round_trip(CcWay way, std::size_t size, std::size_t count)
{
    const std::vector<std::byte> message = begin(way, size, count + warm_up);
    trips(way, message, warm_up);
    const double start = seconds_now();
    trips(way, message, count);
    return (seconds_now() - start) * 1e9 / static_cast<double>(count);
}

Percentiles CcPeer::latency(CcWay way, std::size_t size, std::size_t count)
{
    const std::vector<std::byte> message = begin(way, size, calls_of_time_each(count));
    LatencyHistogram histogram;
    time_each(histogram, count, [&] { trip(way, message, false); });
    return percentiles_of(histogram);
}

} // namespace opendoca::tools
