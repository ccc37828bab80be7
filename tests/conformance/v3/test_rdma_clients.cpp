// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What unauthenticated clients cost a server of RDMA by address, where connections are made by the library's own TCP
// connector: on software devices.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <arpa/inet.h>
#include <malloc.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include "../../../src/core/base/unique_fd.hpp"
#include "../support/log_capture.hpp"
#include "../support/own_network.hpp"
#include "../support/own_port.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;
using opendoca::UniqueFd;

namespace {

const std::uint16_t port = own_port(0);

/// As src/rdma/v3/handshake.hpp has it.
enum Kind : char { request = 1 };

std::string message(Kind kind, const std::string &details)
{
    std::string text = "ODR1";
    text += {kind, '\0', static_cast<char>(details.size() >> 8), static_cast<char>(details.size())};
    return text + details;
}

std::size_t num_descriptors()
{
    const std::filesystem::directory_iterator entries("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(entries), end(entries)));
}

std::size_t num_shared_mappings()
{
    std::size_t count = 0;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        count += line[line.find(' ') + 4] == 's' ? 1 : 0;
    return count;
}

class RdmaServerTest : public testing::Test {
protected:
    void SetUp() override
    {
        a.start();
        must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", port, address.out()));
        right_details = export_details();
    }
    void TearDown() override { a.stop(); }
    void serve()
    {
        b.start();
        must(doca_rdma_start_listen_to_port(b.get(), port));
    }
    [[nodiscard]] std::string export_details()
    {
        const void *details = nullptr;
        std::size_t size = 0;
        doca_rdma_connection *connection = nullptr;
        must(doca_rdma_export(a.get(), &details, &size, &connection));
        return {static_cast<const char *>(details), size};
    }
    /// Of a client that has sent @p bytes. Its end leaves no address of the kernel occupied.
    [[nodiscard]] static UniqueFd connect_raw(const std::string &bytes)
    {
        UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        const linger at_once = {.l_onoff = 1, .l_linger = 0};
        sockaddr_in server{};
        server.sin_family = AF_INET;
        server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        server.sin_port = htons(port);
        ensure_call(setsockopt(socket.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)) == 0 &&
                        ::connect(socket.get(), reinterpret_cast<const sockaddr *>(&server), sizeof(server)) == 0 &&
                        ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) ==
                            static_cast<ssize_t>(bytes.size()),
                    "a connection");
        return socket;
    }
    [[nodiscard]] static bool is_closed(const UniqueFd &client)
    {
        pollfd end = {.fd = client.get(), .events = POLLRDHUP, .revents = 0};
        return poll(&end, 1, 0) == 1;
    }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            const bool has_progressed = a.progress();
            if (!b.progress() && !has_progressed)
                std::this_thread::yield();
        }
    }
    void expect_good_client_gets_in()
    {
        const std::size_t num_before = a.open.size(), num_of_server = b.open.size();
        must(doca_rdma_connect_to_addr(a.get(), address, {}));
        run_until([&] { return !a.failures.empty() || (a.open.size() > num_before && b.open.size() > num_of_server); });
        EXPECT_TRUE(a.failures.empty());
    }

    DevHandle dev{open_device("soft_p0")};
    RdmaInstance a{dev}, b{dev};
    AddressHandle address;
    std::string right_details;
};

} // namespace

/// Refused for what they send, because their details cannot be used, and by the program.
TEST_F(RdmaServerTest, TenThousandRefusedClientsLeaveNothingBehind)
{
    bool rejects = false;
    int num_refused_by_accept = 0;
    b.on_request = [&](doca_rdma_connection *connection) {
        if (rejects)
            must(doca_rdma_connection_reject(connection));
        else
            num_refused_by_accept +=
                doca_rdma_connection_accept(connection, nullptr, 0) == DOCA_ERROR_CONNECTION_ABORTED ? 1 : 0;
    };
    serve();
    const std::string all[] = {"GET / HTTP/1.1\r\n", message(request, std::string(right_details.size(), 'x')),
                               message(request, right_details), message(request, "")};
    const auto refuse = [&](int count) {
        for (int i = 0; i != count; ++i) {
            rejects = i % 4 == 2;
            const UniqueFd client = connect_raw(all[i % 4]);
            run_until([&] { return is_closed(client); });
        }
    };
    b.requests.reserve(20'000); // the test's own memory
    const LogCapture log;
    refuse(200);
    const std::size_t memory = mallinfo2().uordblks, descriptors = num_descriptors(), mappings = num_shared_mappings();
    const std::size_t num_lines = static_cast<std::size_t>(std::ranges::count(log.text(), '\n'));
    refuse(10'000);
    EXPECT_LT(mallinfo2().uordblks, memory + 10'000) << "less than a byte for each";
    EXPECT_EQ(num_descriptors(), descriptors);
    EXPECT_EQ(num_shared_mappings(), mappings);
    EXPECT_EQ(num_refused_by_accept, 2 * 10'200 / 4);
    // Twenty a minute, and two lines of the library for one of them; this takes less than two minutes.
    EXPECT_LE(static_cast<std::size_t>(std::ranges::count(log.text(), '\n')), num_lines + 3 * 42) << log.text();
    b.on_request = [](doca_rdma_connection *connection) { must(doca_rdma_connection_accept(connection, nullptr, 0)); };
    expect_good_client_gets_in();
}

/// Those that were accepted leave records, which programs may still use, but not without a limit.
TEST_F(RdmaServerTest, ClientsThatComeAndGoLeaveAsManyRecordsAsThereMayBeConnections)
{
    constexpr std::uint16_t most = 16;
    must(doca_rdma_set_max_num_connections(b.get(), most));
    serve();
    const auto come_and_go = [&](int count) {
        for (int i = 0; i != count; ++i) {
            const std::size_t num_ended = b.ends.size();
            must(doca_rdma_connect_to_addr(a.get(), address, {}));
            run_until([&] { return !a.open.empty() && !b.open.empty(); });
            must(doca_rdma_connection_disconnect(a.open.back()));
            run_until([&] { return b.ends.size() > num_ended; });
            a.open.clear();
            b.open.clear();
        }
    };
    come_and_go(2 * most);
    b.ends.erase(b.ends.begin(), b.ends.end() - most);
    for (doca_rdma_connection *const one : b.ends) // these are still valid
        EXPECT_EQ(doca_rdma_connection_disconnect(one), DOCA_SUCCESS);
    b.ends.clear();
    b.ends.reserve(1000);
    b.requests.clear();
    b.requests.reserve(1000);
    a.ends.reserve(1000);
    const std::size_t memory = mallinfo2().uordblks;
    come_and_go(500);
    // The client's own 500 records stay, of less than 512 bytes; the server's 500 would be as many again.
    EXPECT_LT(mallinfo2().uordblks, memory + 500 * 512);
}

TEST_F(RdmaServerTest, ClientsThatSendNothingDoNotBlockOthers)
{
    serve();
    std::vector<UniqueFd> silent;
    for (int i = 0; i != 200; ++i) {
        silent.push_back(connect_raw(""));
        while (b.progress())
            ;
    }
    expect_good_client_gets_in();
    EXPECT_EQ(std::ranges::count_if(silent, is_closed), 200 - 64 + 1) << "the oldest are closed";
}

/// Clients that ask, are accepted, and do not confirm: they have all places, and the oldest makes room.
TEST_F(RdmaServerTest, ClientsThatDoNotConfirmDoNotBlockOthers)
{
    constexpr std::uint16_t most = 8;
    must(doca_rdma_set_max_num_connections(b.get(), most));
    serve();
    std::vector<UniqueFd> half_open;
    for (std::size_t i = 0; i != 3 * most; ++i) {
        half_open.push_back(connect_raw(message(request, export_details())));
        run_until([&] { return b.requests.size() == i + 1; });
    }
    EXPECT_EQ(b.failures.size(), 2u * most);
    expect_good_client_gets_in();
    EXPECT_EQ(b.failures.size(), 2u * most + 1);
    EXPECT_EQ(std::ranges::count_if(half_open, is_closed), 2 * most + 1);
    for (std::size_t i = 0; i != half_open.size(); ++i)
        EXPECT_EQ(is_closed(half_open[i]), i <= 2 * most) << i;
}

/// A server that is woken by events alone.
TEST_F(RdmaServerTest, HalfOpenClientsAreClosedAfterTenSeconds)
{
    serve();
    const UniqueFd silent = connect_raw(""), partial = connect_raw("ODR"),
                   unconfirmed = connect_raw(message(request, right_details));
    run_until([&] { return b.requests.size() == 1; });
    const auto begin = std::chrono::steady_clock::now();
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(b.pe(), &handle));
    while (b.failures.empty() || !is_closed(silent) || !is_closed(partial) || !is_closed(unconfirmed)) {
        while (b.progress())
            ;
        must(doca_pe_request_notification(b.pe()));
        pollfd news = {.fd = handle, .events = POLLIN, .revents = 0};
        ensure_call(poll(&news, 1, 60'000) == 1, "the server is woken");
        must(doca_pe_clear_notification(b.pe(), handle));
        while (b.progress())
            ;
    }
    EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(9));
    EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << "ten seconds, on a busy machine";
    EXPECT_EQ(b.failures, b.requests);
    expect_good_client_gets_in();
}

/// The hosts are two ends of a network that is switched off: no packet says so.
TEST_F(RdmaServerTest, AHostThatVanishesIsNoticedWithinThirtySeconds)
{
    const OwnNetwork network;
    if (!network.is_there())
        GTEST_SKIP() << "no network of one's own can be made: " << std::strerror(errno);
    serve();
    expect_good_client_gets_in();
    const auto begin = std::chrono::steady_clock::now();
    OwnNetwork::set_loopback(false);
    run_until([&] {
        return (!a.ends.empty() && !b.ends.empty()) ||
               std::chrono::steady_clock::now() - begin > std::chrono::seconds(120);
    });
    EXPECT_EQ(a.ends.size(), 1u);
    EXPECT_EQ(b.ends.size(), 1u);
    EXPECT_LE(std::chrono::steady_clock::now() - begin, std::chrono::seconds(40))
        << "thirty seconds, on a busy machine";
}

/// Other programs that listen run at the same time.
TEST(PortBlock, is_of_one_user)
{
    const PortBlock one, two;
    const int size = PortBlock::size;
    EXPECT_GE(std::abs(one[0] - two[0]), size);
    EXPECT_GE(std::abs(one[0] - port), size);
    EXPECT_GE(std::abs(two[0] - port), size);
}
