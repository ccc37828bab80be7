// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comm Channel between two machines, that is by TCP: what anybody who reaches the address can send. That it works at
// all is shown by the other tests, which run with an address, too.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/time.h>

#include "../../src/core/base/unique_fd.hpp"
#include "support/comm_channel.hpp"
#include "support/log_capture.hpp"
#include "support/own_network.hpp"

using namespace doca_test;
using opendoca::UniqueFd;

namespace {

/// As src/comm_channel/stream.hpp has it.
enum Kind : std::uint32_t { message = 0, hello = 0xffffff00, welcome, received, leaving };

/// So many waits are interrupted by a signal.
int num_interrupted_polls = 0;

/// Signals that interrupt what waits, for as long as it lives.
class Signals {
public:
    explicit Signals(std::chrono::microseconds time)
    {
        struct sigaction action {};
        action.sa_handler = [](int) {};
        must_hold(sigaction(SIGALRM, &action, &before_) == 0, "the handler");
        const itimerval each = {{0, time.count()}, {0, time.count()}};
        must_hold(setitimer(ITIMER_REAL, &each, nullptr) == 0, "the timer");
    }
    Signals(const Signals &) = delete;
    Signals &operator=(const Signals &) = delete;
    ~Signals()
    {
        const itimerval none{};
        setitimer(ITIMER_REAL, &none, nullptr);
        sigaction(SIGALRM, &before_, nullptr);
    }

private:
    struct sigaction before_ {};
};

/// An address of this machine that no other process of the tests has.
std::string own_address()
{
    const auto pid = static_cast<unsigned>(getpid());
    return "127." + std::to_string(1 + pid / 65536 % 60) + "." + std::to_string(pid / 256 % 256) + "." +
           std::to_string(pid % 256);
}

constexpr std::uint16_t port = 5001;

/// Whether the kernel can be told how long it may wait between two transmissions: see
/// src/core/process/unauthenticated_clients.cpp.
bool has_short_retransmissions()
{
    constexpr int tcp_rto_max_ms = 44, value = 2000;
    const UniqueFd fd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return setsockopt(fd.get(), IPPROTO_TCP, tcp_rto_max_ms, &value, sizeof(value)) == 0;
}

std::string frame(std::uint32_t kind, const std::string &bytes)
{
    const auto length = static_cast<std::uint32_t>(bytes.size());
    std::string text(8, '\0');
    std::memcpy(text.data(), &length, sizeof(length));
    std::memcpy(text.data() + sizeof(length), &kind, sizeof(kind));
    return text + bytes;
}

std::string number(std::uint64_t value)
{
    return {reinterpret_cast<const char *>(&value), sizeof(value)};
}

} // namespace

extern "C" int poll(pollfd *entries, nfds_t count, int timeout)
{
    if (timeout > 1 && num_interrupted_polls != 0) {
        --num_interrupted_polls;
        errno = EINTR;
        return -1;
    }
    static auto *const original = reinterpret_cast<int (*)(pollfd *, nfds_t, int)>(dlsym(RTLD_NEXT, "poll"));
    return original(entries, count, timeout);
}

namespace {

class CommChannelTcpTest : public testing::Test {
protected:
    CommChannelTcpTest()
    {
        // What a right client says, it says to us first.
        const UniqueFd listener = make_socket();
        const int yes = 1;
        must_hold(setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
                      bind(listener.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0 &&
                      listen(listener.get(), 1) == 0,
                  "an address to listen at");
        const EpHandle client = make_endpoint(host);
        Address *to_service = nullptr;
        must(doca_comm_channel_ep_connect(client, name.c_str(), &to_service));
        const UniqueFd connection(accept(listener.get(), nullptr, nullptr));
        right_hello.resize(8 + 40);
        must_hold(recv(connection.get(), right_hello.data(), right_hello.size(), MSG_WAITALL) ==
                      static_cast<ssize_t>(right_hello.size()),
                  "a hello");
    }

    [[nodiscard]] static UniqueFd make_socket() { return UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
    [[nodiscard]] UniqueFd connect_raw() const
    {
        UniqueFd fd = make_socket();
        must_hold(connect(fd.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0,
                  "somebody listens");
        return fd;
    }
    static void send_raw(const UniqueFd &fd, const std::string &bytes)
    {
        (void)!send(fd.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL); // it may have been closed by now
    }
    /// The service takes what there is, until it says that there is nothing.
    void poll_service()
    {
        for (int i = 0; i < 30; ++i)
            (void)receive(service);
    }
    /// Until the service has closed the connection; what it sent before.
    std::string await_end(const UniqueFd &fd)
    {
        std::string got;
        EXPECT_EQ(until_not(DOCA_ERROR_AGAIN,
                            [&] {
                                poll_service();
                                char bytes[512];
                                const ssize_t size = recv(fd.get(), bytes, sizeof(bytes), MSG_DONTWAIT);
                                if (size > 0)
                                    got.append(bytes, static_cast<std::size_t>(size));
                                return size > 0 || (size < 0 && errno == EAGAIN) ? DOCA_ERROR_AGAIN : DOCA_SUCCESS;
                            }),
                  DOCA_SUCCESS);
        return got;
    }
    /// One that was welcomed.
    [[nodiscard]] UniqueFd connect_well()
    {
        UniqueFd fd = connect_raw();
        send_raw(fd, right_hello);
        std::size_t size = 0;
        EXPECT_EQ(until_not(DOCA_ERROR_AGAIN,
                            [&] {
                                poll_service();
                                char bytes[40];
                                size += static_cast<std::size_t>(
                                    std::max<ssize_t>(recv(fd.get(), bytes, sizeof(bytes) - size, MSG_DONTWAIT), 0));
                                return size == sizeof(bytes) ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
                            }),
                  DOCA_SUCCESS);
        return fd;
    }
    void expect_service_is_well()
    {
        const EpHandle client = make_endpoint(host);
        Address *to_service = nullptr;
        must(doca_comm_channel_ep_connect(client, name.c_str(), &to_service));
        EXPECT_EQ(until_not(DOCA_ERROR_AGAIN,
                            [&] {
                                (void)receive(service);
                                return send_text(client, to_service, "well?");
                            }),
                  DOCA_SUCCESS);
        Received got{};
        EXPECT_EQ(until_not(DOCA_ERROR_AGAIN,
                            [&] {
                                got = receive(service);
                                return got.text == "well?" ? DOCA_SUCCESS : DOCA_ERROR_AGAIN;
                            }),
                  DOCA_SUCCESS);
        must(send_text(service, got.from, "yes"));
        EXPECT_EQ(await_message(client).text, "yes");
    }
    ~CommChannelTcpTest() override { num_interrupted_polls = 0; }
    void start_service() { service = make_service(dpu, representor, name); }

    const std::string at = own_address();
    const Environment environment{"DOCA_COMM_CHANNEL_ADDRESS", (at + ":" + std::to_string(port)).c_str()};
    const sockaddr_in address = {AF_INET, htons(port), {inet_addr(at.c_str())}, {}};
    const DevHandle host = open_device("soft_pf0"), dpu = open_device("soft_p0");
    const RepHandle representor = open_representor(dpu, "0000:0b:00.0");
    const std::string name = service_name();
    std::string right_hello;
    EpHandle service;
};

TEST_F(CommChannelTcpTest, hellos_that_are_none_are_refused)
{
    start_service();
    for (std::size_t i = 0; i < right_hello.size(); ++i) {
        if (i >= 8 + 12 && i < 8 + 16)
            continue; // reserved
        std::string changed = right_hello;
        changed[i] = static_cast<char>(changed[i] ^ 0x81);
        if (i >= 8 + 40 - 2)
            continue; // padding
        const UniqueFd fd = connect_raw();
        send_raw(fd, changed);
        shutdown(fd.get(), SHUT_WR); // of a length that is too long nothing comes any more
        EXPECT_TRUE(await_end(fd).size() <= 40) << "byte " << i;
    }
    const UniqueFd early = connect_raw(); // a message before the hello
    send_raw(early, frame(message, "x"));
    EXPECT_EQ(await_end(early), "");
    expect_service_is_well();
}

TEST_F(CommChannelTcpTest, who_breaks_the_rules_is_disconnected)
{
    start_service();
    std::string nine;
    for (int i = 0; i < 9; ++i)
        nine += frame(message, std::string(100, 'x'));
    const std::string longest(longest_message, 'x');
    for (const std::string &bad :
         {frame(message, ""), frame(message, longest + "x"), frame(1, "a kind that Comm Channel does not have"),
          frame(0xffffffff, "x"), frame(hello, right_hello.substr(8)), frame(welcome, std::string(32, 'x')),
          frame(received, number(1)), frame(received, "short"), frame(leaving, "x"),
          std::string("\xff\xff\xff\x7f\0\0\0\0", 8)}) {
        const UniqueFd fd = connect_well();
        send_raw(fd, frame(message, "a good one first") + bad);
        (void)await_end(fd);
    }
    // More messages than the queue holds: the service does not receive meanwhile.
    const UniqueFd flood = connect_well();
    send_raw(flood, nine + nine + nine + nine);
    (void)await_end(flood);
    expect_service_is_well();
}

TEST_F(CommChannelTcpTest, pieces_are_put_together_and_a_half_one_is_no_message)
{
    start_service();
    const UniqueFd fd = connect_well();
    const std::string text = frame(message, "in pieces");
    for (const char byte : text) {
        send_raw(fd, std::string(1, byte));
        if (&byte != &text.back()) {
            EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
        }
    }
    EXPECT_EQ(await_message(service).text, "in pieces");
    send_raw(fd, text.substr(0, text.size() - 1));
    shutdown(fd.get(), SHUT_RDWR);
    for (int i = 0; i < 100; ++i)
        EXPECT_NE(receive(service).status, DOCA_SUCCESS);
    expect_service_is_well();
}

TEST_F(CommChannelTcpTest, whatever_comes_does_no_harm)
{
    start_service();
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const UniqueFd fd = round % 4 == 0 ? connect_raw() : connect_well();
        std::string bytes;
        while (bytes.size() < 300 && random() % 8 != 0) {
            const std::uint32_t kinds[] = {message, message, received,
                                           leaving, hello,   static_cast<std::uint32_t>(random())};
            bytes +=
                frame(kinds[random() % std::size(kinds)], std::string(random() % 12, static_cast<char>(random() & 3)));
        }
        if (!bytes.empty() && random() % 2 == 0)
            bytes[random() % bytes.size()] ^= static_cast<char>(random());
        send_raw(fd, bytes);
        poll_service();
    }
    expect_service_is_well();
}

TEST_F(CommChannelTcpTest, UnauthenticatedClientsDoNotFillTheLog)
{
    start_service();
    const LogCapture log;
    for (int i = 0; i < 100; ++i) {
        const UniqueFd fd = connect_raw();
        send_raw(fd, frame(message, "no hello"));
        (void)await_end(fd);
    }
    const std::string text = log.text();
    EXPECT_LE(std::ranges::count(text, '\n'), 2 * 21) << text; // a minute may end meanwhile
    expect_service_is_well();
}

/// Nor do those who say the right thing first, which is no secret.
TEST_F(CommChannelTcpTest, UnauthenticatedClientsThatSayHelloDoNotFillTheLog)
{
    start_service();
    const LogCapture log;
    for (int i = 0; i < 60; ++i) {
        const UniqueFd junk = connect_well();
        send_raw(junk, frame(leaving, "x"));
        (void)await_end(junk);
    }
    for (int i = 0; i < 60; ++i)
        (void)connect_well(); // and hangs up
    poll_service();
    const std::string text = log.text();
    EXPECT_LE(std::ranges::count(text, '\n'), 2 * 21) << text; // a minute may end meanwhile
    expect_service_is_well();
}

/// It waits until the peer's kernel has what was sent, which this peer's never gets.
TEST_F(CommChannelTcpTest, ADisconnectThatBlocksDoesNotBlockOtherThreads)
{
    start_service();
    const UniqueFd peer = make_socket();
    const int smallest = 1;
    must_hold(setsockopt(peer.get(), SOL_SOCKET, SO_RCVBUF, &smallest, sizeof(smallest)) == 0 &&
                  connect(peer.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0,
              "a connection");
    send_raw(peer, right_hello + frame(message, "here I am"));
    Address *const to_peer = await_message(service).from;
    std::string text(longest_message, 'x');
    while (send_text(service, to_peer, text) == DOCA_SUCCESS)
        ;
    std::atomic<bool> is_over = false;
    std::atomic<unsigned> num_calls = 0;
    std::thread other([&] {
        for (; !is_over; ++num_calls) {
            EXPECT_EQ(receive(service).status, DOCA_ERROR_AGAIN);
            std::this_thread::yield();
        }
    });
    while (num_calls == 0)
        std::this_thread::yield();
    const unsigned num_before = num_calls;
    must(doca_comm_channel_ep_disconnect(service, to_peer));
    const unsigned num_after = num_calls;
    is_over = true;
    other.join();
    EXPECT_GT(num_after - num_before, 10u);
}

/// With a message under way, which the kernel repeats, and without one, so that it probes. No packet tells of the end.
TEST_F(CommChannelTcpTest, AHostThatVanishesIsNoticedWithinThirtySeconds)
{
    const OwnNetwork network;
    if (!network.is_there())
        GTEST_SKIP() << "no network of one's own can be made: " << std::strerror(errno);
    if (!has_short_retransmissions())
        GTEST_SKIP() << "this kernel is older than 6.15, and repeats for 15 minutes what is under way";
    start_service();
    EpHandle clients[] = {make_endpoint(host), make_endpoint(host)};
    Address *to_service[2] = {nullptr, nullptr};
    for (int i = 0; i != 2; ++i) {
        must(doca_comm_channel_ep_connect(clients[i], name.c_str(), &to_service[i]));
        EXPECT_EQ(until_not(DOCA_ERROR_CONNECTION_INPROGRESS,
                            [&] {
                                (void)receive(service);
                                return doca_comm_channel_peer_addr_update_info(to_service[i]);
                            }),
                  DOCA_SUCCESS);
    }
    const auto begin = std::chrono::steady_clock::now();
    OwnNetwork::set_loopback(false);
    must(send_text(clients[0], to_service[0], "under way"));
    for (int i = 0; i != 2; ++i) {
        doca_event_channel_t has_message = -1;
        must(doca_comm_channel_ep_get_event_channel(clients[i], nullptr, &has_message));
        must(doca_comm_channel_ep_event_handle_arm_recv(clients[i]));
        await_readable(has_message);
        EXPECT_EQ(receive(clients[i]).status, DOCA_ERROR_CONNECTION_RESET) << i;
    }
    EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(45))
        << "thirty seconds, on a busy machine";
}

TEST_F(CommChannelTcpTest, who_says_nothing_keeps_nobody_out)
{
    start_service();
    std::vector<UniqueFd> silent;
    for (int i = 0; i < 200; ++i) {
        silent.push_back(connect_raw());
        poll_service();
    }
    expect_service_is_well();
}

TEST_F(CommChannelTcpTest, a_false_service_gets_nothing_of_a_client)
{
    const UniqueFd listener = make_socket();
    const int yes = 1;
    must_hold(setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
                  bind(listener.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0 &&
                  listen(listener.get(), 1) == 0,
              "an address to listen at");
    std::string right(32, '\0'); // magic, version 1, welcome; rings of 8 messages of 64 bytes
    const std::uint32_t rings[] = {8, 64, 8, 64};
    std::memcpy(right.data(), right_hello.data() + 8, 12);
    std::memcpy(right.data() + 16, rings, sizeof(rings));
    std::vector<std::string> answers = {"", frame(message, "x"), frame(welcome, "short"), frame(hello, right)};
    for (std::size_t i = 0; i < right.size(); ++i) {
        std::string changed = right;
        changed[i] = static_cast<char>(changed[i] ^ 0x42);
        answers.push_back(frame(welcome, changed));
    }
    for (const std::string &answer : answers) {
        const EpHandle client = make_endpoint(host);
        Address *to_service = nullptr;
        must(doca_comm_channel_ep_connect(client, name.c_str(), &to_service));
        UniqueFd connection(accept(listener.get(), nullptr, nullptr));
        send_raw(connection, answer);
        connection = UniqueFd();
        EXPECT_EQ(await_connection(to_service), DOCA_ERROR_CONNECTION_ABORTED) << &answer - answers.data();
    }
}

TEST_F(CommChannelTcpTest, signals_do_not_end_a_connect)
{
    start_service();
    {
        const Signals signals(std::chrono::microseconds(100));
        for (int i = 0; i < 20; ++i) {
            const EpHandle client = make_endpoint(host);
            Address *to_service = nullptr;
            ASSERT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &to_service), DOCA_SUCCESS) << i;
            poll_service();
        }
    }
    num_interrupted_polls = 3;
    expect_service_is_well();
    EXPECT_EQ(num_interrupted_polls, 0);
}

/// One that gets no answer ends when its time is over, and not when signals end.
TEST_F(CommChannelTcpTest, signals_do_not_prolong_a_connect)
{
    const UniqueFd listener = make_socket();
    const int yes = 1;
    must_hold(setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes)) == 0 &&
                  bind(listener.get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address)) == 0 &&
                  listen(listener.get(), 0) == 0,
              "an address to listen at");
    std::vector<UniqueFd> others; // until the kernel takes no more for this listener
    for (int i = 0; i < 4; ++i) {
        others.emplace_back(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
        (void)!connect(others.back().get(), reinterpret_cast<const sockaddr *>(&address), sizeof(address));
    }
    const EpHandle client = make_endpoint(host);
    Address *to_service = nullptr;
    const Signals signals(std::chrono::milliseconds(20));
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(doca_comm_channel_ep_connect(client, name.c_str(), &to_service), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(1));
    EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30)) << "a second, on a busy machine";
}

TEST_F(CommChannelTcpTest, a_port_has_one_service)
{
    start_service();
    const EpHandle other = make_endpoint(dpu);
    must(doca_comm_channel_ep_set_device_rep(other, representor));
    EXPECT_EQ(doca_comm_channel_ep_listen(other, "another"), DOCA_ERROR_CONNECTION_ABORTED);
    // Who looks for another one there is told so.
    const EpHandle client = make_endpoint(host);
    Address *to_service = nullptr;
    must(doca_comm_channel_ep_connect(client, "another", &to_service));
    EXPECT_EQ(until_not(DOCA_ERROR_CONNECTION_INPROGRESS,
                        [&] {
                            poll_service();
                            return doca_comm_channel_peer_addr_update_info(to_service);
                        }),
              DOCA_ERROR_CONNECTION_ABORTED);
    expect_service_is_well();
}

TEST(CommChannelAddress, is_a_numeric_one)
{
    for (const char *const at : {"localhost", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x", "[::1",
                                 "::1]:5", "127.0.0.1.5", "[127.0.0.1]x"}) {
        const Environment environment("DOCA_COMM_CHANNEL_ADDRESS", at);
        const DevHandle dpu = open_device("soft_p0");
        const RepHandle representor = open_representor(dpu, "0000:0b:00.0");
        const EpHandle service = make_endpoint(dpu);
        must(doca_comm_channel_ep_set_device_rep(service, representor));
        EXPECT_EQ(doca_comm_channel_ep_listen(service, "name"), DOCA_ERROR_INVALID_VALUE) << at;
    }
}

} // namespace
