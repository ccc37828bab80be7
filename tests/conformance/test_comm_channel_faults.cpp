// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comm Channel between processes: ends of all kinds, other users, and peers that do not keep the rules.
#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "support/comm_channel.hpp"
#include "support/environment.hpp"
#include "support/log_capture.hpp"
#include "support/process_traits.hpp"

using namespace doca_test;
namespace fs = std::filesystem;

namespace {

struct Order {
    char ibdev[64] = {};
    char pci[32] = {};
    char name[64] = {};
    uid_t user = 0; ///< to become, unless 0
};

Order make_order(const DevicePair &pair, const DeviceParam &device, const std::string &name, uid_t user = 0)
{
    Order order;
    device.ibdev.copy(order.ibdev, sizeof(order.ibdev) - 1);
    pair.exporter.pci.copy(order.pci, sizeof(order.pci) - 1);
    name.copy(order.name, sizeof(order.name) - 1);
    order.user = user;
    return order;
}

/// Listens, reports how that went, and then echoes until the test closes the channel. "bye": disconnects
/// after a last word.
const ChildProgram echo_service("cc_service", [](Channel &parent) {
    const auto order = parent.receive<Order>();
    become(order.user, true);
    DevHandle dev = open_device(order.ibdev);
    RepHandle rep = open_representor(dev, order.pci);
    EpHandle ep = make_endpoint(dev);
    must(doca_comm_channel_ep_set_device_rep(ep, rep));
    const doca_error_t status = doca_comm_channel_ep_listen(ep, order.name);
    parent.send(status);
    while (status == DOCA_SUCCESS && !parent.is_readable()) {
        const Received got = receive(ep);
        if (got.status == DOCA_SUCCESS)
            (void)send_text(ep, got.from, got.text);
        if (got.text == "bye")
            must(doca_comm_channel_ep_disconnect(ep, got.from));
        std::this_thread::yield();
    }
});

/// As a well-known server does: receives once, answers once, and takes everything apart.
const ChildProgram one_answer("cc_one_answer", [](Channel &parent) {
    const auto order = parent.receive<Order>();
    DevHandle dev = open_device(order.ibdev);
    RepHandle rep = open_representor(dev, order.pci);
    EpHandle ep = make_service(dev, rep, order.name, {.queue = 10});
    parent.send(DOCA_SUCCESS);
    const Received got = await_message(ep);
    must(send_text(ep, got.from, "the answer"));
    must(doca_comm_channel_ep_disconnect(ep, got.from));
});

/// Connects, reports how that went, and then sends a message of its own each time it is told to.
const ChildProgram plain_client("cc_client", [](Channel &parent) {
    const auto order = parent.receive<Order>();
    become(order.user, true);
    DevHandle dev = open_device(order.ibdev);
    EpHandle ep = make_endpoint(dev);
    Address *peer = nullptr;
    doca_error_t status = doca_comm_channel_ep_connect(ep, order.name, &peer);
    if (status == DOCA_SUCCESS)
        status = await_connection(peer);
    parent.send(status);
    for (;;) {
        (void)parent.receive<int>();
        parent.send(send_text(ep, peer, "from a client"));
    }
});

} // namespace

class CommChannelFaultTest : public testing::TestWithParam<DevicePair> {
protected:
    [[nodiscard]] doca_error_t start_service(ChildProcess &child, uid_t user = 0) const
    {
        child.channel().send(make_order(GetParam(), GetParam().importer, name, user));
        return child.channel().receive<doca_error_t>();
    }
    void start_client(ChildProcess &child, uid_t user = 0) const
    {
        child.channel().send(make_order(GetParam(), GetParam().exporter, name, user));
    }
    EpHandle connected_client(Address *&peer)
    {
        EpHandle ep = make_endpoint(host);
        must(doca_comm_channel_ep_connect(ep, name.c_str(), &peer));
        must(await_connection(peer));
        return ep;
    }

    DevHandle dpu{open_device(GetParam().importer)};
    DevHandle host{open_device(GetParam().exporter)};
    RepHandle rep{open_representor(dpu, GetParam().exporter.pci)};
    const std::string name = service_name();
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelFaultTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelFaultTest, testing::ValuesIn(one_comm_channel_pair()), pair_name);

TEST_P(CommChannelFaultTest, messages_between_processes)
{
    ChildProcess child("cc_service");
    ASSERT_EQ(start_service(child), DOCA_SUCCESS);
    Address *peer = nullptr;
    const EpHandle client = connected_client(peer);
    for (int i = 0; i < 500; ++i) {
        must(send_text(client, peer, "text " + std::to_string(i)));
        ASSERT_EQ(await_message(client).text, "text " + std::to_string(i));
    }
    must(send_text(client, peer, "bye"));
    EXPECT_EQ(await_message(client).text, "bye") << "sent just before the disconnect";
    EXPECT_EQ(until_not(DOCA_ERROR_AGAIN, [&] { return receive(client).status; }), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(client, peer), DOCA_SUCCESS);
    EXPECT_EQ(child.finish(), 0);
}

/// As a well-known client does: sends twice, ignores what the first receive gives, and waits for the answer
/// after that.
TEST_P(CommChannelFaultTest, an_answer_that_comes_early_is_not_lost)
{
    for (int round = 0; round < 10; ++round) {
        ChildProcess child("cc_one_answer");
        ASSERT_EQ(start_service(child), DOCA_SUCCESS);
        Address *peer = nullptr;
        const EpHandle client = connected_client(peer);
        must(send_text(client, peer, "a text"));
        if (round % 2 == 0)
            child.wait_for_end(); // the answer is there, and its sender is gone
        must(send_text(client, peer, "the text once more"));
        std::array<char, longest_message> text{};
        std::size_t length = text.size();
        (void)doca_comm_channel_ep_recvfrom(client, text.data(), &length, DOCA_CC_MSG_FLAG_NONE, &peer);
        ASSERT_EQ(until_not(DOCA_ERROR_AGAIN,
                            [&] {
                                return doca_comm_channel_ep_recvfrom(client, text.data(), &length,
                                                                     DOCA_CC_MSG_FLAG_NONE, &peer);
                            }),
                  DOCA_SUCCESS);
        EXPECT_EQ(std::string(text.data(), length), "the answer");
        EXPECT_EQ(doca_comm_channel_ep_disconnect(client, peer), DOCA_SUCCESS);
        EXPECT_EQ(child.finish(), 0);
    }
}

TEST_P(CommChannelFaultTest, a_service_is_killed)
{
    ChildProcess child("cc_service");
    ASSERT_EQ(start_service(child), DOCA_SUCCESS);
    Address *peer = nullptr, *sleeping_peer = nullptr;
    EpHandle client = connected_client(peer);
    EpHandle sleeping = connected_client(sleeping_peer);
    must(send_text(client, peer, "x"));
    EXPECT_EQ(await_message(client).text, "x");
    int recv = -1;
    must(doca_comm_channel_ep_get_event_channel(sleeping, nullptr, &recv));
    must(doca_comm_channel_ep_event_handle_arm_recv(sleeping));
    EXPECT_FALSE(is_readable(recv));
    child.kill();
    child.wait_for_end();
    const LogCapture log;
    EXPECT_EQ(send_text(client, peer, "y"), DOCA_ERROR_CONNECTION_RESET) << "at once";
    EXPECT_LOGGED(log, "died");
    EXPECT_EQ(receive(client).status, DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_comm_channel_peer_addr_update_info(peer), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(client, peer), DOCA_ERROR_NOT_CONNECTED);
    await_readable(recv);
    EXPECT_EQ(receive(sleeping).status, DOCA_ERROR_CONNECTION_RESET);

    // What it left does not keep another one from its name.
    Address *ignored = nullptr;
    EXPECT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &ignored), DOCA_ERROR_CONNECTION_ABORTED);
    const EpHandle next = make_service(dpu, rep, name);
    EXPECT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &peer), DOCA_SUCCESS);
    EXPECT_EQ(receive(next).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(await_connection(peer), DOCA_SUCCESS);
}

TEST_P(CommChannelFaultTest, a_client_is_killed)
{
    const EpHandle service = make_service(dpu, rep, name);
    int recv = -1, changes = -1;
    must(doca_comm_channel_ep_get_event_channel(service, nullptr, &recv));
    must(doca_comm_channel_ep_get_service_event_channel(service, &changes));
    must(doca_comm_channel_ep_event_handle_arm_recv(service));
    ChildProcess child("cc_client");
    start_client(child);
    await_readable(recv);
    EXPECT_EQ(until_not(DOCA_ERROR_AGAIN,
                        [&] { return child.channel().is_readable() ? DOCA_SUCCESS : receive(service).status; }),
              DOCA_SUCCESS);
    ASSERT_EQ(child.channel().receive<doca_error_t>(), DOCA_SUCCESS);
    child.channel().send(1);
    ASSERT_EQ(child.channel().receive<doca_error_t>(), DOCA_SUCCESS);
    const Received first = await_message(service);
    EXPECT_EQ(first.text, "from a client");
    child.channel().send(1);
    ASSERT_EQ(child.channel().receive<doca_error_t>(), DOCA_SUCCESS);
    must(doca_comm_channel_ep_update_service_state_info(service));
    EXPECT_FALSE(is_readable(changes));
    child.kill();
    child.wait_for_end();
    await_readable(changes);
    await_readable(recv);
    EXPECT_EQ(receive(service).text, "from a client") << "what it had sent";
    EXPECT_EQ(receive(service).status, DOCA_ERROR_CONNECTION_RESET) << "nobody is left";
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN) << "once";
    EXPECT_FALSE(is_readable(recv));
    EXPECT_EQ(send_text(service, first.from, "x"), DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(service, first.from), DOCA_ERROR_NOT_CONNECTED);
    must(doca_comm_channel_ep_update_service_state_info(service));
    EXPECT_FALSE(is_readable(changes));
}

TEST_P(CommChannelFaultTest, two_processes_want_one_name)
{
    ChildProcess first("cc_service"), second("cc_service");
    ASSERT_EQ(start_service(first), DOCA_SUCCESS);
    EXPECT_EQ(start_service(second), DOCA_ERROR_CONNECTION_ABORTED);
    first.kill();
    first.wait_for_end();
    ChildProcess third("cc_service");
    EXPECT_EQ(start_service(third), DOCA_SUCCESS);
    EXPECT_EQ(third.finish(), 0);
}

TEST_P(CommChannelFaultTest, the_role_decides_who_sees_what)
{
    ChildProcess dpu_side("cc_service", {{"DOCA_SOFT_ROLE", "dpu"}});
    ASSERT_EQ(start_service(dpu_side), DOCA_SUCCESS);
    ChildProcess host_side("cc_client", {{"DOCA_SOFT_ROLE", "host"}});
    start_client(host_side);
    EXPECT_EQ(host_side.channel().receive<doca_error_t>(), DOCA_SUCCESS);
}

TEST_P(CommChannelFaultTest, services_are_where_nobody_else_can_go)
{
    const RuntimeDirectory runtime;
    EpHandle service = make_service(dpu, rep, name);
    struct stat status {};
    ASSERT_EQ(stat(runtime.place().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0700u);
    EXPECT_EQ(std::distance(fs::directory_iterator(runtime.place()), {}), 2);
    service.reset();
    EXPECT_TRUE(fs::is_empty(runtime.place())) << "nothing is left";

    {
        ChildProcess killed("cc_service");
        ASSERT_EQ(start_service(killed), DOCA_SUCCESS);
        EXPECT_EQ(std::distance(fs::directory_iterator(runtime.place()), {}), 2);
    }
    service = make_service(dpu, rep, name + " too");
    EXPECT_EQ(std::distance(fs::directory_iterator(runtime.place()), {}), 2) << "what was killed is swept away";
    service.reset();

    // A place that others can enter is not used.
    fs::permissions(runtime.place(), fs::perms::others_exec, fs::perm_options::add);
    const LogCapture log;
    service = make_service(dpu, rep, name);
    EXPECT_TRUE(fs::is_empty(runtime.place()));
    EXPECT_LOGGED(log, runtime.place().string());
    service.reset();
    // Neither is one behind a symbolic link.
    fs::remove(runtime.place());
    fs::create_directory(runtime.path() / "elsewhere");
    fs::permissions(runtime.path() / "elsewhere", fs::perms::owner_all);
    fs::create_directory_symlink(runtime.path() / "elsewhere", runtime.place());
    service = make_service(dpu, rep, name);
    EXPECT_TRUE(fs::is_empty(runtime.path() / "elsewhere"));
}

TEST_P(CommChannelFaultTest, other_users_can_not_connect)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can become somebody else";
    constexpr uid_t nobody = 65534;
    const EpHandle service = make_service(dpu, rep, name);
    ChildProcess stranger("cc_client", {{"XDG_RUNTIME_DIR", nullptr}});
    start_client(stranger, nobody);
    EXPECT_EQ(stranger.channel().receive<doca_error_t>(), DOCA_ERROR_CONNECTION_ABORTED);
    // Nor does it take the name away.
    ChildProcess other("cc_service", {{"XDG_RUNTIME_DIR", nullptr}});
    EXPECT_EQ(start_service(other, nobody), DOCA_SUCCESS);
    Address *peer = nullptr;
    const EpHandle client = make_endpoint(host);
    must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(await_connection(peer), DOCA_SUCCESS) << "with the own user's service";
    EXPECT_EQ(other.finish(), 0);
}

/// A socket that another user has put where a service's should be: the peer's user tells.
TEST_P(CommChannelFaultTest, sockets_of_other_users_are_not_trusted)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "only root can become somebody else";
    const RuntimeDirectory runtime;
    const EpHandle service = make_service(dpu, rep, name);
    fs::path path;
    for (const auto &entry : fs::directory_iterator(runtime.place())) {
        if (entry.is_socket())
            path = entry.path();
    }
    ASSERT_FALSE(path.empty());
    // Connects as another user, through a descriptor of this one: the service sees it.
    const int status = in_forked_child([&] {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
        must_hold(chmod(runtime.path().c_str(), 0755) == 0 && chmod(runtime.place().c_str(), 0755) == 0 &&
                      chmod(path.c_str(), 0777) == 0,
                  "anybody can connect");
        become(65534, true);
        const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        must_hold(connect(fd, reinterpret_cast<sockaddr *>(&address), sizeof(address)) == 0, "the connection");
        return 0;
    });
    ASSERT_EQ(status, 0);
    const LogCapture log;
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_LOGGED(log, "belongs to user 65534");
}

/// Plays a client, or a service, byte by byte.
class CommChannelForgeryTest : public CommChannelFaultTest {
protected:
    struct Hello {
        std::uint64_t magic = 0x6c6e6863'6d6d6f63;
        std::uint32_t version = 1;
        std::uint32_t reserved = 0;
        std::uint64_t service[2] = {};
        std::uint16_t message_size = 4080;
        std::uint16_t send_queue = 8;
        std::uint16_t recv_queue = 8;
        std::uint16_t program_limit = 0;
    };
    struct Welcome {
        std::uint64_t magic = 0x6c6e6863'6d6d6f63;
        std::uint32_t version = 1;
        std::uint32_t answer = 0;
        std::uint32_t to_service[2] = {8, 4080};
        std::uint32_t to_client[2] = {8, 4080};
    };
    static constexpr std::size_t rings_at = 5 * 64 * 2; // two states of four lines and two flags
    static constexpr std::size_t memory_size = rings_at + 2 * 8 * 4088;

    [[nodiscard]] static sockaddr_un address_of(const fs::path &path)
    {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.string().copy(address.sun_path, sizeof(address.sun_path) - 1);
        return address;
    }
    /// The name of the socket is the key of the service.
    [[nodiscard]] Hello right_hello() const
    {
        Hello hello;
        const std::string digits = runtime.socket_path().filename().string().substr(3);
        hello.service[0] = std::stoull(digits.substr(0, 16), nullptr, 16);
        hello.service[1] = std::stoull(digits.substr(16), nullptr, 16);
        return hello;
    }
    static void send_raw(int fd, const void *data, std::size_t size, std::vector<int> files = {})
    {
        iovec part = {const_cast<void *>(data), size};
        alignas(cmsghdr) char control[CMSG_SPACE(3 * sizeof(int))] = {};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (!files.empty()) {
            message.msg_control = control;
            message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
            cmsghdr *const header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
            std::memcpy(CMSG_DATA(header), files.data(), files.size() * sizeof(int));
        }
        must_hold(sendmsg(fd, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(size), "the message");
    }
    /// The memory that the service gives to a client that was taken in.
    static std::byte *receive_memory(int fd)
    {
        Welcome welcome;
        iovec part = {&welcome, sizeof(welcome)};
        alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        must_hold(recvmsg(fd, &message, MSG_CMSG_CLOEXEC) == sizeof(welcome), "a welcome");
        int files[2];
        must_hold(CMSG_FIRSTHDR(&message) != nullptr, "descriptors");
        std::memcpy(files, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(files));
        void *const memory = mmap(nullptr, memory_size, PROT_READ | PROT_WRITE, MAP_SHARED, files[0], 0);
        must_hold(memory != MAP_FAILED, "the mapping");
        close(files[0]);
        close(files[1]);
        return static_cast<std::byte *>(memory);
    }

    RuntimeDirectory runtime;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommChannelForgeryTest);
INSTANTIATE_TEST_SUITE_P(pair, CommChannelForgeryTest, testing::ValuesIn(one_comm_channel_pair()), pair_name);

TEST_P(CommChannelForgeryTest, hellos)
{
    const EpHandle service = make_service(dpu, rep, name);
    const Resources before = resources_in_use();
    const auto try_hello = [&](const void *data, std::size_t size, std::vector<int> files = {}) {
        const int fd = runtime.connect_raw();
        send_raw(fd, data, size, std::move(files));
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        Welcome welcome;
        welcome.answer = 77;
        const ssize_t got = recv(fd, &welcome, sizeof(welcome), 0);
        EXPECT_TRUE(got <= 0 || (got == sizeof(welcome) && welcome.answer != 0)) << "it is not taken in";
        close(fd);
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    };
    const Hello right = right_hello();
    const auto with = [&](auto change) {
        Hello hello = right;
        change(hello);
        try_hello(&hello, sizeof(hello));
    };
    with([](Hello &h) { h.magic ^= 1; });
    with([](Hello &h) { ++h.version; });
    with([](Hello &h) { h.service[0] ^= 1; });
    with([](Hello &h) { h.service[1] ^= 1; });
    for (const std::uint16_t wrong : std::initializer_list<std::uint16_t>{0, 7, 9, 16384, 65535}) {
        with([&](Hello &h) { h.send_queue = wrong; });
        with([&](Hello &h) { h.recv_queue = wrong; });
    }
    for (const std::uint16_t wrong : std::initializer_list<std::uint16_t>{0, 63, 4081, 65535})
        with([&](Hello &h) { h.message_size = wrong; });
    with([&](Hello &h) { h.program_limit = static_cast<std::uint16_t>(h.message_size + 1); });
    const std::vector<char> junk(100'000, 'x');
    for (const std::size_t size : {std::size_t{1}, sizeof(Hello) - 1, sizeof(Hello) + 1, junk.size()})
        try_hello(junk.data(), size);
    try_hello(&right, sizeof(right), {0, 0, 0});
    // Nothing at all is waited for, and keeps nobody else out.
    const int silent = runtime.connect_raw();
    Address *peer = nullptr;
    EpHandle client = make_endpoint(host);
    must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(await_connection(peer), DOCA_SUCCESS);
    must(doca_comm_channel_ep_disconnect(client, peer));
    close(silent);
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    EXPECT_EQ(resources_in_use(), before);
}

TEST_P(CommChannelForgeryTest, a_client_that_damages_the_memory)
{
    const EpHandle service = make_service(dpu, rep, name);
    const Hello hello = right_hello();
    struct Damage {
        const char *what;
        void (*damage)(std::byte *memory);
    };
    const auto set = [](std::byte *memory, std::size_t at, std::uint64_t value) {
        std::memcpy(memory + at, &value, sizeof(value));
    };
    static const auto put = set;
    const Damage all[] = {
        {"more messages than there can be", [](std::byte *m) { put(m, 0, 9); }},
        {"fewer than none", [](std::byte *m) { put(m, 0, UINT64_MAX); }},
        {"a message without bytes", [](std::byte *m) { put(m, 0, 1); }},
        {"a message of too many bytes", [](std::byte *m) { put(m, rings_at, 4081), put(m, 0, 1); }},
        {"a message of very many bytes", [](std::byte *m) { put(m, rings_at, UINT64_MAX), put(m, 0, 1); }},
    };
    for (const Damage &one : all) {
        const int fd = runtime.connect_raw();
        send_raw(fd, &hello, sizeof(hello));
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        std::byte *const memory = receive_memory(fd);
        const LogCapture log;
        one.damage(memory);
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN) << one.what;
        EXPECT_LOGGED(log, "corrupted") << one.what;
        munmap(memory, memory_size);
        close(fd);
        EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    }
    // And one that claims to have received what was never sent.
    const int fd = runtime.connect_raw();
    send_raw(fd, &hello, sizeof(hello));
    EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
    std::byte *const memory = receive_memory(fd);
    must(doca_comm_channel_ep_update_service_state_info(service));
    Address **list = nullptr;
    std::uint32_t count = 0;
    must(doca_comm_channel_ep_get_peer_addr_list(service, &list, &count));
    ASSERT_EQ(count, 1u);
    Address *const peer = list[0];
    put(memory, 4 * 64 + 64, 1000); // of the ring to the client: the count of received messages
    doca_error_t status = DOCA_SUCCESS;
    for (int i = 0; i < 9 && status == DOCA_SUCCESS; ++i)
        status = send_text(service, peer, "x");
    EXPECT_EQ(status, DOCA_ERROR_CONNECTION_RESET);
    munmap(memory, memory_size);
    close(fd);
    EXPECT_EQ(doca_comm_channel_ep_disconnect(service, peer), DOCA_ERROR_NOT_CONNECTED);
}

TEST_P(CommChannelForgeryTest, welcomes)
{
    fs::path path;
    {
        const EpHandle service = make_service(dpu, rep, name);
        path = runtime.socket_path();
    }
    const sockaddr_un address = address_of(path);
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    must_hold(bind(listener, reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0 &&
                  listen(listener, 8) == 0,
              "the forged service");
    const auto memory_of = [](std::size_t size, int seals) {
        const int fd = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        must_hold(ftruncate(fd, static_cast<off_t>(size)) == 0 && fcntl(fd, F_ADD_SEALS, seals) == 0, "the memory");
        return fd;
    };
    constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    int room[2];
    must_hold(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, room) == 0, "a socket pair");
    const int good = memory_of(memory_size, seals);
    const int unsealed = memory_of(memory_size, F_SEAL_GROW);
    const int small = memory_of(memory_size - 1, seals);
    const auto try_welcome = [&](const void *data, std::size_t size, const std::vector<int> &files) {
        EpHandle client = make_endpoint(host);
        Address *peer = nullptr;
        must(doca_comm_channel_ep_connect(client, name.c_str(), &peer));
        const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        send_raw(fd, data, size, files);
        const doca_error_t status = await_connection(peer);
        close(fd);
        return status;
    };
    const auto with = [&](auto change) {
        Welcome welcome;
        change(welcome);
        return try_welcome(&welcome, sizeof(welcome), {good, room[0]});
    };
    const Welcome right;
    constexpr auto aborted = DOCA_ERROR_CONNECTION_ABORTED;
    const Resources before = resources_in_use();
    EXPECT_EQ(with([](Welcome &) {}), DOCA_SUCCESS) << "the forgery is good";
    EXPECT_EQ(with([](Welcome &w) { w.magic ^= 1; }), aborted);
    EXPECT_EQ(with([](Welcome &w) { ++w.version; }), aborted);
    EXPECT_EQ(with([](Welcome &w) { w.answer = 1; }), aborted);
    EXPECT_EQ(with([](Welcome &w) { w.answer = 99; }), aborted);
    for (const std::uint32_t wrong : {0u, 4u, 9u, 16u, 1u << 31, UINT32_MAX}) {
        EXPECT_EQ(with([&](Welcome &w) { w.to_service[0] = wrong; }), aborted);
        EXPECT_EQ(with([&](Welcome &w) { w.to_client[0] = wrong; }), aborted);
    }
    // The upper half is the limit of the program's messages.
    for (const std::uint32_t wrong : {0u, 63u, 4081u, 4080u | 4081u << 16, UINT32_MAX}) {
        EXPECT_EQ(with([&](Welcome &w) { w.to_service[1] = wrong; }), aborted);
        EXPECT_EQ(with([&](Welcome &w) { w.to_client[1] = wrong; }), aborted);
    }
    EXPECT_EQ(try_welcome(&right, sizeof(right) - 1, {good, room[0]}), aborted);
    EXPECT_EQ(try_welcome(&right, sizeof(right), {}), aborted);
    EXPECT_EQ(try_welcome(&right, sizeof(right), {good}), aborted);
    EXPECT_EQ(try_welcome(&right, sizeof(right), {good, room[0], room[1]}), aborted);
    EXPECT_EQ(try_welcome(&right, sizeof(right), {good, good}), aborted);
    EXPECT_EQ(try_welcome(&right, sizeof(right), {room[0], room[0]}), aborted);
    EXPECT_EQ(try_welcome(&right, sizeof(right), {unsealed, room[0]}), aborted);
    EXPECT_EQ(try_welcome(&right, sizeof(right), {small, room[0]}), aborted);
    EXPECT_EQ(resources_in_use(), before);
    for (const int fd : {listener, room[0], room[1], good, unsealed, small})
        close(fd);
}
