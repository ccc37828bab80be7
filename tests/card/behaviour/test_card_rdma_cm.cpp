// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The connection manager of the card, by the real librdmacm: refusals, the deaths of peers, and commands that no
// honest program writes.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/socket.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/ib_user_sa.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The kernel's header defines names of librdmacm again.
namespace kernel {
#include <rdma/rdma_user_cm.h>
}

namespace {

constexpr int limit_ms = 10'000;

sockaddr_in address_of(const char *text, std::uint16_t port)
{
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    inet_pton(AF_INET, text, &address.sin_addr);
    return address;
}
sockaddr *generic(sockaddr_in &address)
{
    return reinterpret_cast<sockaddr *>(&address);
}

/// An event, with its private data.
struct Event {
    rdma_cm_event_type type;
    int status;
    rdma_cm_id *id;
    std::string data;
};

class RdmaCm : public testing::Test {
protected:
    void SetUp() override { ASSERT_NE(channel, nullptr) << std::strerror(errno); }
    void TearDown() override
    {
        for (rdma_cm_id *id : ids)
            rdma_destroy_id(id);
        rdma_destroy_event_channel(channel);
    }

    rdma_cm_id *create(rdma_port_space space = RDMA_PS_TCP)
    {
        rdma_cm_id *id = nullptr;
        EXPECT_EQ(rdma_create_id(channel, &id, nullptr, space), 0) << std::strerror(errno);
        ids.push_back(id);
        return id;
    }
    void destroy(rdma_cm_id *id)
    {
        std::erase(ids, id);
        EXPECT_EQ(rdma_destroy_id(id), 0);
    }
    /// Returns an errno, or 0.
    int bind(rdma_cm_id *id, const char *text, std::uint16_t port)
    {
        sockaddr_in address = address_of(text, port);
        return rdma_bind_addr(id, generic(address)) == 0 ? 0 : errno;
    }
    rdma_cm_id *listener(std::uint16_t port, int backlog = 8)
    {
        rdma_cm_id *id = create();
        EXPECT_EQ(bind(id, "0.0.0.0", port), 0);
        EXPECT_EQ(rdma_listen(id, backlog), 0);
        return id;
    }
    /// Waits for an event of a type.
    Event next(rdma_cm_event_type expected)
    {
        pollfd state{channel->fd, POLLIN, 0};
        if (poll(&state, 1, limit_ms) != 1) {
            ADD_FAILURE() << "no event in time, where " << rdma_event_str(expected) << " was expected";
            return {};
        }
        rdma_cm_event *event = nullptr;
        if (rdma_get_cm_event(channel, &event) != 0) {
            ADD_FAILURE() << std::strerror(errno);
            return {};
        }
        Event copy{event->event, event->status, event->id, {}};
        if (event->param.conn.private_data != nullptr)
            copy.data.assign(static_cast<const char *>(event->param.conn.private_data),
                             event->param.conn.private_data_len);
        if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
            ids.push_back(event->id);
        rdma_ack_cm_event(event);
        EXPECT_EQ(copy.type, expected) << rdma_event_str(copy.type) << ", status " << copy.status;
        return copy;
    }
    bool has_event()
    {
        pollfd state{channel->fd, POLLIN, 0};
        return poll(&state, 1, 0) == 1;
    }
    /// Resolves address and route, and connects.
    rdma_cm_id *connect(std::uint16_t port, const std::string &data = {}, std::uint32_t qp_number = 0x1234)
    {
        rdma_cm_id *id = create();
        sockaddr_in address = address_of("127.0.0.1", port);
        EXPECT_EQ(rdma_resolve_addr(id, nullptr, generic(address), 1000), 0);
        next(RDMA_CM_EVENT_ADDR_RESOLVED);
        EXPECT_EQ(rdma_resolve_route(id, 1000), 0);
        next(RDMA_CM_EVENT_ROUTE_RESOLVED);
        rdma_conn_param parameters{};
        parameters.qp_num = qp_number;
        parameters.private_data = data.data();
        parameters.private_data_len = static_cast<std::uint8_t>(data.size());
        EXPECT_EQ(rdma_connect(id, &parameters), 0) << std::strerror(errno);
        return id;
    }
    void accept(rdma_cm_id *id)
    {
        rdma_conn_param parameters{};
        parameters.qp_num = 0x4321;
        EXPECT_EQ(rdma_accept(id, &parameters), 0) << std::strerror(errno);
    }
    /// Establishes a connection between two ids of this program.
    std::array<rdma_cm_id *, 2> connected(std::uint16_t port)
    {
        listener(port);
        rdma_cm_id *client = connect(port);
        rdma_cm_id *server = next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
        accept(server);
        next(RDMA_CM_EVENT_CONNECT_RESPONSE);
        EXPECT_EQ(rdma_establish(client), 0) << std::strerror(errno);
        EXPECT_EQ(next(RDMA_CM_EVENT_ESTABLISHED).id, server);
        return {client, server};
    }
    /// Writes a command. Returns an errno, or 0.
    int command(std::uint32_t number, const void *body, std::size_t size, std::uint16_t out = 0, int in = -1)
    {
        std::vector<std::uint8_t> bytes(8 + size);
        const kernel::rdma_ucm_cmd_hdr header{number, static_cast<std::uint16_t>(in < 0 ? static_cast<int>(size) : in),
                                              out};
        std::memcpy(bytes.data(), &header, sizeof(header));
        if (size != 0)
            std::memcpy(bytes.data() + 8, body, size);
        return write(channel->fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) ? 0 : errno;
    }

    rdma_event_channel *channel = rdma_create_event_channel();
    std::vector<rdma_cm_id *> ids;
};

TEST_F(RdmaCm, PortsAreHeldOnce)
{
    rdma_cm_id *first = listener(7001);
    EXPECT_EQ(bind(create(), "0.0.0.0", 7001), EADDRNOTAVAIL);
    EXPECT_EQ(bind(create(), "127.0.0.1", 7001), EADDRNOTAVAIL) << "a wildcard has all addresses";
    EXPECT_EQ(bind(first, "0.0.0.0", 7002), EINVAL) << "it is bound";
    rdma_cm_id *specific = create();
    EXPECT_EQ(bind(specific, "127.0.0.1", 7002), 0);
    EXPECT_EQ(bind(create(), "127.0.0.1", 7002), EADDRINUSE);
    EXPECT_EQ(bind(create(RDMA_PS_UDP), "0.0.0.0", 7001), 0) << "another port space";
    EXPECT_EQ(bind(create(), "198.51.100.77", 7003), EADDRNOTAVAIL) << "no address of this machine";
    destroy(first);
    EXPECT_EQ(bind(create(), "0.0.0.0", 7001), 0);
}

TEST_F(RdmaCm, PortsOfNobodyAreRejected)
{
    connect(7010);
    EXPECT_EQ(next(RDMA_CM_EVENT_REJECTED).status, 8);
}

TEST_F(RdmaCm, AddressesOfNobodyAreReported)
{
    rdma_cm_id *id = create();
    sockaddr_in address = address_of("198.51.100.77", 7011);
    ASSERT_EQ(rdma_resolve_addr(id, nullptr, generic(address), 1000), 0);
    EXPECT_LT(next(RDMA_CM_EVENT_ADDR_ERROR).status, 0);
}

TEST_F(RdmaCm, RequestsCarryTheirDataAndAreRejectedWithData)
{
    listener(7020);
    connect(7020, "a request");
    const Event request = next(RDMA_CM_EVENT_CONNECT_REQUEST);
    EXPECT_EQ(request.data.size(), 56U);
    EXPECT_STREQ(request.data.c_str(), "a request");
    ASSERT_EQ(rdma_reject(request.id, "no", 3), 0);
    const Event rejected = next(RDMA_CM_EVENT_REJECTED);
    EXPECT_EQ(rejected.status, 28);
    EXPECT_EQ(rejected.data.size(), 148U);
    EXPECT_STREQ(rejected.data.c_str(), "no");
}

TEST_F(RdmaCm, DataThatIsTooLongIsRefused)
{
    rdma_cm_id *id = create();
    sockaddr_in address = address_of("127.0.0.1", 7021);
    ASSERT_EQ(rdma_resolve_addr(id, nullptr, generic(address), 1000), 0);
    next(RDMA_CM_EVENT_ADDR_RESOLVED);
    ASSERT_EQ(rdma_resolve_route(id, 1000), 0);
    next(RDMA_CM_EVENT_ROUTE_RESOLVED);
    const std::string data(57, 'x');
    rdma_conn_param parameters{};
    parameters.private_data = data.data();
    parameters.private_data_len = static_cast<std::uint8_t>(data.size());
    EXPECT_EQ(rdma_connect(id, &parameters), -1);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(RdmaCm, ABacklogThatIsFullRejects)
{
    rdma_event_channel *servers = channel;
    rdma_cm_id *server = listener(7022, 2);
    channel = rdma_create_event_channel();
    connect(7022);
    connect(7022);
    EXPECT_FALSE(has_event());
    connect(7022);
    EXPECT_EQ(next(RDMA_CM_EVENT_REJECTED).status, 28);
    // Those that wait are rejected when the listener ends.
    std::swap(channel, servers);
    destroy(server);
    EXPECT_FALSE(has_event());
    std::swap(channel, servers);
    next(RDMA_CM_EVENT_REJECTED);
    next(RDMA_CM_EVENT_REJECTED);
    for (rdma_cm_id *id : std::exchange(ids, {}))
        rdma_destroy_id(id);
    rdma_destroy_event_channel(channel);
    channel = servers;
}

TEST_F(RdmaCm, AnEmptyChannelThatDoesNotBlockHasNoEvent)
{
    ASSERT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0);
    rdma_cm_event *event = nullptr;
    EXPECT_EQ(rdma_get_cm_event(channel, &event), -1);
    EXPECT_EQ(errno, EAGAIN);
    EXPECT_FALSE(has_event());
    connect(7030);
    next(RDMA_CM_EVENT_REJECTED);
    EXPECT_FALSE(has_event()) << "the descriptor is readable without an event";
}

TEST_F(RdmaCm, UnreadEventsAreLimited)
{
    rdma_cm_id *id = create();
    sockaddr_in address = address_of("198.51.100.7", 7033);
    int events = 0;
    while (events < 1000 && rdma_resolve_addr(id, nullptr, generic(address), 1000) == 0)
        ++events;
    EXPECT_EQ(errno, ENOMEM);
    EXPECT_GE(events, 64);
    EXPECT_LT(events, 1000);
    for (int i = 0; i < events; ++i)
        next(RDMA_CM_EVENT_ADDR_ERROR);
    EXPECT_EQ(rdma_resolve_addr(id, nullptr, generic(address), 1000), 0);
}

TEST_F(RdmaCm, UnreadEventsEndWithTheirId)
{
    rdma_cm_id *id = create();
    sockaddr_in address = address_of("127.0.0.1", 7031);
    ASSERT_EQ(rdma_resolve_addr(id, nullptr, generic(address), 1000), 0);
    EXPECT_TRUE(has_event());
    destroy(id);
    EXPECT_FALSE(has_event());
}

/// Returns whether a thread is blocked in recv().
bool is_receiving(pid_t thread)
{
    std::ifstream state("/proc/self/task/" + std::to_string(thread) + "/syscall");
    long number = -1; // of the system call
    return static_cast<bool>(state >> number) && number == SYS_recvfrom;
}

// The end of rping: one thread waits for an event while another closes the channel's descriptor.
TEST_F(RdmaCm, AWaitForAnEventSurvivesACloseByAnotherThread)
{
    const auto [client, server] = connected(7032);
    rdma_event_channel *other = rdma_create_event_channel();
    ASSERT_NE(other, nullptr);
    ASSERT_EQ(rdma_migrate_id(client, other), 0);
    std::atomic<pid_t> waiting{0};
    std::string result;
    std::thread waiter([&] {
        waiting = gettid();
        rdma_cm_event *event = nullptr;
        if (rdma_get_cm_event(channel, &event) != 0) {
            result = std::strerror(errno);
            return;
        }
        result = rdma_event_str(event->event);
        rdma_ack_cm_event(event);
    });
    while (!is_receiving(waiting))
        std::this_thread::yield();
    const int spare = dup(channel->fd);
    close(channel->fd);
    EXPECT_EQ(rdma_disconnect(client), 0);
    waiter.join();
    EXPECT_EQ(result, rdma_event_str(RDMA_CM_EVENT_DISCONNECTED));
    EXPECT_EQ(dup2(spare, channel->fd), channel->fd);
    close(spare);
    destroy(client);
    rdma_destroy_event_channel(other);
}

/// Returns the number of open descriptors of this process.
std::ptrdiff_t count_descriptors()
{
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::distance(begin(all), end(all));
}

// As rping ends its connections.
TEST_F(RdmaCm, ACancelledWaitLeavesNoDescriptorOpen)
{
    const std::ptrdiff_t before = count_descriptors();
    // Without librdmacm, which leaves memory behind when it is cancelled.
    struct {
        kernel::rdma_ucm_cmd_hdr header;
        kernel::rdma_ucm_get_event body;
    } command{};
    kernel::rdma_ucm_event_resp response{};
    command.header = {kernel::RDMA_USER_CM_CMD_GET_EVENT, sizeof(command.body), sizeof(response)};
    command.body.response = reinterpret_cast<std::uintptr_t>(&response);
    std::atomic<pid_t> waiting{0};
    std::thread waiter([&] {
        waiting = gettid();
        const ssize_t written = write(channel->fd, &command, sizeof(command));
        ADD_FAILURE() << "the wait has ended: " << written;
    });
    while (!is_receiving(waiting))
        std::this_thread::yield();
    EXPECT_EQ(pthread_cancel(waiter.native_handle()), 0);
    waiter.join();
    EXPECT_EQ(count_descriptors(), before);
}

TEST_F(RdmaCm, ARequestThatItsProgramGivesUpIsRejected)
{
    listener(7034);
    rdma_cm_id *client = connect(7034);
    rdma_cm_id *server = next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
    destroy(client);
    rdma_conn_param parameters{};
    EXPECT_EQ(rdma_accept(server, &parameters), -1);
    EXPECT_EQ(errno, EINVAL);
}

TEST_F(RdmaCm, BothSidesSeeADisconnect)
{
    const auto [client, server] = connected(7040);
    ASSERT_EQ(rdma_disconnect(client), 0);
    EXPECT_EQ(next(RDMA_CM_EVENT_DISCONNECTED).id, server);
    ASSERT_EQ(rdma_disconnect(server), 0);
    EXPECT_EQ(next(RDMA_CM_EVENT_DISCONNECTED).id, client);
    next(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    next(RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

TEST_F(RdmaCm, TheDestructionOfAnIdDisconnects)
{
    const auto [client, server] = connected(7041);
    destroy(client);
    EXPECT_EQ(next(RDMA_CM_EVENT_DISCONNECTED).id, server);
}

/// A child connects, and is killed when this program has read its request or has established its connection.
class RdmaCmDeath : public RdmaCm, public testing::WithParamInterface<bool> {};

TEST_P(RdmaCmDeath, APeerThatIsKilledDisconnects)
{
    listener(7050);
    const pid_t child = fork();
    if (child == 0) {
        channel = rdma_create_event_channel();
        rdma_cm_id *id = connect(7050);
        if (GetParam()) {
            next(RDMA_CM_EVENT_CONNECT_RESPONSE);
            rdma_establish(id);
        }
        pause();
        _exit(1);
    }
    rdma_cm_id *server = next(RDMA_CM_EVENT_CONNECT_REQUEST).id;
    if (GetParam()) {
        accept(server);
        next(RDMA_CM_EVENT_ESTABLISHED);
    }
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    if (GetParam()) {
        EXPECT_EQ(next(RDMA_CM_EVENT_DISCONNECTED).id, server);
    } else {
        destroy(server);
        EXPECT_FALSE(has_event()) << "a request that was not accepted has no events";
    }
}
INSTANTIATE_TEST_SUITE_P(, RdmaCmDeath, testing::Bool());

TEST_F(RdmaCm, ADeathIsSeenWhereTheDescriptorWasInherited)
{
    const auto [client, server] = connected(7060);
    const int copy = dup(channel->fd);
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, nullptr, 0);
    EXPECT_FALSE(has_event()) << "a child that ends takes nothing with it";
    close(copy);
    EXPECT_FALSE(has_event());
    EXPECT_NE(client, server);
}

TEST_F(RdmaCm, CommandsThatAreMalformedAreRefused)
{
    ASSERT_EQ(fcntl(channel->fd, F_SETFL, O_NONBLOCK), 0); // also requests for events
    const std::array<std::uint8_t, 600> zeros{};
    EXPECT_EQ(write(channel->fd, zeros.data(), 7), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(command(23, zeros.data(), 16), EINVAL);
    EXPECT_EQ(command(0xffffffff, zeros.data(), 16), EINVAL);
    EXPECT_EQ(command(kernel::RDMA_USER_CM_CMD_GET_OPTION, zeros.data(), 16), ENOSYS);
    for (std::uint32_t number = 0; number <= kernel::RDMA_USER_CM_CMD_JOIN_MCAST; ++number) {
        if (number == kernel::RDMA_USER_CM_CMD_GET_OPTION)
            continue;
        EXPECT_NE(command(number, nullptr, 0, 0xffff), 0) << number << " is empty";
        EXPECT_EQ(command(number, zeros.data(), 16, 0, 17), EINVAL) << number << " is shorter than it says";
        EXPECT_NE(command(number, zeros.data(), 600, 0xffff), 0) << number << " has no id 0";
    }
    constexpr std::size_t page = 4096;
    void *const unreadable = mmap(nullptr, page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_EQ(write(channel->fd, unreadable, 24), -1);
    EXPECT_EQ(errno, EFAULT);
    munmap(unreadable, page);
}

TEST_F(RdmaCm, IdsOfOthersAndResponsesToNowhereAreRefused)
{
    kernel::rdma_ucm_create_id create_command{};
    EXPECT_EQ(command(kernel::RDMA_USER_CM_CMD_CREATE_ID, &create_command, sizeof(create_command), 4), EINVAL)
        << "port space";
    create_command.ps = kernel::RDMA_PS_TCP;
    EXPECT_EQ(command(kernel::RDMA_USER_CM_CMD_CREATE_ID, &create_command, sizeof(create_command), 4), EFAULT);
    EXPECT_EQ(command(kernel::RDMA_USER_CM_CMD_CREATE_ID, &create_command, sizeof(create_command), 3), ENOSPC);
    kernel::rdma_ucm_create_id_resp created{};
    create_command.response = reinterpret_cast<std::uintptr_t>(&created);
    ASSERT_EQ(command(kernel::RDMA_USER_CM_CMD_CREATE_ID, &create_command, sizeof(create_command), 4), 0);

    rdma_event_channel *const own = channel;
    channel = rdma_create_event_channel();
    const kernel::rdma_ucm_listen listen_command{created.id, 1};
    EXPECT_EQ(command(kernel::RDMA_USER_CM_CMD_LISTEN, &listen_command, sizeof(listen_command)), EINVAL)
        << "another's id";
    rdma_destroy_event_channel(channel);
    channel = own;
    EXPECT_EQ(command(kernel::RDMA_USER_CM_CMD_LISTEN, &listen_command, sizeof(listen_command)), 0);
    kernel::rdma_ucm_init_qp_attr attributes{};
    attributes.id = created.id;
    attributes.qp_state = 1;
    EXPECT_EQ(command(kernel::RDMA_USER_CM_CMD_INIT_QP_ATTR, &attributes, sizeof(attributes), 144), EINVAL)
        << "no device";
    kernel::rdma_ucm_bind bind_command{};
    bind_command.id = created.id;
    bind_command.addr_size = 0xffff;
    EXPECT_EQ(command(kernel::RDMA_USER_CM_CMD_BIND, &bind_command, sizeof(bind_command)), EINVAL);
}

} // namespace
