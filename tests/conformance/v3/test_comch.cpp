// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comch of DOCA 3.0: a server and clients, in one process.
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <functional>

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../../src/core/unique_fd.hpp"
#include "../support/environment.hpp"
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
        server, connected, [](doca_comch_event_connection_status_changed *, doca_comch_connection *connection, std::uint8_t) {
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
            return std::ranges::all_of(clients, [&](const ClientHandle &each) {
                return state_of(doca_comch_client_as_ctx(each)) == wanted;
            });
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

/// A program that sleeps whenever there is nothing to do, and counts how often it was woken for nothing.
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
        num_idle_ += !progress() && is_woken;
        return is_woken;
    }
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
    int num_idle_ = 0; ///< wake-ups with nothing to do
};

TEST_F(ComchTest, who_sleeps_is_woken_for_something_alone)
{
    start();
    Sleeper server_program(at_server.pe), client_program(at_client.pe);
    const auto until_both_sleep = [&] {
        while (server_program.sleep(0) || client_program.sleep(0))
            ;
    };
    until_both_sleep();
    const int at_first = server_program.num_idle() + client_program.num_idle();
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
    // A card also wakes a sender when its message has arrived.
    EXPECT_LE(server_program.num_idle() + client_program.num_idle() - at_first, is_soft_pair ? 0 : 300);
}

/// A client's program that sleeps until its server is there, and finds it.
TEST_F(ComchTest, who_waits_for_a_server_sleeps)
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

TEST_F(ComchTest, who_sleeps_gives_up_a_server_that_does_not_answer)
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

/// What became of a task of the fast path.
struct Transfer {
    int num_succeeded = 0;
    int num_failed = 0;
    doca_error_t status = DOCA_SUCCESS; // of one that failed
    std::uint32_t producer = 0;
    std::string immediate;
};

void post_ended(doca_comch_consumer_task_post_recv *task, doca_data task_data, doca_data)
{
    auto &transfer = *static_cast<Transfer *>(task_data.ptr);
    ++transfer.num_succeeded;
    transfer.producer = doca_comch_consumer_task_post_recv_get_producer_id(task);
    if (const std::uint8_t *data = doca_comch_consumer_task_post_recv_get_imm_data(task))
        transfer.immediate.assign(reinterpret_cast<const char *>(data),
                                  doca_comch_consumer_task_post_recv_get_imm_data_len(task));
    doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}
void post_failed(doca_comch_consumer_task_post_recv *task, doca_data task_data, doca_data)
{
    auto &transfer = *static_cast<Transfer *>(task_data.ptr);
    ++transfer.num_failed;
    transfer.status = doca_task_get_status(doca_comch_consumer_task_post_recv_as_task(task));
    doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}
void produced(doca_comch_producer_task_send *task, doca_data task_data, doca_data)
{
    ++static_cast<Transfer *>(task_data.ptr)->num_succeeded;
    doca_task_free(doca_comch_producer_task_send_as_task(task));
}
void produce_failed(doca_comch_producer_task_send *task, doca_data task_data, doca_data)
{
    auto &transfer = *static_cast<Transfer *>(task_data.ptr);
    ++transfer.num_failed;
    transfer.status = doca_task_get_status(doca_comch_producer_task_send_as_task(task));
    doca_task_free(doca_comch_producer_task_send_as_task(task));
}

/// A consumer at the server, a producer at the client, each with a progress engine of its own.
class ComchFastPath : public ComchTest {
protected:
    static constexpr std::size_t size = std::size_t{1} << 20;

    void SetUp() override
    {
        ComchTest::SetUp();
        start();
        must(doca_comch_consumer_create(at_server.connected[0], to_map, consumer.out()));
        must(doca_comch_consumer_task_post_recv_set_conf(consumer, post_ended, post_failed, 32));
        must(doca_pe_connect_ctx(consumer_pe, consumer_ctx()));
        ASSERT_EQ(doca_ctx_start(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
        run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_RUNNING; });
        must(doca_comch_producer_create(to_server, producer.out()));
        must(doca_comch_producer_task_send_set_conf(producer, produced, produce_failed, 32));
        must(doca_pe_connect_ctx(producer_pe, producer_ctx()));
        ASSERT_EQ(doca_ctx_start(producer_ctx()), DOCA_SUCCESS);
        for (std::size_t i = 0; i != size; ++i)
            from[i] = static_cast<std::byte>(i * 31 + 1);
    }
    void TearDown() override
    {
        (void)doca_ctx_stop(producer_ctx());
        (void)doca_ctx_stop(consumer_ctx());
        run_all_until([&] {
            return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE && state_of(producer_ctx()) == DOCA_CTX_STATE_IDLE;
        });
        ComchTest::TearDown();
    }
    [[nodiscard]] doca_ctx *consumer_ctx() const { return doca_comch_consumer_as_ctx(consumer); }
    [[nodiscard]] doca_ctx *producer_ctx() const { return doca_comch_producer_as_ctx(producer); }
    void run_all_until(const std::function<bool()> &is_done)
    {
        run_until([&] {
            (void)doca_pe_progress(consumer_pe);
            (void)doca_pe_progress(producer_pe);
            return is_done();
        });
    }
    void post(Transfer &transfer, doca_buf *buf)
    {
        doca_comch_consumer_task_post_recv *task = nullptr;
        must(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task));
        doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(task), {.ptr = &transfer});
        must(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
    }
    void produce(Transfer &transfer, const doca_buf *buf, std::string &immediate, std::uint32_t id)
    {
        doca_comch_producer_task_send *task = nullptr;
        must(doca_comch_producer_task_send_alloc_init(producer, buf, reinterpret_cast<std::uint8_t *>(immediate.data()),
                                                      static_cast<std::uint32_t>(immediate.size()), id, &task));
        doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), {.ptr = &transfer});
        must(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
    }
    [[nodiscard]] std::uint32_t consumer_id() const
    {
        std::uint32_t id = 0;
        must(doca_comch_consumer_get_id(consumer, &id));
        return id;
    }
    [[nodiscard]] BufHandle data(std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, from_map, from.data(), length, buf.out()));
        return buf;
    }
    [[nodiscard]] BufHandle room(std::size_t offset, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, to_map, &to[offset], length, buf.out()));
        return buf;
    }

    std::vector<std::byte> from = std::vector<std::byte>(size);
    std::vector<std::byte> to = std::vector<std::byte>(size);
    MmapHandle from_map = map_of(host, from, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
    MmapHandle to_map = map_of(dpu, to, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    InventoryHandle inventory = inventory_of(64);
    PeHandle consumer_pe = [] {
        PeHandle pe;
        must(doca_pe_create(pe.out()));
        return pe;
    }();
    PeHandle producer_pe = [] {
        PeHandle pe;
        must(doca_pe_create(pe.out()));
        return pe;
    }();
    ConsumerHandle consumer;
    ProducerHandle producer;
};

TEST_F(ComchFastPath, data_and_immediate_data_arrive)
{
    EXPECT_EQ(at_client.consumers, std::vector<std::uint32_t>{consumer_id()});
    for (const std::size_t length : {std::size_t{8}, std::size_t{5000}, size}) {
        for (std::string immediate : {std::string(), std::string("imm"), std::string(32, 'i')}) {
            BufHandle dst = room(0, size);
            const BufHandle src = data(length);
            Transfer posted, sent_one;
            post(posted, dst);
            std::string own = immediate;
            produce(sent_one, src, own, consumer_id());
            own.assign(own.size(), '?'); // it is the program's again, although nothing may have been sent yet
            run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0 && sent_one.num_succeeded != 0; });
            EXPECT_EQ(posted.num_succeeded, 1);
            EXPECT_EQ(posted.immediate, immediate);
            EXPECT_EQ(data_len_of(dst), length);
            EXPECT_EQ(0, std::memcmp(to.data(), from.data(), length));
            std::uint32_t id = 0;
            must(doca_comch_producer_get_id(producer, &id));
            EXPECT_EQ(posted.producer, id);
        }
    }
}

TEST_F(ComchFastPath, immediate_data_needs_no_buffer)
{
    Transfer posted, sent_one;
    std::string immediate = "alone";
    post(posted, nullptr);
    produce(sent_one, nullptr, immediate, consumer_id());
    run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
    EXPECT_EQ(posted.num_succeeded, 1);
    EXPECT_EQ(posted.immediate, "alone");
}

TEST_F(ComchFastPath, immediate_data_that_the_consumer_does_not_take_is_not_sent)
{
    for (const std::uint32_t limit : {0u, 4u}) {
        SCOPED_TRACE(limit);
        ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
        ASSERT_EQ(doca_comch_consumer_set_imm_data_len(consumer, limit), DOCA_SUCCESS);
        ASSERT_EQ(doca_ctx_start(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
        run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_RUNNING; });
        Transfer posted;
        BufHandle dst = room(0, 128);
        const BufHandle src = data(64);
        post(posted, dst);
        std::string too_long(limit + 1, 'i'), longest(limit, 'i');
        for (int i = 0; i != 2; ++i) { // also the first one, with which the two get to know each other
            Transfer refused;
            produce(refused, src, too_long, consumer_id());
            run_all_until([&] { return refused.num_succeeded + refused.num_failed != 0; });
            EXPECT_EQ(refused.status, DOCA_ERROR_INVALID_VALUE);
        }
        doca_comch_producer_task_send *task = nullptr;
        must(doca_comch_producer_task_send_alloc_init(producer, src, reinterpret_cast<std::uint8_t *>(too_long.data()),
                                                      limit + 1, consumer_id(), &task));
        EXPECT_EQ(doca_task_try_submit(doca_comch_producer_task_send_as_task(task)), DOCA_ERROR_INVALID_VALUE);
        doca_task_free(doca_comch_producer_task_send_as_task(task));
        // What it takes arrives.
        Transfer sent_one;
        produce(sent_one, src, longest, consumer_id());
        run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0 && sent_one.num_succeeded != 0; });
        EXPECT_EQ(posted.num_succeeded, 1);
        EXPECT_EQ(posted.immediate, longest);
        EXPECT_EQ(data_len_of(dst), 64u);
    }
}

TEST_F(ComchFastPath, data_beyond_its_receive_is_not_cut)
{
    for (std::string immediate : {std::string(), std::string("imm")}) {
        Transfer posted, sent_one;
        BufHandle dst = room(0, 64);
        const BufHandle src = data(65);
        post(posted, dst);
        produce(sent_one, src, immediate, consumer_id());
        run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
        EXPECT_EQ(posted.num_failed, 1);
        EXPECT_EQ(posted.status, DOCA_ERROR_FULL);
        EXPECT_EQ(data_len_of(dst), 0u);
    }
    Transfer posted, sent_one; // the two still reach each other
    std::string immediate = "imm";
    BufHandle dst = room(0, 64);
    const BufHandle src = data(64);
    post(posted, dst);
    produce(sent_one, src, immediate, consumer_id());
    run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
    EXPECT_EQ(posted.num_succeeded, 1);
    EXPECT_EQ(posted.immediate, immediate);
    EXPECT_EQ(data_len_of(dst), 64u);
}

TEST_F(ComchFastPath, buffers_are_of_memory_of_this_process)
{
    std::vector<std::byte> of_host(64);
    const MmapHandle host_map = map_of(host, of_host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const void *descriptor = nullptr;
    std::size_t length = 0;
    MmapHandle imported;
    must(doca_mmap_export_pci(host_map, host, &descriptor, &length));
    must(doca_mmap_create_from_export(nullptr, descriptor, length, dpu, imported.out()));
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
    must(doca_comch_consumer_create(at_server.connected[0], imported, consumer.out()));
    must(doca_comch_consumer_task_post_recv_set_conf(consumer, post_ended, post_failed, 1));
    must(doca_pe_connect_ctx(consumer_pe, consumer_ctx()));
    ASSERT_EQ(doca_ctx_start(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
    run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_RUNNING; });
    BufHandle buf;
    must(doca_buf_inventory_buf_get_by_addr(inventory, imported, of_host.data(), of_host.size(), buf.out()));
    Transfer posted;
    post(posted, buf);
    run_all_until([&] { return posted.num_failed != 0; });
    EXPECT_EQ(posted.status, DOCA_ERROR_NOT_SUPPORTED);
    buf.reset();
    (void)doca_ctx_stop(consumer_ctx());
    run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE; });
}

/// Nine producers: so many connections are only looked at when their peers ring. One of them ends by a message that its
/// receive can't take; what it has sent behind that does not keep the next receive from another one's message.
TEST_F(ComchFastPath, a_receive_is_for_those_whose_messages_can_be_received)
{
    ASSERT_EQ(doca_ctx_stop(producer_ctx()), DOCA_SUCCESS);
    constexpr std::size_t num_producers = 9;
    std::array<ProducerHandle, num_producers> producers;
    std::string none;
    const auto send = [&](std::size_t i, Transfer &transfer, const doca_buf *buf) {
        doca_comch_producer_task_send *task = nullptr;
        must(doca_comch_producer_task_send_alloc_init(producers[i], buf, nullptr, 0, consumer_id(), &task));
        doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), {.ptr = &transfer});
        must(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
    };
    const BufHandle small = data(8);
    for (std::size_t i = 0; i != num_producers; ++i) {
        must(doca_comch_producer_create(to_server, producers[i].out()));
        doca_ctx *const ctx = doca_comch_producer_as_ctx(producers[i]);
        must(doca_comch_producer_task_send_set_conf(producers[i], produced, produce_failed, 32));
        must(doca_pe_connect_ctx(producer_pe, ctx));
        ASSERT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
        Transfer posted, first;
        const BufHandle dst = room(0, 64);
        post(posted, dst);
        send(i, first, small);
        run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0 && first.num_succeeded != 0; });
        ASSERT_EQ(posted.num_succeeded, 1);
    }
    Transfer posted, next, too_long, behind, of_another;
    const BufHandle long_one = data(512);
    const BufHandle dst = room(0, 64), dst_of_next = room(64, 64);
    post(posted, dst);
    send(0, too_long, long_one);
    send(0, behind, small);
    send(1, of_another, small);
    while (posted.num_failed == 0)
        (void)doca_pe_progress(consumer_pe);
    while (doca_pe_progress(consumer_pe) != 0) {
    }
    post(next, dst_of_next);
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(consumer_pe, &handle));
    for (int i = 0; i != 20 && next.num_succeeded == 0; ++i) { // as a program that sleeps
        while (doca_pe_progress(consumer_pe) != 0) {
        }
        must(doca_pe_request_notification(consumer_pe));
        pollfd event = {.fd = handle, .events = POLLIN, .revents = 0};
        const int is_woken = poll(&event, 1, 500);
        must(doca_pe_clear_notification(consumer_pe, 0));
        if (is_woken == 0)
            break;
    }
    EXPECT_EQ(next.num_succeeded, 1) << "the message of another producer waits for ever";
    for (const ProducerHandle &each : producers)
        (void)doca_ctx_stop(doca_comch_producer_as_ctx(each));
    run_all_until([&] {
        return std::ranges::all_of(producers, [](const ProducerHandle &each) {
            return state_of(doca_comch_producer_as_ctx(each)) == DOCA_CTX_STATE_IDLE;
        });
    });
}

TEST_F(ComchFastPath, an_answer_that_a_producer_has_not_seen_is_not_one_to_its_next_start)
{
    std::string none;
    const BufHandle src = data(8);
    Transfer in_vain;
    produce(in_vain, src, none, consumer_id());
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    run_until([&] { // all but the producer: the consumer's answer has come, and is not looked at
        (void)doca_pe_progress(consumer_pe);
        return std::chrono::steady_clock::now() > end;
    });
    ASSERT_EQ(doca_ctx_stop(producer_ctx()), DOCA_ERROR_IN_PROGRESS);
    while (state_of(producer_ctx()) != DOCA_CTX_STATE_IDLE)
        (void)doca_pe_progress(producer_pe);
    EXPECT_EQ(in_vain.num_failed, 1);
    ASSERT_EQ(doca_ctx_start(producer_ctx()), DOCA_SUCCESS);
    Transfer posted, sent_one;
    const BufHandle dst = room(0, 64);
    post(posted, dst);
    produce(sent_one, src, none, consumer_id());
    run_all_until([&] { return sent_one.num_succeeded + sent_one.num_failed != 0; });
    EXPECT_EQ(sent_one.num_succeeded, 1);
    if (sent_one.num_succeeded == 1)
        run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
    EXPECT_EQ(posted.num_succeeded, 1);
}

TEST_F(ComchFastPath, a_receive_without_a_buffer_has_no_room_for_data)
{
    Transfer posted, sent_one;
    std::string immediate = "imm";
    const BufHandle src = data(8);
    post(posted, nullptr);
    produce(sent_one, src, immediate, consumer_id());
    run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
    EXPECT_EQ(posted.status, DOCA_ERROR_FULL);
}

TEST_F(ComchFastPath, immediate_data_that_is_none_is_refused)
{
    std::array<std::uint8_t, 64> data{};
    doca_comch_producer_task_send *task = nullptr;
    for (const auto &[start, length] : {std::pair(data.data(), 33u), std::pair<std::uint8_t *, unsigned>(nullptr, 4u)})
        EXPECT_EQ(doca_comch_producer_task_send_alloc_init(producer, nullptr, start, length, consumer_id(), &task),
                  DOCA_ERROR_INVALID_VALUE);
}

/// The libraries have messages of their own on the connection.
TEST_F(ComchFastPath, counters_are_of_the_programs_messages)
{
    Transfer posted, sent_one; // which asks for a connection
    std::string none;
    const BufHandle src = data(8), dst = room(0, 64);
    post(posted, dst);
    produce(sent_one, src, none, consumer_id());
    run_all_until([&] { return posted.num_succeeded != 0 && sent_one.num_succeeded != 0; });
    send_from_client("hello");
    send_from_server("an answer");
    run_all_until([&] { return !at_server.messages.empty() && !at_client.messages.empty(); });
    const auto count = [](doca_comch_connection *connection, doca_comch_counter which) {
        std::uint64_t value = 0;
        must(doca_comch_connection_update_info(connection));
        must(doca_comch_connection_get_counter(connection, which, &value));
        return value;
    };
    for (const auto &[of_client, of_server] : {std::pair(DOCA_COMCH_COUNTER_SENT_MESSAGES, DOCA_COMCH_COUNTER_RECV_MESSAGES),
                                               std::pair(DOCA_COMCH_COUNTER_RECV_MESSAGES, DOCA_COMCH_COUNTER_SENT_MESSAGES)}) {
        EXPECT_EQ(count(to_server, of_client), 1u);
        EXPECT_EQ(count(at_server.connected[0], of_server), 1u);
    }
    for (const auto &[of_client, of_server, bytes] :
         {std::tuple(DOCA_COMCH_COUNTER_SENT_BYTES, DOCA_COMCH_COUNTER_RECV_BYTES, 5u),
          std::tuple(DOCA_COMCH_COUNTER_RECV_BYTES, DOCA_COMCH_COUNTER_SENT_BYTES, 9u)}) {
        EXPECT_EQ(count(to_server, of_client), bytes);
        EXPECT_EQ(count(at_server.connected[0], of_server), bytes);
    }
}

TEST_F(ComchFastPath, a_consumer_that_stops_expires)
{
    const std::uint32_t id = consumer_id();
    Transfer posted;
    BufHandle dst = room(0, 64);
    post(posted, dst);
    EXPECT_EQ(doca_comch_server_disconnect(server, at_server.connected[0]), DOCA_ERROR_IN_USE);
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
    run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE && !at_client.expired.empty(); });
    EXPECT_EQ(posted.num_failed, 1);
    EXPECT_EQ(at_client.expired, std::vector<std::uint32_t>{id});
    Transfer in_vain;
    std::string none;
    const BufHandle src = data(64);
    produce(in_vain, src, none, id);
    run_all_until([&] { return in_vain.num_succeeded + in_vain.num_failed != 0; });
    EXPECT_EQ(in_vain.num_failed, 1);
}

std::ptrdiff_t num_descriptors()
{
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
}

/// A producer that goes on keeps nothing of the consumers that have gone, whose connections have descriptors.
TEST_F(ComchFastPath, connections_to_consumers_that_have_expired_are_dropped)
{
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
    must(doca_comch_consumer_task_post_recv_set_conf(consumer, post_ended, post_failed, 1)); // so at most 16 messages wait
    const BufHandle src = data(8);
    std::string none;
    const auto come_and_go = [&](std::uint32_t num_messages) {
        at_client.consumers.clear();
        at_client.expired.clear();
        ASSERT_EQ(doca_ctx_start(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
        run_all_until(
            [&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_RUNNING && !at_client.consumers.empty(); });
        const std::uint32_t id = consumer_id();
        Transfer posted, sent;
        const BufHandle dst = room(0, 64);
        post(posted, dst);
        for (std::uint32_t i = 0; i != num_messages; ++i)
            produce(sent, src, none, id);
        run_all_until([&] { return posted.num_succeeded != 0 && sent.num_succeeded != 0; });
        (void)doca_ctx_stop(consumer_ctx());
        run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE && !at_client.expired.empty(); });
        run_all_until([&] { return sent.num_succeeded + sent.num_failed == static_cast<int>(num_messages); });
        Transfer late;
        produce(late, src, none, id);
        run_all_until([&] { return late.num_failed != 0; });
        EXPECT_TRUE(late.status == DOCA_ERROR_NOT_FOUND || late.status == DOCA_ERROR_CONNECTION_RESET);
    };
    come_and_go(1); // some are the process's from now on
    const auto before = num_descriptors();
    for (int i = 0; i != 10; ++i)
        come_and_go(1);
    for (int i = 0; i != (is_soft_pair ? 10 : 1); ++i) // where the card tries for seconds
        come_and_go(32); // of which some are under way when it goes
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    run_all_until([&] { return num_descriptors() <= before || std::chrono::steady_clock::now() > end; });
    EXPECT_LE(num_descriptors(), before);
    Transfer late;
    produce(late, src, none, at_client.expired[0]);
    run_all_until([&] { return late.num_failed != 0; });
    EXPECT_EQ(late.status, DOCA_ERROR_NOT_FOUND);
}

/// A producer that sleeps is woken for it.
TEST_F(ComchFastPath, a_producer_that_sleeps_drops_what_has_expired)
{
    if (!is_soft_pair)
        GTEST_SKIP() << "a card's connections have no descriptors of their own";
    Transfer sent;
    const BufHandle src = data(8);
    std::string none;
    produce(sent, src, none, consumer_id());
    run_all_until([&] { return sent.num_succeeded == 1; });
    while (doca_pe_progress(producer_pe) != 0) {
    }
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(producer_pe, &handle));
    must(doca_pe_request_notification(producer_pe));
    (void)doca_ctx_stop(consumer_ctx());
    run_until([&] {
        (void)doca_pe_progress(consumer_pe);
        return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE && !at_client.expired.empty();
    });
    const auto before = num_descriptors();
    pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&ready, 1, 2000), 1);
    must(doca_pe_clear_notification(producer_pe, 0));
    while (doca_pe_progress(producer_pe) != 0) {
    }
    EXPECT_LT(num_descriptors(), before);
}

// The peer's engine has no progress between the consumer's stop and the connection's end, in which it could say so.
TEST_F(ComchFastPath, a_consumer_whose_server_stops_expires)
{
    const std::uint32_t id = consumer_id();
    ASSERT_EQ(doca_ctx_stop(producer_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_stop(server_ctx()), DOCA_ERROR_IN_PROGRESS);
    run_until([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(at_client.expired, std::vector<std::uint32_t>{id});
}

// One end per wake-up: an engine that has more to tell does not fall asleep.
TEST_F(ComchFastPath, consumers_of_a_client_that_leaves_expire_before_it)
{
    const MmapHandle map = map_of(host, from, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    std::array<ConsumerHandle, 3> theirs;
    for (ConsumerHandle &each : theirs) {
        must(doca_comch_consumer_create(to_server, map, each.out()));
        must(doca_comch_consumer_task_post_recv_set_conf(each, post_ended, post_failed, 1));
        must(doca_pe_connect_ctx(consumer_pe, doca_comch_consumer_as_ctx(each)));
        ASSERT_EQ(doca_ctx_start(doca_comch_consumer_as_ctx(each)), DOCA_ERROR_IN_PROGRESS);
    }
    run_all_until([&] { return at_server.consumers.size() == theirs.size() && at_client.consumers.size() == 1; });
    for (ConsumerHandle &each : theirs) {
        run_all_until([&] { return state_of(doca_comch_consumer_as_ctx(each)) == DOCA_CTX_STATE_RUNNING; });
        ASSERT_EQ(doca_ctx_stop(doca_comch_consumer_as_ctx(each)), DOCA_SUCCESS);
    }
    ASSERT_EQ(doca_ctx_stop(producer_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_stop(client_ctx()), DOCA_SUCCESS);
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(at_server.pe, &handle));
    while (at_server.disconnected.empty()) {
        must(doca_pe_request_notification(at_server.pe));
        pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
        ASSERT_EQ(poll(&ready, 1, 10000), 1) << at_server.expired.size() << " have expired";
        must(doca_pe_clear_notification(at_server.pe, 0));
        (void)doca_pe_progress(at_server.pe);
    }
    EXPECT_EQ(at_server.expired, at_server.consumers);
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
}

} // namespace
