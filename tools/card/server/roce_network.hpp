// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "../network/endpoint.hpp"
#include "card.hpp"
#include "roce_requester.hpp"
#include "roce_responder.hpp"

namespace opendoca::card {

class Network;

/// Builds the 40 bytes in front of a datagram: the IP header as a real card shows it, with zeros before that of IPv4.
/// libibverbs distinguishes the two by the version and the checksum.
std::array<std::uint8_t, datagram_header_bytes> network_header(const Address &source, const Address &destination,
                                                               std::size_t payload);

/// A queue pair with a peer outside of this card. Owned by its QueuePair, from the state "ready to receive" on.
class RoceConnection {
public:
    RoceConnection(QueuePair &qp, Network &network, Endpoint &endpoint, const Address &peer);
    RoceConnection(const RoceConnection &) = delete;
    RoceConnection &operator=(const RoceConnection &) = delete;
    ~RoceConnection();

    /// Drops what is in flight, since the queue pair is broken.
    void stop();
    /// Handles a packet of the peer.
    void handle(const Packet &packet);

    [[nodiscard]] QueuePair &qp() const { return qp_; }
    [[nodiscard]] Network &network() const { return network_; }
    [[nodiscard]] Endpoint &endpoint() const { return endpoint_; }
    [[nodiscard]] const Address &peer() const { return peer_; }
    [[nodiscard]] Transport transport() const;
    /// Returns the payload of full packets, in bytes.
    [[nodiscard]] std::uint32_t mtu() const;
    /// Sends a packet; fills in transport and destination. Its payload must be in the endpoint's room().
    void send(Packet &packet);

    Requester requester{*this};
    Responder responder{*this};

private:
    friend class Network;

    QueuePair &qp_;
    Network &network_;
    Endpoint &endpoint_;
    Address peer_;
    bool is_ready_ = false;            ///< in Network::ready_
    bool has_acknowledgement_ = false; ///< in Network::acknowledging_
    std::uint64_t timer_ = 0;          ///< key of its entry in Network::timers_; 0: none
};

/// The card's end of the network: an endpoint for each function that has an address, and the connections with
/// peers elsewhere. Owned by Card; driven by the event loop. A poll costs nothing unless packets have come, a
/// connection has something to send or a timer has expired.
class Network {
public:
    /// Throws std::system_error.
    explicit Network(Card &card);
    Network(const Network &) = delete;
    Network &operator=(const Network &) = delete;
    ~Network();

    /// Gives @p function its address. Throws std::system_error if the address cannot be bound.
    void add(Function &function, const Address &address);
    /// Returns the endpoint of a function, or null.
    [[nodiscard]] Endpoint *endpoint_of(const Function &function) const;
    /// Returns the packets of all endpoints: sent, received and dropped.
    [[nodiscard]] std::array<std::uint64_t, 3> packets() const;
    /// Returns the descriptors that are readable when progress() has work.
    [[nodiscard]] std::vector<int> descriptors() const;

    /// Connects a queue pair that has become ready to receive, if its path leads out of the card.
    void connect(QueuePair &qp);
    /// Sends a datagram, unless its destination is on this card or is no address of a network.
    void send_datagram(QueuePair &qp, const Address &destination, Packet packet, const SegmentList &message);

    /// Sends a datagram of the management queue pair at once.
    void send_management(const Function &function, const Address &destination, std::span<const std::uint8_t> datagram);

    /// Handles packets that have arrived and timers, and lets each connection send its share. Returns the number of
    /// packets.
    unsigned progress();
    /// Returns whether progress() has something to send at once.
    [[nodiscard]] bool has_work() const { return !ready_.empty() || has_datagrams_; }

    // For connections.

    /// Adds a connection to those that progress() lets send in turns, unless it is one of them.
    void make_ready(RoceConnection &connection);
    /// Updates the timer of a connection after the deadline of its requester has changed.
    void update_timer(RoceConnection &connection);
    /// Removes a connection that is about to be destroyed.
    void forget(RoceConnection &connection);

private:
    struct Port {
        Function *function;
        std::unique_ptr<Endpoint> endpoint;
    };

    void handle(const Port &port, const Address &source, const Packet &packet);
    void handle_management(const Port &port, const Address &source, const Packet &packet);
    void handle_datagram(QueuePair &qp, const Port &port, const Address &source, const Packet &packet);
    unsigned serve_timers();
    void set_alarm();
    [[nodiscard]] bool is_on_card(const Address &address) const;

    Card &card_;
    std::vector<Port> ports_;
    std::deque<RoceConnection *> ready_; ///< that have something to send, in the order of their turns
    bool has_datagrams_ = false;         ///< collected and not sent
    std::vector<RoceConnection *> acknowledging_;
    std::multimap<std::uint64_t, RoceConnection *> timers_; ///< by time in ns; may be earlier than the deadline
    UniqueFd alarm_;                                        ///< timerfd of the first of them
    std::uint64_t alarm_at_ = 0;
    std::uint64_t unread_since_ = 0; ///< time in ns since when packets are left to read; 0: none are
};

} // namespace opendoca::card
