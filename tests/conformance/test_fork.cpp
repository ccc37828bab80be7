// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Forks: children of a process with threads in the library, copies of objects that a child destroys, and peers that are
// killed while a child of them lives.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "support/comm_channel.hpp"
#include "support/dma_fixture.hpp"

using namespace doca_test;

namespace {

/// Runs @p body in a child that is made by fork(), or as a program may do without the C library. Its status: 0 when
/// @p body has returned true; a signal for a child that has waited for ever.
int in_child(const std::function<bool()> &body)
{
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(body() ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    return status;
}

/// Creates a process that lives until @p pipe ends, with copies of all descriptors of its parent.
void leave_child(bool is_by_c_library, int pipe)
{
    const pid_t child = is_by_c_library ? fork() : static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0) {
        char byte;
        (void)!read(pipe, &byte, 1);
        _exit(0);
    }
}

bool make_objects()
{
    DevHandle dev = open_device(devices_that(has_comm_channel).front());
    std::vector<std::byte> memory(4096);
    doca_mmap *map = nullptr;
    const void *descriptor = nullptr;
    std::size_t size = 0;
    const bool is_good =
        doca_mmap_create(nullptr, &map) == DOCA_SUCCESS && doca_mmap_dev_add(map, dev) == DOCA_SUCCESS &&
        doca_mmap_set_memrange(map, memory.data(), memory.size()) == DOCA_SUCCESS &&
        doca_mmap_set_permissions(map, DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ) == DOCA_SUCCESS &&
        doca_mmap_start(map) == DOCA_SUCCESS && doca_mmap_export_rdma(map, dev, &descriptor, &size) == DOCA_SUCCESS;
    if (map != nullptr)
        (void)doca_mmap_destroy(map);
    return is_good;
}

TEST(ForkTest, ChildrenOfThreadsInTheLibraryMakeObjects)
{
    constexpr int num_forks = 100, num_threads = 3;
    ASSERT_TRUE(make_objects());
    std::atomic<bool> is_over = false;
    std::vector<std::thread> threads;
    for (int i = 0; i < num_threads; ++i) {
        threads.emplace_back([&] {
            while (!is_over)
                (void)make_objects();
        });
    }
    int failed = 0;
    for (int i = 0; i < num_forks && failed == 0; ++i)
        failed += in_child(make_objects) != 0;
    is_over = true;
    for (std::thread &thread : threads)
        thread.join();
    EXPECT_EQ(failed, 0);
}

/// Two endpoints of a pair, and a name of its own.
class ForkedPeers : public testing::TestWithParam<bool> {
protected:
    void SetUp() override
    {
        const std::vector<DevicePair> pairs = comm_channel_pairs();
        if (pairs.empty() || !pairs.front().exporter.is_soft())
            GTEST_SKIP() << "no software device";
        host_ = pairs.front().exporter;
        port_ = pairs.front().importer;
        ASSERT_EQ(pipe(life_), 0);
    }

    void TearDown() override
    {
        for (const int end : life_)
            close(end);
        if (rep_ != nullptr)
            must(doca_dev_rep_close(rep_));
    }

    doca_error_t listen(EpHandle &ep)
    {
        service_dev_ = open_device(port_);
        const RepList reps(service_dev_);
        for (doca_devinfo_rep *rep : reps) {
            if (rep_ == nullptr && pci_of(rep) == host_.pci)
                must(doca_dev_rep_open(rep, &rep_));
        }
        must(doca_comm_channel_ep_create(ep.out()));
        must(doca_comm_channel_ep_set_device(ep, service_dev_));
        must(doca_comm_channel_ep_set_device_rep(ep, rep_));
        return doca_comm_channel_ep_listen(ep, name_.c_str());
    }
    void connect(EpHandle &ep, Address *&peer)
    {
        client_dev_ = open_device(host_);
        must(doca_comm_channel_ep_create(ep.out()));
        must(doca_comm_channel_ep_set_device(ep, client_dev_));
        doca_error_t status = DOCA_ERROR_CONNECTION_ABORTED;
        for (int i = 0; i < 5000 && status != DOCA_SUCCESS; ++i) {
            status = doca_comm_channel_ep_connect(ep, name_.c_str(), &peer);
            if (status != DOCA_SUCCESS)
                std::this_thread::sleep_for(std::chrono::milliseconds(1)); // no event shows a service that comes
        }
        must(status);
    }
    /// What the endpoint is told: the first that is not AGAIN, within 5 seconds.
    static doca_error_t receive(EpHandle &ep, std::string &text, Address *&from)
    {
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        doca_error_t status = DOCA_ERROR_AGAIN;
        while (status == DOCA_ERROR_AGAIN && std::chrono::steady_clock::now() < end) {
            text.resize(longest_message);
            std::size_t size = text.size();
            status = doca_comm_channel_ep_recvfrom(ep, text.data(), &size, 0, &from);
            text.resize(size);
        }
        return status;
    }
    static doca_error_t send(EpHandle &ep, const char *text, Address *to)
    {
        doca_error_t status = DOCA_ERROR_AGAIN;
        while (status == DOCA_ERROR_AGAIN)
            status = doca_comm_channel_ep_sendto(ep, text, std::strlen(text), 0, to);
        return status;
    }
    /// A service that is killed after its first message, with a child that lives.
    pid_t start_service()
    {
        const pid_t service = fork();
        if (service != 0)
            return service;
        alarm(20);
        EpHandle ep;
        std::string text;
        Address *from = nullptr;
        if (listen(ep) != DOCA_SUCCESS || receive(ep, text, from) != DOCA_SUCCESS)
            _exit(1);
        close(life_[1]);
        leave_child(GetParam(), life_[0]);
        kill(getpid(), SIGKILL);
        _exit(1);
    }

    const std::string name_ = "fork" + std::to_string(getpid());
    int life_[2] = {-1, -1}; ///< of the child that is left
    DeviceParam host_, port_;
    DevHandle service_dev_, client_dev_;
    doca_dev_rep *rep_ = nullptr;
};

TEST_P(ForkedPeers, DeadServiceIsNoticedAndItsNameIsFree)
{
    const pid_t service = start_service();
    EpHandle client;
    Address *peer = nullptr, *from = nullptr;
    connect(client, peer);
    ASSERT_EQ(send(client, "x", peer), DOCA_SUCCESS);
    std::string text;
    EXPECT_EQ(receive(client, text, from), DOCA_ERROR_CONNECTION_RESET);
    int status = 0;
    ASSERT_EQ(waitpid(service, &status, 0), service);
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

    EpHandle next;
    EXPECT_EQ(listen(next), DOCA_SUCCESS);
}

TEST_P(ForkedPeers, DeadServiceWakesAClientThatWaits)
{
    const pid_t service = start_service();
    EpHandle client;
    Address *peer = nullptr, *from = nullptr;
    connect(client, peer);
    doca_event_channel_t send_channel = -1, channel = -1;
    must(doca_comm_channel_ep_get_event_channel(client, &send_channel, &channel));
    ASSERT_EQ(send(client, "x", peer), DOCA_SUCCESS);
    doca_error_t status = DOCA_ERROR_AGAIN;
    for (int wakes = 0; wakes < 16 && status == DOCA_ERROR_AGAIN; ++wakes) {
        must(doca_comm_channel_ep_event_handle_arm_recv(client));
        pollfd one = {.fd = channel, .events = POLLIN, .revents = 0};
        ASSERT_EQ(poll(&one, 1, 5000), 1);
        std::string text(longest_message, ' ');
        std::size_t size = text.size();
        status = doca_comm_channel_ep_recvfrom(client, text.data(), &size, 0, &from);
    }
    EXPECT_EQ(status, DOCA_ERROR_CONNECTION_RESET);
    int ended = 0;
    waitpid(service, &ended, 0);
}

TEST_P(ForkedPeers, ConnectionOutlivesAChildThatDestroysItsCopies)
{
    EpHandle service, client;
    ASSERT_EQ(listen(service), DOCA_SUCCESS);
    Address *peer = nullptr, *from = nullptr;
    connect(client, peer);
    std::string text;
    std::thread sender([&] { EXPECT_EQ(send(client, "before", peer), DOCA_SUCCESS); });
    ASSERT_EQ(receive(service, text, from), DOCA_SUCCESS);
    sender.join();
    EXPECT_EQ(in_child([&] {
                  (void)doca_comm_channel_ep_disconnect(client, peer);
                  return doca_comm_channel_ep_destroy(client) == DOCA_SUCCESS &&
                         doca_comm_channel_ep_destroy(service) == DOCA_SUCCESS;
              }),
              0);
    EXPECT_EQ(send(client, "after", peer), DOCA_SUCCESS);
    EXPECT_EQ(receive(service, text, from), DOCA_SUCCESS);
    EXPECT_EQ(text, "after");
    EXPECT_EQ(send(service, "back", from), DOCA_SUCCESS);
    EXPECT_EQ(receive(client, text, from), DOCA_SUCCESS);
    EpHandle another; // the name is still that of the service
    EXPECT_EQ(listen(another), DOCA_ERROR_CONNECTION_ABORTED);
}

INSTANTIATE_TEST_SUITE_P(Children, ForkedPeers, testing::Bool(),
                         [](const auto &children) { return children.param ? "ByFork" : "ByClone"; });

} // namespace
