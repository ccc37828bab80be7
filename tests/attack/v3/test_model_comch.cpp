// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connections and their messages: see comch_model.hpp.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "comch_model.hpp"

namespace doca_test::comch {

void ComchModelTest::SetUp()
{
    TasksModel::SetUp();
    must(doca_comch_server_create(dpu, rep, name.c_str(), server_handle.out()));
    must(doca_comch_server_event_msg_recv_register(server_handle, received<at_server>));
    must(doca_comch_server_event_connection_status_changed_register(server_handle, came, went));
    must(doca_comch_server_event_consumer_register(server_handle, consumer_came, consumer_went));
    must(doca_comch_server_task_send_set_conf(server_handle, task_ended<doca_comch_task_send, true>,
                                              task_ended<doca_comch_task_send, false>, num_message_tasks));
    must(doca_comch_server_set_recv_queue_size(server_handle, 8));
    adopt(server, doca_comch_server_as_ctx(server_handle));
    for (std::size_t i = 0; i != num_clients; ++i) {
        doca_comch_client *&client = *client_handles[i].out();
        must(doca_comch_client_create(dev, name.c_str(), &client));
        must(doca_comch_client_event_msg_recv_register(client, received<at_client>));
        must(doca_comch_client_event_consumer_register(client, consumer_came, consumer_went));
        must(doca_comch_client_task_send_set_conf(client, task_ended<doca_comch_task_send, true>,
                                                  task_ended<doca_comch_task_send, false>, num_message_tasks));
        must(doca_comch_client_set_recv_queue_size(client, 8));
        adopt(clients[i], doca_comch_client_as_ctx(client));
    }
    for (Slot &slot : message_slots)
        slot.model = this;
    for (Slot &slot : hello_slots)
        slot.model = this;
    for (Slot &slot : data_slots) {
        slot.model = this;
        slot.place = static_cast<std::size_t>(&slot - data_slots.data()) * room;
    }
}

void ComchModelTest::fill(std::byte *to, std::uint64_t message, std::size_t length) const
{
    for (std::size_t i = 0; i != length; ++i)
        to[i] = static_cast<std::byte>(message * 7 + i);
    std::memcpy(to, &message, std::min(length, sizeof(message)));
}

bool ComchModelTest::is_whole(const std::byte *bytes, std::uint64_t message, std::size_t length) const
{
    std::array<std::byte, room> wanted;
    fill(wanted.data(), message, length);
    return std::memcmp(bytes, wanted.data(), length) == 0;
}

CtxModel &ComchModelTest::owner(const Link &link, Side side)
{
    return side == at_server ? server : clients[link.client];
}

Link *ComchModelTest::link_of(const doca_comch_connection *connection, Side side)
{
    const auto link = std::ranges::find_if(links, [&](const Link &one) { return one.ends[side] == connection; });
    return link == links.end() ? nullptr : &*link;
}

ComchModelTest &ComchModelTest::test_of(doca_comch_connection *connection)
{
    doca_comch_server *const server = doca_comch_server_get_server_ctx(connection);
    doca_ctx *const ctx = server != nullptr ? doca_comch_server_as_ctx(server)
                                            : doca_comch_client_as_ctx(doca_comch_client_get_client_ctx(connection));
    doca_data data{};
    must(doca_ctx_get_user_data(ctx, &data));
    return *static_cast<ComchModelTest *>(static_cast<CtxModel *>(data.ptr)->test);
}

void ComchModelTest::count_callback()
{
    if (!is_in_progress)
        complain("a connection's callback outside of doca_pe_progress()");
    ++num_callbacks;
}

void ComchModelTest::came(doca_comch_event_connection_status_changed *, doca_comch_connection *connection,
                          std::uint8_t is_done)
{
    ComchModelTest &test = test_of(connection);
    test.count_callback();
    if (is_done != 1 || !test.server.is_running() || test.link_of(connection, at_server) != nullptr)
        test.complain("a client has come that cannot have");
    test.strangers.push_back(connection);
}

void ComchModelTest::went(doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t)
{
    ComchModelTest &test = test_of(connection);
    test.count_callback();
    Link *const link = test.link_of(connection, at_server);
    if (link == nullptr) {
        if (std::erase(test.strangers, connection) != 1)
            test.complain("a client has gone that had not come");
        return;
    }
    if (!link->is_broken)
        test.complain("a client has gone, and nobody has ended its connection");
    test.expect_nothing_lost(*link, at_server);
    link->ends[at_server] = nullptr;
    link->knows_end[at_server] = true;
}

/// When the end is told.
void ComchModelTest::expect_nothing_lost(const Link &link, Side side)
{
    if (!link.has_ended_itself[side] && std::ranges::any_of(link.sent[side], &Sent::has_succeeded))
        complain("a message has succeeded, and was not received before the end");
}

void ComchModelTest::take_message(Side side, const std::byte *bytes, std::size_t length, doca_comch_connection *from)
{
    count_callback();
    Link *link = link_of(from, side);
    if (link == nullptr && side == at_server && length == 2 * sizeof(std::uint64_t)) { // who says hello
        std::uint64_t life = 0;
        std::memcpy(&life, bytes, sizeof(life));
        const auto found = std::ranges::find_if(links, [&](const Link &one) {
            return !one.sent[at_server].empty() && one.sent[at_server].front().number == life;
        });
        if (found != links.end() && std::erase(strangers, from) == 1) {
            link = &*found;
            link->ends[at_server] = from;
        }
    }
    if (link == nullptr || link->sent[side].empty() || !owner(*link, side).is_running())
        return complain("a message that nobody has sent, or to who has ended the connection");
    const Sent sent = link->sent[side].front();
    link->sent[side].pop_front();
    if (length != sent.length || !is_whole(bytes, sent.number, length))
        complain("a message is not the next one of its connection, or not what was sent");
    ++num_messages;
}

void ComchModelTest::message_ended(Slot &slot, bool has_succeeded)
{
    ended(slot, has_succeeded);
    auto &queue = slot.link->sent[slot.side ^ 1];
    const auto sent = std::ranges::find(queue, slot.number, &Sent::number);
    if (has_succeeded) {
        if (sent != queue.end())
            sent->has_succeeded = true;
        return;
    }
    if (sent == queue.end())
        complain("a message has failed that was received");
    else
        queue.erase(sent);
    const doca_error_t status = doca_task_get_status(slot.task);
    const bool may_fail = slot.link->is_broken || slot.link->may_be_lost;
    if (!may_fail || (status != DOCA_ERROR_CONNECTION_RESET && status != DOCA_ERROR_SHUTDOWN))
        ADD_FAILURE() << "a message has failed with " << doca_error_get_name(status) << where();
}

void ComchModelTest::alloc_message(Slot &slot)
{
    if (links.empty())
        return;
    Link &link = *std::next(links.begin(), static_cast<std::ptrdiff_t>(below(links.size())));
    slot.side = static_cast<Side>(below(2));
    CtxModel &ctx = owner(link, slot.side);
    if (link.ends[slot.side] == nullptr)
        return;
    const bool is_wrong = one_in(20);
    const bool is_foreign = is_wrong && link.ends[slot.side ^ 1] != nullptr && one_in(2);
    doca_comch_connection *const to = link.ends[is_foreign ? slot.side ^ 1 : slot.side];
    slot.length = is_wrong && !is_foreign ? (one_in(2) ? 0 : 4081) : 1 + below(room);
    const auto length = static_cast<std::uint32_t>(slot.length);
    doca_comch_task_send *made = nullptr;
    const doca_error_t status =
        slot.side == at_server
            ? doca_comch_server_task_send_alloc_init(server_handle, to, slot.memory.data(), length, &made)
            : doca_comch_client_task_send_alloc_init(client_handles[link.client], to, slot.memory.data(), length,
                                                     &made);
    if (!answers("task_send_alloc_init", status,
                 unless(is_wrong && ctx.is_running(), DOCA_ERROR_INVALID_VALUE,
                        alloc(ctx, ctx.allocated == num_message_tasks))))
        return;
    allocated(slot, ctx, doca_comch_task_send_as_task(made));
    slot.link = &link;
    doca_task_set_user_data(slot.task, {.ptr = &slot});
}

void ComchModelTest::submit_message(Slot &slot)
{
    auto &queue = slot.link->sent[slot.side ^ 1];
    slot.number = ++num_numbers;
    fill(slot.memory.data(), slot.number, slot.length);
    queue.push_back({slot.number, slot.length});
    if (!submit(slot))
        queue.pop_back();
    std::ranges::fill(slot.memory, std::byte{0xee}); // it was copied
}

void ComchModelTest::do_message(Slot &slot)
{
    if (slot.task == nullptr)
        return alloc_message(slot);
    if (slot.is_in_flight) {
        (void)answers("submit in flight", doca_task_submit(slot.task), DOCA_ERROR_BAD_STATE);
    } else if (one_in(6) || slot.link->ends[slot.side] == nullptr) {
        release(slot);
    } else {
        submit_message(slot);
    }
}

void ComchModelTest::release(Slot &slot)
{
    free(slot);
    slot.link = nullptr;
    slot.buf.reset();
}

/// The first message of a client, by which the model knows its connection.
void ComchModelTest::say_hello(Link &link)
{
    Slot &slot = hello_slots[link.client];
    doca_comch_task_send *made = nullptr;
    slot.length = 2 * sizeof(std::uint64_t);
    slot.side = at_client;
    must(doca_comch_client_task_send_alloc_init(client_handles[link.client], link.ends[at_client], slot.memory.data(),
                                                static_cast<std::uint32_t>(slot.length), &made));
    allocated(slot, clients[link.client], doca_comch_task_send_as_task(made));
    doca_task_set_user_data(slot.task, {.ptr = &slot});
    slot.link = &link;
    submit_message(slot);
}

/// What has become of the clients in the last progress.
void ComchModelTest::look_at_clients()
{
    for (Link &link : links) {
        const CtxModel &client = clients[link.client];
        if (link_of_client[link.client] != &link)
            continue;
        if (client.is_running() && link.ends[at_client] == nullptr) {
            must(doca_comch_client_get_connection(client_handles[link.client], &link.ends[at_client]));
            ++num_links;
            say_hello(link);
        } else if (link.ends[at_client] != nullptr && !client.is_running()) {
            if (!link.is_broken && !link.may_be_lost)
                complain("a client has lost its server, and nobody has ended the connection");
            if (!std::exchange(link.is_broken, true))
                link.has_ended_itself[at_server] = true;
            if (!link.has_ended_itself[at_client] && !link.known_consumers[at_client].empty())
                complain("a consumer of the server has not expired");
            expect_nothing_lost(link, at_client);
            link.ends[at_client] = nullptr;
            link.knows_end[at_client] = true;
        } else if (client.is_idle() && !link.knows_end[at_client] && !link.may_be_lost) {
            complain("a client has not found its server, which was there");
        }
        if (client.is_idle())
            link_of_client[link.client] = nullptr;
    }
    for (Slot &slot : hello_slots) {
        if (slot.task != nullptr && !slot.is_in_flight)
            release(slot);
    }
}

bool ComchModelTest::is_used(const Link &link) const
{
    const auto is_its = [&](const Slot &slot) { return slot.task != nullptr && slot.link == &link; };
    return link_of_client[link.client] == &link || link.ends[at_server] != nullptr || has_members(link) ||
           std::ranges::any_of(message_slots, is_its) || std::ranges::any_of(hello_slots, is_its) ||
           std::ranges::any_of(data_slots, is_its) ||
           (!link.sent[at_server].empty() && !link.has_ended_itself[at_server] && !link.knows_end[at_server]);
}

void ComchModelTest::forget_links()
{
    for (Link &link : links)
        forget_members(link);
    links.remove_if([&](const Link &link) { return !is_used(link); });
    if (server.is_idle() && !strangers.empty())
        complain("a server is idle, and has not told of the end of its clients");
}

void ComchModelTest::do_server()
{
    switch (below(8)) {
    case 0:
        if (one_in(20) && !server.is_idle()) {
            const bool was_running = server.is_running();
            const doca_error_t status = doca_ctx_stop(server.ctx);
            if (status != DOCA_SUCCESS || server.allocated != 0)
                (void)answers("ctx_stop", status, DOCA_ERROR_IN_PROGRESS);
            for (Link &link : links) {
                link.may_be_lost = true;
                if (link_of_client[link.client] == &link && clients[link.client].state == DOCA_CTX_STATE_STARTING)
                    continue; // it may yet meet the server's next life
                link.is_broken = true;
                link.has_ended_itself[at_server] = link.has_ended_itself[at_server] || was_running;
            }
        }
        break;
    case 1:
        if (!server.is_idle())
            (void)answers("server_destroy", doca_comch_server_destroy(server_handle), DOCA_ERROR_IN_USE);
        break;
    case 2:
        check_counts(server);
        break;
    default:
        if (server.is_idle())
            (void)start(server);
    }
}

void ComchModelTest::do_client(std::size_t which)
{
    CtxModel &client = clients[which];
    doca_comch_connection *connection = nullptr;
    switch (below(8)) {
    case 0:
        if (!client.is_idle() && one_in(4)) {
            if (Link *const link = link_of_client[which]; link != nullptr) {
                link->has_ended_itself[at_client] =
                    link->has_ended_itself[at_client] || !link->is_broken || client.is_running();
                link->is_broken = link->may_be_lost = true;
            }
            stop(client);
        }
        break;
    case 1:
        if (!client.is_idle())
            (void)answers("client_destroy", doca_comch_client_destroy(client_handles[which]), DOCA_ERROR_IN_USE);
        break;
    case 2:
        (void)answers("get_connection", doca_comch_client_get_connection(client_handles[which], &connection),
                      unless(!client.is_running(), DOCA_ERROR_BAD_STATE));
        check_counts(client);
        break;
    default:
        if (!client.is_idle() || link_of_client[which] != nullptr)
            break;
        if (answers("ctx_start", doca_ctx_start(client.ctx), DOCA_ERROR_IN_PROGRESS) ||
            client.state == DOCA_CTX_STATE_STARTING) {
            Link &link = links.emplace_back();
            link.client = which;
            link.may_be_lost = !server.is_running();
            link_of_client[which] = &link;
        }
    }
    look_at_clients();
}

void ComchModelTest::disconnect(Link &link)
{
    if (link.ends[at_server] == nullptr || !server.is_running())
        return;
    const auto is_in_use = [](const FastMember &member) {
        return member.exists() && (member.is_running() || member.state == DOCA_CTX_STATE_STARTING);
    };
    if (answers(
            "disconnect", doca_comch_server_disconnect(server_handle, link.ends[at_server]),
            unless(is_in_use(link.consumers[at_server]) || is_in_use(link.producers[at_server]), DOCA_ERROR_IN_USE)))
        link.is_broken = link.has_ended_itself[at_server] = true;
}

/// Both sides have what they need to get further without a call of the program.
bool ComchModelTest::must_end(const Slot &slot) const
{
    if (!slot.is_in_flight)
        return false;
    const Link &link = *slot.link;
    if (slot.kind == Slot::Kind::message)
        return link.is_broken || server.is_running();
    const FastMember &consumer = link.consumers[slot.kind == Slot::Kind::receive ? slot.side : slot.side ^ 1];
    if (!slot.ctx->is_running())
        return true;
    if (slot.kind == Slot::Kind::receive)
        return must_receive(link, slot.side);
    return !consumer.exists() || !consumer.is_running() || consumer.in_flight != 0 || link.is_being_cut[slot.side ^ 1];
}

/// What gets further without a call of the program; null when nothing does.
const char *ComchModelTest::what_goes_on() const
{
    const auto must_be_idle = [](const CtxModel &ctx) {
        return ctx.state == DOCA_CTX_STATE_STOPPING && ctx.allocated == 0;
    };
    const auto must_end_one = [&](const Slot &slot) { return must_end(slot); };
    if (must_be_idle(server) || std::ranges::any_of(clients, must_be_idle))
        return "a server or client stops";
    if (std::ranges::any_of(message_slots, must_end_one) || std::ranges::any_of(hello_slots, must_end_one))
        return "a message is sent";
    if (std::ranges::any_of(data_slots, must_end_one))
        return "a producer sends, or a consumer receives";
    for (const Link &link : links) {
        const CtxModel &client = clients[link.client];
        const bool has_client = link_of_client[link.client] == &link;
        if (has_client && client.state == DOCA_CTX_STATE_STARTING && server.is_running())
            return "a client finds its server";
        if (link.is_broken && (link.ends[at_server] != nullptr || (has_client && client.is_running())))
            return "an end is told";
        if ((server.is_running() && !link.has_ended_itself[at_server] &&
             std::ranges::any_of(link.sent[at_server], &Sent::has_succeeded)) ||
            (has_client && client.is_running() && std::ranges::any_of(link.sent[at_client], &Sent::has_succeeded)))
            return "a message is received";
        for (const Side side : {at_server, at_client}) {
            for (const FastMember *const member : {&link.consumers[side], &link.producers[side]}) {
                if (member->exists() && (must_be_idle(*member) || member->state == DOCA_CTX_STATE_STARTING))
                    return "a consumer or producer starts or stops";
            }
        }
    }
    return nullptr;
}

void ComchModelTest::serve(bool waits)
{
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60); // RDMA devices give up late
    for (const char *what = ""; what != nullptr && !HasFailure(); what = waits ? what_goes_on() : nullptr) {
        progress(false);
        look_at_clients();
        forget_links();
        if (std::chrono::steady_clock::now() > limit)
            return complain(("this does not end: " + std::string(what)).c_str());
    }
}

void ComchModelTest::step()
{
    const std::size_t what = below(32);
    if (what == 0 || (server.is_idle() && one_in(4)))
        do_server();
    else if (what < 3)
        do_client(below(num_clients));
    else if (what < 9)
        do_message(message_slots[below(num_message_slots)]);
    else if (what == 9 && one_in(8)) // more at a time than the queues hold
        std::ranges::for_each(message_slots, [&](Slot &slot) { do_message(slot); });
    else if (what < 22)
        do_data(data_slots[below(num_data_slots)]);
    else if (what < 25 && !links.empty())
        do_member(*std::next(links.begin(), static_cast<std::ptrdiff_t>(below(links.size()))),
                  static_cast<Side>(below(2)), one_in(2));
    else if (what == 25 && !links.empty() && one_in(20))
        disconnect(*std::next(links.begin(), static_cast<std::ptrdiff_t>(below(links.size()))));
    else
        serve(one_in(8));
    forget_links();
}

/// In the order that always works.
void ComchModelTest::clean_up()
{
    serve(true);
    for (Link &link : links) {
        for (const Side side : {at_server, at_client}) {
            for (FastMember *const member : {&link.producers[side], &link.consumers[side]}) {
                if (member->exists() && !member->is_idle())
                    stop(*member);
            }
        }
    }
    const auto release_all = [&] {
        serve(true);
        for (Slot &slot : message_slots) {
            if (slot.task != nullptr && !slot.is_in_flight)
                release(slot);
        }
        for (Slot &slot : data_slots) {
            if (slot.task != nullptr && !slot.is_in_flight)
                release(slot);
        }
        serve(true);
    };
    release_all();
    for (std::size_t i = 0; i != num_clients; ++i) {
        if (Link *const link = link_of_client[i]; link != nullptr)
            link->is_broken = link->has_ended_itself[at_client] = link->may_be_lost = true;
        if (!clients[i].is_idle())
            stop(clients[i]);
        look_at_clients();
    }
    release_all();
    if (!server.is_idle())
        (void)doca_ctx_stop(server.ctx);
    for (Link &link : links)
        link.is_broken = link.has_ended_itself[at_server] = true;
    serve(true);
    while (!server.is_idle() && !HasFailure())
        serve(false);
    EXPECT_TRUE(links.empty());
}

namespace {

/// The function of the host that clients are on, where there is one.
std::vector<std::string> hosts()
{
    std::vector<std::string> found;
    const std::string wanted = device_name("OPENDOCA_TEST_HOST", "soft_pf0");
    doca_devinfo **list = nullptr;
    std::uint32_t count = 0;
    must(doca_devinfo_create_list(&list, &count));
    for (std::uint32_t i = 0; i != count; ++i) {
        char name[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {};
        if (doca_devinfo_get_ibdev_name(list[i], name, sizeof(name)) == DOCA_SUCCESS && name == wanted &&
            doca_comch_cap_client_is_supported(list[i]) == DOCA_SUCCESS)
            found.push_back(wanted);
    }
    must(doca_devinfo_destroy_list(list));
    return found;
}

TEST_P(ComchModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
    std::printf("%llu connections, %llu messages, %llu of producers\n", static_cast<unsigned long long>(num_links),
                static_cast<unsigned long long>(num_messages), static_cast<unsigned long long>(num_data));
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ComchModelTest);
INSTANTIATE_TEST_SUITE_P(device, ComchModelTest, testing::ValuesIn(hosts()), name_of_device);

} // namespace

} // namespace doca_test::comch
