// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cc_peer.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <sys/epoll.h>
#include <unistd.h>

#include "../machine.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t warm_up = 100; ///< round trips that do not count

struct Request {
    CcWay way;
    std::uint32_t size;
    std::uint64_t count;
};

using Room = std::array<std::byte, cc_max_size>;

void send_on(int socket, std::span<const std::byte> message)
{
    if (send(socket, message.data(), message.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(message.size()))
        fail("a bare socket");
}

/// 0 when the other end has gone.
std::size_t receive_on(int socket, std::span<std::byte> room, int flags)
{
    ssize_t size;
    while ((size = recv(socket, room.data(), room.size(), flags)) < 0 &&
           (errno == EAGAIN || errno == EINTR)) {
    }
    if (size < 0)
        fail("a bare socket");
    return static_cast<std::size_t>(size);
}

struct Functions {
    DeviceHandle dpu;
    DeviceHandle host;
    std::string host_pci;
    std::string description;
};

/// The first host function that a port of the DPU has a representor of.
Functions find_functions()
{
    const DeviceList devices;
    for (doca_devinfo *const port : devices.infos()) {
        std::uint32_t connections = 0;
        std::uint8_t has_representors = 0;
        if (doca_devinfo_rep_get_is_list_net_supported(port, &has_representors) != DOCA_SUCCESS ||
            has_representors == 0 ||
            doca_comm_channel_get_service_max_num_connections(port, &connections) != DOCA_SUCCESS)
            continue;
        Functions found{open_device(*port), nullptr, {}, {}};
        const RepresentorList reps(*found.dpu, DOCA_DEV_REP_FILTER_NET);
        for (doca_devinfo_rep *const rep : reps.infos()) {
            char pci[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
            must(doca_devinfo_rep_get_pci_addr_str(rep, pci), "the address of a representor");
            for (doca_devinfo *const info : devices.infos()) {
                std::uint8_t is_equal = 0, exports = 0;
                if (doca_devinfo_get_is_pci_addr_equal(info, pci, &is_equal) != DOCA_SUCCESS ||
                    is_equal == 0 ||
                    doca_devinfo_get_is_mmap_export_dpu_supported(info, &exports) != DOCA_SUCCESS ||
                    exports == 0)
                    continue;
                found.host = open_device(*info);
                found.host_pci = pci;
                found.description = ibdev_of(*info) + " to " + ibdev_of(*port);
                return found;
            }
        }
    }
    throw std::runtime_error(
        "no host function and port of a DPU with Comm Channel; DOCA_SOFT=1 shows software devices");
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
    case CcWay::socket_sleep:
        return "socket pair, asleep";
    }
    return "";
}

CcEnd::CcEnd(doca_dev *dev, const std::string *host_pci, const std::string &name, bool sleeps)
{
    doca_comm_channel_ep_t *ep = nullptr;
    must(doca_comm_channel_ep_create(&ep), "creating an endpoint");
    ep_.reset(ep);
    must(doca_comm_channel_ep_set_device(ep, dev), "setting the device of an endpoint");
    if (host_pci != nullptr) {
        const RepresentorList reps(*dev, DOCA_DEV_REP_FILTER_NET);
        for (doca_devinfo_rep *const info : reps.infos()) {
            std::uint8_t is_equal = 0;
            doca_dev_rep *rep = nullptr;
            if (rep_ == nullptr &&
                doca_devinfo_rep_get_is_pci_addr_equal(info, host_pci->c_str(), &is_equal) == DOCA_SUCCESS &&
                is_equal != 0) {
                must(doca_dev_rep_open(info, &rep), "opening a representor");
                rep_.reset(rep);
            }
        }
        must(doca_comm_channel_ep_set_device_rep(ep, rep_.get()), "setting the representor of an endpoint");
        must(doca_comm_channel_ep_listen(ep, name.c_str()), "listening");
    } else {
        must(doca_comm_channel_ep_connect(ep, name.c_str(), &peer_), "connecting");
    }
    if (sleeps)
        arm();
}

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
    while ((status = doca_comm_channel_ep_sendto(ep_.get(), message.data(), message.size(),
                                                 DOCA_CC_MSG_FLAG_NONE, peer_)) == DOCA_ERROR_AGAIN) {
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
        epoll_event event;
        if (epoll_.is_open() && epoll_wait(epoll_.get(), &event, 1, -1) < 0 && errno != EINTR)
            fail("epoll_wait");
    }
}

CcPeer::CcPeer(int cpu)
{
    UniqueFd polled, slept;
    make_socket_pair(polled_, polled);
    make_socket_pair(slept_, slept);
    const std::string name = "doca_bench " + std::to_string(getpid());
    process_.emplace(cpu, [&](int control) { serve(control, polled.get(), slept.get(), name); });
    std::byte ready;
    if (receive_on(process_->channel(), {&ready, 1}, 0) != 1)
        throw std::runtime_error("the other process has no services");
    Functions functions = find_functions();
    dev_ = std::move(functions.host);
    description_ = functions.description;
    channel_ = std::make_unique<CcEnd>(dev_.get(), nullptr, name, false);
    channel_events_ = std::make_unique<CcEnd>(dev_.get(), nullptr, name + " events", true);
}

CcPeer::~CcPeer() = default;

/// The life of the other process.
void CcPeer::serve(int control, int polled, int slept, const std::string &name) const
{
    const Functions functions = find_functions();
    CcEnd channel(functions.dpu.get(), &functions.host_pci, name, false);
    CcEnd channel_events(functions.dpu.get(), &functions.host_pci, name + " events", true);
    const std::byte ready{1};
    send_on(control, {&ready, 1});
    Request request;
    Room room;
    while (receive_on(control, std::as_writable_bytes(std::span(&request, 1)), 0) == sizeof(request)) {
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
                size = receive_on(polled, room, MSG_DONTWAIT);
                send_on(polled, std::span(room).first(size));
                break;
            case CcWay::socket_sleep:
                size = receive_on(slept, room, 0);
                send_on(slept, std::span(room).first(size));
                break;
            }
        }
    }
}

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
        send_on(polled_.get(), message);
        size = receive_on(polled_.get(), room, MSG_DONTWAIT);
        break;
    case CcWay::socket_sleep:
        send_on(slept_.get(), message);
        size = receive_on(slept_.get(), room, 0);
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
    send_on(process_->channel(), std::as_bytes(std::span(&request, 1)));
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
