// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages, and what endpoints are told of their peers: see comm_channel_model.hpp.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "comm_channel_model.hpp"

namespace doca_test {

/// Says whose it is, and which, as far as it is long enough.
std::string CommChannelModelTest::make_message(const Connection &peer, std::size_t side, std::size_t length)
{
    std::array<std::uint64_t, longest_message / 8 + 2> words{peer.number * 2 + side, peer.from[side].num_sent};
    for (std::size_t i = 2; i * 8 < length; ++i)
        words[i] = random();
    return {reinterpret_cast<const char *>(words.data()), length};
}

/// What a program has received, its library may tell the peer only when the program calls again.
void CommChannelModelTest::look_meanwhile(const Connection &peer, std::size_t side)
{
    if (!is_at_once && peer.is_here[side] && peer.address[side] != nullptr)
        (void)doca_comm_channel_peer_addr_update_info(peer.address[side]);
}

void CommChannelModelTest::send(const Endpoint &ep)
{
    const ConnectionPtr peer = some_peer(ep);
    if (peer == nullptr || one_in(50)) {
        (void)answers("ep_sendto nobody", send_text(ep.ep, wrong_address(ep), "x"), DOCA_ERROR_NOT_CONNECTED);
        return;
    }
    Use &use = *ep.use;
    Lane &lane = use.lane_to(*peer);
    std::size_t length = 1 + below(one_in(20) ? longest_message : one_in(3) ? peer->longest : 60);
    if (lane.num_sent == 0)
        length = std::max<std::size_t>(length, 16); // the first one tells a service whose it is
    if (one_in(50))
        length = one_in(2) ? 0 : ep.message_size + std::size_t{1};
    const int flags = one_in(100) ? 1 : 0;
    const std::string text = make_message(*peer, use.side, length);
    const bool is_good = length != 0 && length <= ep.message_size && flags == 0, is_there = use.is_there(*peer);
    const doca_error_t wanted = is_good ? use.send(peer, length) : DOCA_ERROR_INVALID_VALUE;
    const doca_error_t status = in_time(is_there && wanted == DOCA_SUCCESS, DOCA_ERROR_AGAIN, [&] {
        look_meanwhile(*peer, 1 - use.side);
        return doca_comm_channel_ep_sendto(ep.ep, text.data(), length, flags, peer->address[use.side]);
    });
    if (!is_at_once && !is_there && is_good && (status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN)) {
        if (status == DOCA_SUCCESS) // that the peer has gone may not be known yet
            lane.count_sent(length);
        return;
    }
    if (wanted == DOCA_ERROR_AGAIN && !use.room_wanted.empty())
        use.room_wanted = {peer};
    if (!answers("ep_sendto", status, wanted))
        return;
    use.room_wanted.clear();
    lane.count_sent(length);
    if (is_there)
        lane.waiting.push_back(text);
}

void CommChannelModelTest::receive(const Endpoint &ep)
{
    const std::size_t room = one_in(8) ? below(100) : longest_message;
    if (ep.is_idle()) {
        (void)answers("ep_recvfrom", doca_test::receive(ep.ep, room).status, DOCA_ERROR_NOT_CONNECTED);
        return;
    }
    Use &use = *ep.use;
    const auto has_one = [&](bool that_fits) {
        return std::ranges::any_of(use.peers, [&](const ConnectionPtr &peer) {
            return use.has_message_from(peer) && (use.lane_from(*peer).waiting.front().size() <= room) == that_fits;
        });
    };
    doca_error_t wanted =
        unless(use.is_first_message_held_back(), DOCA_ERROR_AGAIN,
               unless(!use.has_message(), use.receive_nothing(), unless(!has_one(true), DOCA_ERROR_INVALID_VALUE)));
    use.has_received = true;
    Received got{};
    const doca_error_t status = in_time(wanted != DOCA_ERROR_AGAIN, DOCA_ERROR_AGAIN, [&] {
        got = doca_test::receive(ep.ep, room);
        return got.status;
    });
    if (wanted == DOCA_SUCCESS && status == DOCA_ERROR_INVALID_VALUE && has_one(false))
        wanted = status; // another client's turn
    if (answers("ep_recvfrom", status, wanted))
        note_received(use, got);
    if (use.side == service)
        note_taken_in(use, status == DOCA_ERROR_AGAIN);
    if (is_at_once && status == DOCA_ERROR_AGAIN && use.is_recv_armed && is_readable(use.recv_fd))
        complain("woken by nothing");
}

void CommChannelModelTest::note_received(Use &use, const Received &got)
{
    const auto is_known = [&](const ConnectionPtr &each) { return each->address[use.side] == got.from; };
    const auto is_new = [&](const ConnectionPtr &each) {
        return each->address[use.side] == nullptr && use.has_message_from(each) &&
               use.lane_from(*each).waiting.front() == got.text;
    };
    auto peer = std::ranges::find_if(use.peers, is_known);
    if (peer == use.peers.end())
        peer = std::ranges::find_if(use.peers, is_new);
    if (peer == use.peers.end() || !use.has_message_from(*peer))
        return complain("a message from nobody");
    Lane &lane = use.lane_from(**peer);
    if (got.text != lane.waiting.front())
        complain("another message than the next one");
    (*peer)->address[use.side] = got.from;
    lane.waiting.pop_front();
    ++lane.num_received;
    lane.bytes_received += got.text.size();
    ++num_messages;
}

/// A service that finds no message @p has_looked for clients, and has taken in those that wait. One that has received
/// may have.
void CommChannelModelTest::note_taken_in(Use &use, bool has_looked)
{
    if (has_looked)
        use.num_given_up = 0;
    for (const ConnectionPtr &each : std::vector(use.waiting)) {
        const bool is_certain = has_looked && is_at_once;
        const doca_error_t status =
            is_certain ? DOCA_SUCCESS : doca_comm_channel_peer_addr_update_info(each->address[client]);
        if (status != DOCA_SUCCESS) {
            (void)answers("peer_addr_update_info", status, DOCA_ERROR_CONNECTION_INPROGRESS);
            continue;
        }
        each->is_taken_in = true;
        use.peers.push_back(each);
        std::erase(use.waiting, each);
    }
}

void CommChannelModelTest::update_peer(const Endpoint &ep)
{
    const ConnectionPtr peer = some_peer(ep);
    if (peer == nullptr)
        return;
    const Use &use = *ep.use;
    Address *const address = peer->address[use.side];
    std::uint64_t &user_data = peer->user_data[use.side];
    const auto compare = [&](const char *call, auto get, std::uint64_t least, std::uint64_t most) {
        std::uint64_t value = 0;
        if (answers(call, get(address, &value), DOCA_SUCCESS) && (value < least || value > most))
            ADD_FAILURE() << call << " gives " << value << where();
    };
    compare("peer_addr_get_user_data", doca_comm_channel_peer_addr_get_user_data, user_data, user_data);
    if (one_in(2) &&
        answers("peer_addr_set_user_data", doca_comm_channel_peer_addr_set_user_data(address, number), DOCA_SUCCESS))
        user_data = number;
    const doca_error_t wanted = use.update(peer);
    const doca_error_t status = in_time(wanted == DOCA_ERROR_CONNECTION_ABORTED, DOCA_SUCCESS,
                                        [&] { return doca_comm_channel_peer_addr_update_info(address); });
    if (!answers("peer_addr_update_info", status, wanted))
        return;
    const Lane &to = use.lane_to(*peer), &from = use.lane_from(*peer);
    compare("send_messages", doca_comm_channel_peer_addr_get_send_messages, to.num_sent, to.num_sent);
    compare("send_bytes", doca_comm_channel_peer_addr_get_send_bytes, to.bytes_sent, to.bytes_sent);
    compare("recv_messages", doca_comm_channel_peer_addr_get_recv_messages, from.num_received, from.num_received);
    compare("recv_bytes", doca_comm_channel_peer_addr_get_recv_bytes, from.bytes_received, from.bytes_received);
    compare("send_in_flight", doca_comm_channel_peer_addr_get_send_in_flight_messages, to.waiting.size(),
            is_at_once ? to.waiting.size() : to.queue);
}

void CommChannelModelTest::update_service(const Endpoint &ep)
{
    const doca_error_t wanted = unless(!ep.is(service), DOCA_ERROR_NOT_SUPPORTED);
    if (one_in(2) &&
        answers("ep_update_service_state_info", doca_comm_channel_ep_update_service_state_info(ep.ep), wanted))
        return compare_list(ep);
    Address **list = nullptr;
    std::uint32_t count = 0, pending = 0;
    if (answers("ep_get_peer_addr_list", doca_comm_channel_ep_get_peer_addr_list(ep.ep, &list, &count), wanted) &&
        answers("ep_get_pending_connections", doca_comm_channel_ep_get_pending_connections(ep.ep, &pending), wanted) &&
        (count != ep.use->num_listed || pending != ep.use->num_pending))
        complain("another state than that of the last update");
}

void CommChannelModelTest::compare_list(const Endpoint &ep)
{
    Use &use = *ep.use;
    Address **list = nullptr;
    if (!answers("ep_get_peer_addr_list", doca_comm_channel_ep_get_peer_addr_list(ep.ep, &list, &use.num_listed),
                 DOCA_SUCCESS) ||
        !answers("ep_get_pending_connections", doca_comm_channel_ep_get_pending_connections(ep.ep, &use.num_pending),
                 DOCA_SUCCESS))
        return;
    if (use.num_pending < use.waiting.size() || use.num_pending > use.waiting.size() + use.num_given_up)
        complain("another number of clients that wait");
    const std::span<Address *const> listed(list, use.num_listed);
    std::size_t num_here = 0;
    std::vector<Address *> known;
    std::vector<ConnectionPtr> unknown;
    for (const ConnectionPtr &peer : use.peers) {
        Address *const address = peer->address[service];
        num_here += peer->is_here[client];
        address == nullptr ? unknown.push_back(peer) : known.push_back(address);
        // That one has gone may not be seen at once, but only there.
        if (address != nullptr && std::ranges::count(listed, address) != peer->is_here[client] &&
            (is_at_once || peer->is_here[client]))
            complain("a client that is here is not in the list, or one that has gone is");
    }
    if (listed.size() < num_here || (is_at_once && listed.size() > num_here))
        complain("another number of clients");
    if (is_at_once && use.service_fd != -1 && is_readable(use.service_fd))
        complain("woken by nothing");
    // A client that has sent nothing can be sent to, too.
    for (Address *const address : listed) {
        if (is_at_once && unknown.size() == 1 && unknown[0]->is_here[client] && std::ranges::count(known, address) == 0)
            unknown[0]->address[service] = address;
    }
}

void CommChannelModelTest::use_events(const Endpoint &ep)
{
    const doca_error_t if_used = unless(ep.is_idle(), DOCA_ERROR_BAD_STATE);
    const auto note = [&](int &known, int told) {
        if (known != -1 && known != told)
            complain("another descriptor than before");
        known = told;
    };
    int send_fd = -1, recv_fd = -1, service_fd = -1;
    switch (below(4)) {
    case 0:
        if (!answers("ep_get_event_channel", doca_comm_channel_ep_get_event_channel(ep.ep, &send_fd, &recv_fd),
                     if_used))
            return;
        note(ep.use->send_fd, send_fd);
        note(ep.use->recv_fd, recv_fd);
        ep.use->has_asked_for_channels = true;
        break;
    case 1:
        if (answers("ep_get_service_event_channel", doca_comm_channel_ep_get_service_event_channel(ep.ep, &service_fd),
                    unless(ep.is(client), DOCA_ERROR_NOT_SUPPORTED, if_used)))
            note(ep.use->service_fd, service_fd);
        break;
    case 2:
        if (answers("arm_send", doca_comm_channel_ep_event_handle_arm_send(ep.ep),
                    unless(ep.is_idle(), DOCA_ERROR_INVALID_VALUE))) {
            ep.use->room_wanted = ep.use->peers;
            ep.use->has_asked_for_channels = true;
        }
        break;
    default:
        if (answers("arm_recv", doca_comm_channel_ep_event_handle_arm_recv(ep.ep),
                    unless(ep.is_idle(), DOCA_ERROR_INVALID_VALUE)))
            ep.use->is_recv_armed = ep.use->has_asked_for_channels = true;
    }
}

/// Who has armed an event channel is woken by what is there.
void CommChannelModelTest::check_wakes(const Use &use)
{
    for (const ConnectionPtr &peer : use.room_wanted) {
        const auto look = [&] {
            look_meanwhile(*peer, 1 - use.side);
            return is_readable(use.send_fd) ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
        };
        if (use.send_fd != -1 && use.is_connected(*peer) && !use.lane_to(*peer).is_full() &&
            in_time(true, DOCA_ERROR_AGAIN, look) != DOCA_SUCCESS)
            complain("not woken by room");
    }
    const bool has_news = use.has_message() || !use.waiting.empty();
    if (use.recv_fd != -1 && use.is_recv_armed && has_news && !is_readable(use.recv_fd, is_at_once ? 0 : 60'000))
        complain("not woken by a message, or by a client");
}

} // namespace doca_test
