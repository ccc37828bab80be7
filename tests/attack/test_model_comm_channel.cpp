// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties, services, and clients that connect and disconnect: see comm_channel_model.hpp.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "comm_channel_model.hpp"

namespace doca_test {

void CommChannelModelTest::SetUp()
{
    const RepList list(dpu);
    for (doca_devinfo_rep *each : list) {
        if (pci_of(each) != GetParam().exporter.pci && other_rep.get() == nullptr)
            must(doca_dev_rep_open(each, other_rep.out()));
    }
    int tries = 0;
    do {
        for (std::string &name : names)
            name = service_name();
        names.back().resize(longest_name, 'x');
    } while (!is_at_once && !can_all_listen() && ++tries != 10);
}

/// Two names may lead to one port, where services are at ports, and then exclude each other.
bool CommChannelModelTest::can_all_listen() const
{
    std::vector<EpHandle> services;
    for (doca_dev_rep *const each : {rep.get(), other_rep.get()}) {
        for (const std::string &name : names) {
            services.push_back(make_endpoint(dpu));
            if (each != nullptr && (doca_comm_channel_ep_set_device_rep(services.back(), each) != DOCA_SUCCESS ||
                                    doca_comm_channel_ep_listen(services.back(), name.c_str()) != DOCA_SUCCESS))
                return false;
        }
    }
    return true;
}

void CommChannelModelTest::configure(Endpoint &ep)
{
    const doca_error_t in_use = unless(!ep.is_idle(), DOCA_ERROR_BAD_STATE);
    const auto set_size = [&](const char *call, auto set, std::uint16_t asked, std::size_t most) {
        const bool is_wrong = asked == 0 || asked > most;
        return answers(call, set(ep.ep, asked),
                       unless(!ep.is_idle(), in_use, unless(is_wrong, DOCA_ERROR_INVALID_VALUE)));
    };
    const auto set_queue = [&](const char *call, auto set, std::uint16_t &field) {
        if (const std::uint16_t asked = some_size(40); set_size(call, set, asked, 8192))
            field = std::max<std::uint16_t>(8, std::bit_ceil(asked));
    };
    switch (ep.dev == nullptr && one_in(2) ? 0 : below(6)) {
    case 0: {
        doca_dev *const dev = is_for_service(ep) != one_in(10) ? dpu : host;
        if (answers("ep_set_device", doca_comm_channel_ep_set_device(ep.ep, dev), in_use))
            ep.dev = dev;
        break;
    }
    case 1: {
        doca_dev_rep *const chosen = other_rep.get() != nullptr && one_in(6) ? other_rep : rep;
        if (answers("ep_set_device_rep", doca_comm_channel_ep_set_device_rep(ep.ep, chosen), in_use))
            ep.rep = chosen;
        break;
    }
    case 2:
        if (const std::uint16_t asked = some_size(one_in(2) ? longest_message + 2 : 300);
            set_size("ep_set_max_msg_size", doca_comm_channel_ep_set_max_msg_size, asked, longest_message))
            ep.message_size = std::max<std::uint16_t>(64, asked);
        break;
    case 3:
        return set_queue("ep_set_send_queue_size", doca_comm_channel_ep_set_send_queue_size, ep.send_queue);
    case 4:
        return set_queue("ep_set_recv_queue_size", doca_comm_channel_ep_set_recv_queue_size, ep.recv_queue);
    default:
        read_properties(ep);
    }
}

void CommChannelModelTest::read_properties(const Endpoint &ep)
{
    doca_dev *dev = nullptr;
    doca_dev_rep *of = nullptr;
    std::uint16_t message_size = 0, send_queue = 0, recv_queue = 0;
    (void)answers("ep_get_device", doca_comm_channel_ep_get_device(ep.ep, &dev), DOCA_SUCCESS);
    (void)answers("ep_get_device_rep", doca_comm_channel_ep_get_device_rep(ep.ep, &of), DOCA_SUCCESS);
    (void)answers("ep_get_max_msg_size", doca_comm_channel_ep_get_max_msg_size(ep.ep, &message_size), DOCA_SUCCESS);
    (void)answers("ep_get_send_queue_size", doca_comm_channel_ep_get_send_queue_size(ep.ep, &send_queue), DOCA_SUCCESS);
    (void)answers("ep_get_recv_queue_size", doca_comm_channel_ep_get_recv_queue_size(ep.ep, &recv_queue), DOCA_SUCCESS);
    if (dev != ep.dev || of != ep.rep || message_size != ep.message_size || send_queue != ep.send_queue ||
        recv_queue != ep.recv_queue)
        complain("other properties than those that were set");
}

void CommChannelModelTest::begin(Endpoint &ep, bool as_service)
{
    const std::string name = one_in(15) ? std::string(one_in(2) ? 0 : longest_name + 1, 'x') : names[below(num_names)];
    as_service ? listen(ep, name) : connect(ep, name);
}

void CommChannelModelTest::listen(Endpoint &ep, const std::string &name)
{
    const bool is_taken =
        std::ranges::any_of(endpoints, [&](const Endpoint &each) { return each.listens(name, ep.rep); });
    const doca_error_t wanted = unless(
        ep.begin(name) != DOCA_SUCCESS, ep.begin(name),
        unless(ep.dev == host.get(), DOCA_ERROR_NOT_SUPPORTED,
               unless(ep.rep == nullptr, DOCA_ERROR_BAD_STATE, unless(is_taken, DOCA_ERROR_CONNECTION_ABORTED))));
    if (!answers("ep_listen", doca_comm_channel_ep_listen(ep.ep, name.c_str()), wanted))
        return;
    ep.use = std::make_unique<Use>();
    ep.use->side = service;
    ep.use->name = name;
    ep.use->rep = ep.rep;
}

void CommChannelModelTest::connect(Endpoint &ep, const std::string &name)
{
    const auto to = std::ranges::find_if(endpoints, [&](const Endpoint &each) { return each.listens(name, rep); });
    const doca_error_t wanted = unless(ep.begin(name) != DOCA_SUCCESS, ep.begin(name),
                                       unless(ep.dev == dpu.get() && !can_dpu_connect, DOCA_ERROR_NOT_SUPPORTED,
                                              unless(to == endpoints.end(), DOCA_ERROR_CONNECTION_ABORTED)));
    Address *address = untouched<Address>();
    if (!answers("ep_connect", doca_comm_channel_ep_connect(ep.ep, name.c_str(), &address), wanted)) {
        EXPECT_EQ(address, untouched<Address>()) << "the output of a failed call";
        return;
    }
    const auto made = std::make_shared<Connection>();
    made->number = ++num_connections;
    made->longest = std::min(ep.message_size, to->message_size);
    made->address[client] = address;
    made->from[client].queue = std::min(ep.send_queue, to->recv_queue);
    made->from[service].queue = std::min(to->send_queue, ep.recv_queue);
    ep.use = std::make_unique<Use>();
    ep.use->peers.push_back(made);
    to->use->waiting.push_back(made);
    // Where that takes its time, a client is taken in before anything else is done.
    for (int tries = 0; !is_at_once && !made->is_taken_in && !HasFailure(); ++tries) {
        if (tries == 60'000)
            complain("a client is not taken in");
        receive(*to);
        usleep(tries < 100 ? 0 : 1000);
    }
}

/// That the program has the address of, or null.
ConnectionPtr CommChannelModelTest::some_peer(const Endpoint &ep)
{
    std::vector<ConnectionPtr> known;
    if (!ep.is_idle())
        std::ranges::copy_if(ep.use->peers, std::back_inserter(known),
                             [&](const ConnectionPtr &peer) { return peer->address[ep.use->side] != nullptr; });
    return known.empty() ? nullptr : known[below(known.size())];
}

Address *CommChannelModelTest::wrong_address(const Endpoint &ep) const
{
    for (const Endpoint &other : endpoints) {
        if (&other != &ep && other.is(client))
            return other.use->peers.front()->address[client];
    }
    return untouched<Address>();
}

void CommChannelModelTest::disconnect(Endpoint &ep)
{
    const ConnectionPtr peer = some_peer(ep);
    if (peer == nullptr || one_in(8)) {
        (void)answers("ep_disconnect from nobody", doca_comm_channel_ep_disconnect(ep.ep, wrong_address(ep)),
                      DOCA_ERROR_NOT_CONNECTED);
        return;
    }
    Use &use = *ep.use;
    (void)answers("ep_disconnect", doca_comm_channel_ep_disconnect(ep.ep, peer->address[use.side]),
                  unless(!peer->is_taken_in, DOCA_ERROR_NOT_CONNECTED));
    if (use.side == client)
        return leave(ep);
    peer->is_here[service] = false;
    std::erase(use.peers, peer);
    std::erase(use.room_wanted, peer);
}

void CommChannelModelTest::destroy(Endpoint &ep)
{
    if (!answers("ep_destroy", doca_comm_channel_ep_destroy(ep.ep), DOCA_SUCCESS))
        return;
    leave(ep);
    ep = {};
}

void CommChannelModelTest::leave(Endpoint &ep)
{
    if (ep.is_idle())
        return;
    const std::unique_ptr<Use> use = std::move(ep.use);
    for (const std::vector<ConnectionPtr> &of : {use->peers, use->waiting}) {
        for (const ConnectionPtr &peer : of)
            peer->is_here[use->side] = false;
    }
    if (use->side == service)
        return;
    const ConnectionPtr &own = use->peers.front();
    for (Endpoint &other : endpoints) {
        if (!other.is(service))
            continue;
        other.use->num_given_up += static_cast<std::uint32_t>(std::erase(other.use->waiting, own));
        if (own->address[service] == nullptr && !other.use->has_message_from(own))
            std::erase(other.use->peers, own); // it was never heard of
    }
}

/// What is refused in any state.
void CommChannelModelTest::misuse(const Endpoint &ep)
{
    char byte = 0;
    std::size_t length = 1;
    Address *peer = untouched<Address>();
    const std::array<doca_error_t, 8> refused = {
        doca_comm_channel_ep_set_device(ep.ep, nullptr),
        doca_comm_channel_ep_listen(ep.ep, nullptr),
        doca_comm_channel_ep_connect(ep.ep, names[0].c_str(), nullptr),
        doca_comm_channel_ep_sendto(ep.ep, &byte, 1, 0, nullptr),
        doca_comm_channel_ep_recvfrom(ep.ep, nullptr, &length, 0, &peer),
        doca_comm_channel_ep_recvfrom(ep.ep, &byte, &length, 1, &peer),
        doca_comm_channel_ep_disconnect(ep.ep, nullptr),
        doca_comm_channel_ep_get_event_channel(ep.ep, nullptr, nullptr),
    };
    for (const doca_error_t status : refused)
        (void)answers("what is NULL, or no flag", status, DOCA_ERROR_INVALID_VALUE);
}

void CommChannelModelTest::step()
{
    Endpoint &ep = endpoints[below(one_in(2) ? num_services : num_endpoints)];
    const bool as_service = is_for_service(ep) != one_in(20), is_sending_time = number / 300 % 2 == 0;
    if (ep.ep == nullptr) {
        (void)answers("ep_create", doca_comm_channel_ep_create(&ep.ep), DOCA_SUCCESS);
        return;
    }
    if (!ep.is_idle())
        check_wakes(*ep.use);
    switch (const std::size_t what = below(40)) {
    case 0:
        return misuse(ep);
    case 1:
        return one_in(is_for_service(ep) ? 16 : 4) ? destroy(ep) : update_service(ep);
    case 2:
        return one_in(3) ? disconnect(ep) : update_peer(ep);
    case 3:
        return update_service(ep);
    case 4:
        return use_events(ep);
    case 5:
    case 6:
        return update_peer(ep);
    case 7:
        return begin(ep, as_service);
    case 8:
        return configure(ep);
    default:
        if (ep.is_idle() && !one_in(4))
            return one_in(2) ? configure(ep) : begin(ep, as_service);
        if (ep.is(client) && !ep.use->is_there(*ep.use->peers.front()) && one_in(8))
            return disconnect(ep);
        return what < (is_sending_time ? 30 : 15) ? send(ep) : receive(ep);
    }
}

/// What was sent arrives, and all ends in the order that always works.
void CommChannelModelTest::clean_up()
{
    for (const Endpoint &ep : endpoints) {
        while (!ep.is_idle() && ep.use->has_message() && !HasFailure())
            receive(ep);
    }
    for (Endpoint &ep : endpoints) {
        if (ep.ep != nullptr)
            destroy(ep);
    }
}

namespace {

TEST_P(CommChannelModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    clean_up();
    tell(num_messages);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelModelTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelModelTest, testing::ValuesIn(one_comm_channel_pair()), pair_name);

} // namespace

} // namespace doca_test
