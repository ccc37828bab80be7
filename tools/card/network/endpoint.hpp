// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "../../../src/core/base/unique_fd.hpp"
#include "address.hpp"
#include "packet.hpp"

namespace opendoca::card {

/// The UDP socket of one address, from which packets are sent and at which they arrive. Packets are collected and go
/// out with few system calls; where the kernel can (UDP_SEGMENT), equal ones to one destination as one buffer. The
/// socket is never connected, since the kernel then gives IPv4 packets the ID 0 (or, in one buffer, 0, 1, 2, ...),
/// which the ICRC covers. Used by the card's thread.
class Endpoint {
public:
    /// Throws std::system_error if the address cannot be bound.
    explicit Endpoint(const Address &address);
    Endpoint(const Endpoint &) = delete;
    Endpoint &operator=(const Endpoint &) = delete;

    [[nodiscard]] const Address &address() const { return address_; }
    [[nodiscard]] int fd() const { return socket_.get(); }

    /// Returns room for the payload of the next packets, valid until flush(). At most max_room bytes; what was
    /// collected is sent first if there is not enough.
    [[nodiscard]] std::span<std::uint8_t> room(std::size_t bytes);
    static constexpr std::size_t max_room = std::size_t{1} << 18;
    /// Collects a packet. Its payload must be in room().
    void add(const Address &destination, const Packet &packet);
    /// Sends what was collected. What the kernel refuses is lost, as on a network.
    void flush();

    /// Calls @p handler with the packets that have arrived, up to a limit, and their senders. Returns how many
    /// datagrams were read; whatever is no intact packet of RoCE is dropped.
    std::size_t receive(const std::function<void(const Address &, const Packet &)> &handler);

    std::uint64_t sent_packets = 0, received_packets = 0, dropped_packets = 0; ///< counters of `status`

private:
    /// A packet that was collected: its parts in sending order.
    struct Collected {
        Address destination;
        std::array<std::uint8_t, max_header_bytes> headers;
        std::array<std::uint8_t, 8> trailer; ///< padding and ICRC
        std::uint8_t header_bytes, padding;
        std::span<const std::uint8_t> payload;

        [[nodiscard]] std::size_t bytes() const { return header_bytes + payload.size() + padding + icrc_bytes; }
    };
    struct Received;

    /// Returns how many packets, from @p first on, can be sent as one buffer.
    [[nodiscard]] std::size_t group_at(std::size_t first) const;
    void finish(Collected &packet, std::uint16_t identification) const;
    void split(const Received &received, const std::function<void(const Address &, const Packet &)> &handler);

    Address address_;
    UniqueFd socket_;
    bool can_segment_ = false;
    std::unique_ptr<std::uint8_t[]> room_;
    std::size_t used_ = 0;
    std::vector<Collected> collected_;
    std::unique_ptr<std::uint8_t[]> arrivals_; ///< buffers of receive()
};

} // namespace opendoca::card
