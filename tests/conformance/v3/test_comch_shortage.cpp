// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comch of DOCA 3.0 when the kernel has no memory, or no place for it.
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>

#include <dlfcn.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "../support/environment.hpp"
#include "comch_sides.hpp"

using namespace doca_test;

namespace {

/// Bells, by which processes wake each other, that fail for now.
int num_failing_bells = 0;

bool is_readable(doca_notification_handle_t handle)
{
    pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
    return poll(&ready, 1, 0) == 1;
}

} // namespace

extern "C" ssize_t send(int fd, const void *bytes, std::size_t size, int flags)
{
    if (size == 1 && num_failing_bells != 0) {
        --num_failing_bells;
        errno = ENOBUFS;
        return -1;
    }
    static auto *const original =
        reinterpret_cast<ssize_t (*)(int, const void *, std::size_t, int)>(dlsym(RTLD_NEXT, "send"));
    return original(fd, bytes, size, flags);
}

namespace {

TEST_F(ComchTest, a_bell_that_fails_is_rung_before_its_ringer_sleeps)
{
    if (!is_soft_pair)
        GTEST_SKIP() << "between two machines there are no bells";
    start();
    doca_notification_handle_t of_server{}, of_client{};
    must(doca_pe_get_notification_handle(at_server.pe, &of_server));
    must(doca_pe_get_notification_handle(at_client.pe, &of_client));
    const auto falls_asleep = [](doca_pe *pe, doca_notification_handle_t handle) {
        while (doca_pe_progress(pe) != 0) {
        }
        must(doca_pe_request_notification(pe));
        const bool is_asleep = !is_readable(handle);
        if (!is_asleep)
            must(doca_pe_clear_notification(pe, 0));
        return is_asleep;
    };
    while (!falls_asleep(at_server.pe, of_server)) {
    }
    num_failing_bells = 1;
    send_from_client("the only one");
    EXPECT_EQ(num_failing_bells, 0);
    EXPECT_FALSE(is_readable(of_server));
    num_failing_bells = 50;
    int num_wakes = 0;
    while (!falls_asleep(at_client.pe, of_client) && num_wakes < 100)
        ++num_wakes;
    EXPECT_EQ(num_failing_bells, 0);
    EXPECT_LT(num_wakes, 100);
    EXPECT_TRUE(is_readable(of_server));
    must(doca_pe_clear_notification(at_server.pe, 0));
    run_until([&] { return !at_server.messages.empty(); });
    EXPECT_EQ(at_server.messages[0], "the only one");
    num_failing_bells = 0;
}

/// Clients that look for a server which is not there.
class ComchSearch : public ComchTest {
protected:
    void SetUp() override
    {
        ComchTest::SetUp();
        if (!is_soft_pair)
            GTEST_SKIP() << "servers of a card are found by an address";
    }
    ~ComchSearch() override { std::filesystem::remove_all(directory); }
    /// Some hundred times.
    void look()
    {
        for (int i = 0; i != 20'000; ++i)
            ASSERT_EQ(doca_pe_progress(at_client.pe), 0);
        ASSERT_EQ(state_of(client_ctx()), DOCA_CTX_STATE_STARTING);
    }
    static auto num_lines(const LogCapture &log, const std::string &part)
    {
        const std::string text = log.text();
        std::ptrdiff_t count = 0;
        for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
            ++count;
        return count;
    }

    char name_of_directory[32] = "/tmp/opendoca-test-XXXXXX";
    const std::filesystem::path directory{mkdtemp(name_of_directory)};
    const Environment runtime{"XDG_RUNTIME_DIR", directory.c_str()};
};

TEST_F(ComchSearch, what_is_wrong_with_a_place_is_said_once)
{
    const std::filesystem::path place = directory / "opendoca";
    std::filesystem::create_directory(place);
    std::filesystem::permissions(place, std::filesystem::perms(0755));
    const LogCapture log;
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    look();
    EXPECT_EQ(num_lines(log, " alone can enter"), 1) << log.text();
    std::filesystem::remove(place);
    std::ofstream(place) << "no directory";
    look();
    EXPECT_EQ(num_lines(log, place.string() + " cannot be opened as a directory"), 1) << log.text();
    EXPECT_EQ(num_lines(log, place.string()), 2) << log.text();
    std::filesystem::remove(place);
    ASSERT_EQ(doca_ctx_start(server_ctx()), DOCA_SUCCESS);
    run_until([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_RUNNING; });
    EXPECT_EQ(num_lines(log, place.string()), 2) << log.text();
}

TEST_F(ComchSearch, without_descriptors_it_ends)
{
    ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
    look();
    const LogCapture log;
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const rlimit none = {0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (int i = 0; i != 1000 && state_of(client_ctx()) == DOCA_CTX_STATE_STARTING; ++i)
        (void)doca_pe_progress(at_client.pe);
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_EQ(state_of(client_ctx()), DOCA_CTX_STATE_IDLE);
    EXPECT_LOGGED(log, "Too many open files");
    EXPECT_LE(num_lines(log, "\n"), 4) << log.text();
    start();
}

} // namespace
