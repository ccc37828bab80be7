// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Event-driven Comch by calls at random: request a notification, progress, clear, and block on the handle, while a peer
// in another thread sends. After a request, a progress call that finds nothing must leave the engine armed, so a
// program that blocks then is woken by the next message. OPENDOCA_MODEL_CALLS says how many calls, OPENDOCA_MODEL_SEED
// which.
#include <atomic>
#include <cstdint>
#include <random>
#include <thread>

#include <poll.h>

#include "../../attack/model.hpp"
#include "comch_sides.hpp"

using namespace doca_test;

namespace {

class ComchWakeups : public ComchTest, protected Model<doca_error_get_name> {
protected:
    /// Calls of the program under test, whose side is @p own; the other side's engine and contexts belong to the peer.
    void run_calls(Side &own, Side &other, bool is_server)
    {
        start();
        std::thread peer([&] { run_peer(other, !is_server); });
        doca_notification_handle_t handle{};
        must(doca_pe_get_notification_handle(own.pe, &handle));
        std::uint64_t num_waits = 0;
        bool is_requested = false;  ///< since the last clear
        bool found_nothing = false; ///< by all progress calls since the request
        run([&] {
            switch (below(5)) {
            case 0:
                must(doca_pe_request_notification(own.pe));
                is_requested = found_nothing = true;
                break;
            case 1:
            case 2:
                if (doca_pe_progress(own.pe) != 0)
                    found_nothing = false;
                else if (is_requested)
                    found_nothing = true;
                num_received = own.messages.size();
                break;
            case 3:
                must(doca_pe_clear_notification(own.pe, handle));
                is_requested = false;
                break;
            default:
                if (!is_requested || !found_nothing) {
                    // Completions of sends, as well.
                    if (one_in(4) && own.num_sent == num_answers) {
                        ++num_answers;
                        is_server ? send_from_server("answer") : send_from_client("answer");
                    }
                    break;
                }
                ++num_waits;
                pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
                if (poll(&ready, 1, 10000) != 1)
                    complain("a wait without a wake-up: the peer sends all the time");
                break;
            }
        });
        is_done = true;
        peer.join();
        EXPECT_EQ(own.num_failed + other.num_failed, 0);
        EXPECT_GT(num_waits, 0U) << where();
        tell(own.messages.size());
    }

private:
    /// Sends one message after the other, at random times. A few may be on their way, and mostly one: so no later
    /// message makes up for a wake-up that was lost.
    void run_peer(Side &side, bool is_server)
    {
        std::mt19937_64 choice(seed + 1);
        for (std::uint64_t num_sent = 0, most = 1; !is_done;) {
            if (num_sent - num_received < most && side.num_sent == static_cast<int>(num_sent)) {
                for (std::uint64_t pause = choice() % 2000; pause != 0; --pause)
                    std::atomic_signal_fence(std::memory_order_seq_cst);
                is_server ? send_from_server("message") : send_from_client("message");
                ++num_sent;
                most = choice() % 4 == 0 ? 3 : 1;
            }
            if (doca_pe_progress(side.pe) == 0)
                std::this_thread::yield();
        }
    }

    std::atomic<std::uint64_t> num_received{0};
    std::atomic<bool> is_done{false};
    int num_answers = 0;
};

} // namespace

TEST_F(ComchWakeups, ServerIsWokenAfterAProgressCallThatFindsNothing)
{
    run_calls(at_server, at_client, true);
}

TEST_F(ComchWakeups, ClientIsWokenAfterAProgressCallThatFindsNothing)
{
    run_calls(at_client, at_server, false);
}

/// The look that the timer was set for finds no server: the next look needs another timer.
TEST_F(ComchWakeups, ClientWithoutServerIsWokenAfterAProgressCallThatFindsNothing)
{
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    pollfd ready = {.fd = -1, .events = POLLIN, .revents = 0};
    must(doca_pe_get_notification_handle(at_client.pe, &ready.fd));
    for (int i = 0; i != 10; ++i) {
        must(doca_pe_request_notification(at_client.pe));
        ASSERT_EQ(poll(&ready, 1, 10000), 1) << "the timer";
        for (int calls = 0; calls != 100; ++calls)
            ASSERT_EQ(doca_pe_progress(at_client.pe), 0);
        ASSERT_EQ(poll(&ready, 1, 10000), 1) << "the engine is still armed";
        must(doca_pe_clear_notification(at_client.pe, 0));
    }
}

/// What connects while the engine is armed was not there when it was armed.
TEST_F(ComchWakeups, ServerIsWokenByTheFirstMessageOfAClientThatConnectsWhileTheEngineIsArmed)
{
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    must(doca_pe_request_notification(at_server.pe));
    start_client(); // progresses both sides
    while (doca_pe_progress(at_server.pe) != 0) {
    }
    send_from_client("first");
    while (at_client.num_sent == 0)
        (void)doca_pe_progress(at_client.pe);
    pollfd ready = {.fd = -1, .events = POLLIN, .revents = 0};
    must(doca_pe_get_notification_handle(at_server.pe, &ready.fd));
    EXPECT_EQ(poll(&ready, 1, 10000), 1);
}
