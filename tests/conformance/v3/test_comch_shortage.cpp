// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comch of DOCA 3.0 when the kernel has no memory.
#include <cerrno>

#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>

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

} // namespace
