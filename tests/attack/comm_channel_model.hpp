// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comm Channel: services and clients of one process, by calls at random. Each message arrives once, in its order and as
// it was sent, also after its sender has gone. Which client a service receives from, and whether it takes others in
// while messages wait, is the library's matter.
//
// Endpoints and connections are in test_model_comm_channel.cpp, messages and news in
// test_model_comm_channel_messages.cpp.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "../conformance/support/comm_channel.hpp"
#include "model.hpp"

namespace doca_test {

inline constexpr std::size_t client = 0, service = 1; ///< the sides of a connection
inline constexpr std::size_t longest_name = 119;
inline constexpr std::size_t num_services = 2, num_endpoints = 7, num_names = 2;

/// Messages of one direction.
struct Lane {
    std::deque<std::string> waiting; ///< were sent, and not received
    std::uint64_t num_sent = 0, bytes_sent = 0, num_received = 0, bytes_received = 0;
    std::size_t queue = 0;

    [[nodiscard]] bool is_full() const { return waiting.size() == queue; }
    void count_sent(std::size_t length)
    {
        ++num_sent;
        bytes_sent += length;
    }
};

/// From a client's connect on.
struct Connection {
    std::uint64_t number = 0;
    std::size_t longest = 0; ///< message
    bool is_taken_in = false;
    std::array<bool, 2> is_here{true, true}; ///< has not ended the connection
    std::array<Lane, 2> from;                ///< by the sender's side
    std::array<Address *, 2> address{};      ///< of the peer, as a side knows it; null for a service that does not yet
    std::array<std::uint64_t, 2> user_data{};
};
using ConnectionPtr = std::shared_ptr<Connection>;

/// Of an endpoint, while it listens or is connected.
struct Use {
    std::size_t side = client;
    std::string name;                              ///< a service's, and
    doca_dev_rep *rep = nullptr;                   ///< for whom
    std::vector<ConnectionPtr> peers;              ///< a client has one, a service those that it has taken in
    std::vector<ConnectionPtr> waiting;            ///< clients that a service has not taken in
    std::uint32_t num_given_up = 0;                ///< such that have gone; they may still be pending
    std::uint32_t num_listed = 0, num_pending = 0; ///< as of the last update
    bool has_received = false, has_asked_for_channels = false, is_recv_armed = false;
    std::vector<ConnectionPtr> room_wanted; ///< whose room wakes by the send channel
    int send_fd = -1, recv_fd = -1, service_fd = -1;

    [[nodiscard]] Lane &lane_to(Connection &peer) const { return peer.from[side]; }
    [[nodiscard]] Lane &lane_from(Connection &peer) const { return peer.from[1 - side]; }
    [[nodiscard]] bool is_there(const Connection &peer) const { return peer.is_here[1 - side]; }
    [[nodiscard]] bool is_connected(const Connection &peer) const { return peer.is_taken_in && is_there(peer); }
    [[nodiscard]] bool has_message_from(const ConnectionPtr &peer) const
    {
        return peer->is_taken_in && !lane_from(*peer).waiting.empty();
    }
    [[nodiscard]] bool has_message() const
    {
        return std::ranges::any_of(peers, [this](const ConnectionPtr &peer) { return has_message_from(peer); });
    }
    [[nodiscard]] bool is_first_message_held_back() const
    {
        return side == client && !has_received && !has_asked_for_channels && peers.front()->from[client].num_sent >= 2;
    }

    /// With a message of a good length, to a peer of which the end, if it has come, was seen.
    [[nodiscard]] doca_error_t send(const ConnectionPtr &peer, std::size_t length) const
    {
        if (!peer->is_taken_in)
            return is_there(*peer) ? DOCA_ERROR_AGAIN : DOCA_ERROR_INITIALIZATION;
        if (length > peer->longest)
            return DOCA_ERROR_INVALID_VALUE;
        if (!is_there(*peer)) // in vain, until what is left was received
            return has_message_from(peer) ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_RESET;
        return lane_to(*peer).is_full() ? DOCA_ERROR_AGAIN : DOCA_SUCCESS;
    }
    /// When there is no message.
    [[nodiscard]] doca_error_t receive_nothing() const
    {
        if (side == service || peers.front()->is_here[service])
            return DOCA_ERROR_AGAIN;
        return peers.front()->is_taken_in ? DOCA_ERROR_CONNECTION_RESET : DOCA_ERROR_INITIALIZATION;
    }
    [[nodiscard]] doca_error_t update(const ConnectionPtr &peer) const
    {
        if (!is_there(*peer) && !has_message_from(peer))
            return DOCA_ERROR_CONNECTION_ABORTED;
        return peer->is_taken_in ? DOCA_SUCCESS : DOCA_ERROR_CONNECTION_INPROGRESS;
    }
};

struct Endpoint {
    doca_comm_channel_ep_t *ep = nullptr;
    doca_dev *dev = nullptr;
    doca_dev_rep *rep = nullptr;
    std::uint16_t message_size = longest_message, send_queue = 512, recv_queue = 512;
    std::unique_ptr<Use> use; ///< null: idle

    [[nodiscard]] bool is_idle() const { return use == nullptr; }
    [[nodiscard]] bool is(std::size_t side) const { return !is_idle() && use->side == side; }
    [[nodiscard]] bool listens(const std::string &name, const doca_dev_rep *of) const
    {
        return is(service) && use->name == name && use->rep == of;
    }
    /// What listen and connect look at first.
    [[nodiscard]] doca_error_t begin(const std::string &name) const
    {
        if (!is_idle())
            return DOCA_ERROR_NOT_PERMITTED;
        if (dev == nullptr)
            return DOCA_ERROR_BAD_STATE;
        return name.empty() || name.size() > longest_name ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
    }
};

class CommChannelModelTest : public testing::TestWithParam<DevicePair>, protected Model<doca_get_error_name> {
protected:
    void SetUp() override;
    void step();
    void clean_up();

    // Endpoints and their connections.
    [[nodiscard]] bool can_all_listen() const;
    void configure(Endpoint &ep);
    void read_properties(const Endpoint &ep);
    void begin(Endpoint &ep, bool as_service);
    void listen(Endpoint &ep, const std::string &name);
    void connect(Endpoint &ep, const std::string &name);
    void disconnect(Endpoint &ep);
    void destroy(Endpoint &ep);
    void leave(Endpoint &ep);
    void misuse(const Endpoint &ep);
    [[nodiscard]] bool is_for_service(const Endpoint &ep) const { return &ep < endpoints.data() + num_services; }
    [[nodiscard]] std::uint16_t some_size(std::size_t usual)
    {
        return static_cast<std::uint16_t>(one_in(30) ? random() : below(usual));
    }
    [[nodiscard]] ConnectionPtr some_peer(const Endpoint &ep);
    [[nodiscard]] Address *wrong_address(const Endpoint &ep) const;

    // Messages and news.
    void send(const Endpoint &ep);
    void look_meanwhile(const Connection &peer, std::size_t side);
    void receive(const Endpoint &ep);
    void note_received(Use &use, const Received &got);
    void note_taken_in(Use &use, bool has_looked);
    void update_peer(const Endpoint &ep);
    void update_service(const Endpoint &ep);
    void compare_list(const Endpoint &ep);
    void use_events(const Endpoint &ep);
    void check_wakes(const Use &use);
    [[nodiscard]] std::string make_message(const Connection &peer, std::size_t side, std::size_t length);
    /// What @p call answers; where news take their time and others than @p not_yet are certain to come, those.
    template <typename Call>
    doca_error_t in_time(bool is_certain, doca_error_t not_yet, Call call)
    {
        return is_at_once || !is_certain ? call() : until_not(not_yet, call);
    }

    /// What a peer does is seen at once. On a card, and by TCP, it takes its time.
    const bool is_at_once = GetParam().exporter.is_soft() && std::getenv("DOCA_COMM_CHANNEL_ADDRESS") == nullptr;
    DevHandle dpu{open_device(GetParam().importer)}, host{open_device(GetParam().exporter)};
    RepHandle rep{open_representor(dpu, GetParam().exporter.pci)}, other_rep;
    /// As the function of the host that the software device's port acts as.
    const bool can_dpu_connect = GetParam().importer.is_soft() && can_export(doca_dev_as_devinfo(dpu));
    std::array<std::string, num_names> names;
    std::array<Endpoint, num_endpoints> endpoints;
    std::uint64_t num_connections = 0, num_messages = 0;
};

} // namespace doca_test
