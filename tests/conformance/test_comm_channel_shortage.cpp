// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comm Channel when descriptors or memory run out, and with more clients than there can be.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/resource.h>

#include "../../src/comm_channel/v2/endpoint.hpp"
#include "support/clock_ahead.hpp"
#include "support/comm_channel.hpp"
#include "support/log_capture.hpp"

using namespace doca_test;

namespace {

bool is_fdopendir_failing = false;

/// What the bells that processes wake each other by fail with, and how many do.
struct FailingBells {
    int error = 0;
    int left = 0;
} failing_bells;

std::size_t num_lines(const std::string &text)
{
    return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

bool has_hung_up(int fd)
{
    pollfd entry = {.fd = fd, .events = POLLIN, .revents = 0};
    return poll(&entry, 1, 0) == 1 && (entry.revents & POLLHUP) != 0;
}

int lowest_free_descriptor()
{
    const int fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    close(fd);
    return fd;
}

/// No descriptor can be opened for as long as it lives.
class NoDescriptors {
public:
    NoDescriptors()
    {
        must_hold(getrlimit(RLIMIT_NOFILE, &before_) == 0, "the limit");
        // Above all that are open, and with nothing free below.
        while (lowest_free_descriptor() < highest())
            fillers_.push_back(fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
        const rlimit none = {static_cast<rlim_t>(lowest_free_descriptor()), before_.rlim_max};
        must_hold(setrlimit(RLIMIT_NOFILE, &none) == 0, "the limit");
    }
    NoDescriptors(const NoDescriptors &) = delete;
    NoDescriptors &operator=(const NoDescriptors &) = delete;
    ~NoDescriptors()
    {
        EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before_), 0);
        for (const int fd : fillers_)
            close(fd);
    }

private:
    static int highest()
    {
        int most = 0;
        for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
            most = std::max(most, std::stoi(entry.path().filename()));
        return most;
    }

    rlimit before_{};
    std::vector<int> fillers_;
};

} // namespace

/// In place of libc's, which allocates.
extern "C" DIR *fdopendir(int fd)
{
    if (is_fdopendir_failing) {
        errno = ENOMEM;
        return nullptr;
    }
    static auto *const original = reinterpret_cast<DIR *(*)(int)>(dlsym(RTLD_NEXT, "fdopendir"));
    return original(fd);
}

extern "C" ssize_t send(int fd, const void *bytes, std::size_t size, int flags)
{
    if (size == 1 && failing_bells.left != 0) {
        --failing_bells.left;
        errno = failing_bells.error;
        return -1;
    }
    static auto *const original =
        reinterpret_cast<ssize_t (*)(int, const void *, std::size_t, int)>(dlsym(RTLD_NEXT, "send"));
    return original(fd, bytes, size, flags);
}

class CommChannelShortageTest : public testing::TestWithParam<DevicePair> {
protected:
    ~CommChannelShortageTest() override
    {
        for (const int fd : raw)
            close(fd);
    }
    void connect_raw() { raw.push_back(runtime.connect_raw()); }
    [[nodiscard]] std::size_t num_hung_up() const
    {
        return static_cast<std::size_t>(std::ranges::count_if(raw, has_hung_up));
    }
    void expect_service_works(doca_comm_channel_ep_t *service) const
    {
        const EpHandle client = make_endpoint(host);
        Address *peer = nullptr;
        ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
        (void)receive(service).status; // takes the client in
        must(await_connection(peer));
        must(send_text(client, peer, "hello"));
        EXPECT_EQ(await_message(service).text, "hello");
    }

    const RuntimeDirectory runtime;
    DevHandle dpu{open_device(GetParam().importer)};
    DevHandle host{open_device(GetParam().exporter)};
    RepHandle rep{open_representor(dpu, GetParam().exporter.pci)};
    const std::string name = service_name();
    std::vector<int> raw; ///< connections of clients that say nothing
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelShortageTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelShortageTest, testing::ValuesIn(one_comm_channel_pair()), pair_name);

TEST_P(CommChannelShortageTest, clients_that_say_nothing_are_not_kept_without_limit)
{
    const EpHandle service = make_service(dpu, rep, name);
    const LogCapture log;
    for (int i = 0; i < 200; ++i) {
        connect_raw();
        ASSERT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    }
    EXPECT_EQ(num_hung_up(), 200u - 64u);
    EXPECT_FALSE(has_hung_up(raw.back())) << "the oldest go";
    EXPECT_EQ(num_lines(log.text()), 1u) << log.text();
    expect_service_works(service);
    // Several at once.
    for (int i = 0; i < 100; ++i)
        connect_raw();
    (void)receive(service).status;
    expect_service_works(service);
    EXPECT_EQ(num_lines(log.text()), 1u) << log.text();
    must(doca_comm_channel_ep_update_service_state_info(service));
    std::uint32_t pending = 0;
    must(doca_comm_channel_ep_get_pending_connections(service, &pending));
    EXPECT_EQ(pending, 64u);
}

TEST_P(CommChannelShortageTest, clients_that_say_nothing_are_not_waited_for_for_ever)
{
    const EpHandle service = make_service(dpu, rep, name);
    for (int i = 0; i < 3; ++i)
        connect_raw();
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    seconds_ahead += 9;
    connect_raw();
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(num_hung_up(), 0u);
    seconds_ahead += 2;
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(num_hung_up(), 3u);
    EXPECT_FALSE(has_hung_up(raw.back()));
    seconds_ahead += 9;
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(num_hung_up(), 4u);
    // Who has said hello in time is taken in when the program looks at last.
    const EpHandle client = make_endpoint(host);
    Address *peer = nullptr;
    ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
    seconds_ahead += 60;
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(await_connection(peer), DOCA_SUCCESS);
}

TEST_P(CommChannelShortageTest, clients_that_have_gone_cost_a_receive_nothing)
{
    static_assert(sizeof(Address) <= 312, "is kept for each client that has gone, until the program disconnects it");
    const EpHandle service = make_service(dpu, rep, name);
    const EpHandle stays = make_endpoint(host);
    Address *to_service = nullptr;
    ASSERT_EQ(doca_comm_channel_ep_connect(stays, name.c_str(), &to_service), DOCA_SUCCESS);
    (void)receive(service).status;
    must(await_connection(to_service));

    std::vector<Address *> gone;
    int lowest = -1;
    for (std::uint64_t i = 0; i != 400; ++i) {
        const EpHandle client = make_endpoint(host);
        Address *peer = nullptr;
        ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
        (void)receive(service).status;
        must(await_connection(peer));
        if (i % 4 != 0) { // else it goes without a word, and the service's program never knows it
            must(send_text(client, peer, "hello"));
            gone.push_back(await_message(service).from);
            must(doca_comm_channel_peer_addr_set_user_data(gone.back(), i));
        }
        must(doca_comm_channel_ep_disconnect(client, peer));
        ASSERT_EQ(until_not(DOCA_SUCCESS,
                            [&] {
                                must_hold(receive(service).status == DOCA_ERROR_AGAIN, "there is no message");
                                return service.get()->num_polled() > 1 ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND;
                            }),
                  DOCA_ERROR_NOT_FOUND)
            << "a receive goes on to look at client " << i << ", which has gone";
        if (i == 8)
            lowest = lowest_free_descriptor();
    }
    EXPECT_EQ(lowest_free_descriptor(), lowest);

    must(send_text(stays, to_service, "still here"));
    EXPECT_EQ(await_message(service).text, "still here");
    must(doca_comm_channel_ep_update_service_state_info(service));
    Address **listed = nullptr;
    std::uint32_t count = 0;
    must(doca_comm_channel_ep_get_peer_addr_list(service, &listed, &count));
    EXPECT_EQ(count, 1u);
    for (Address *const peer : gone) { // their addresses are valid as ever
        std::uint64_t number = 0, messages = 0;
        must(doca_comm_channel_peer_addr_get_user_data(peer, &number));
        must(doca_comm_channel_peer_addr_get_recv_messages(peer, &messages));
        EXPECT_NE(number, 0u);
        EXPECT_EQ(messages, 1u);
        EXPECT_EQ(send_text(service, peer, "x"), DOCA_ERROR_CONNECTION_RESET);
        EXPECT_EQ(doca_comm_channel_peer_addr_update_info(peer), DOCA_ERROR_CONNECTION_ABORTED);
        EXPECT_EQ(doca_comm_channel_ep_disconnect(service, peer), DOCA_SUCCESS);
        EXPECT_EQ(doca_comm_channel_ep_disconnect(service, peer), DOCA_ERROR_NOT_CONNECTED);
    }
    must(send_text(stays, to_service, "and still"));
    EXPECT_EQ(await_message(service).text, "and still");
}

TEST_P(CommChannelShortageTest, without_descriptors_clients_are_turned_away)
{
    const EpHandle service = make_service(dpu, rep, name);
    int recv = -1;
    must(doca_comm_channel_ep_get_event_channel(service, nullptr, &recv));
    for (int i = 0; i < 20; ++i)
        connect_raw();
    must(doca_comm_channel_ep_event_handle_arm_recv(service));
    EXPECT_TRUE(is_readable(recv));
    {
        const LogCapture log;
        const NoDescriptors none;
        for (int i = 0; i < 10; ++i)
            ASSERT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        EXPECT_FALSE(is_readable(recv)) << "who waits for events would spin";
        EXPECT_EQ(num_lines(log.text()), 1u) << log.text();
        EXPECT_EQ(num_hung_up(), 20u);
    }
    expect_service_works(service);
}

TEST_P(CommChannelShortageTest, a_sweep_that_fails_leaves_no_descriptor)
{
    for (int i = 0; i < 3; ++i) {
        EpHandle service = make_endpoint(dpu);
        must(doca_comm_channel_ep_set_device_rep(service, rep));
        const int before = lowest_free_descriptor();
        is_fdopendir_failing = true;
        EXPECT_EQ(doca_comm_channel_ep_listen(service, name.c_str()), DOCA_SUCCESS);
        is_fdopendir_failing = false;
        service.reset();
        EXPECT_EQ(lowest_free_descriptor(), before);
    }
}

TEST_P(CommChannelShortageTest, without_descriptors_for_its_welcome_a_client_hears_why)
{
    const EpHandle service = make_service(dpu, rep, name);
    {
        const EpHandle client = make_endpoint(host);
        Address *peer = nullptr;
        ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
        ASSERT_EQ(receive(service).status, DOCA_ERROR_AGAIN); // takes the client in
        const LogCapture log;
        {
            const NoDescriptors none;
            EXPECT_EQ(await_connection(peer), DOCA_ERROR_NO_MEMORY);
        }
        EXPECT_LOGGED(log, "no file descriptor left");
        EXPECT_EQ(doca_comm_channel_peer_addr_update_info(peer), DOCA_ERROR_CONNECTION_ABORTED);
    }
    expect_service_works(service);
}

TEST_P(CommChannelShortageTest, a_limit_for_files_turns_clients_away_and_ends_nobody)
{
    // The two share more than a MiB, which no file of the log has.
    const EpHandle service = make_endpoint(dpu);
    const EpHandle client = make_endpoint(host);
    for (doca_comm_channel_ep_t *const side : {service.get(), client.get()}) {
        must(doca_comm_channel_ep_set_send_queue_size(side, 1024));
        must(doca_comm_channel_ep_set_recv_queue_size(side, 1024));
    }
    must(doca_comm_channel_ep_set_device_rep(service, rep));
    must(doca_comm_channel_ep_listen(service, name.c_str()));
    Address *peer = nullptr;
    ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit small = {std::size_t{1} << 20, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
    const doca_error_t status = receive(service).status; // or SIGXFSZ ends this program
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_EQ(status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(await_connection(peer), DOCA_ERROR_CONNECTION_ABORTED);
    expect_service_works(service);
}

/// A service that sleeps and its client, when the kernel has no memory for the byte that wakes.
class CommChannelBellShortageTest : public CommChannelShortageTest {
protected:
    void SetUp() override
    {
        must(doca_comm_channel_ep_connect(client, name.c_str(), &to_service));
        (void)receive(service).status;
        must(await_connection(to_service));
        must(doca_comm_channel_ep_get_event_channel(service, nullptr, &of_service));
        must(doca_comm_channel_ep_get_event_channel(client, &room_of_client, &of_client));
        must(doca_comm_channel_ep_event_handle_arm_recv(client));
        fall_asleep();
    }
    ~CommChannelBellShortageTest() override { failing_bells = {}; }
    void fall_asleep()
    {
        must(doca_comm_channel_ep_event_handle_arm_recv(service));
        await_silence(service, of_service);
        await_silence(client, of_client);
    }

    EpHandle service{make_service(dpu, rep, name)};
    EpHandle client{make_endpoint(host)};
    Address *to_service = nullptr;
    int of_service = -1, of_client = -1, room_of_client = -1;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelBellShortageTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelBellShortageTest, testing::ValuesIn(one_comm_channel_pair()), pair_name);

TEST_P(CommChannelBellShortageTest, a_bell_that_fails_is_rung_by_the_next_message)
{
    for (const int error : {ENOBUFS, ENOMEM}) {
        failing_bells = {error, 1};
        must(send_text(client, to_service, "1"));
        EXPECT_EQ(failing_bells.left, 0);
        EXPECT_FALSE(is_readable(of_service));
        must(send_text(client, to_service, "2"));
        ASSERT_TRUE(is_readable(of_service)) << error;
        EXPECT_EQ(receive(service).text, "1");
        EXPECT_EQ(receive(service).text, "2");
        fall_asleep();
    }
    failing_bells = {EINTR, 3};
    must(send_text(client, to_service, "at once"));
    ASSERT_TRUE(is_readable(of_service));
    EXPECT_EQ(receive(service).text, "at once");
}

/// Who sends one message and sleeps until the answer comes is awake until the bell has rung.
TEST_P(CommChannelBellShortageTest, a_bell_that_is_owed_keeps_the_sender_awake)
{
    failing_bells = {ENOBUFS, 3};
    must(send_text(client, to_service, "the only one"));
    int num_wakes = 0;
    while (is_readable(of_client) && num_wakes < 100) {
        ++num_wakes;
        EXPECT_EQ(receive(client).status, DOCA_ERROR_AGAIN);
    }
    EXPECT_EQ(failing_bells.left, 0);
    EXPECT_LT(num_wakes, 100);
    ASSERT_TRUE(is_readable(of_service));
    EXPECT_EQ(receive(service).text, "the only one");
}

TEST_P(CommChannelBellShortageTest, a_bell_for_room_that_fails_is_rung_later)
{
    doca_error_t status = DOCA_SUCCESS;
    while ((status = send_text(client, to_service, "x")) == DOCA_SUCCESS) {
    }
    ASSERT_EQ(status, DOCA_ERROR_AGAIN);
    must(doca_comm_channel_ep_event_handle_arm_send(client));
    ASSERT_FALSE(is_readable(room_of_client));
    failing_bells = {ENOBUFS, 1};
    EXPECT_EQ(receive(service).text, "x");
    EXPECT_EQ(failing_bells.left, 0);
    EXPECT_FALSE(is_readable(room_of_client));
    EXPECT_EQ(receive(service).text, "x");
    EXPECT_TRUE(is_readable(room_of_client));
    must(send_text(client, to_service, "y"));

    // One that receives all, and then sleeps.
    while (send_text(client, to_service, "x") == DOCA_SUCCESS) {
    }
    must(doca_comm_channel_ep_event_handle_arm_send(client));
    failing_bells = {ENOBUFS, 12};
    for (int i = 0; i < 100 && is_readable(of_service); ++i)
        (void)receive(service).status;
    EXPECT_EQ(failing_bells.left, 0);
    EXPECT_TRUE(is_readable(room_of_client));
}
