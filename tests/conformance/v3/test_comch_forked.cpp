// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comch with a peer that is killed while a forked child of it lives: the death of the process ends the connection and
// frees the service's name, although the child has copies of the process's descriptors.
#include <chrono>
#include <csignal>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "comch_sides.hpp"

using namespace doca_test;

namespace {

/// The objects of a child process, which is killed and never destroys them.
class SidesOfChild : public ComchTest {
public:
    explicit SidesOfChild(const std::string &name_of_service) : ComchTest(name_of_service) { ComchTest::SetUp(); }

    /// Returns when a message has arrived.
    void serve(const std::function<void()> &on_started)
    {
        must(doca_ctx_start(server_ctx()));
        on_started();
        run_until([&] { return !at_server.messages.empty(); });
    }
    /// Returns when a message has been sent.
    void send()
    {
        (void)doca_ctx_start(client_ctx());
        run_until([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_RUNNING; });
        must(doca_comch_client_get_connection(client, &to_server));
        send_from_client("x");
        run_until([&] { return at_client.num_sent == 1; });
    }

    /// Returns when @p count clients have connected, some of them have left, and @p may_end has returned.
    void connect(std::size_t count, std::size_t num_leaving, const std::function<void()> &may_end)
    {
        clients_.resize(count);
        for (ClientHandle &each : clients_) {
            must(doca_comch_client_create(host, name, each.out()));
            must(doca_pe_connect_ctx(at_client.pe, doca_comch_client_as_ctx(each)));
            (void)doca_ctx_start(doca_comch_client_as_ctx(each));
            run_until([&] { return state_of(doca_comch_client_as_ctx(each)) == DOCA_CTX_STATE_RUNNING; });
        }
        for (std::size_t i = 0; i != num_leaving; ++i) {
            (void)doca_ctx_stop(doca_comch_client_as_ctx(clients_[i]));
            run_until([&] { return state_of(doca_comch_client_as_ctx(clients_[i])) == DOCA_CTX_STATE_IDLE; });
        }
        may_end();
    }

private:
    void TestBody() override {}

    std::vector<ClientHandle> clients_;
};

class ComchForkedTest : public ComchTest {
protected:
    void SetUp() override
    {
        ComchTest::SetUp();
        ASSERT_EQ(pipe(life_), 0);
        ASSERT_EQ(pipe(started_), 0);
    }
    void TearDown() override
    {
        for (const int fd : {life_[0], life_[1], started_[0], started_[1]})
            close(fd);
        ComchTest::TearDown();
    }

    /// Runs @p body in a child process, which then forks a child of its own and is killed. The child's child lives
    /// until the test ends.
    pid_t start_peer(const std::function<void(SidesOfChild &)> &body)
    {
        const pid_t peer = fork();
        if (peer != 0)
            return peer;
        close(life_[1]);
        alarm(60);
        body(*new SidesOfChild(service));
        if (fork() == 0) {
            char byte;
            (void)!read(life_[0], &byte, 1);
            _exit(0);
        }
        kill(getpid(), SIGKILL);
        _exit(1);
    }
    static void expect_killed(pid_t peer)
    {
        int status = 0;
        ASSERT_EQ(waitpid(peer, &status, 0), peer);
        EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    /// Progresses both engines until @p is_done, for at most ten seconds.
    bool is_soon(const std::function<bool()> &is_done)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
        run_until([&] { return is_done() || std::chrono::steady_clock::now() > end; });
        return is_done();
    }

    int life_[2] = {-1, -1};    ///< ends with the test
    int started_[2] = {-1, -1}; ///< a byte: the server in the child process accepts clients
};

TEST_F(ComchForkedTest, DeadServerIsNoticedAndItsNameIsFree)
{
    const pid_t peer =
        start_peer([this](SidesOfChild &sides) { sides.serve([this] { ASSERT_EQ(write(started_[1], "s", 1), 1); }); });
    char byte = 0;
    ASSERT_EQ(read(started_[0], &byte, 1), 1);
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    ASSERT_TRUE(is_soon([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_RUNNING; }));
    ASSERT_EQ(doca_comch_client_get_connection(client, &to_server), DOCA_SUCCESS);
    send_from_client("x");
    EXPECT_TRUE(is_soon([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_IDLE; }));
    expect_killed(peer);
    EXPECT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
}

TEST_F(ComchForkedTest, DeadClientIsNoticed)
{
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    const pid_t peer = start_peer([](SidesOfChild &sides) { sides.send(); });
    EXPECT_TRUE(is_soon([&] { return !at_server.disconnected.empty(); }));
    EXPECT_EQ(at_server.messages, std::vector<std::string>{"x"});
    expect_killed(peer);
}

/// The server watches the process once for many connections, most of which it does not poll any more.
TEST_F(ComchForkedTest, DeadProcessWithManyClientsWakesTheServer)
{
    constexpr std::size_t num_clients = 40; // more than a server polls in any case
    constexpr std::size_t num_leaving = 5;
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    const pid_t peer = start_peer([this](SidesOfChild &sides) {
        sides.connect(num_clients, num_leaving, [this] {
            char byte;
            ASSERT_EQ(read(started_[0], &byte, 1), 1);
        });
    });
    ASSERT_TRUE(is_soon([&] { return at_server.disconnected.size() == num_leaving; }));
    EXPECT_EQ(at_server.connected.size(), num_clients);
    constexpr int polls_until_waiting = 10'000;
    for (int i = 0; i != polls_until_waiting; ++i)
        (void)doca_pe_progress(at_server.pe);
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(at_server.pe, &handle));
    must(doca_pe_request_notification(at_server.pe));
    ASSERT_EQ(write(started_[1], "e", 1), 1);
    expect_killed(peer);
    while (at_server.disconnected.size() != num_clients) {
        pollfd wait = {.fd = handle, .events = POLLIN, .revents = 0};
        ASSERT_EQ(poll(&wait, 1, 10'000), 1) << at_server.disconnected.size() << " of " << num_clients;
        must(doca_pe_clear_notification(at_server.pe, handle));
        while (doca_pe_progress(at_server.pe) != 0) {
        }
        must(doca_pe_request_notification(at_server.pe));
    }
}

} // namespace
