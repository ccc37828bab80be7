// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA of DOCA 3.0: two instances of one process.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <doca_graph.h>

#include "../../../src/core/base/unique_fd.hpp"
#include "../support/environment.hpp"
#include "../support/log_capture.hpp"
#include "../support/own_port.hpp"
#include "rdma_instance.hpp"
#include "storm_peers.hpp"

using namespace doca_test;

namespace {

class RdmaTaskTest : public testing::TestWithParam<std::string> {
protected:
    static constexpr std::size_t size = std::size_t{1} << 20;

    void SetUp() override
    {
        for (std::size_t i = 0; i != size; ++i)
            a_memory[i] = static_cast<std::byte>(i * 13 + 5);
        a.start();
        b.start();
    }
    /// A connection by details: both ends.
    std::pair<doca_rdma_connection *, doca_rdma_connection *> connect() { return connect(a, b); }
    static std::pair<doca_rdma_connection *, doca_rdma_connection *> connect(const RdmaInstance &from,
                                                                             const RdmaInstance &to)
    {
        return connect(from.get(), to.get());
    }
    static std::pair<doca_rdma_connection *, doca_rdma_connection *> connect(doca_rdma *from, doca_rdma *to)
    {
        const void *details[2];
        std::size_t sizes[2];
        std::pair<doca_rdma_connection *, doca_rdma_connection *> ends;
        must(doca_rdma_export(from, &details[0], &sizes[0], &ends.first));
        must(doca_rdma_export(to, &details[1], &sizes[1], &ends.second));
        must(doca_rdma_connect(from, details[1], sizes[1], ends.first));
        must(doca_rdma_connect(to, details[0], sizes[0], ends.second));
        return ends;
    }
    void run_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            const bool has_progressed = a.progress();
            if (!b.progress() && !has_progressed)
                std::this_thread::yield();
        }
    }
    void receive(Outcome &outcome, doca_buf *dst) { receive(outcome, dst, b); }
    static void receive(Outcome &outcome, doca_buf *dst, const RdmaInstance &by)
    {
        doca_rdma_task_receive *task = nullptr;
        must(doca_rdma_task_receive_allocate_init(by.get(), dst, {.ptr = &outcome}, &task));
        must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
    }
    void send(Outcome &outcome, doca_rdma_connection *connection, const doca_buf *src, std::uint32_t immediate)
    {
        doca_rdma_task_send_imm *task = nullptr;
        must(doca_rdma_task_send_imm_allocate_init(a.get(), connection, src, htonl(immediate), {.ptr = &outcome},
                                                   &task));
        must(doca_task_submit(doca_rdma_task_send_imm_as_task(task)));
    }
    [[nodiscard]] BufHandle data(doca_mmap *map, std::byte *start, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, map, start, length, buf.out()));
        return buf;
    }
    [[nodiscard]] BufHandle room(doca_mmap *map, std::byte *start, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, map, start, length, buf.out()));
        return buf;
    }
    /// Where @p dev is reached. That of a card made of software is none of this machine's.
    [[nodiscard]] std::string own_address() const
    {
        std::uint8_t ipv4[4];
        char text[INET_ADDRSTRLEN];
        if (is_soft(GetParam()) || getenv("OPENDOCA_CARD_SIDE") != nullptr ||
            doca_devinfo_get_ipv4_addr(doca_dev_as_devinfo(dev), ipv4, sizeof(ipv4)) != DOCA_SUCCESS)
            return "127.0.0.1";
        return inet_ntop(AF_INET, ipv4, text, sizeof(text));
    }
    [[nodiscard]] MmapHandle import_from_b()
    {
        const void *descriptor = nullptr;
        std::size_t length = 0;
        must(doca_mmap_export_rdma(b_map, dev, &descriptor, &length));
        MmapHandle imported;
        must(doca_mmap_create_from_export(nullptr, descriptor, length, dev, imported.out()));
        return imported;
    }

    DevHandle dev = open_device(GetParam());
    std::vector<std::byte> a_memory = std::vector<std::byte>(size);
    std::vector<std::byte> b_memory = std::vector<std::byte>(size);
    MmapHandle a_map = map_of(dev, a_memory, rdma_rights);
    MmapHandle b_map = map_of(dev, b_memory, rdma_rights);
    InventoryHandle inventory = inventory_of(64);
    RdmaInstance a{dev};
    RdmaInstance b{dev};
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(RdmaTaskTest);
INSTANTIATE_TEST_SUITE_P(device, RdmaTaskTest, testing::ValuesIn(connecting_devices()), name_of_device);

/// The engine polls contexts less often in which nothing happens for long. Messages to them are received all the same,
/// and a program that sleeps is woken and finds them in the calls that follow.
TEST_P(RdmaTaskTest, contexts_without_work_for_long_receive)
{
    RdmaInstance other{dev, 1, b.pe()};
    other.start();
    const std::array<RdmaInstance *, 2> receivers = {&b, &other};
    std::array<doca_rdma_connection *, 2> to{};
    for (std::size_t i = 0; i != receivers.size(); ++i)
        to[i] = connect(a, *receivers[i]).first;
    doca_notification_handle_t handle = -1;
    must(doca_pe_get_notification_handle(b.pe(), &handle));
    for (const bool sleeps : {false, true}) {
        for (std::size_t i = 0; i != receivers.size(); ++i) {
            BufHandle src = data(a_map, a_memory.data(), 64);
            BufHandle dst = room(b_map, b_memory.data(), 64);
            Outcome sent, received;
            receive(received, dst, *receivers[i]);
            constexpr int polls_for_idle = 10000;
            for (int polls = 0; polls != polls_for_idle; ++polls)
                (void)b.progress();
            if (sleeps)
                must(doca_pe_request_notification(b.pe()));
            send(sent, to[i], src, 7);
            if (sleeps && is_soft(GetParam())) {
                pollfd entry{handle, POLLIN, 0};
                ASSERT_EQ(poll(&entry, 1, 10000), 1);
                must(doca_pe_clear_notification(b.pe(), 0));
                while (b.progress()) {
                }
                EXPECT_EQ(received.num_succeeded, 1) << "not in the calls after the wake-up";
            }
            run_until([&] { return sent.has_ended() && received.has_ended(); });
            EXPECT_EQ(received.num_succeeded, 1);
            must(doca_pe_clear_notification(b.pe(), 0));
        }
    }
}

TEST_P(RdmaTaskTest, messages_tell_the_receiver_their_connection)
{
    const auto [of_a, of_b] = connect();
    for (const std::size_t length : {std::size_t{8}, std::size_t{3000}, size}) {
        BufHandle dst = room(b_map, b_memory.data(), size);
        BufHandle src = data(a_map, a_memory.data(), length);
        Outcome received, sent;
        received.then = [&, of_b = of_b](doca_task *task) {
            const auto *const own = reinterpret_cast<const doca_rdma_task_receive *>(task);
            EXPECT_EQ(doca_rdma_task_receive_get_result_len(own), length);
            EXPECT_EQ(doca_rdma_task_receive_get_result_opcode(own), DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
            EXPECT_EQ(ntohl(doca_rdma_task_receive_get_result_immediate_data(own)), 77u);
            EXPECT_EQ(doca_rdma_task_receive_get_result_rdma_connection(own), of_b);
        };
        receive(received, dst);
        send(sent, of_a, src, 77);
        run_until([&] { return received.has_ended() && sent.has_ended(); });
        EXPECT_EQ(received.status, DOCA_SUCCESS);
        EXPECT_EQ(sent.status, DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(dst), length);
        EXPECT_TRUE(
            std::equal(a_memory.begin(), a_memory.begin() + static_cast<std::ptrdiff_t>(length), b_memory.begin()));
    }
}

/// Where messages change from one way to another, and a byte around it.
TEST_P(RdmaTaskTest, messages_of_any_length_fill_their_receive_and_no_byte_more)
{
    const auto [of_a, of_b] = connect();
    constexpr std::size_t before = 3;
    std::vector<std::size_t> lengths(50);
    std::iota(lengths.begin(), lengths.end(), 1);
    lengths.insert(lengths.end(), {1023, 1024, 1025, 8191, 8192, 8193});
    for (const std::size_t length : lengths) {
        std::ranges::fill(b_memory, std::byte{0xee});
        BufHandle src = data(a_map, a_memory.data() + length, length);
        BufHandle dst = room(b_map, b_memory.data(), before + length);
        must(doca_buf_set_data_len(dst, before));
        Outcome received, sent;
        receive(received, dst);
        send(sent, of_a, src, 1);
        run_until([&] { return received.has_ended() && sent.has_ended(); });
        ASSERT_EQ(received.num_succeeded + sent.num_succeeded, 2) << length;
        std::vector<std::byte> expected(size, std::byte{0xee});
        std::memcpy(expected.data() + before, a_memory.data() + length, length);
        ASSERT_TRUE(b_memory == expected) << length;
        EXPECT_EQ(data_len_of(dst), before + length);
    }
}

TEST_P(RdmaTaskTest, a_receive_takes_the_message_of_any_connection)
{
    std::array<std::pair<doca_rdma_connection *, doca_rdma_connection *>, 4> ends;
    for (auto &pair : ends)
        pair = connect();
    std::array<Outcome, 4> received, sent;
    std::array<const doca_rdma_connection *, 4> from{};
    std::vector<BufHandle> bufs;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        bufs.push_back(room(b_map, &b_memory[i * 64], 64));
        received[i].then = [&from, i](doca_task *task) {
            from[i] = doca_rdma_task_receive_get_result_rdma_connection(
                reinterpret_cast<const doca_rdma_task_receive *>(task));
        };
        receive(received[i], bufs.back());
    }
    for (std::size_t i = ends.size(); i-- != 0;) {
        bufs.push_back(data(a_map, &a_memory[i * 64], 64));
        send(sent[i], ends[i].first, bufs.back(), 0);
    }
    run_until([&] { return std::ranges::all_of(received, &Outcome::has_ended); });
    for (const auto &pair : ends)
        EXPECT_EQ(std::ranges::count(from, pair.second), 1);
    run_until([&] { return std::ranges::all_of(sent, &Outcome::has_ended); });
}

TEST_P(RdmaTaskTest, memory_is_read_written_and_counted)
{
    const auto [connection, of_b] = connect();
    const MmapHandle imported = import_from_b();
    BufHandle src = data(a_map, a_memory.data(), 4096);
    BufHandle there = room(imported, b_memory.data(), 4096);
    Outcome written;
    doca_rdma_task_write *write = nullptr;
    must(doca_rdma_task_write_allocate_init(a.get(), connection, src, there, {.ptr = &written}, &write));
    must(doca_task_submit(doca_rdma_task_write_as_task(write)));
    run_until([&] { return written.has_ended(); });
    EXPECT_EQ(written.status, DOCA_SUCCESS);
    EXPECT_TRUE(std::equal(a_memory.begin(), a_memory.begin() + 4096, b_memory.begin()));

    BufHandle back = room(a_map, &a_memory[8192], 4096);
    Outcome read;
    read.then = [](doca_task *task) {
        EXPECT_EQ(doca_rdma_task_read_get_result_len(reinterpret_cast<const doca_rdma_task_read *>(task)), 4096u);
    };
    doca_rdma_task_read *reading = nullptr;
    must(doca_rdma_task_read_allocate_init(a.get(), connection, there, back, {.ptr = &read}, &reading));
    must(doca_task_submit(doca_rdma_task_read_as_task(reading)));
    run_until([&] { return read.has_ended(); });
    EXPECT_EQ(read.status, DOCA_SUCCESS);
    EXPECT_TRUE(std::equal(a_memory.begin(), a_memory.begin() + 4096, a_memory.begin() + 8192));

    const std::uint64_t before = 40;
    std::memcpy(&b_memory[16384], &before, sizeof(before));
    BufHandle word = data(imported, &b_memory[16384], 8);
    BufHandle old = data(a_map, &a_memory[16384], 8);
    Outcome added, swapped;
    doca_rdma_task_atomic_fetch_add *add = nullptr;
    must(doca_rdma_task_atomic_fetch_add_allocate_init(a.get(), connection, word, old, 2, {.ptr = &added}, &add));
    must(doca_task_submit(doca_rdma_task_atomic_fetch_add_as_task(add)));
    run_until([&] { return added.has_ended(); });
    EXPECT_EQ(added.status, DOCA_SUCCESS);
    std::uint64_t value = 0;
    std::memcpy(&value, &a_memory[16384], sizeof(value));
    EXPECT_EQ(value, 40u);
    doca_rdma_task_atomic_cmp_swp *swap = nullptr;
    must(doca_rdma_task_atomic_cmp_swp_allocate_init(a.get(), connection, word, old, 42, 7, {.ptr = &swapped}, &swap));
    must(doca_task_submit(doca_rdma_task_atomic_cmp_swp_as_task(swap)));
    run_until([&] { return swapped.has_ended(); });
    EXPECT_EQ(swapped.status, DOCA_SUCCESS);
    std::memcpy(&value, &b_memory[16384], sizeof(value));
    EXPECT_EQ(value, 7u);
}

TEST_P(RdmaTaskTest, another_nodes_sync_event_is_counted)
{
    const auto [connection, of_b] = connect();
    SyncEventHandle event;
    must(doca_sync_event_create(event.out()));
    must(doca_sync_event_add_publisher_location_remote_net(event));
    must(doca_sync_event_add_subscriber_location_cpu(event, dev));
    must(doca_sync_event_start(event));
    const std::uint8_t *bytes = nullptr;
    std::size_t length = 0;
    must(doca_sync_event_export_to_remote_net(event, &bytes, &length));
    RemoteEventHandle remote;
    must(doca_sync_event_remote_net_create_from_export(dev, bytes, length, remote.out()));
    const auto value_here = [&] {
        std::uint64_t value = 0;
        must(doca_sync_event_get(event, &value));
        return value;
    };

    const std::uint64_t start = 40;
    std::memcpy(a_memory.data(), &start, sizeof(start));
    BufHandle src = data(a_map, a_memory.data(), sizeof(start));
    Outcome set, added, read;
    doca_rdma_task_remote_net_sync_event_notify_set *setting = nullptr;
    must(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(a.get(), connection, remote, src, {.ptr = &set},
                                                                       &setting));
    must(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(setting)));
    run_until([&] { return set.has_ended(); });
    EXPECT_EQ(set.status, DOCA_SUCCESS);
    EXPECT_EQ(value_here(), 40u);

    BufHandle before = data(a_map, &a_memory[64], 8);
    doca_rdma_task_remote_net_sync_event_notify_add *adding = nullptr;
    must(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(a.get(), connection, remote, before, 2,
                                                                       {.ptr = &added}, &adding));
    must(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_add_as_task(adding)));
    run_until([&] { return added.has_ended(); });
    EXPECT_EQ(added.status, DOCA_SUCCESS);
    EXPECT_EQ(value_here(), 42u);
    std::uint64_t old = 0;
    std::memcpy(&old, &a_memory[64], sizeof(old));
    EXPECT_EQ(old, 40u);

    BufHandle dst = room(a_map, &a_memory[128], 8);
    doca_rdma_task_remote_net_sync_event_get *getting = nullptr;
    must(doca_rdma_task_remote_net_sync_event_get_allocate_init(a.get(), connection, remote, dst, {.ptr = &read},
                                                                &getting));
    EXPECT_EQ(doca_rdma_task_remote_net_sync_event_get_get_sync_event(getting), remote);
    must(doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(getting)));
    run_until([&] { return read.has_ended(); });
    EXPECT_EQ(read.status, DOCA_SUCCESS);
    std::uint64_t seen = 0;
    std::memcpy(&seen, &a_memory[128], sizeof(seen));
    EXPECT_EQ(seen, 42u);
    must(doca_sync_event_stop(event));
}

TEST_P(RdmaTaskTest, a_task_that_fails_ends_its_connection_alone)
{
    const auto broken = connect();
    const auto sound = connect();
    BufHandle too_short = room(b_map, b_memory.data(), 16);
    BufHandle src = data(a_map, a_memory.data(), 4096);
    Outcome received, sent;
    receive(received, too_short);
    send(sent, broken.first, src, 0);
    run_until([&] { return received.has_ended() && !b.ends.empty(); });
    EXPECT_NE(received.status, DOCA_SUCCESS);
    EXPECT_EQ(state_of(b.ctx()), DOCA_CTX_STATE_RUNNING);
    run_until([&] { return sent.has_ended() && !a.ends.empty(); });
    EXPECT_EQ(a.ends.front(), broken.first);
    EXPECT_EQ(b.ends.front(), broken.second);
    Outcome again, good;
    BufHandle dst = room(b_map, b_memory.data(), 4096);
    receive(good, dst);
    send(again, sound.first, src, 0);
    run_until([&] { return good.has_ended() && again.has_ended(); });
    EXPECT_EQ(good.status, DOCA_SUCCESS);
}

TEST_P(RdmaTaskTest, a_message_that_does_not_fit_is_the_last_one_of_its_connection)
{
    const auto broken = connect();
    const auto sound = connect();
    BufHandle src = data(a_map, a_memory.data(), 32);
    std::array<Outcome, 4> sent;
    for (Outcome &outcome : sent)
        send(outcome, broken.first, src, 0);
    BufHandle too_short = room(b_map, b_memory.data(), 16);
    std::array<BufHandle, 3> rooms;
    Outcome failed;
    std::array<Outcome, 3> received;
    receive(failed, too_short);
    for (std::size_t i = 0; i != rooms.size(); ++i) {
        rooms[i] = room(b_map, b_memory.data() + (i + 1) * 64, 64);
        receive(received[i], rooms[i]);
    }
    run_until([&] {
        return failed.has_ended() && !a.ends.empty() && !b.ends.empty() &&
               std::ranges::all_of(sent, [](const Outcome &outcome) { return outcome.has_ended(); });
    });
    EXPECT_NE(failed.status, DOCA_SUCCESS);
    EXPECT_TRUE(std::ranges::none_of(received, [](const Outcome &outcome) { return outcome.has_ended(); }));
    std::array<Outcome, 3> again; // the receives are those of who comes next
    for (Outcome &outcome : again)
        send(outcome, sound.first, src, 0);
    run_until(
        [&] { return std::ranges::all_of(received, [](const Outcome &outcome) { return outcome.has_ended(); }); });
    EXPECT_TRUE(std::ranges::all_of(received, [](const Outcome &outcome) { return outcome.num_succeeded == 1; }));
    run_until([&] { return std::ranges::all_of(again, [](const Outcome &outcome) { return outcome.has_ended(); }); });
}

TEST_P(RdmaTaskTest, details_that_were_mixed_up_are_told_of)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "a queue pair does not show whom it is connected to";
    const LogCapture log;
    const void *details[4];
    std::size_t sizes[4];
    doca_rdma_connection *ends[4];
    for (std::size_t i = 0; i != 4; ++i)
        must(doca_rdma_export(i % 2 == 0 ? a.get() : b.get(), &details[i], &sizes[i], &ends[i]));
    must(doca_rdma_connect(a.get(), details[1], sizes[1], ends[0]));
    must(doca_rdma_connect(b.get(), details[2], sizes[2], ends[1])); // those of a's other connection
    run_until([&] { return !a.ends.empty(); });
    EXPECT_LOGGED(log, "is connected to another instance");
    EXPECT_LOGGED(log, "WRN");
}

TEST_P(RdmaTaskTest, stopping_flushes_what_is_in_flight)
{
    (void)connect();
    BufHandle dst = room(b_map, b_memory.data(), 64);
    Outcome received;
    receive(received, dst);
    EXPECT_EQ(in_flight(b.ctx()), 1u);
    EXPECT_EQ(doca_ctx_stop(b.ctx()), DOCA_ERROR_IN_PROGRESS);
    run_until([&] { return received.has_ended(); });
    EXPECT_EQ(received.num_failed, 1);
    EXPECT_EQ(state_of(b.ctx()), DOCA_CTX_STATE_IDLE);
}

/// Also if the others have had no work for long.
TEST_P(RdmaTaskTest, an_engine_may_be_destroyed_when_a_context_reports_that_it_is_idle)
{
    for (const int num_polls : {0, 10000}) {
        struct Owned {
            PeHandle engine;
            RdmaHandle rdma;
            std::optional<RdmaInstance> other;
            bool is_gone = false;
        } owned;
        must(doca_pe_create(owned.engine.out()));
        must(doca_rdma_create(dev, owned.rdma.out()));
        const auto ended = [](doca_rdma_task_receive *task, doca_data, doca_data) {
            doca_task_free(doca_rdma_task_receive_as_task(task));
        };
        must(doca_rdma_task_receive_set_conf(owned.rdma, ended, ended, 1));
        doca_ctx *const ctx = doca_rdma_as_ctx(owned.rdma);
        must(doca_ctx_set_user_data(ctx, {.ptr = &owned}));
        must(
            doca_ctx_set_state_changed_cb(ctx, [](doca_data of_ctx, doca_ctx *, doca_ctx_states, doca_ctx_states next) {
                auto &mine = *static_cast<Owned *>(of_ctx.ptr);
                if (next != DOCA_CTX_STATE_IDLE)
                    return;
                mine.other.reset();
                mine.rdma.reset();
                mine.engine.reset();
                mine.is_gone = true;
            }));
        doca_pe *const engine = owned.engine;
        must(doca_pe_connect_ctx(engine, ctx));
        must(doca_ctx_start(ctx));
        connect(owned.rdma, b.get());
        owned.other.emplace(dev, 1, engine);
        owned.other->start();
        connect(*owned.other, b);
        doca_rdma_task_receive *task = nullptr;
        must(doca_rdma_task_receive_allocate_init(owned.rdma, nullptr, {}, &task));
        must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
        for (int i = 0; i != num_polls; ++i)
            (void)doca_pe_progress(engine);
        EXPECT_EQ(doca_ctx_stop(ctx), DOCA_ERROR_IN_PROGRESS);
        while (!owned.is_gone)
            (void)doca_pe_progress(engine);
    }
}

TEST_P(RdmaTaskTest, details_that_are_none_are_refused)
{
    const void *details = nullptr;
    std::size_t length = 0;
    doca_rdma_connection *connection = nullptr;
    must(doca_rdma_export(a.get(), &details, &length, &connection));
    std::vector<std::byte> forged(length);
    EXPECT_EQ(doca_rdma_connect(a.get(), forged.data(), forged.size(), connection), DOCA_ERROR_CONNECTION_ABORTED);
    EXPECT_EQ(doca_rdma_connect(b.get(), forged.data(), forged.size(), connection), DOCA_ERROR_INVALID_VALUE)
        << "another instance's connection";
    Outcome sent;
    BufHandle src = data(a_map, a_memory.data(), 8);
    send(sent, connection, src, 0);
    run_until([&] { return sent.has_ended(); });
    EXPECT_EQ(sent.status, DOCA_ERROR_NOT_CONNECTED);
}

TEST_P(RdmaTaskTest, an_address_leads_to_a_server)
{
    const std::uint16_t port = own_port(0);
    EXPECT_EQ(doca_rdma_start_listen_to_port(b.get(), 0), DOCA_ERROR_INVALID_VALUE) << "nobody would know which";
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {.u64 = 5}), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_addr_destroy(address.release()), DOCA_SUCCESS) << "the connection has its own copy";
    run_until([&] { return !a.open.empty() && !b.open.empty(); });
    doca_rdma_addr *copy = nullptr;
    ASSERT_EQ(doca_rdma_connection_get_addr(a.open[0], &copy), DOCA_SUCCESS);
    doca_rdma_addr_type type{};
    const char *text = nullptr;
    std::uint16_t its_port = 0;
    ASSERT_EQ(doca_rdma_addr_get_params(copy, &type, &text, &its_port), DOCA_SUCCESS);
    EXPECT_EQ(type, DOCA_RDMA_ADDR_TYPE_IPv4);
    EXPECT_EQ(text, own_address());
    EXPECT_EQ(its_port, port);
    EXPECT_EQ(doca_rdma_addr_destroy(copy), DOCA_ERROR_BAD_STATE) << "the connection frees it";
    doca_data user_data{};
    ASSERT_EQ(doca_rdma_connection_get_user_data(a.open[0], &user_data), DOCA_SUCCESS);
    EXPECT_EQ(user_data.u64, 5u);
    BufHandle dst = room(b_map, b_memory.data(), 64);
    BufHandle src = data(a_map, a_memory.data(), 64);
    Outcome received, sent;
    receive(received, dst);
    send(sent, a.open[0], src, 1);
    run_until([&] { return received.has_ended() && sent.has_ended(); });
    EXPECT_EQ(received.status, DOCA_SUCCESS);
    ASSERT_EQ(doca_rdma_connection_disconnect(a.open[0]), DOCA_SUCCESS);
    run_until([&] { return !b.ends.empty(); });
    EXPECT_EQ(b.ends[0], b.open[0]);
    EXPECT_TRUE(a.ends.empty()) << "who disconnects is not told of it";
    a.stop();
}

TEST_P(RdmaTaskTest, a_failed_connect_leaves_the_address_to_the_program)
{
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), 1, address.out()));
    b.stop();
    EXPECT_EQ(doca_rdma_connect_to_addr(b.get(), address, {}), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_addr_destroy(address.release()), DOCA_SUCCESS);
}

TEST_P(RdmaTaskTest, a_connection_by_details_is_established_once_in_a_progress_after_its_connect)
{
    const auto ends = connect();
    EXPECT_TRUE(a.connected.empty() && b.connected.empty()) << "never within doca_rdma_connect()";
    run_until([&] { return !a.connected.empty() && !b.connected.empty(); });
    EXPECT_EQ(a.connected.front(), ends.first);
    EXPECT_EQ(b.connected.front(), ends.second);
    BufHandle dst = room(b_map, b_memory.data(), 64);
    BufHandle src = data(a_map, a_memory.data(), 64);
    Outcome received, sent;
    receive(received, dst);
    send(sent, ends.first, src, 1);
    run_until([&] { return received.has_ended() && sent.has_ended(); });
    for (int i = 0; i != 1000; ++i) {
        (void)a.progress();
        (void)b.progress();
    }
    EXPECT_EQ(a.connected.size(), 1u);
    EXPECT_EQ(b.connected.size(), 1u);
    EXPECT_TRUE(a.failures.empty() && b.failures.empty());
}

TEST_P(RdmaTaskTest, a_connection_by_details_is_established_before_its_first_message)
{
    BufHandle dst = room(b_map, b_memory.data(), 64);
    BufHandle src = data(a_map, a_memory.data(), 64);
    Outcome received, sent;
    std::size_t num_connected = 0;
    received.then = [&](doca_task *) { num_connected = b.connected.size(); };
    receive(received, dst);
    const auto ends = connect();
    send(sent, ends.first, src, 1);
    while (!sent.has_ended())
        (void)a.progress();
    run_until([&] { return received.has_ended(); });
    EXPECT_EQ(num_connected, 1u);
}

TEST_P(RdmaTaskTest, a_connection_by_details_is_established_before_its_end)
{
    std::size_t num_connected = 0;
    b.on_end = [&](doca_rdma_connection *) { num_connected = b.connected.size(); };
    const auto ends = connect();
    ASSERT_EQ(doca_rdma_connection_disconnect(ends.first), DOCA_SUCCESS);
    // An RDMA device notices the end of a peer when a task is in flight.
    BufHandle src = data(b_map, b_memory.data(), 64);
    Outcome sent;
    doca_rdma_task_send *task = nullptr;
    must(doca_rdma_task_send_allocate_init(b.get(), ends.second, src, {.ptr = &sent}, &task));
    must(doca_task_submit(doca_rdma_task_send_as_task(task)));
    run_until([&] { return !b.ends.empty() && sent.has_ended(); });
    EXPECT_EQ(num_connected, 1u);
    EXPECT_TRUE(a.connected.empty()) << "this side has disconnected before";
    EXPECT_TRUE(a.ends.empty());
}

TEST_P(RdmaTaskTest, a_refused_connect_by_details_calls_no_callback)
{
    const void *details = nullptr;
    std::size_t length = 0;
    doca_rdma_connection *connection = nullptr;
    must(doca_rdma_export(a.get(), &details, &length, &connection));
    const std::array<std::byte, 16> garbage{};
    EXPECT_EQ(doca_rdma_connect(a.get(), garbage.data(), garbage.size(), connection), DOCA_ERROR_CONNECTION_ABORTED);
    while (a.progress())
        ;
    EXPECT_TRUE(a.connected.empty() && a.failures.empty() && a.ends.empty());
}

/// Whether it waits when it connects, as a program with several threads may, or waits after that.
TEST_P(RdmaTaskTest, the_established_callback_of_a_connection_by_details_wakes_its_program)
{
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(a.pe(), &handle));
    pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
    for (const bool arms_first : {true, false}) {
        while (a.progress())
            ;
        if (arms_first)
            must(doca_pe_request_notification(a.pe()));
        const auto ends = connect();
        if (!arms_first)
            must(doca_pe_request_notification(a.pe()));
        EXPECT_EQ(poll(&wish, 1, 10'000), 1) << "armed " << (arms_first ? "before" : "after") << " the connect";
        must(doca_pe_clear_notification(a.pe(), handle));
        while (a.progress())
            ;
        ASSERT_FALSE(a.connected.empty());
        EXPECT_EQ(a.connected.back(), ends.first);
    }
    EXPECT_EQ(a.connected.size(), 2u);
}

/// As a program hears of connections first, and knows then whose messages come.
TEST_P(RdmaTaskTest, a_connection_is_established_before_its_first_message)
{
    const std::uint16_t port = own_port(4);
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    BufHandle dst = room(b_map, b_memory.data(), 64);
    BufHandle src = data(a_map, a_memory.data(), 64);
    Outcome received, sent;
    std::size_t num_open = 0;
    received.then = [&](doca_task *) { num_open = b.open.size(); };
    receive(received, dst);
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    run_until([&] { return !b.requests.empty(); });
    while (a.open.empty())
        (void)a.progress();
    send(sent, a.open[0], src, 1);
    while (is_soft(GetParam()) && !sent.has_ended()) // so that it is there before b looks
        (void)a.progress();
    run_until([&] { return received.has_ended() && sent.has_ended(); });
    EXPECT_EQ(num_open, 1u);
    EXPECT_EQ(b.open.size(), 1u) << "told once";
    run_until([&] { return !b.progress(); });
    EXPECT_EQ(b.open.size(), 1u);
    a.stop();
}

/// A program that submits each task again in its callback.
TEST_P(RdmaTaskTest, an_instance_that_is_always_busy_serves_clients_and_ends)
{
    const std::uint16_t port = own_port(5);
    const auto busy = connect();
    const MmapHandle imported = import_from_b();
    BufHandle src = data(a_map, a_memory.data(), 8);
    BufHandle dst = room(imported, b_memory.data(), 8);
    Outcome wrote;
    bool goes_on = true;
    wrote.then = [&](doca_task *task) {
        wrote.keeps_task = goes_on;
        if (goes_on)
            must(doca_task_submit(task));
    };
    doca_rdma_task_write *task = nullptr;
    must(doca_rdma_task_write_allocate_init(a.get(), busy.first, src, dst, {.ptr = &wrote}, &task));
    must(doca_task_submit(doca_rdma_task_write_as_task(task)));
    ASSERT_EQ(doca_rdma_start_listen_to_port(a.get(), port), DOCA_SUCCESS);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    ASSERT_EQ(doca_rdma_connect_to_addr(b.get(), address, {}), DOCA_SUCCESS);
    run_until([&] { return !b.open.empty() && !a.open.empty(); });
    EXPECT_GT(wrote.num_succeeded, 0);
    ASSERT_EQ(doca_rdma_connection_disconnect(b.open[0]), DOCA_SUCCESS);
    run_until([&] { return !a.ends.empty(); });
    EXPECT_EQ(a.ends[0], a.open[0]);
    EXPECT_EQ(wrote.num_failed, 0);
    goes_on = false;
    run_until([&] { return in_flight(a.ctx()) == 0; });
}

TEST_P(RdmaTaskTest, a_connection_of_another_instance_is_none)
{
    const auto ends = connect();
    BufHandle src = data(a_map, a_memory.data(), 8);
    Outcome sent;
    doca_rdma_task_send *task = nullptr;
    must(doca_rdma_task_send_allocate_init(a.get(), ends.second, src, {.ptr = &sent}, &task));
    EXPECT_EQ(doca_task_try_submit(doca_rdma_task_send_as_task(task)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_FALSE(sent.has_ended());
    doca_task_free(doca_rdma_task_send_as_task(task));
}

TEST_P(RdmaTaskTest, a_task_that_finds_the_queue_full_says_so)
{
    RdmaInstance small(dev);
    must(doca_rdma_set_send_queue_size(small.get(), 1));
    small.start();
    const void *details = nullptr;
    std::size_t length = 0;
    doca_rdma_connection *connection = nullptr, *of_b = nullptr;
    must(doca_rdma_export(small.get(), &details, &length, &connection));
    must(doca_rdma_export(b.get(), &details, &length, &of_b));
    must(doca_rdma_connect(small.get(), details, length, connection)); // b does not: sends wait
    BufHandle src = data(a_map, a_memory.data(), 64);
    Outcome waits;
    const auto allocate = [&] {
        doca_rdma_task_send *task = nullptr;
        must(doca_rdma_task_send_allocate_init(small.get(), connection, src, {.ptr = &waits}, &task));
        return doca_rdma_task_send_as_task(task);
    };
    must(doca_task_submit(allocate()));
    const auto expect_again = [](doca_task *task) {
        EXPECT_EQ(doca_task_get_status(task), DOCA_SUCCESS) << "nothing has failed yet";
        EXPECT_EQ(doca_task_submit(task), DOCA_ERROR_AGAIN);
        EXPECT_EQ(doca_task_get_status(task), DOCA_ERROR_AGAIN);
        doca_task_free(task);
    };
    expect_again(allocate());
    must(doca_pe_request_notification(small.pe())); // a task is submitted in another way then
    expect_again(allocate());
    must(doca_pe_clear_notification(small.pe(), 0));
    small.stop();
    EXPECT_EQ(waits.status, DOCA_ERROR_SHUTDOWN);
}

/// The engine does not poll a graph without work for long. An instance that finds its context full is retried all the
/// same.
TEST_P(RdmaTaskTest, a_graph_without_work_for_long_retries_a_full_context)
{
    RdmaInstance small(dev);
    must(doca_rdma_set_send_queue_size(small.get(), 1));
    small.start();
    const void *details[2];
    std::size_t lengths[2];
    doca_rdma_connection *connection = nullptr, *of_b = nullptr;
    must(doca_rdma_export(small.get(), &details[0], &lengths[0], &connection));
    must(doca_rdma_export(b.get(), &details[1], &lengths[1], &of_b));
    must(doca_rdma_connect(small.get(), details[1], lengths[1], connection)); // b does not yet: sends wait
    Handle<doca_graph, doca_graph_destroy> graph;
    bool is_done = false;
    must(doca_graph_create(small.pe(), graph.out()));
    const auto ended = [](doca_graph_instance *, doca_data instance_data, doca_data) {
        *static_cast<bool *>(instance_data.ptr) = true;
    };
    must(doca_graph_set_conf(graph, ended, ended, 1));
    doca_graph_node *node = nullptr;
    must(doca_graph_node_create_from_ctx(graph, small.ctx(), &node));
    must(doca_graph_start(graph));
    Handle<doca_graph_instance, doca_graph_instance_destroy> instance;
    must(doca_graph_instance_create(graph, instance.out()));
    must(doca_graph_instance_set_user_data(instance, {.ptr = &is_done}));
    BufHandle src = data(a_map, a_memory.data(), 64);
    Outcome sent;
    const auto allocate = [&] {
        doca_rdma_task_send *task = nullptr;
        must(doca_rdma_task_send_allocate_init(small.get(), connection, src, {.ptr = &sent}, &task));
        return doca_rdma_task_send_as_task(task);
    };
    doca_task *const first = allocate(), *const of_graph = allocate();
    must(doca_graph_instance_set_ctx_node_data(instance, node, of_graph));
    constexpr int polls_until_parked = 10000;
    for (int i = 0; i != polls_until_parked; ++i)
        (void)small.progress();
    must(doca_task_submit(first));
    must(doca_graph_instance_submit(instance));
    EXPECT_FALSE(is_done);
    must(doca_rdma_connect(b.get(), details[0], lengths[0], of_b));
    Outcome received[2];
    BufHandle dst[2];
    for (std::size_t i = 0; i != 2; ++i) {
        dst[i] = room(b_map, &b_memory[64 * i], 64);
        receive(received[i], dst[i]);
    }
    run_until([&] {
        (void)small.progress();
        return is_done && received[0].has_ended() && received[1].has_ended();
    });
    EXPECT_EQ(received[1].num_succeeded, 1);
    instance.reset();
    must(doca_graph_stop(graph));
    graph.reset();
    doca_task_free(of_graph);
    small.stop();
}

/// What the other side of the PCIe has shared can be copied by DMA; the local side of RDMA is this process's own.
TEST(RdmaOfRemotePci, local_buffers_are_of_this_process)
{
    if (!has_device("soft_pf0") || !has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device's two sides";
    const DevHandle host = open_device("soft_pf0"), dpu = open_device("soft_p0");
    std::vector<std::byte> of_host(64), of_peer(64);
    const MmapHandle host_map = map_of(host, of_host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const MmapHandle peer_map = map_of(dpu, of_peer, rdma_rights);
    const void *descriptor = nullptr;
    std::size_t length = 0;
    MmapHandle imported, remote;
    must(doca_mmap_export_pci(host_map, host, &descriptor, &length));
    must(doca_mmap_create_from_export(nullptr, descriptor, length, dpu, imported.out()));
    must(doca_mmap_export_rdma(peer_map, dpu, &descriptor, &length));
    must(doca_mmap_create_from_export(nullptr, descriptor, length, dpu, remote.out()));
    const InventoryHandle inventory = inventory_of(4);
    const auto buf_of = [&](doca_mmap *map, std::vector<std::byte> &memory, std::size_t data) {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_args(inventory, map, memory.data(), memory.size(), memory.data(), data,
                                                buf.out()));
        return buf;
    };
    const BufHandle full = buf_of(imported, of_host, 8), empty = buf_of(imported, of_host, 0);
    const BufHandle remote_full = buf_of(remote, of_peer, 8), remote_empty = buf_of(remote, of_peer, 0);
    RdmaInstance instance(dpu);
    instance.start();
    doca_rdma_connection *connection = nullptr;
    must(doca_rdma_export(instance.get(), &descriptor, &length, &connection));
    must(doca_rdma_connect(instance.get(), descriptor, length, connection)); // to itself

    Outcome outcome;
    const auto expect_refused = [&](auto *of_a_kind) {
        auto *const task = reinterpret_cast<doca_task *>(of_a_kind);
        EXPECT_EQ(doca_task_try_submit(task), DOCA_ERROR_INVALID_VALUE); // as whatever it refuses
        EXPECT_EQ(doca_task_get_status(task), DOCA_ERROR_NOT_SUPPORTED) << "the cause";
        must(doca_task_submit(task));
        while (!outcome.has_ended())
            (void)instance.progress();
        EXPECT_EQ(outcome.status, DOCA_ERROR_NOT_SUPPORTED);
        outcome = {};
    };
    doca_rdma_task_send *send = nullptr;
    must(doca_rdma_task_send_allocate_init(instance.get(), connection, full, {.ptr = &outcome}, &send));
    expect_refused(send);
    doca_rdma_task_receive *receive = nullptr;
    must(doca_rdma_task_receive_allocate_init(instance.get(), empty, {.ptr = &outcome}, &receive));
    expect_refused(receive);
    doca_rdma_task_read *read = nullptr;
    must(doca_rdma_task_read_allocate_init(instance.get(), connection, remote_full, empty, {.ptr = &outcome}, &read));
    expect_refused(read);
    doca_rdma_task_write *write = nullptr;
    must(doca_rdma_task_write_allocate_init(instance.get(), connection, full, remote_empty, {.ptr = &outcome}, &write));
    expect_refused(write);
    doca_rdma_task_atomic_fetch_add *add = nullptr;
    must(doca_rdma_task_atomic_fetch_add_allocate_init(instance.get(), connection, remote_full, full, 1,
                                                       {.ptr = &outcome}, &add));
    expect_refused(add);

    // The peer's memory on the local side is a mistake.
    must(doca_rdma_task_send_allocate_init(instance.get(), connection, remote_full, {.ptr = &outcome}, &send));
    EXPECT_EQ(doca_task_try_submit(doca_rdma_task_send_as_task(send)), DOCA_ERROR_INVALID_VALUE);
    doca_task_free(doca_rdma_task_send_as_task(send));
}

TEST_P(RdmaTaskTest, a_server_rejects_or_is_not_there)
{
    const std::uint16_t port = own_port(1);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    run_until([&] { return a.failures.size() == 1; });
    b.on_request = [](doca_rdma_connection *connection) {
        EXPECT_EQ(doca_rdma_connection_reject(connection), DOCA_SUCCESS);
    };
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    run_until([&] { return a.failures.size() == 2; });
    EXPECT_EQ(b.requests.size(), 1u);
    a.stop();
}

/// All software devices are on this machine, so that no other is asked, whatever the address.
TEST_P(RdmaTaskTest, a_server_that_is_not_there_is_named_as_it_was_asked)
{
    const std::uint16_t port = own_port(8);
    const bool is_on_loopback = is_soft(GetParam());
    const std::string elsewhere = is_on_loopback ? "192.0.2.1" : own_address();
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, elsewhere.c_str(), port, address.out()));
    const LogCapture log;
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    run_until([&] { return a.failures.size() == 1; });
    EXPECT_LOGGED(log, (is_on_loopback ? "127.0.0.1" : elsewhere) + ", port " + std::to_string(port));
    if (is_on_loopback) {
        EXPECT_LOGGED(log, "of this machine (software devices are all local and connect to it in place of 192.0.2.1): "
                           "Connection refused");
    }
    a.stop();
}

/// It asks for the address of each, and there is none.
TEST_P(RdmaTaskTest, a_server_whose_clients_come_logs_no_error)
{
    const std::uint16_t port = own_port(9);
    b.on_request = [](doca_rdma_connection *connection) {
        doca_rdma_addr *none = nullptr;
        EXPECT_EQ(doca_rdma_connection_get_addr(connection, &none), DOCA_ERROR_NOT_FOUND);
        EXPECT_EQ(doca_rdma_connection_accept(connection, nullptr, 0), DOCA_SUCCESS);
    };
    const LogCapture log;
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    run_until([&] { return !a.open.empty() && !b.open.empty(); });
    ASSERT_EQ(doca_rdma_connection_disconnect(a.open[0]), DOCA_SUCCESS);
    run_until([&] { return !b.ends.empty(); });
    a.stop();
    b.stop();
    EXPECT_FALSE(log.has("[ERR]")) << log.text();
}

/// Runs @p program, which sleeps for a moment whenever doca_pe_progress() answers 0, and the rest of the world as
/// @p others. How often it has slept.
int sleeps_until(RdmaInstance &program, const std::function<bool()> &is_done, const std::function<void()> &others)
{
    int num_sleeps = 0;
    while (!is_done()) {
        others();
        if (program.progress())
            continue;
        ++num_sleeps;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return num_sleeps;
}

TEST_P(RdmaTaskTest, programs_that_sleep_when_there_is_nothing_connect_at_once)
{
    const std::uint16_t port = own_port(10), port_back = own_port(11);
    const std::size_t num_clients = is_soft(GetParam()) ? 40 : 8;
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    for (std::size_t i = 0; i != num_clients; ++i)
        ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    const int of_server = sleeps_until(
        b, [&] { return b.open.size() == num_clients || !a.failures.empty(); }, [&] { (void)a.progress(); });
    EXPECT_LT(of_server, 8 * static_cast<int>(num_clients)) << "it slept while clients waited";
    run_until([&] { return a.open.size() == num_clients || !a.failures.empty(); });
    EXPECT_TRUE(a.failures.empty());

    AddressHandle back;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port_back, back.out()));
    ASSERT_EQ(doca_rdma_start_listen_to_port(a.get(), port_back), DOCA_SUCCESS);
    ASSERT_EQ(doca_rdma_connect_to_addr(b.get(), back, {}), DOCA_SUCCESS);
    const int of_client = sleeps_until(
        b, [&] { return b.open.size() > num_clients || !b.failures.empty(); }, [&] { (void)a.progress(); });
    EXPECT_LT(of_client, 32);
    EXPECT_TRUE(b.failures.empty());
    a.stop();
    b.stop();
}

TEST_P(RdmaTaskTest, clients_whose_time_is_over_are_told_one_after_the_other)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "where making a queue pair takes long, the times are apart";
    const std::uint16_t port = own_port(12);
    constexpr std::size_t num_clients = 10;
    b.on_request = [](doca_rdma_connection *) {}; // it does not answer
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    RdmaInstance impatient(dev);
    must(doca_rdma_set_connection_request_timeout(impatient.get(), 100));
    impatient.start();
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    for (std::size_t i = 0; i != num_clients; ++i)
        ASSERT_EQ(doca_rdma_connect_to_addr(impatient.get(), address, {}), DOCA_SUCCESS);
    const auto serve = [&] { (void)b.progress(); };
    (void)sleeps_until(
        impatient, [&] { return !impatient.failures.empty(); }, serve);
    EXPECT_LT(sleeps_until(
                  impatient, [&] { return impatient.failures.size() == num_clients; }, serve),
              8 * static_cast<int>(num_clients));
    impatient.stop();
}

TEST_P(RdmaTaskTest, a_program_that_waits_for_events_is_woken_for_what_there_is)
{
    const std::uint16_t port = own_port(13);
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    std::thread client([&] {
        while (a.open.empty() && a.failures.empty()) {
            if (!a.progress())
                std::this_thread::yield();
        }
    });
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(b.pe(), &handle));
    int num_idle = 0, num_woken = 1;
    while (num_woken != 0) {
        while (b.progress())
            ;
        if (!b.open.empty()) // the calls above may have established it: no further event would come
            break;
        must(doca_pe_request_notification(b.pe()));
        pollfd wish = {.fd = handle, .events = POLLIN, .revents = 0};
        num_woken = poll(&wish, 1, 10'000);
        must(doca_pe_clear_notification(b.pe(), handle));
        num_idle += b.progress() ? 0 : 1;
    }
    client.join();
    EXPECT_EQ(num_woken, 1) << "nothing has woken it";
    EXPECT_EQ(b.open.size(), 1u);
    EXPECT_LE(num_idle, 3) << "woken, and nothing to do";
    a.stop();
}

struct FaultsOfReceives {
    const Environment variable{"DOCA_SOFT_FAULTS", "full:rdma=2,job:rdma=2"};
};

/// Software devices that fail on request. The plan is of the device when it is opened.
class FaultyReceives : private FaultsOfReceives, public RdmaTaskTest {};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FaultyReceives);
INSTANTIATE_TEST_SUITE_P(device, FaultyReceives, testing::ValuesIn(connecting_devices()), name_of_device);

TEST_P(FaultyReceives, are_refused_or_end_and_the_others_receive)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "only software devices fail on request";
    Outcome first, refused, failed;
    BufHandle dst = room(b_map, b_memory.data(), 64);
    receive(first, dst);
    BufHandle unused = room(b_map, b_memory.data() + 64, 64);
    doca_rdma_task_receive *task = nullptr;
    must(doca_rdma_task_receive_allocate_init(b.get(), unused, {.ptr = &refused}, &task));
    EXPECT_EQ(doca_task_submit(doca_rdma_task_receive_as_task(task)), DOCA_ERROR_AGAIN);
    doca_task_free(doca_rdma_task_receive_as_task(task));
    receive(failed, unused);
    run_until([&] { return failed.has_ended(); });
    EXPECT_EQ(failed.status, DOCA_ERROR_IO_FAILED);
    EXPECT_FALSE(first.has_ended());
    const auto [of_a, of_b] = connect();
    BufHandle src = data(a_map, a_memory.data(), 64);
    doca_rdma_task_send *sending = nullptr;
    Outcome sent;
    must(doca_rdma_task_send_allocate_init(a.get(), of_a, src, {.ptr = &sent}, &sending));
    must(doca_task_submit(doca_rdma_task_send_as_task(sending)));
    run_until([&] { return sent.has_ended() && first.has_ended(); });
    EXPECT_EQ(first.status, DOCA_SUCCESS);
    EXPECT_EQ(first.num_failed, 0);
}

/// Sockets that connect to the port of a server.
class UnauthenticatedClients : public RdmaTaskTest {
protected:
    static inline const std::uint16_t port = own_port(15);
    static constexpr std::size_t most_lines = 21; ///< of a minute, of which one may begin

    void SetUp() override
    {
        RdmaTaskTest::SetUp();
        if (!is_soft(GetParam()))
            GTEST_SKIP() << "rdma_cm takes clients of its own protocol alone";
        must(doca_rdma_start_listen_to_port(b.get(), port));
    }
    static opendoca::UniqueFd make_socket()
    {
        return opendoca::UniqueFd(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    }
    static void come(const opendoca::UniqueFd &socket)
    {
        sockaddr_in server{};
        server.sin_family = AF_INET;
        server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        server.sin_port = htons(port);
        ASSERT_EQ(::connect(socket.get(), reinterpret_cast<const sockaddr *>(&server), sizeof(server)), 0);
    }
    /// The server has done all that there is, and what it sleeps on says so.
    [[nodiscard]] bool falls_asleep()
    {
        while (b.progress())
            ;
        doca_notification_handle_t handle{};
        must(doca_pe_get_notification_handle(b.pe(), &handle));
        must(doca_pe_request_notification(b.pe()));
        pollfd news = {.fd = handle, .events = POLLIN, .revents = 0};
        const bool has_news = poll(&news, 1, 0) != 0;
        must(doca_pe_clear_notification(b.pe(), handle));
        while (b.progress())
            ;
        return !has_news;
    }
    static std::size_t num_errors(const LogCapture &log)
    {
        const std::string text = log.text();
        std::size_t count = 0;
        for (std::size_t at = text.find("[ERR]"); at != std::string::npos; at = text.find("[ERR]", at + 1))
            ++count;
        return count;
    }
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(UnauthenticatedClients);
INSTANTIATE_TEST_SUITE_P(device, UnauthenticatedClients, testing::ValuesIn(connecting_devices()), name_of_device);

TEST_P(UnauthenticatedClients, are_turned_away_where_descriptors_lack)
{
    std::vector<opendoca::UniqueFd> clients(5);
    std::ranges::generate(clients, make_socket);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
    const LogCapture log;
    const rlimit none = {static_cast<rlim_t>(make_socket().get()), before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
    std::ranges::for_each(clients, come);
    int num_looks = 0;
    while (!falls_asleep() && num_looks != 100)
        ++num_looks;
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
    EXPECT_LT(num_looks, 10) << "it does not sleep while somebody waits whom it can't take";
    EXPECT_EQ(num_errors(log), 1u) << log.text();
    EXPECT_LOGGED(log, "clients are rejected for now");
    for (const opendoca::UniqueFd &client : clients) {
        pollfd end = {.fd = client.get(), .events = POLLIN, .revents = 0};
        EXPECT_EQ(poll(&end, 1, 10'000), 1);
    }
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    run_until([&] { return !a.open.empty() && !b.open.empty(); });
    a.stop();
}

TEST_P(UnauthenticatedClients, fill_no_log)
{
    const LogCapture log;
    for (int i = 0; i != 100; ++i) {
        const opendoca::UniqueFd client = make_socket();
        come(client);
        ASSERT_EQ(::send(client.get(), "GET / HTTP/1.1\r\n", 16, MSG_NOSIGNAL), 16);
        pollfd end = {.fd = client.get(), .events = POLLRDHUP, .revents = 0};
        while (poll(&end, 1, 0) == 0)
            (void)b.progress();
    }
    EXPECT_GE(num_errors(log), 1u);
    EXPECT_LE(num_errors(log), 2 * most_lines) << log.text();
}

/// The same of those that say the right thing, where there is no room for them.
TEST_P(UnauthenticatedClients, that_are_too_many_fill_no_log)
{
    b.stop();
    must(doca_rdma_set_max_num_connections(b.get(), 1));
    b.start();
    (void)connect();
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    const LogCapture log;
    for (std::size_t i = 1; i != 3 * most_lines; ++i) {
        ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
        run_until([&] { return a.failures.size() == i; });
    }
    const std::string text = log.text();
    std::size_t told = 0;
    constexpr std::string_view line = "the instance has its 1 connections already";
    for (std::size_t at = text.find(line); at != std::string::npos; at = text.find(line, at + 1))
        ++told;
    EXPECT_LE(told, 2 * most_lines) << text; // none where the minute's lines were of others
    EXPECT_TRUE(b.requests.empty());
    a.stop();
}

/// What connections take of a process: descriptors, and mappings that it shares with others or with a device.
std::size_t num_held()
{
    std::size_t held = 0;
    for ([[maybe_unused]] const auto &entry : std::filesystem::directory_iterator("/proc/self/fd"))
        ++held;
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        held += line[line.find(' ') + 4] == 's' ? 1 : 0;
    return held;
}

class EndedConnections : public RdmaTaskTest {
protected:
    static inline const std::uint16_t port = own_port(14);

    void SetUp() override
    {
        RdmaTaskTest::SetUp();
        must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
        ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    }
    void TearDown() override { a.stop(); }

    /// A connection by address, and one by details with a message on its way that is never received.
    void come_and_go()
    {
        const std::size_t num_before = b.ends.size();
        ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
        run_until([&] { return a.open.size() > num_before && b.open.size() > num_before; });
        const auto ends = connect();
        Outcome sent;
        BufHandle src = data(a_map, a_memory.data(), 64);
        send(sent, ends.first, src, 0);
        must(doca_rdma_connection_disconnect(ends.first));
        must(doca_rdma_connection_disconnect(ends.second));
        must(doca_rdma_connection_disconnect(a.open.back()));
        run_until([&] { return b.ends.size() > num_before && sent.has_ended(); });
    }
    /// When what is left to do is done: on RDMA devices queue pairs go now and then.
    [[nodiscard]] std::size_t num_held_at_rest()
    {
        for (int i = 0; i != 4096; ++i) {
            (void)a.progress();
            (void)b.progress();
        }
        return num_held();
    }

    AddressHandle address;
};

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EndedConnections);
INSTANTIATE_TEST_SUITE_P(device, EndedConnections, testing::ValuesIn(connecting_devices()), name_of_device);

TEST_P(EndedConnections, hold_no_resources)
{
    come_and_go();
    const std::size_t num_first = num_held_at_rest();
    for (int i = 0; i != 20 && !HasFatalFailure(); ++i)
        come_and_go();
    EXPECT_LE(num_held_at_rest(), num_first);
}

TEST_P(EndedConnections, hold_no_resources_of_an_instance_that_is_always_busy)
{
    const auto busy = connect();
    const MmapHandle imported = import_from_b();
    BufHandle src = data(a_map, a_memory.data(), 8), dst = room(imported, b_memory.data(), 8);
    Outcome wrote;
    bool goes_on = true;
    wrote.then = [&](doca_task *task) {
        wrote.keeps_task = goes_on;
        if (goes_on)
            must(doca_task_submit(task));
    };
    doca_rdma_task_write *task = nullptr;
    must(doca_rdma_task_write_allocate_init(a.get(), busy.first, src, dst, {.ptr = &wrote}, &task));
    must(doca_task_submit(doca_rdma_task_write_as_task(task)));
    come_and_go();
    const std::size_t num_first = num_held_at_rest();
    for (int i = 0; i != 5 && !HasFatalFailure(); ++i)
        come_and_go();
    // It has no rest: what an end leaves goes within a millisecond.
    run_until([&, end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100)] {
        return std::chrono::steady_clock::now() > end;
    });
    EXPECT_LE(num_held_at_rest(), num_first);
    EXPECT_EQ(wrote.num_failed, 0);
    goes_on = false;
    run_until([&] { return in_flight(a.ctx()) == 0; });
}

TEST_P(EndedConnections, are_named_until_the_context_is_idle)
{
    come_and_go();
    const auto ends = connect();
    must(doca_rdma_connection_set_user_data(ends.first, {.u64 = 7}));
    std::uint32_t id = 0, next_id = 0;
    must(doca_rdma_connection_get_id(ends.first, &id));
    must(doca_rdma_connection_disconnect(ends.first));
    doca_rdma_connection *const by_address = a.open.front();
    (void)num_held_at_rest();

    doca_data user_data{};
    EXPECT_EQ(doca_rdma_connection_get_user_data(ends.first, &user_data), DOCA_SUCCESS);
    EXPECT_EQ(user_data.u64, 7u);
    EXPECT_EQ(doca_rdma_connection_get_id(ends.first, &next_id), DOCA_SUCCESS);
    EXPECT_EQ(next_id, id);
    EXPECT_EQ(doca_rdma_connection_disconnect(ends.first), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_connection_disconnect(by_address), DOCA_SUCCESS);
    doca_rdma_addr *none = nullptr;
    EXPECT_EQ(doca_rdma_connection_get_addr(by_address, &none), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(doca_rdma_connection_accept(b.open.front(), nullptr, 0), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_connection_reject(b.open.front()), DOCA_ERROR_BAD_STATE);
    const void *details = nullptr;
    std::size_t length = 0;
    doca_rdma_connection *fresh = nullptr;
    must(doca_rdma_export(b.get(), &details, &length, &fresh));
    EXPECT_EQ(doca_rdma_connect(a.get(), details, length, ends.first), DOCA_ERROR_BAD_STATE);
    must(doca_rdma_export(a.get(), &details, &length, &fresh));
    must(doca_rdma_connection_get_id(fresh, &next_id));
    EXPECT_EQ(next_id, id + 1) << "each has its own number";
    Outcome sent;
    BufHandle src = data(a_map, a_memory.data(), 64);
    for (doca_rdma_connection *const ended : {ends.first, by_address}) {
        sent = {};
        send(sent, ended, src, 0);
        run_until([&] { return sent.has_ended(); });
        EXPECT_EQ(sent.status, DOCA_ERROR_SHUTDOWN);
    }
}

TEST_P(EndedConnections, are_told_to_the_graphs_and_events_that_use_them)
{
    const void *details = nullptr;
    std::size_t length = 0;
    doca_rdma_connection *connection = nullptr, *of_b = nullptr;
    must(doca_rdma_export(a.get(), &details, &length, &connection));
    BufHandle src = data(a_map, a_memory.data(), 64);
    const std::uint8_t *bytes = nullptr;
    SyncEventHandle event;
    must(doca_sync_event_create(event.out()));
    must(doca_sync_event_add_publisher_location_remote_net(event));
    must(doca_sync_event_add_subscriber_location_cpu(event, dev));
    must(doca_sync_event_start(event));
    must(doca_sync_event_export_to_remote_net(event, &bytes, &length));
    RemoteEventHandle remote;
    must(doca_sync_event_remote_net_create_from_export(dev, bytes, length, remote.out()));

    Handle<doca_graph, doca_graph_destroy> graph;
    must(doca_graph_create(a.pe(), graph.out()));
    int num_failed = 0;
    must(doca_graph_set_user_data(graph, {.ptr = &num_failed}));
    const auto succeeded = [](doca_graph_instance *, doca_data, doca_data) {
        ADD_FAILURE() << "it was connected to nobody";
    };
    const auto failed = [](doca_graph_instance *, doca_data, doca_data graph_data) {
        ++*static_cast<int *>(graph_data.ptr);
    };
    must(doca_graph_set_conf(graph, succeeded, failed, 1));
    doca_graph_node *node = nullptr;
    must(doca_graph_node_create_from_ctx(graph, a.ctx(), &node));
    must(doca_graph_start(graph));
    Handle<doca_graph_instance, doca_graph_instance_destroy> instance;
    must(doca_graph_instance_create(graph, instance.out()));
    Outcome of_send, of_event;
    doca_rdma_task_send *send_task = nullptr;
    must(doca_rdma_task_send_allocate_init(a.get(), connection, src, {.ptr = &of_send}, &send_task));
    must(doca_graph_instance_set_ctx_node_data(instance, node, doca_rdma_task_send_as_task(send_task)));
    const auto add_one = [&] {
        of_event = {};
        doca_rdma_task_remote_net_sync_event_notify_add *task = nullptr;
        BufHandle old = data(a_map, &a_memory[64], 8);
        must(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(a.get(), connection, remote, old, 1,
                                                                           {.ptr = &of_event}, &task));
        must(doca_task_submit(doca_rdma_task_remote_net_sync_event_notify_add_as_task(task)));
        run_until([&] { return of_event.has_ended(); });
    };

    // Both wait for the peer, which does not connect.
    must(doca_rdma_export(b.get(), &details, &length, &of_b));
    must(doca_rdma_connect(a.get(), details, length, connection));
    must(doca_graph_instance_submit(instance));
    for (int i = 0; i != 64; ++i)
        (void)a.progress();
    EXPECT_EQ(num_failed, 0);
    must(doca_rdma_connection_disconnect(connection));
    run_until([&] { return num_failed == 1; });
    (void)num_held_at_rest(); // and now its queue pair has gone
    must(doca_graph_instance_submit(instance));
    run_until([&] { return num_failed == 2; });
    add_one();
    EXPECT_EQ(of_event.status, DOCA_ERROR_SHUTDOWN);

    instance.reset();
    doca_task_free(doca_rdma_task_send_as_task(send_task));
    must(doca_graph_stop(graph));
    must(doca_sync_event_stop(event));
}

/// Processes that go on living: that nobody waits for their end any more.
TEST(EndedConnectionsOfProcesses, hold_no_resources)
{
    if (!has_device("soft_p0"))
        GTEST_SKIP() << "takes the software device";
    constexpr std::uint32_t num_peers = 12;
    const DevHandle dev = open_device("soft_p0");
    RdmaInstance server(dev);
    std::size_t num_accepted = 0;
    server.on_request = [&](doca_rdma_connection *connection) {
        num_accepted += doca_rdma_connection_accept(connection, nullptr, 0) == DOCA_SUCCESS ? 1 : 0;
    };
    server.start();
    const void *details = nullptr;
    std::size_t length = 0;
    doca_rdma_connection *stays = nullptr;
    must(doca_rdma_export(server.get(), &details, &length, &stays));
    must(doca_rdma_connect(server.get(), details, length, stays)); // to itself
    ASSERT_EQ(doca_rdma_start_listen_to_port(server.get(), StormPeers::port()), DOCA_SUCCESS);
    const std::size_t num_before = num_held();
    const StormPeers peers("rdma", "soft_p0", num_peers);
    const auto run_until = [&](const std::function<bool()> &is_done) {
        while (!is_done()) {
            if (!server.progress())
                std::this_thread::yield();
        }
    };
    run_until([&] { return server.ends.size() >= 20 * num_peers; });
    must(doca_rdma_stop_listen_to_port(server.get(), StormPeers::port()));
    run_until([&] { return server.ends.size() + server.failures.size() == num_accepted; });
    for (int i = 0; i != 4096; ++i)
        (void)server.progress();
    EXPECT_LT(num_held(), num_before + num_peers);
}

TEST_P(RdmaTaskTest, what_was_sent_before_the_peer_left_waits_for_a_receive)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "a send ends when it is received";
    const std::uint16_t port = own_port(2);
    ASSERT_EQ(doca_rdma_start_listen_to_port(b.get(), port), DOCA_SUCCESS);
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, own_address().c_str(), port, address.out()));
    ASSERT_EQ(doca_rdma_connect_to_addr(a.get(), address, {}), DOCA_SUCCESS);
    run_until([&] { return !b.requests.empty(); });
    while (a.open.empty())
        (void)a.progress();
    Outcome received, sent;
    BufHandle src = data(a_map, a_memory.data(), 8);
    send(sent, a.open[0], src, 3);
    while (!sent.has_ended())
        (void)a.progress();
    EXPECT_EQ(sent.status, DOCA_SUCCESS);
    a.stop();
    while (b.open.empty() && b.failures.empty())
        (void)b.progress();
    ASSERT_EQ(b.failures.size(), 0u);
    BufHandle dst = room(b_map, b_memory.data(), 8);
    receive(received, dst); // where programs post it: when they are told of the connection
    run_until([&] { return !b.ends.empty(); });
    EXPECT_EQ(received.num_succeeded, 1) << "the end is told after what was sent";
    b.stop();
}

TEST_P(RdmaTaskTest, a_connection_that_was_disconnected_fills_no_receive)
{
    if (!is_soft(GetParam()))
        GTEST_SKIP() << "a send ends when it is received";
    const auto connection = connect();
    Outcome received, sent;
    BufHandle src = data(a_map, a_memory.data(), 8);
    send(sent, connection.first, src, 3);
    run_until([&] { return sent.has_ended(); });
    ASSERT_EQ(sent.status, DOCA_SUCCESS);
    ASSERT_EQ(doca_rdma_connection_disconnect(connection.second), DOCA_SUCCESS);
    BufHandle dst = room(b_map, b_memory.data(), 8);
    receive(received, dst); // for who connects next
    run_until([&] { return !a.ends.empty(); });
    EXPECT_FALSE(received.has_ended());
    b.stop();
    EXPECT_EQ(received.num_failed, 1);
}

} // namespace
