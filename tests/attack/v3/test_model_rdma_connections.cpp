// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Contexts, and connections by details and by address: see rdma_model.hpp.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "rdma_model.hpp"

namespace doca_test {

namespace {

/// One that nobody has at the moment, below those that the kernel gives to clients.
std::uint16_t free_port()
{
    static auto next = static_cast<std::uint16_t>(29'000 + getpid() % 1'900);
    for (;; next = next == 30'999 ? 29'000 : next + 1) {
        const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        const int yes = 1;
        (void)setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
        sockaddr_in address = {};
        address.sin_family = AF_INET;
        address.sin_port = htons(next);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        const bool is_free = bind(socket, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0;
        close(socket);
        if (is_free)
            return next++;
    }
}

} // namespace

void RdmaModelTest::SetUp()
{
    TasksModel::SetUp();
    doca_devinfo *const info = doca_dev_as_devinfo(dev);
    has_addresses = is_soft(GetParam());
    has_atomics = doca_rdma_cap_task_atomic_cmp_swp_is_supported(info) == DOCA_SUCCESS;
    for (Slot &slot : slots)
        slot.model = this;
    for (Instance &side : sides) {
        for (std::byte &each : side.memory)
            each = static_cast<std::byte>(random());
        side.map = map_of(dev, side.memory, rdma_rights);
        must(doca_rdma_create(dev, &side.rdma));
        must(doca_rdma_set_permissions(side.rdma, rdma_rights));
        must(doca_rdma_set_connection_request_timeout(side.rdma,
                                                      60'000)); // longer than any program here lets a client wait
        must(doca_rdma_set_connection_state_callbacks(side.rdma, requested, established, failed, disconnected));
        const auto conf = [&]<typename Task>(auto set_conf) {
            must(set_conf(side.rdma, task_ended<Task, true>, task_ended<Task, false>, num_tasks));
        };
        conf.operator()<doca_rdma_task_receive>(doca_rdma_task_receive_set_conf);
        conf.operator()<doca_rdma_task_send>(doca_rdma_task_send_set_conf);
        conf.operator()<doca_rdma_task_send_imm>(doca_rdma_task_send_imm_set_conf);
        conf.operator()<doca_rdma_task_read>(doca_rdma_task_read_set_conf);
        conf.operator()<doca_rdma_task_write>(doca_rdma_task_write_set_conf);
        conf.operator()<doca_rdma_task_write_imm>(doca_rdma_task_write_imm_set_conf);
        if (has_atomics) {
            conf.operator()<doca_rdma_task_atomic_fetch_add>(doca_rdma_task_atomic_fetch_add_set_conf);
            conf.operator()<doca_rdma_task_atomic_cmp_swp>(doca_rdma_task_atomic_cmp_swp_set_conf);
            conf.operator()<doca_rdma_task_remote_net_sync_event_get>(
                doca_rdma_task_remote_net_sync_event_get_set_conf);
            conf.operator()<doca_rdma_task_remote_net_sync_event_notify_set>(
                doca_rdma_task_remote_net_sync_event_notify_set_set_conf);
            conf.operator()<doca_rdma_task_remote_net_sync_event_notify_add>(
                doca_rdma_task_remote_net_sync_event_notify_add_set_conf);
            must(doca_sync_event_create(side.event.out()));
            must(doca_sync_event_add_publisher_location_remote_net(side.event));
            must(doca_sync_event_add_subscriber_location_cpu(side.event, dev));
            must(doca_sync_event_start(side.event));
        }
        adopt(side, doca_rdma_as_ctx(side.rdma));
        side.port = free_port();
    }
    for (std::size_t side = 0; side != 2; ++side) {
        Instance &peer = sides[side ^ 1];
        const void *descriptor = nullptr;
        std::size_t length = 0;
        must(doca_mmap_export_rdma(peer.map, dev, &descriptor, &length));
        must(doca_mmap_create_from_export(nullptr, descriptor, length, dev, sides[side].imported.out()));
        must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", peer.port, sides[side].address.out()));
        if (!has_atomics)
            continue;
        const std::uint8_t *bytes = nullptr;
        must(doca_sync_event_export_to_remote_net(peer.event, &bytes, &length));
        must(doca_sync_event_remote_net_create_from_export(dev, bytes, length, sides[side].remote.out()));
    }
}

bool RdmaModelTest::is_used(const Link &link) const
{
    return std::ranges::any_of(slots, [&](const Slot &slot) { return slot.task != nullptr && slot.link == &link; });
}

/// Null when the model has forgotten the link, as it does with those that have ended.
Link *RdmaModelTest::link_of(doca_data name)
{
    const auto link = std::ranges::find(links, name.u64, &Link::name);
    return name.u64 == 0 || link == links.end() ? nullptr : &*link;
}

/// The test, and the side whose context this is.
std::pair<RdmaModelTest *, std::size_t> RdmaModelTest::owner_of(doca_data ctx_data)
{
    auto &instance = *static_cast<Instance *>(static_cast<CtxModel *>(ctx_data.ptr));
    auto *const test = static_cast<RdmaModelTest *>(instance.test);
    return {test, &instance == &test->sides[0] ? 0 : 1};
}

void RdmaModelTest::count_callback()
{
    if (!is_in_progress)
        complain("a connection's callback outside of doca_pe_progress()");
    ++num_callbacks;
}

/// Whoever asks is the one client that waits, unless it is one that has gone since.
void RdmaModelTest::requested(doca_rdma_connection *connection, doca_data ctx_data)
{
    const auto [test, side] = owner_of(ctx_data);
    test->count_callback();
    if (!test->sides[side].is_running() || (!test->sides[side].is_listening && !test->sides[side].may_have_strays))
        test->complain("a request at a port that nobody listens to");
    const auto link = std::ranges::find_if(test->links, [server = side](const Link &one) {
        return one.stage == Link::Stage::wanted && one.server() == server;
    });
    if (link == test->links.end()) {
        if (!test->sides[side].may_have_strays)
            test->complain("a request that nobody has made");
        EXPECT_EQ(doca_rdma_connection_reject(connection), DOCA_SUCCESS) << test->where();
        return;
    }
    link->stage = Link::Stage::asked;
    link->ends[side] = connection;
    must(doca_rdma_connection_set_user_data(connection, {.u64 = link->name}));
    if (!test->one_in(3))
        test->answer(*link); // else later
}

void RdmaModelTest::note_established_by_details(std::size_t side, Link &link)
{
    if (!link.is_connected[side] || link.is_announced[side] || link.knows_end[side])
        complain("a connection by details is established twice, or after its end");
    link.is_announced[side] = true;
}

void RdmaModelTest::established(doca_rdma_connection *connection, doca_data name, doca_data ctx_data)
{
    const auto [test, side] = owner_of(ctx_data);
    test->count_callback();
    const auto by_details = std::ranges::find_if(test->links, [end = connection, own = side](const Link &one) {
        return one.ends[own] == end && one.stage == Link::Stage::none;
    });
    if (by_details != test->links.end())
        return test->note_established_by_details(side, *by_details);
    Link *const link = test->link_of(name);
    if (link == nullptr) {
        if (!test->sides[side].has_lost)
            test->complain("an unknown connection is established");
        return;
    }
    const bool is_client = side == link->client;
    const bool was_waited_for = is_client ? link->does_client_wait && link->stage == Link::Stage::accepted
                                          : link->stage == Link::Stage::accepted && link->ends[side] == connection;
    if (!was_waited_for || link->is_connected[side] || link->knows_end[side])
        test->complain("a connection is established that was not to be");
    if (is_client) {
        link->does_client_wait = false;
        link->ends[side] = connection;
    } else {
        if (!link->is_connected[link->client] && !link->is_broken)
            test->complain("the server knows of a connection before the client");
        link->stage = Link::Stage::settled;
        ++test->num_established;
    }
    link->is_connected[side] = true;
}

void RdmaModelTest::failed(doca_rdma_connection *, doca_data name, doca_data ctx_data)
{
    const auto [test, side] = owner_of(ctx_data);
    test->count_callback();
    Link *const link = test->link_of(name);
    if (link == nullptr) {
        if (!test->sides[side].has_lost)
            test->complain("an unknown connection has failed");
        return;
    }
    const bool may_fail =
        side != link->client
            ? link->is_broken && link->stage == Link::Stage::accepted
            : link->does_client_wait &&
                  (link->is_broken || (link->stage == Link::Stage::wanted && !test->sides[side ^ 1].is_listening));
    if (!may_fail || link->is_connected[side] || link->knows_end[side])
        test->complain("a connection has failed that was to be made");
    record_end(*link, side);
    if (side == link->client)
        link->does_client_wait = false;
    else
        link->stage = Link::Stage::settled;
    test->lose(*link);
}

void RdmaModelTest::disconnected(doca_rdma_connection *connection, doca_data name, doca_data ctx_data)
{
    const auto [test, side] = owner_of(ctx_data);
    test->count_callback();
    EXPECT_EQ(doca_rdma_connection_disconnect(connection), DOCA_SUCCESS) << test->where(); // as programs do
    Link *link = test->link_of(name);
    const auto known = std::ranges::find_if(
        test->links, [end = connection, own = side](const Link &one) { return one.ends[own] == end; });
    if (known != test->links.end() && (link == nullptr || link == &*known))
        link = &*known;
    if (link == nullptr) {
        if (!test->sides[side].has_lost)
            test->complain("an unknown connection has ended");
        return;
    }
    if (!link->is_broken || !link->is_connected[side])
        test->complain("a connection has ended by itself");
    if (link->knows_end[side])
        test->complain("a side is told of an end that it knows");
    if (link->stage == Link::Stage::none && !link->is_announced[side])
        test->complain("a connection by details has ended before it was established");
    record_end(*link, side);
}

/// Called when @p side has ended @p link or was told of its end. A server's connection that was never established is
/// gone with the next doca_pe_progress(), so its handle is not used again.
void RdmaModelTest::record_end(Link &link, std::size_t side)
{
    link.knows_end[side] = true;
    if (link.stage != Link::Stage::none && side == link.server() && !link.is_connected[side])
        link.ends[side] = nullptr;
}

/// The context of @p side stops: its connections are no more, and their other ends have ended.
void RdmaModelTest::break_links(std::size_t side)
{
    Instance &instance = sides[side];
    instance.has_lost = true;
    instance.is_listening = false;
    for (Link &link : links) {
        const bool waits_for_server = link.stage == Link::Stage::wanted && link.server() == side;
        if ((link.ends[side] != nullptr || (link.does_client_wait && (link.client == side || waits_for_server))) &&
            !link.is_broken)
            lose(link);
        if (link.does_client_wait && link.client == side) {
            link.does_client_wait = false;
            if (link.stage == Link::Stage::wanted)
                sides[side ^ 1].may_have_strays = true;
        }
        record_end(link, side);
    }
}

void RdmaModelTest::do_ctx(std::size_t side)
{
    Instance &instance = sides[side];
    switch (below(6)) {
    case 0:
    case 1:
        if (start(instance))
            instance.has_lost = instance.may_have_strays = false;
        break;
    case 2:
        if (one_in(10)) {
            if (instance.is_running())
                break_links(side);
            stop(instance);
        }
        break;
    case 3:
        if (!instance.is_idle()) {
            (void)answers("rdma_destroy", doca_rdma_destroy(instance.rdma), DOCA_ERROR_BAD_STATE);
        }
        break;
    case 4:
        if (has_addresses) {
            do_port(side);
            break;
        }
        [[fallthrough]];
    default:
        check_counts(instance);
    }
}

/// Listens, more often than not.
void RdmaModelTest::do_port(std::size_t side)
{
    Instance &instance = sides[side];
    if (one_in(3)) {
        const bool is_wrong = one_in(4);
        if (answers("stop_listen",
                    doca_rdma_stop_listen_to_port(instance.rdma,
                                                  static_cast<std::uint16_t>(instance.port + (is_wrong ? 1 : 0))),
                    unless(!instance.is_listening || is_wrong, DOCA_ERROR_INVALID_VALUE))) {
            instance.is_listening = instance.may_have_strays = false; // nobody who has not been heard is heard any more
            for (Link &link : links) {
                if (link.stage == Link::Stage::wanted && link.server() == side && link.does_client_wait &&
                    !link.is_broken)
                    lose(link);
            }
        }
        return;
    }
    const bool has_port = !one_in(16);
    if (answers("start_listen", doca_rdma_start_listen_to_port(instance.rdma, has_port ? instance.port : 0),
                unless(!instance.is_running(), DOCA_ERROR_BAD_STATE,
                       unless(!has_port, DOCA_ERROR_INVALID_VALUE,
                              unless(instance.is_listening, DOCA_ERROR_NOT_SUPPORTED)))))
        instance.is_listening = true;
}

/// Connections are valid until their context is idle.
void RdmaModelTest::forget_connections()
{
    for (const std::size_t side : {0, 1}) {
        for (Link &link : links) {
            if (!sides[side].is_idle() || link.ends[side] == nullptr)
                continue;
            link.ends[side] = nullptr;
            link.is_broken = true;
        }
    }
}

void RdmaModelTest::connect_by_details(Link &link)
{
    const void *details[2];
    std::size_t sizes[2];
    doca_rdma_connection *made[2];
    for (const std::size_t each : {0, 1}) {
        if (!answers("rdma_export", doca_rdma_export(sides[each].rdma, &details[each], &sizes[each], &made[each]),
                     DOCA_SUCCESS))
            return;
    }
    link = {};
    link.ends = {made[0], made[1]};
    const std::size_t first = below(2);
    for (const std::size_t each : {first, first ^ 1}) {
        link.is_connected[each] =
            answers("rdma_connect", doca_rdma_connect(sides[each].rdma, details[each ^ 1], sizes[each ^ 1], made[each]),
                    DOCA_SUCCESS);
    }
}

/// One client at a time asks a server, which could not tell them apart.
void RdmaModelTest::ask_for(Link &link)
{
    const std::size_t side = below(2);
    const bool is_asked = std::ranges::any_of(links, [&](const Link &one) {
        return one.stage != Link::Stage::none && one.server() == (side ^ 1) &&
               (one.does_client_wait || one.stage < Link::Stage::accepted);
    });
    if (is_asked || sides[side ^ 1].may_have_strays || (!sides[side ^ 1].is_listening && !one_in(8)))
        return;
    Link made;
    made.name = ++num_names;
    made.stage = Link::Stage::wanted;
    made.client = side;
    made.does_client_wait = true;
    if (!answers("connect_to_addr",
                 doca_rdma_connect_to_addr(sides[side].rdma, sides[side].address, {.u64 = made.name}), DOCA_SUCCESS))
        return;
    made.is_broken = !sides[side ^ 1].is_listening;
    link = std::move(made);
    if (link.is_broken)
        lose(link);
    if (answers("addr_destroy", doca_rdma_addr_destroy(sides[side].address.release()), DOCA_SUCCESS))
        must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", sides[side ^ 1].port,
                                   sides[side].address.out()));
}

/// The server's program, to the client that has asked.
void RdmaModelTest::answer(Link &link)
{
    doca_rdma_connection *const connection = link.ends[link.server()];
    if (one_in(4)) {
        (void)answers("reject", doca_rdma_connection_reject(connection), DOCA_SUCCESS);
        link.stage = Link::Stage::settled;
        record_end(link, link.server());
        lose(link);
        return;
    }
    const doca_error_t status = doca_rdma_connection_accept(connection, nullptr, 0);
    if (status == DOCA_ERROR_CONNECTION_ABORTED && link.is_broken) { // the client has gone
        link.stage = Link::Stage::settled;
        record_end(link, link.server());
        return;
    }
    if (answers("accept", status, DOCA_SUCCESS))
        link.stage = Link::Stage::accepted;
    (void)answers("accept again", doca_rdma_connection_accept(connection, nullptr, 0), DOCA_ERROR_BAD_STATE);
}

void RdmaModelTest::disconnect(Link &link, std::size_t side)
{
    (void)answers("disconnect", doca_rdma_connection_disconnect(link.ends[side]), DOCA_SUCCESS);
    lose(link);
    record_end(link, side);
    if (link.stage == Link::Stage::asked)
        link.stage = Link::Stage::settled;
}

void RdmaModelTest::do_link(Link &link)
{
    const std::size_t side = below(2);
    if (link.is_free()) {
        if (!sides[0].is_running() || !sides[1].is_running() || is_used(link))
            return;
        if (has_addresses && one_in(2))
            ask_for(link);
        else
            connect_by_details(link);
        return;
    }
    const std::size_t server = link.server();
    if (link.stage == Link::Stage::asked && link.ends[server] != nullptr && sides[server].is_running() &&
        !link.knows_end[server]) {
        if (one_in(12))
            disconnect(link, server);
        else
            answer(link);
    } else if (link.is_broken && !link.must_settle() && !is_used(link)) {
        link = {}; // its handles stay valid until their contexts are idle, and nobody uses them any more
    } else if (link.ends[side] != nullptr && one_in(12)) {
        disconnect(link, side);
    } else if (link.ends[side] != nullptr && link.stage != Link::Stage::none && link.stage != Link::Stage::asked) {
        (void)answers("reject of a connection", doca_rdma_connection_reject(link.ends[side]), DOCA_ERROR_BAD_STATE);
    }
}

} // namespace doca_test
