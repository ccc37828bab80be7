// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comch of DOCA 3.0: a server and clients, in one process.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <ios>
#include <string>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../src/core/base/unique_fd.hpp"
#include "../support/environment.hpp"
#include "../support/footprint.hpp"
#include "../support/log_capture.hpp"
#include "../support/topology_file.hpp"
#include "comch_sides.hpp"

using namespace doca_test;

namespace {

TEST_F(ComchTest, messages_arrive_in_order_and_are_copied_at_submit)
{
    start();
    // More than the receive queue holds: the rest waits, and no program's memory is needed for it.
    for (int i = 0; i != static_cast<int>(num_sends); ++i)
        send_from_client("message " + std::to_string(i));
    run_until([&] { return at_server.messages.size() == num_sends && at_client.num_sent == num_sends; });
    for (int i = 0; i != static_cast<int>(num_sends); ++i)
        EXPECT_EQ(at_server.messages[static_cast<std::size_t>(i)], "message " + std::to_string(i));
    EXPECT_EQ(at_server.from, at_server.connected[0]);
    send_from_server("an answer");
    run_until([&] { return !at_client.messages.empty() && at_server.num_sent == 1; });
    EXPECT_EQ(at_client.messages[0], "an answer");
    EXPECT_EQ(at_client.from, to_server);
    ASSERT_EQ(doca_comch_connection_update_info(to_server), DOCA_SUCCESS);
    std::uint64_t count = 0;
    ASSERT_EQ(doca_comch_connection_get_counter(to_server, DOCA_COMCH_COUNTER_SENT_MESSAGES, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, num_sends);
}

TEST(ComchInNicMode, has_no_dpu_to_talk_to)
{
    const TopologyFile file(R"({"mode": "nic", "functions": [
        {"name": "p0",  "side": "dpu",  "type": "pf", "pci": "03:00.0"},
        {"name": "pf0", "side": "host", "type": "pf", "pci": "17:00.0", "parent": "p0"}
    ]})");
    const Environment named("DOCA_SOFT_TOPOLOGY", file.path().c_str());
    const Environment soft("DOCA_SOFT", "1");
    EXPECT_FALSE(has_device("soft_p0"));
    const DevHandle dev = open_device("soft_pf0");
    const doca_devinfo *const info = doca_dev_as_devinfo(dev);
    EXPECT_EQ(doca_comch_cap_client_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_comch_cap_server_is_supported(info), DOCA_ERROR_NOT_SUPPORTED);
    const LogCapture log;
    Handle<doca_comch_client, doca_comch_client_destroy> client;
    EXPECT_EQ(doca_comch_client_create(dev, "name", client.out()), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "NIC mode");
}

TEST_F(ComchTest, messages_that_are_too_long_are_refused)
{
    start();
    std::uint32_t longest = 0;
    ASSERT_EQ(doca_comch_client_get_max_msg_size(client, &longest), DOCA_SUCCESS);
    const std::string text(longest + 1, 'x');
    doca_comch_task_send *task = nullptr;
    EXPECT_EQ(doca_comch_client_task_send_alloc_init(client, to_server, text.data(), longest + 1, &task),
              DOCA_ERROR_INVALID_VALUE);
    send_from_client(text.substr(1));
    run_until([&] { return !at_server.messages.empty(); });
    EXPECT_EQ(at_server.messages[0].size(), longest);
}

TEST_F(ComchTest, a_client_that_stops_is_told_to_the_server)
{
    start();
    send_from_client("last words");
    ASSERT_EQ(doca_ctx_stop(client_ctx()), DOCA_ERROR_IN_PROGRESS) << "its task has not come back";
    run_until([&] { return !at_server.disconnected.empty() && state_of(client_ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(at_server.messages, std::vector<std::string>{"last words"});
    EXPECT_EQ(at_server.disconnected[0], at_server.connected[0]);
    EXPECT_EQ(state_of(server_ctx()), DOCA_CTX_STATE_RUNNING);
}

TEST_F(ComchTest, a_server_whose_clients_have_all_gone_stops_at_once)
{
    start();
    (void)doca_ctx_stop(client_ctx());
    run_until([&] { return !at_server.disconnected.empty(); });
    EXPECT_EQ(doca_ctx_stop(server_ctx()), DOCA_SUCCESS);
    EXPECT_EQ(state_of(server_ctx()), DOCA_CTX_STATE_IDLE);
}

TEST_F(ComchTest, a_server_may_be_stopped_when_it_is_told_of_the_last_end)
{
    must(doca_comch_server_event_connection_status_changed_register(
        server, connected,
        [](doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t) {
            doca_comch_server *const of = doca_comch_server_get_server_ctx(connection);
            EXPECT_EQ(doca_comch_server_disconnect(of, connection), DOCA_ERROR_INVALID_VALUE);
            EXPECT_EQ(doca_ctx_stop(doca_comch_server_as_ctx(of)), DOCA_ERROR_IN_PROGRESS);
            EXPECT_EQ(doca_comch_server_get_server_ctx(connection), of) << "is valid until this returns";
            side_of(connection).disconnected.push_back(connection);
        }));
    start();
    (void)doca_ctx_stop(client_ctx());
    run_until([&] { return state_of(server_ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(at_server.disconnected, at_server.connected);
}

TEST_F(ComchTest, a_server_that_stops_ends_its_clients)
{
    start();
    ASSERT_EQ(doca_ctx_stop(server_ctx()), DOCA_ERROR_IN_PROGRESS);
    run_until(
        [&] { return state_of(server_ctx()) == DOCA_CTX_STATE_IDLE && state_of(client_ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(at_server.disconnected.size(), 1u);
}

/// As many as a server can have, all before it looks: while its program does something else, and before it is there.
TEST_F(ComchTest, clients_that_ask_at_once_are_taken_in)
{
    std::uint32_t most = 0;
    must(doca_comch_cap_get_max_clients(doca_dev_as_devinfo(dpu), &most));
    ASSERT_EQ(most, 256u);
    if (!is_soft_pair)
        most = 96; // each takes a queue pair at either end
    rlimit limit{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    if (limit.rlim_max < 4096 || setrlimit(RLIMIT_NOFILE, &limit) != 0)
        GTEST_SKIP() << "a process may have " << limit.rlim_max << " descriptors";
    for (const bool is_late : {false, true}) {
        SCOPED_TRACE(is_late);
        std::vector<ClientHandle> clients(most);
        at_server.connected.clear();
        if (!is_late)
            must(doca_ctx_start(server_ctx()));
        for (ClientHandle &each : clients) {
            must(doca_comch_client_create(host, name, each.out()));
            must(doca_pe_connect_ctx(at_client.pe, doca_comch_client_as_ctx(each)));
            ASSERT_EQ(doca_ctx_start(doca_comch_client_as_ctx(each)), DOCA_ERROR_IN_PROGRESS);
        }
        if (is_late) {
            must(doca_ctx_start(server_ctx()));
            for (int i = 0; i != 128; ++i) // all look for it
                (void)doca_pe_progress(at_client.pe);
        }
        const auto all_are = [&](doca_ctx_states wanted) {
            return std::ranges::all_of(
                clients, [&](const ClientHandle &each) { return state_of(doca_comch_client_as_ctx(each)) == wanted; });
        };
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
        run_until([&] { return all_are(DOCA_CTX_STATE_RUNNING) || std::chrono::steady_clock::now() > end; });
        EXPECT_TRUE(all_are(DOCA_CTX_STATE_RUNNING));
        run_until([&] { return at_server.connected.size() == most || std::chrono::steady_clock::now() > end; });
        EXPECT_EQ(at_server.connected.size(), most);
        for (const ClientHandle &each : clients)
            (void)doca_ctx_stop(doca_comch_client_as_ctx(each));
        (void)doca_ctx_stop(server_ctx());
        run_until([&] { return all_are(DOCA_CTX_STATE_IDLE) && state_of(server_ctx()) == DOCA_CTX_STATE_IDLE; });
    }
}

/// Each client has a socket and an event channel, and the server's end a socket.
TEST_F(ComchTest, a_connection_takes_few_descriptors)
{
    if (!is_soft_pair)
        GTEST_SKIP() << "a card's connections go by a relay or TCP";
    start();
    constexpr std::size_t num_clients = 100;
    std::vector<ClientHandle> clients(num_clients);
    const std::size_t before = num_descriptors();
    for (ClientHandle &each : clients) {
        must(doca_comch_client_create(host, name, each.out()));
        connect_ctx(doca_comch_client_as_ctx(each), at_client);
        ASSERT_EQ(doca_ctx_start(doca_comch_client_as_ctx(each)), DOCA_ERROR_IN_PROGRESS);
        run_until([&] { return state_of(doca_comch_client_as_ctx(each)) == DOCA_CTX_STATE_RUNNING; });
    }
    run_until([&] { return at_server.connected.size() == num_clients + 1; });
    // And two for ten processes at the other end.
    EXPECT_LE(num_descriptors() - before, 3 * num_clients + 2 * num_clients / 10 + 2);
    // The kernel limits how many epoll instances that are nested so deep contain one descriptor.
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(at_client.pe, &handle));
    const opendoca::UniqueFd outer(epoll_create1(0)), next(epoll_create1(0)), outermost(epoll_create1(0));
    epoll_event event = {.events = EPOLLIN, .data = {}};
    EXPECT_EQ(epoll_ctl(outer.get(), EPOLL_CTL_ADD, handle, &event), 0);
    EXPECT_EQ(epoll_ctl(next.get(), EPOLL_CTL_ADD, outer.get(), &event), 0);
    EXPECT_EQ(epoll_ctl(outermost.get(), EPOLL_CTL_ADD, next.get(), &event), 0);
    for (const ClientHandle &each : clients) {
        (void)doca_ctx_stop(doca_comch_client_as_ctx(each));
        run_until([&] { return state_of(doca_comch_client_as_ctx(each)) == DOCA_CTX_STATE_IDLE; });
    }
}

/// Contexts and connections without work for long are not polled any more. Messages in both directions, and ends, are
/// found all the same: by programs that poll, and by those that block.
TEST_F(ComchTest, connections_without_work_for_long_are_found)
{
    start();
    constexpr std::size_t num_clients = 16; // more than a server polls in any case
    std::vector<ClientHandle> clients(num_clients);
    std::vector<doca_comch_connection *> to(num_clients);
    for (std::size_t i = 0; i != num_clients; ++i) {
        must(doca_comch_client_create(host, name, clients[i].out()));
        must(doca_comch_client_event_msg_recv_register(clients[i], received));
        must(doca_comch_client_task_send_set_conf(clients[i], sent, send_failed, num_sends));
        connect_ctx(doca_comch_client_as_ctx(clients[i]), at_client);
        ASSERT_EQ(doca_ctx_start(doca_comch_client_as_ctx(clients[i])), DOCA_ERROR_IN_PROGRESS);
        run_until([&] { return state_of(doca_comch_client_as_ctx(clients[i])) == DOCA_CTX_STATE_RUNNING; });
        must(doca_comch_client_get_connection(clients[i], &to[i]));
    }
    run_until([&] { return at_server.connected.size() == num_clients + 1; });
    const auto let_park = [&] {
        constexpr int polls_until_parked = 6000;
        for (int i = 0; i != polls_until_parked; ++i) {
            (void)doca_pe_progress(at_server.pe);
            (void)doca_pe_progress(at_client.pe);
        }
    };
    enum class Way { polls, polls_armed, blocks };
    // One side blocks if it is to, until it is woken; both are progressed until @p is_done.
    const auto wait = [&](Side &side, Way way, const std::function<void()> &act, const std::function<bool()> &is_done) {
        if (way == Way::polls_armed)
            must(doca_pe_request_notification(side.pe));
        let_park();
        if (way == Way::blocks)
            must(doca_pe_request_notification(side.pe));
        act();
        doca_notification_handle_t handle{};
        must(doca_pe_get_notification_handle(side.pe, &handle));
        if (way == Way::blocks) {
            pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
            EXPECT_EQ(poll(&ready, 1, 10000), 1);
            must(doca_pe_clear_notification(side.pe, handle));
        }
        run_until(is_done);
        must(doca_pe_clear_notification(side.pe, handle));
    };
    for (const Way way : {Way::polls, Way::polls_armed, Way::blocks}) {
        SCOPED_TRACE(static_cast<int>(way));
        for (std::size_t i = 0; i < num_clients; i += 5) {
            at_server.messages.clear();
            wait(
                at_server, way,
                [&] {
                    doca_comch_task_send *task = nullptr;
                    must(doca_comch_client_task_send_alloc_init(clients[i], to[i], "ask", 3, &task));
                    must(doca_task_submit(doca_comch_task_send_as_task(task)));
                },
                [&] { return at_server.messages.size() == 1; });
            doca_comch_connection *const from = at_server.from;
            at_client.messages.clear();
            wait(
                at_client, way,
                [&] {
                    doca_comch_task_send *task = nullptr;
                    must(doca_comch_server_task_send_alloc_init(server, from, "answer", 6, &task));
                    must(doca_task_submit(doca_comch_task_send_as_task(task)));
                },
                [&] { return at_client.messages.size() == 1; });
            EXPECT_EQ(at_client.from, to[i]);
        }
    }
    // A client that leaves; then one that the server ends; then all, by the server's stop.
    wait(
        at_server, Way::blocks, [&] { (void)doca_ctx_stop(doca_comch_client_as_ctx(clients[0])); },
        [&] { return at_server.disconnected.size() == 1; });
    doca_comch_connection *const ended = at_server.from;
    wait(
        at_client, Way::blocks, [&] { ASSERT_EQ(doca_comch_server_disconnect(server, ended), DOCA_SUCCESS); },
        [&] { return at_server.disconnected.size() == 2; });
    const auto num_open = [&] {
        return std::ranges::count_if(clients, [](const ClientHandle &each) {
            return state_of(doca_comch_client_as_ctx(each)) != DOCA_CTX_STATE_IDLE;
        });
    };
    run_until([&] { return num_open() == num_clients - 2; });
    wait(
        at_client, Way::blocks, [&] { EXPECT_EQ(doca_ctx_stop(server_ctx()), DOCA_ERROR_IN_PROGRESS); },
        [&] { return state_of(server_ctx()) == DOCA_CTX_STATE_IDLE && num_open() == 0; });
    EXPECT_EQ(at_server.disconnected.size(), num_clients + 1);
}

/// A client that sends its next message in the callback of the last one hears what the server says.
TEST_F(ComchTest, who_is_always_busy_sending_receives)
{
    start();
    struct Busy {
        int num_sent = 0;
        bool goes_on = true;
    } busy;
    doca_comch_task_send *task = nullptr;
    must(doca_comch_client_task_send_alloc_init(client, to_server, "x", 1, &task));
    doca_task_set_user_data(doca_comch_task_send_as_task(task), {.ptr = &busy});
    at_client.on_sent = [](doca_comch_task_send *sent, void *data) {
        auto &self = *static_cast<Busy *>(data);
        ++self.num_sent;
        if (self.goes_on)
            must(doca_task_submit(doca_comch_task_send_as_task(sent)));
        return self.goes_on;
    };
    must(doca_task_submit(doca_comch_task_send_as_task(task)));
    send_from_server("are you there?");
    run_until([&] { return !at_client.messages.empty(); });
    EXPECT_EQ(at_client.messages[0], "are you there?");
    busy.goes_on = false;
    run_until([&] { return at_client.num_sent == 1; });
    EXPECT_GT(busy.num_sent, 1);
}

TEST_F(ComchTest, a_message_wakes_who_sleeps)
{
    start();
    doca_notification_handle_t handle{};
    ASSERT_EQ(doca_pe_get_notification_handle(at_client.pe, &handle), DOCA_SUCCESS);
    const auto sleeps = [&] {
        pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
        return poll(&ready, 1, 0) == 0;
    };
    do {
        while (doca_pe_progress(at_client.pe) != 0) {
        }
        ASSERT_EQ(doca_pe_request_notification(at_client.pe), DOCA_SUCCESS);
    } while (!sleeps());
    send_from_server("wake up");
    pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&ready, 1, 10000), 1);
    ASSERT_EQ(doca_pe_clear_notification(at_client.pe, 0), DOCA_SUCCESS);
    run_until([&] { return !at_client.messages.empty(); });

    // The end of the server wakes as well.
    do {
        while (doca_pe_progress(at_client.pe) != 0) {
        }
        ASSERT_EQ(doca_pe_request_notification(at_client.pe), DOCA_SUCCESS);
    } while (!sleeps());
    ASSERT_EQ(doca_ctx_stop(server_ctx()), DOCA_ERROR_IN_PROGRESS);
    EXPECT_EQ(poll(&ready, 1, 10000), 1);
}

/// A program that blocks whenever there is nothing to do, and counts how often it was woken, and for nothing.
class Sleeper {
public:
    explicit Sleeper(doca_pe *pe) : pe_(pe) { must(doca_pe_get_notification_handle(pe, &handle_)); }

    /// Does what there is to do, or sleeps until there is something. False when there is nothing for @p timeout
    /// milliseconds.
    bool sleep(int timeout)
    {
        if (progress())
            return true;
        must(doca_pe_request_notification(pe_));
        pollfd ready = {.fd = handle_, .events = POLLIN, .revents = 0};
        const bool is_woken = poll(&ready, 1, timeout) == 1;
        must(doca_pe_clear_notification(pe_, 0));
        num_wakes_ += is_woken;
        num_idle_ += !progress() && is_woken;
        return is_woken;
    }
    [[nodiscard]] int num_wakes() const noexcept { return num_wakes_; }
    [[nodiscard]] int num_idle() const noexcept { return num_idle_; }

private:
    bool progress()
    {
        bool is_done = false;
        while (doca_pe_progress(pe_) != 0)
            is_done = true;
        return is_done;
    }

    doca_pe *pe_;
    doca_notification_handle_t handle_{};
    int num_wakes_ = 0;
    int num_idle_ = 0; ///< wake-ups with nothing to do
};

TEST_F(ComchTest, WakesBlockedProgramsOnlyForMessagesAndTheirCompletions)
{
    start();
    Sleeper server_program(at_server.pe), client_program(at_client.pe);
    const auto until_both_sleep = [&] {
        while (server_program.sleep(0) || client_program.sleep(0))
            ;
    };
    until_both_sleep();
    const int at_first = server_program.num_idle() + client_program.num_idle();
    const int wakes_at_first = server_program.num_wakes() + client_program.num_wakes();
    constexpr int num_messages = 300;
    for (std::size_t i = 1; i <= 100; ++i) {
        send_from_client("there");
        while (at_server.messages.size() != i)
            ASSERT_TRUE(server_program.sleep(10000));
        send_from_server("and back");
        while (at_client.messages.size() != i)
            ASSERT_TRUE(client_program.sleep(10000));
        until_both_sleep();
    }
    // Bells that rang for messages which were received without them.
    for (std::size_t i = 101; i <= 200; ++i) {
        must(doca_pe_request_notification(at_server.pe));
        send_from_client("there");
        must(doca_pe_clear_notification(at_server.pe, 0));
        while (at_server.messages.size() != i)
            ASSERT_TRUE(server_program.sleep(10000));
        until_both_sleep();
    }
    EXPECT_LE(at_first, 2) << "while they came to be connected";
    if (is_soft_pair) {
        EXPECT_EQ(server_program.num_idle() + client_program.num_idle(), at_first);
        return;
    }
    // A card wakes once for each completion at most. A message has four: its receive, its send, and likewise of the
    // message of the transport that reports its receipt, if no other message does. The card is another process: the
    // last of them may come after both have slept without waiting.
    while (server_program.sleep(100) || client_program.sleep(100))
        ASSERT_LE(server_program.num_wakes() + client_program.num_wakes() - wakes_at_first, 4 * num_messages);
    EXPECT_LE(server_program.num_wakes() + client_program.num_wakes() - wakes_at_first, 4 * num_messages);
}

/// A client's program that sleeps until its server is there, and finds it.
TEST_F(ComchTest, ClientBlocksUntilItsServerStarts)
{
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    Sleeper program(at_client.pe);
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
    while (std::chrono::steady_clock::now() < end)
        (void)program.sleep(1000);
    EXPECT_GE(program.num_idle(), 1);
    EXPECT_LE(program.num_idle(), 40) << "a look in 10 ms";
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    Sleeper server_program(at_server.pe);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(5);
    while (at_server.connected.empty() || state_of(client_ctx()) != DOCA_CTX_STATE_RUNNING) {
        (void)server_program.sleep(0);
        (void)program.sleep(20);
        ASSERT_LT(std::chrono::steady_clock::now(), limit);
    }
    while (program.sleep(0))
        ;
    EXPECT_FALSE(program.sleep(100)) << "its timer has not gone";
}

TEST_F(ComchTest, BlockedClientGivesUpAServerThatDoesNotAnswer)
{
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    Sleeper program(at_client.pe);
    int num_wakes = 0;
    while (state_of(client_ctx()) != DOCA_CTX_STATE_IDLE) {
        ASSERT_TRUE(program.sleep(12000)); // longer than the 10 seconds that it waits
        ASSERT_LE(++num_wakes, 20);
    }
}

// Programs have an epoll of their own around the engine's, and the kernel limits how deep they go.
TEST_F(ComchTest, the_engines_handles_can_be_in_an_epoll)
{
    const std::array<doca_pe *, 2> engines = {at_server.pe, at_client.pe};
    const int programs = epoll_create1(EPOLL_CLOEXEC);
    for (doca_pe *const pe : engines) {
        doca_notification_handle_t handle{};
        ASSERT_EQ(doca_pe_get_notification_handle(pe, &handle), DOCA_SUCCESS);
        epoll_event interest = {.events = EPOLLIN, .data = {.fd = handle}};
        ASSERT_EQ(epoll_ctl(programs, EPOLL_CTL_ADD, handle, &interest), 0);
    }
    start();
    const auto sleep_until = [&](const std::function<bool()> &is_done) {
        while (!is_done()) {
            for (doca_pe *const pe : engines) {
                while (doca_pe_progress(pe) != 0) {
                }
                must(doca_pe_request_notification(pe));
            }
            epoll_event event{};
            if (!is_done()) {
                ASSERT_EQ(epoll_wait(programs, &event, 1, 10000), 1);
            }
            must(doca_pe_clear_notification(at_server.pe, 0));
            must(doca_pe_clear_notification(at_client.pe, 0));
        }
    };
    for (std::size_t i = 1; i <= 3; ++i) {
        send_from_client("there");
        sleep_until([&] { return at_server.messages.size() == i; });
        send_from_server("and back");
        sleep_until([&] { return at_client.messages.size() == i; });
    }
    // Many more than the receive queue takes: a sleeper is told of room, too.
    for (int i = 0; i != 40; ++i)
        send_from_client("more");
    sleep_until([&] { return at_server.messages.size() == 43; });
    ASSERT_EQ(doca_ctx_stop(client_ctx()), DOCA_SUCCESS);
    sleep_until([&] { return !at_server.disconnected.empty(); });
    close(programs);
}

TEST_F(ComchTest, a_client_waits_for_its_server)
{
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    for (int i = 0; i != 1000; ++i)
        EXPECT_EQ(doca_pe_progress(at_client.pe), 0);
    EXPECT_EQ(state_of(client_ctx()), DOCA_CTX_STATE_STARTING);
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    run_until([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_RUNNING; });
}

TEST_F(ComchTest, who_waits_for_a_second_says_for_whom)
{
    const LogCapture log;
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    char address[DOCA_DEVINFO_PCI_ADDR_SIZE] = {};
    must(doca_devinfo_get_pci_addr_str(doca_dev_as_devinfo(host), address));
    const std::string function = "(" + std::string(address) + ")";
    run_until([&] { return log.has("waits for a server") || state_of(client_ctx()) != DOCA_CTX_STATE_STARTING; });
    EXPECT_LOGGED(log, "client '" + service + "' waits for a server of that name on the representor of ");
    if (is_soft_pair) { // where the function of a card has an address, the client does not know it
        EXPECT_LOGGED(log, function + ", at ");
    }
    must(doca_ctx_stop(client_ctx()));
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    run_until([&] { return log.has("waits for a client") || std::chrono::steady_clock::now() > end; });
    EXPECT_LOGGED(log, "server '" + service + "' on representor ");
    EXPECT_LOGGED(log, function + " waits for a client");
}

TEST_F(ComchTest, a_client_that_is_stopped_while_it_starts_is_idle)
{
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    EXPECT_EQ(state_of(client_ctx()), DOCA_CTX_STATE_STARTING);
    (void)doca_ctx_stop(client_ctx());
    run_until([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_IDLE; });
    start(); // and can be started again
    send_from_client("hello");
    run_until([&] { return !at_server.messages.empty(); });
}

TEST_F(ComchTest, a_server_may_disconnect_a_client_when_it_is_told_of_it)
{
    static doca_error_t disconnected_by_program;
    must(doca_comch_server_event_connection_status_changed_register(
        server,
        [](doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t) {
            side_of(connection).connected.push_back(connection);
            disconnected_by_program =
                doca_comch_server_disconnect(doca_comch_server_get_server_ctx(connection), connection);
        },
        disconnected));
    const LogCapture log;
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    run_until([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_IDLE && !at_server.disconnected.empty(); });
    EXPECT_EQ(disconnected_by_program, DOCA_SUCCESS);
    EXPECT_EQ(at_server.disconnected, at_server.connected);
    EXPECT_FALSE(log.has("has died")) << log.text();
}

TEST_F(ComchTest, a_client_that_leaves_before_it_has_heard_from_its_server_is_not_dead)
{
    const LogCapture log;
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    while (at_server.connected.empty())
        (void)doca_pe_progress(at_server.pe);
    ASSERT_EQ(doca_ctx_stop(client_ctx()), DOCA_SUCCESS);
    run_until([&] { return !at_server.disconnected.empty(); });
    EXPECT_FALSE(log.has("has died")) << log.text();
}

/// More than the peer's queue holds: they wait in their order.
TEST_F(ComchTest, a_thousand_messages_may_be_on_their_way)
{
    constexpr std::uint32_t count = 1024;
    must(doca_comch_client_task_send_set_conf(client, sent, send_failed, count));
    start();
    for (std::uint32_t i = 0; i != count; ++i)
        send_from_client(std::to_string(i) + std::string(4000, 'x'));
    run_until([&] { return at_server.messages.size() == count && at_client.num_sent == static_cast<int>(count); });
    for (std::uint32_t i = 0; i != count; ++i)
        EXPECT_EQ(at_server.messages[i].substr(0, at_server.messages[i].find('x')), std::to_string(i));
}

TEST_F(ComchTest, two_servers_of_one_name_are_one_too_many)
{
    start();
    ServerHandle other;
    must(doca_comch_server_create(dpu, rep, name, other.out()));
    Side side;
    connect_ctx(doca_comch_server_as_ctx(other), side);
    EXPECT_EQ(doca_ctx_start(doca_comch_server_as_ctx(other)), DOCA_ERROR_CONNECTION_ABORTED);
    other.reset();
}

TEST_F(ComchTest, a_directory_of_names_that_somebody_keeps_locked_stops_no_server_for_ever)
{
    if (!is_soft_pair)
        GTEST_SKIP() << "a server of a card has a port";
    // Its own: other tests register names at the same time.
    char runtime[] = "/tmp/opendoca-test-XXXXXX";
    ASSERT_NE(mkdtemp(runtime), nullptr);
    const Environment variable("XDG_RUNTIME_DIR", runtime);
    const std::string path = std::string(runtime) + "/opendoca";
    ASSERT_EQ(mkdir(path.c_str(), S_IRWXU), 0);
    opendoca::UniqueFd directory(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    ASSERT_EQ(flock(directory.get(), LOCK_EX | LOCK_NB), 0);
    ServerHandle other;
    must(doca_comch_server_create(dpu, rep, (service + " other").c_str(), other.out()));
    Side side;
    connect_ctx(doca_comch_server_as_ctx(other), side);
    EXPECT_EQ(doca_ctx_start(doca_comch_server_as_ctx(other)), DOCA_ERROR_INITIALIZATION);
    directory = {};
    EXPECT_EQ(doca_ctx_start(doca_comch_server_as_ctx(other)), DOCA_SUCCESS);
    (void)doca_ctx_stop(doca_comch_server_as_ctx(other));
    other.reset();
    std::filesystem::remove_all(runtime);
}

/// The file of a server's lock holds the start time of its process. Under an emulator of programs that can be a clock
/// tick later than what other processes see. Only a process that started later is another one with the same id.
TEST_F(ComchTest, a_server_keeps_its_name_while_its_process_lives)
{
    if (!is_soft_pair)
        GTEST_SKIP() << "a server of a card has a port";
    namespace fs = std::filesystem;
    char runtime[] = "/tmp/opendoca-test-XXXXXX";
    ASSERT_NE(mkdtemp(runtime), nullptr);
    const Environment variable("XDG_RUNTIME_DIR", runtime);
    start();
    fs::path lock;
    for (const fs::directory_entry &entry : fs::directory_iterator(fs::path(runtime) / "opendoca"))
        if (entry.path().extension() == ".lock")
            lock = entry.path();
    ASSERT_FALSE(lock.empty());
    fs::path socket = lock;
    socket.replace_extension();
    const auto is_kept_with_another_start_time = [&](std::uint64_t difference) {
        std::fstream file(lock, std::ios::in | std::ios::out | std::ios::binary);
        std::array<std::uint64_t, 3> holder{}; // the inode of the namespace, the process, its start time
        file.read(reinterpret_cast<char *>(holder.data()), sizeof(holder));
        EXPECT_EQ(holder[1], static_cast<std::uint64_t>(getpid()));
        holder[2] += difference;
        file.seekp(0);
        file.write(reinterpret_cast<const char *>(holder.data()), sizeof(holder));
        file.close();
        // A server that starts removes the names of those that have ended.
        Side side;
        ServerHandle other;
        must(doca_comch_server_create(dpu, rep, (service + " other").c_str(), other.out()));
        connect_ctx(doca_comch_server_as_ctx(other), side);
        EXPECT_EQ(doca_ctx_start(doca_comch_server_as_ctx(other)), DOCA_SUCCESS);
        (void)doca_ctx_stop(doca_comch_server_as_ctx(other));
        return fs::exists(socket) && fs::exists(lock);
    };
    EXPECT_TRUE(is_kept_with_another_start_time(1));
    EXPECT_FALSE(is_kept_with_another_start_time(std::uint64_t{0} - 10));
    fs::remove_all(runtime);
}

/// The longest message that a side has asked for: on the way to it, nothing longer is sent.
class ComchLimit : public ComchTest, public testing::WithParamInterface<std::uint32_t> {
protected:
    template <typename Send, typename Alloc>
    void one_more_is_refused(Send send, Alloc alloc, const Side &sender, const Side &receiver)
    {
        const std::string text(GetParam() + 1, 'x');
        send(text.substr(1));
        run_until([&] { return !receiver.messages.empty(); });
        EXPECT_EQ(receiver.messages[0].size(), GetParam());
        const LogCapture log;
        doca_comch_task_send *task = nullptr;
        must(alloc(text, &task));
        must(doca_task_submit(doca_comch_task_send_as_task(task)));
        run_until([&] { return sender.num_failed != 0 || receiver.messages.size() > 1; });
        EXPECT_EQ(receiver.messages.size(), 1u);
        EXPECT_TRUE(
            log.has(std::to_string(GetParam() + 1) + " bytes: the peer takes at most " + std::to_string(GetParam())))
            << log.text();
        EXPECT_TRUE(at_server.disconnected.empty());
    }
    /// What is said of one is longer than many a limit.
    void expect_that_a_consumer_starts()
    {
        std::vector<std::byte> memory(64);
        const MmapHandle map = map_of(dpu, memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
        ConsumerHandle consumer;
        must(doca_comch_consumer_create(at_server.connected[0], map, consumer.out()));
        const auto nothing = [](doca_comch_consumer_task_post_recv *, doca_data, doca_data) {};
        must(doca_comch_consumer_task_post_recv_set_conf(consumer, nothing, nothing, 1));
        doca_ctx *const ctx = doca_comch_consumer_as_ctx(consumer);
        must(doca_pe_connect_ctx(at_server.pe, ctx));
        ASSERT_EQ(doca_ctx_start(ctx), DOCA_ERROR_IN_PROGRESS);
        run_until([&] { return state_of(ctx) == DOCA_CTX_STATE_RUNNING; });
        (void)doca_ctx_stop(ctx);
        run_until([&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE && !at_client.expired.empty(); });
    }
};

INSTANTIATE_TEST_SUITE_P(bytes, ComchLimit, testing::Values(1, 63, 100, 511, 512, 1000),
                         testing::PrintToStringParamName());

TEST_P(ComchLimit, of_a_server_holds_for_its_clients)
{
    must(doca_comch_server_set_max_msg_size(server, GetParam()));
    start();
    one_more_is_refused([&](const std::string &text) { send_from_client(text); },
                        [&](const std::string &text, doca_comch_task_send **task) {
                            return doca_comch_client_task_send_alloc_init(
                                client, to_server, text.data(), static_cast<std::uint32_t>(text.size()), task);
                        },
                        at_client, at_server);
    expect_that_a_consumer_starts();
}

TEST_P(ComchLimit, of_a_client_holds_for_its_server)
{
    must(doca_comch_client_set_max_msg_size(client, GetParam()));
    start();
    one_more_is_refused([&](const std::string &text) { send_from_server(text); },
                        [&](const std::string &text, doca_comch_task_send **task) {
                            return doca_comch_server_task_send_alloc_init(server, at_server.connected[0], text.data(),
                                                                          static_cast<std::uint32_t>(text.size()),
                                                                          task);
                        },
                        at_server, at_client);
    expect_that_a_consumer_starts();
}

TEST_F(ComchTest, who_is_not_connected_any_more_has_no_sends_to_give)
{
    start();
    ASSERT_EQ(doca_ctx_stop(client_ctx()), DOCA_SUCCESS);
    doca_comch_task_send *task = nullptr;
    EXPECT_EQ(doca_comch_client_task_send_alloc_init(client, to_server, "x", 1, &task), DOCA_ERROR_BAD_STATE);
    run_until([&] { return !at_server.disconnected.empty(); });
    (void)doca_pe_progress(at_server.pe);
    const LogCapture log;
    EXPECT_EQ(
        doca_comch_server_task_send_alloc_init(server, reinterpret_cast<doca_comch_connection *>(&task), "x", 1, &task),
        DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(log.has("does not belong to '" + service + "', or has ended")) << log.text();
}

} // namespace
