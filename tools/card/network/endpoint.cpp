// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "endpoint.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <system_error>

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "icrc.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t max_group = 60;                      // the kernel takes 64 segments of one buffer
constexpr std::size_t max_group_bytes = 64'000;            // and 64 KiB with its headers
constexpr std::size_t buffers = 16;                        // datagrams of one recvmmsg
constexpr std::size_t buffer_bytes = std::size_t{1} << 16; // the kernel may join datagrams up to this (UDP_GRO)
constexpr std::size_t parts_of_packet = 3;
constexpr int socket_buffer_bytes = 4 << 20;

bool set(int fd, int level, int name, int value)
{
    return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

/// Asks for a larger buffer than the system's limit, which needs CAP_NET_ADMIN, or else for as much as it allows.
void set_buffer(int fd, int forced, int name)
{
    if (!set(fd, SOL_SOCKET, forced, socket_buffer_bytes))
        set(fd, SOL_SOCKET, name, socket_buffer_bytes);
}

} // namespace

/// A datagram, or several that the kernel has joined.
struct Endpoint::Received {
    Address source;
    std::uint16_t source_port;
    std::span<const std::uint8_t> bytes;
    std::size_t segment; ///< size of each but the last
};

Endpoint::Endpoint(const Address &address)
    : address_(address),
      socket_(::socket(address.is_ipv4() ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)),
      room_(std::make_unique_for_overwrite<std::uint8_t[]>(max_room)),
      arrivals_(std::make_unique_for_overwrite<std::uint8_t[]>(buffers * buffer_bytes))
{
    sockaddr_storage local;
    const socklen_t length = address.to_socket(roce_port, local);
    const int fd = socket_.get();
    const bool is_bound =
        fd >= 0 &&
        (address.is_ipv4() ? set(fd, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
                           // Soft-RoCE sends a checksum of 0, which IPv6 does not allow otherwise.
                           : set(fd, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
                                 set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1) && set(fd, SOL_UDP, UDP_NO_CHECK6_RX, 1)) &&
        bind(fd, reinterpret_cast<const sockaddr *>(&local), length) == 0;
    if (!is_bound)
        throw std::system_error(errno, std::generic_category());
    set_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF);
    set_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF);
    set(fd, SOL_UDP, UDP_GRO, 1); // not on all kernels
    // A size of 0 leaves the socket as it is, and shows whether the kernel knows the option.
    can_segment_ = set(fd, SOL_UDP, UDP_SEGMENT, 0);
}

std::span<std::uint8_t> Endpoint::room(std::size_t bytes)
{
    if (bytes > max_room - used_)
        flush();
    return {room_.get() + used_, std::min(bytes, max_room)};
}

void Endpoint::add(const Address &destination, const Packet &packet)
{
    Collected &collected = collected_.emplace_back();
    collected.destination = destination;
    collected.header_bytes = static_cast<std::uint8_t>(write_headers(packet, collected.headers.data()));
    collected.padding = static_cast<std::uint8_t>(packet.padding());
    collected.trailer = {};
    collected.payload = packet.payload;
    if (!packet.payload.empty())
        used_ = static_cast<std::size_t>(packet.payload.data() + packet.payload.size() - room_.get());
}

std::size_t Endpoint::group_at(std::size_t first) const
{
    const std::size_t bytes = collected_[first].bytes();
    std::size_t count = 1;
    // The last one of a buffer may be shorter.
    while (can_segment_ && first + count < collected_.size() && count < max_group &&
           (count + 1) * bytes <= max_group_bytes && collected_[first + count].bytes() <= bytes &&
           collected_[first + count - 1].bytes() == bytes &&
           collected_[first + count].destination == collected_[first].destination)
        ++count;
    return count;
}

void Endpoint::finish(Collected &packet, std::uint16_t identification) const
{
    const Flow flow{address_, packet.destination, roce_port, roce_port};
    std::uint32_t crc = icrc_prefix(flow, packet.bytes(), identification);
    crc = icrc_headers(crc, std::span(packet.headers).first(packet.header_bytes));
    crc = icrc_bytes_of(crc, packet.payload);
    crc = icrc_bytes_of(crc, std::span(packet.trailer).first(packet.padding));
    for (std::size_t i = 0; i < icrc_bytes; ++i)
        packet.trailer[packet.padding + i] = static_cast<std::uint8_t>(crc >> 8 * i);
}

void Endpoint::flush()
{
    static std::vector<mmsghdr> messages;
    static std::vector<std::size_t> firsts; // index of the first packet of each message
    static std::vector<iovec> parts;
    struct Extra {
        sockaddr_storage destination;
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(std::uint16_t))> control;
    };
    static std::vector<Extra> extras;
    messages.clear();
    firsts.clear();
    parts.clear();
    parts.reserve(collected_.size() * parts_of_packet);
    extras.clear();
    extras.reserve(collected_.size());
    for (std::size_t first = 0; first < collected_.size();) {
        const std::size_t count = group_at(first);
        Extra &extra = extras.emplace_back();
        msghdr header{};
        header.msg_iov = parts.data() + parts.size();
        for (std::size_t i = 0; i < count; ++i) {
            Collected &packet = collected_[first + i];
            finish(packet, static_cast<std::uint16_t>(i));
            parts.push_back({packet.headers.data(), packet.header_bytes});
            if (!packet.payload.empty())
                parts.push_back({const_cast<std::uint8_t *>(packet.payload.data()), packet.payload.size()});
            parts.push_back({packet.trailer.data(), packet.padding + icrc_bytes});
        }
        header.msg_iovlen = static_cast<std::size_t>(parts.data() + parts.size() - header.msg_iov);
        header.msg_namelen = collected_[first].destination.to_socket(roce_port, extra.destination);
        header.msg_name = &extra.destination;
        if (count > 1) {
            header.msg_control = extra.control.data();
            header.msg_controllen = extra.control.size();
            cmsghdr *control = CMSG_FIRSTHDR(&header);
            control->cmsg_level = SOL_UDP;
            control->cmsg_type = UDP_SEGMENT;
            control->cmsg_len = CMSG_LEN(sizeof(std::uint16_t));
            const auto segment = static_cast<std::uint16_t>(collected_[first].bytes());
            std::memcpy(CMSG_DATA(control), &segment, sizeof(segment));
        }
        messages.push_back({header, 0});
        firsts.push_back(first);
        first += count;
    }
    sent_packets += collected_.size();
    for (std::size_t next = 0; next < messages.size();) {
        const int count =
            sendmmsg(socket_.get(), &messages[next], static_cast<unsigned>(messages.size() - next), MSG_NOSIGNAL);
        if (count > 0) {
            next += static_cast<std::size_t>(count);
        } else if (errno == EAGAIN) {
            // The buffer of the socket is full. Its packets leave within microseconds, unless the interface is down.
            pollfd writable{socket_.get(), POLLOUT, 0};
            if (poll(&writable, 1, 1) == 0)
                break;
        } else if (errno == EIO && can_segment_) {
            // The interface cannot compute checksums, which segmentation needs: one by one from now on.
            can_segment_ = false;
            sent_packets -= collected_.size() - firsts[next];
            collected_.erase(collected_.begin(), collected_.begin() + static_cast<std::ptrdiff_t>(firsts[next]));
            flush();
            return;
        } else if (errno != EINTR) {
            ++next; // unreachable, or longer than the path allows
        }
    }
    collected_.clear();
    used_ = 0;
}

std::size_t Endpoint::receive(const std::function<void(const Address &, const Packet &)> &handler)
{
    std::array<mmsghdr, buffers> messages{};
    std::array<iovec, buffers> parts;
    std::array<sockaddr_storage, buffers> sources;
    struct alignas(cmsghdr) Control {
        std::array<char, CMSG_SPACE(sizeof(int))> bytes;
    };
    std::array<Control, buffers> controls;
    for (std::size_t i = 0; i < buffers; ++i) {
        parts[i] = {arrivals_.get() + i * buffer_bytes, buffer_bytes};
        msghdr &header = messages[i].msg_hdr;
        header.msg_name = &sources[i];
        header.msg_namelen = sizeof(sources[i]);
        header.msg_iov = &parts[i];
        header.msg_iovlen = 1;
        header.msg_control = controls[i].bytes.data();
        header.msg_controllen = controls[i].bytes.size();
    }
    const int count = recvmmsg(socket_.get(), messages.data(), buffers, MSG_DONTWAIT, nullptr);
    for (std::size_t i = 0; count > 0 && i < static_cast<std::size_t>(count); ++i) {
        msghdr &header = messages[i].msg_hdr;
        const std::size_t length = messages[i].msg_len;
        std::size_t segment = length;
        for (cmsghdr *control = CMSG_FIRSTHDR(&header); control != nullptr; control = CMSG_NXTHDR(&header, control)) {
            if (control->cmsg_level == SOL_UDP && control->cmsg_type == UDP_GRO) {
                int size = 0;
                std::memcpy(&size, CMSG_DATA(control), sizeof(size));
                segment = size > 0 ? static_cast<std::size_t>(size) : length;
            }
        }
        std::uint16_t port = 0;
        std::memcpy(&port, reinterpret_cast<const char *>(&sources[i]) + offsetof(sockaddr_in, sin_port), sizeof(port));
        static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
        split({Address::of_socket(sources[i]), ntohs(port), {arrivals_.get() + i * buffer_bytes, length}, segment},
              handler);
    }
    return count > 0 ? static_cast<std::size_t>(count) : 0;
}

void Endpoint::split(const Received &received, const std::function<void(const Address &, const Packet &)> &handler)
{
    const Flow flow{received.source, address_, received.source_port, roce_port};
    for (std::size_t at = 0; at < received.bytes.size();) {
        const std::size_t bytes = std::min(received.segment, received.bytes.size() - at);
        const std::span<const std::uint8_t> datagram = received.bytes.subspan(at, bytes);
        at += bytes;
        std::optional<Packet> packet;
        if (is_intact(flow, datagram, false))
            packet = parse_packet(datagram.first(bytes - icrc_bytes));
        if (!packet) {
            ++dropped_packets;
            continue;
        }
        ++received_packets;
        handler(received.source, *packet);
    }
}

} // namespace opendoca::card
