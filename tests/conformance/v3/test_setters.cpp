// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What tasks and contexts are told after they were made: tasks are allocated with nothing, get each of their fields by
// its setter, give it back by its getter, and then do what they were told last.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include <arpa/inet.h>

#include <doca_buf_pool.h>

#include "../support/log_capture.hpp"
#include "comch_sides.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

namespace {

/// Sets a field of a task and reads it back.
#define EXPECT_KEPT(type, task, field, value)                                                                          \
    do {                                                                                                               \
        type##_set_##field(task, value);                                                                               \
        EXPECT_EQ(type##_get_##field(task), value);                                                                    \
    } while (false)

/// Sets a property and reads it back.
#define EXPECT_PROPERTY(object, kind, name, read_as, value)                                                            \
    do {                                                                                                               \
        read_as read_back{};                                                                                           \
        EXPECT_EQ(kind##_set_##name(object, value), DOCA_SUCCESS);                                                     \
        EXPECT_EQ(kind##_get_##name(object, &read_back), DOCA_SUCCESS);                                                \
        EXPECT_EQ(read_back, value);                                                                                   \
    } while (false)

class RdmaSetters : public testing::Test {
protected:
    static constexpr std::size_t size = 4096;

    void SetUp() override
    {
        a.start();
        b.start();
        const void *details[2];
        std::size_t sizes[2];
        must(doca_rdma_export(a.get(), &details[0], &sizes[0], &of_a));
        must(doca_rdma_export(b.get(), &details[1], &sizes[1], &of_b));
        must(doca_rdma_connect(a.get(), details[1], sizes[1], of_a));
        must(doca_rdma_connect(b.get(), details[0], sizes[0], of_b));
        const void *descriptor = nullptr;
        std::size_t length = 0;
        must(doca_mmap_export_rdma(b_map, dev, &descriptor, &length));
        must(doca_mmap_create_from_export(nullptr, descriptor, length, dev, imported.out()));
        for (std::size_t i = 0; i != size; ++i)
            a_memory[i] = static_cast<std::byte>(i * 3);
    }
    void run(Outcome &outcome, doca_task *task)
    {
        doca_task_set_user_data(task, {.ptr = &outcome});
        EXPECT_EQ(doca_task_get_user_data(task).ptr, &outcome);
        must(doca_task_submit(task));
        while (!outcome.has_ended()) {
            (void)a.progress();
            (void)b.progress();
        }
        EXPECT_EQ(outcome.status, DOCA_SUCCESS);
    }
    [[nodiscard]] BufHandle buf(doca_mmap *map, std::vector<std::byte> &memory, std::size_t at, std::size_t data_length)
    {
        BufHandle made;
        must(
            doca_buf_inventory_buf_get_by_args(inventory, map, &memory[at], 512, &memory[at], data_length, made.out()));
        return made;
    }
    void expect_equal(std::size_t at, std::size_t length) const
    {
        EXPECT_EQ(std::memcmp(&a_memory[at], &b_memory[at], length), 0);
    }
    doca_rdma_task_receive *receive_into(doca_buf *dst, Outcome &outcome)
    {
        doca_rdma_task_receive *task = nullptr;
        must(doca_rdma_task_receive_allocate_init(b.get(), nullptr, {.ptr = &outcome}, &task));
        EXPECT_KEPT(doca_rdma_task_receive, task, dst_buf, dst);
        must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
        return task;
    }

    DevHandle dev = open_device("soft_p0");
    std::vector<std::byte> a_memory = std::vector<std::byte>(size), b_memory = std::vector<std::byte>(size);
    MmapHandle a_map = map_of(dev, a_memory, rdma_rights), b_map = map_of(dev, b_memory, rdma_rights), imported;
    InventoryHandle inventory = inventory_of(16);
    RdmaInstance a{dev}, b{dev};
    doca_rdma_connection *of_a = nullptr, *of_b = nullptr;
};

TEST_F(RdmaSetters, messages)
{
    const BufHandle src = buf(a_map, a_memory, 0, 100), dst = buf(b_map, b_memory, 0, 0);
    Outcome received, sent;
    receive_into(dst, received);
    doca_rdma_task_send *send = nullptr;
    must(doca_rdma_task_send_allocate_init(a.get(), nullptr, nullptr, {}, &send));
    EXPECT_KEPT(doca_rdma_task_send, send, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_send, send, src_buf, src);
    run(sent, doca_rdma_task_send_as_task(send));
    expect_equal(0, 100);

    const BufHandle imm_src = buf(a_map, a_memory, 1024, 64), imm_dst = buf(b_map, b_memory, 1024, 0);
    Outcome with_imm, sent_with_imm;
    with_imm.then = [](doca_task *task) {
        EXPECT_EQ(doca_rdma_task_receive_get_result_immediate_data(reinterpret_cast<doca_rdma_task_receive *>(task)),
                  htonl(7));
    };
    receive_into(imm_dst, with_imm);
    doca_rdma_task_send_imm *send_imm = nullptr;
    must(doca_rdma_task_send_imm_allocate_init(a.get(), nullptr, nullptr, 0, {}, &send_imm));
    EXPECT_KEPT(doca_rdma_task_send_imm, send_imm, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_send_imm, send_imm, src_buf, imm_src);
    EXPECT_KEPT(doca_rdma_task_send_imm, send_imm, immediate_data, htonl(7));
    run(sent_with_imm, doca_rdma_task_send_imm_as_task(send_imm));
    expect_equal(1024, 64);
    while (!with_imm.has_ended())
        (void)b.progress();
}

TEST_F(RdmaSetters, memory)
{
    const BufHandle src = buf(a_map, a_memory, 0, 100), there = buf(imported, b_memory, 0, 0);
    Outcome written, read, announced, written_imm;
    doca_rdma_task_write *write = nullptr;
    must(doca_rdma_task_write_allocate_init(a.get(), nullptr, nullptr, nullptr, {}, &write));
    EXPECT_KEPT(doca_rdma_task_write, write, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_write, write, src_buf, src);
    EXPECT_KEPT(doca_rdma_task_write, write, dst_buf, there);
    run(written, doca_rdma_task_write_as_task(write));
    expect_equal(0, 100);

    doca_rdma_task_read *reading = nullptr;
    const BufHandle from_there = buf(imported, b_memory, 0, 100), back = buf(a_map, a_memory, 2048, 0);
    must(doca_rdma_task_read_allocate_init(a.get(), nullptr, nullptr, nullptr, {}, &reading));
    EXPECT_KEPT(doca_rdma_task_read, reading, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_read, reading, src_buf, from_there);
    EXPECT_KEPT(doca_rdma_task_read, reading, dst_buf, back);
    run(read, doca_rdma_task_read_as_task(reading));
    EXPECT_EQ(std::memcmp(&a_memory[2048], &b_memory[0], 100), 0);

    receive_into(nullptr, announced);
    const BufHandle src_imm = buf(a_map, a_memory, 512, 64), there_imm = buf(imported, b_memory, 512, 0);
    doca_rdma_task_write_imm *write_imm = nullptr;
    must(doca_rdma_task_write_imm_allocate_init(a.get(), nullptr, nullptr, nullptr, 0, {}, &write_imm));
    EXPECT_KEPT(doca_rdma_task_write_imm, write_imm, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_write_imm, write_imm, src_buf, src_imm);
    EXPECT_KEPT(doca_rdma_task_write_imm, write_imm, dst_buf, there_imm);
    EXPECT_KEPT(doca_rdma_task_write_imm, write_imm, immediate_data, htonl(9));
    run(written_imm, doca_rdma_task_write_imm_as_task(write_imm));
    expect_equal(512, 64);
    while (!announced.has_ended())
        (void)b.progress();
}

TEST_F(RdmaSetters, atomics)
{
    const BufHandle word = buf(imported, b_memory, 0, 8), old = buf(a_map, a_memory, 8, 8);
    std::uint64_t value = 40;
    const auto remember = [&] { std::memcpy(&value, b_memory.data(), sizeof(value)); };
    std::memcpy(b_memory.data(), &value, sizeof(value));
    Outcome added, swapped;
    doca_rdma_task_atomic_fetch_add *add = nullptr;
    must(doca_rdma_task_atomic_fetch_add_allocate_init(a.get(), nullptr, nullptr, nullptr, 0, {}, &add));
    EXPECT_KEPT(doca_rdma_task_atomic_fetch_add, add, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_atomic_fetch_add, add, dst_buf, word);
    EXPECT_KEPT(doca_rdma_task_atomic_fetch_add, add, result_buf, old);
    EXPECT_KEPT(doca_rdma_task_atomic_fetch_add, add, add_data, 2u);
    run(added, doca_rdma_task_atomic_fetch_add_as_task(add));
    remember();
    EXPECT_EQ(value, 42u);

    doca_rdma_task_atomic_cmp_swp *swap = nullptr;
    must(doca_rdma_task_atomic_cmp_swp_allocate_init(a.get(), nullptr, nullptr, nullptr, 0, 0, {}, &swap));
    EXPECT_KEPT(doca_rdma_task_atomic_cmp_swp, swap, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_atomic_cmp_swp, swap, dst_buf, word);
    EXPECT_KEPT(doca_rdma_task_atomic_cmp_swp, swap, result_buf, old);
    EXPECT_KEPT(doca_rdma_task_atomic_cmp_swp, swap, cmp_data, 42u);
    EXPECT_KEPT(doca_rdma_task_atomic_cmp_swp, swap, swap_data, 7u);
    run(swapped, doca_rdma_task_atomic_cmp_swp_as_task(swap));
    remember();
    EXPECT_EQ(value, 7u);
}

TEST_F(RdmaSetters, sync_events_of_other_nodes)
{
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
    doca_sync_event_remote_net *const there = remote;

    const std::uint64_t start = 40;
    std::memcpy(a_memory.data(), &start, sizeof(start));
    const BufHandle src = buf(a_map, a_memory, 0, 8), old = buf(a_map, a_memory, 64, 8),
                    dst = buf(a_map, a_memory, 128, 0);
    Outcome set, added, read;
    doca_rdma_task_remote_net_sync_event_notify_set *setting = nullptr;
    must(doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(a.get(), nullptr, nullptr, nullptr, {},
                                                                       &setting));
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_notify_set, setting, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_notify_set, setting, sync_event, there);
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_notify_set, setting, src_buf, src);
    run(set, doca_rdma_task_remote_net_sync_event_notify_set_as_task(setting));
    doca_rdma_task_remote_net_sync_event_notify_add *adding = nullptr;
    must(doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(a.get(), nullptr, nullptr, nullptr, 0, {},
                                                                       &adding));
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_notify_add, adding, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_notify_add, adding, sync_event, there);
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_notify_add, adding, result_buf, old);
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_notify_add, adding, add_data, 2u);
    run(added, doca_rdma_task_remote_net_sync_event_notify_add_as_task(adding));
    doca_rdma_task_remote_net_sync_event_get *getting = nullptr;
    must(doca_rdma_task_remote_net_sync_event_get_allocate_init(a.get(), nullptr, nullptr, nullptr, {}, &getting));
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_get, getting, rdma_connection, of_a);
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_get, getting, sync_event, there);
    EXPECT_KEPT(doca_rdma_task_remote_net_sync_event_get, getting, dst_buf, dst);
    read.then = [](doca_task *task) {
        EXPECT_EQ(doca_rdma_task_remote_net_sync_event_get_get_result_len(
                      reinterpret_cast<doca_rdma_task_remote_net_sync_event_get *>(task)),
                  8u);
    };
    run(read, doca_rdma_task_remote_net_sync_event_get_as_task(getting));
    std::uint64_t seen = 0;
    std::memcpy(&seen, &a_memory[128], sizeof(seen));
    EXPECT_EQ(seen, 42u);
    must(doca_sync_event_stop(event));
}

TEST_F(RdmaSetters, connections_have_numbers_and_only_asked_ones_addresses)
{
    std::uint32_t id = 77;
    EXPECT_EQ(doca_rdma_connection_get_id(of_a, &id), DOCA_SUCCESS);
    EXPECT_EQ(id, 0u);
    doca_rdma_addr *address = nullptr;
    EXPECT_EQ(doca_rdma_connection_get_addr(of_a, &address), DOCA_ERROR_NOT_FOUND);
    AddressHandle own;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv6, "2001:db8::1", 4791, own.out()));
    doca_rdma_addr_type type{};
    const char *text = nullptr;
    std::uint16_t port = 0;
    EXPECT_EQ(doca_rdma_addr_get_params(own, &type, &text, &port), DOCA_SUCCESS);
    EXPECT_EQ(type, DOCA_RDMA_ADDR_TYPE_IPv6);
    EXPECT_STREQ(text, "2001:db8::1");
    EXPECT_EQ(port, 4791);
}

TEST(RdmaAddresses, that_are_none_are_refused_by_the_name_of_their_type)
{
    AddressHandle none;
    const LogCapture log;
    EXPECT_EQ(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "localhost", 1, none.out()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "'localhost' is no IPv4 address, such as 192.0.2.1; names are not looked up");
    EXPECT_EQ(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv6, "192.0.2.1", 1, none.out()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "'192.0.2.1' is no IPv6 address");
    EXPECT_EQ(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_GID, "mlx5_0", 1, none.out()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "'mlx5_0' is no GID");
    EXPECT_EQ(doca_rdma_addr_create(no_value<doca_rdma_addr_type>(3), "192.0.2.1", 1, none.out()),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_LOGGED(log, "3 is no type of address");
}

TEST(RdmaProperties, are_kept_until_the_start)
{
    const DevHandle dev = open_device("soft_p0");
    RdmaInstance instance(dev);
    doca_rdma *const rdma = instance.get();
    EXPECT_PROPERTY(rdma, doca_rdma, permissions, std::uint32_t, std::uint32_t{DOCA_ACCESS_FLAG_LOCAL_READ_WRITE});
    EXPECT_PROPERTY(rdma, doca_rdma, gid_index, std::uint32_t, 1u);
    EXPECT_PROPERTY(rdma, doca_rdma, sl, std::uint32_t, 3u);
    EXPECT_PROPERTY(rdma, doca_rdma, grh_enabled, std::uint8_t, 1);
    EXPECT_PROPERTY(rdma, doca_rdma, mtu, doca_mtu_size, DOCA_MTU_SIZE_1K_BYTES);
    EXPECT_EQ(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_RAW_ETHERNET), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_rdma_set_mtu(rdma, static_cast<doca_mtu_size>(6)), DOCA_ERROR_INVALID_VALUE);
    EXPECT_PROPERTY(rdma, doca_rdma, max_num_connections, std::uint16_t, 3);
    EXPECT_PROPERTY(rdma, doca_rdma, max_send_buf_list_len, std::uint32_t, 2u);
    EXPECT_PROPERTY(rdma, doca_rdma, send_queue_size, std::uint32_t, 64u);
    EXPECT_PROPERTY(rdma, doca_rdma, rnr_retry_count, std::uint8_t, 5);
    EXPECT_PROPERTY(rdma, doca_rdma, connection_request_timeout, std::uint16_t, 500);
    EXPECT_PROPERTY(rdma, doca_rdma, transport_type, doca_rdma_transport_type, DOCA_RDMA_TRANSPORT_TYPE_RC);
    EXPECT_EQ(doca_rdma_set_transport_type(rdma, DOCA_RDMA_TRANSPORT_TYPE_DC), DOCA_ERROR_NOT_SUPPORTED);
    std::uint32_t length = 0;
    EXPECT_EQ(doca_rdma_task_receive_get_dst_buf_list_len(rdma, &length), DOCA_SUCCESS);
    EXPECT_EQ(length, 1u);
    const doca_devinfo *const info = doca_dev_as_devinfo(dev);
    EXPECT_EQ(doca_rdma_cap_get_max_recv_queue_size(info, &length), DOCA_SUCCESS);
    EXPECT_GE(length, 16u);
    EXPECT_EQ(doca_rdma_set_recv_queue_size(rdma, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_rdma_set_recv_queue_size(rdma, 16), DOCA_ERROR_NOT_SUPPORTED)
        << "the receives' configuration says it";
    EXPECT_EQ(doca_rdma_get_recv_queue_size(rdma, &length), DOCA_SUCCESS);
    EXPECT_EQ(length, RdmaInstance::num_tasks);
    EXPECT_EQ(doca_rdma_cap_task_receive_get_max_dst_buf_list_len(info, DOCA_RDMA_TRANSPORT_TYPE_RC, &length),
              DOCA_SUCCESS);
    EXPECT_GE(length, 1u);
    EXPECT_EQ(doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(info), DOCA_SUCCESS);
    instance.start();
    EXPECT_EQ(doca_rdma_set_sl(rdma, 0), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_rdma_set_max_num_connections(rdma, 9), DOCA_ERROR_BAD_STATE);
    std::array<doca_rdma_connection *, 4> made{};
    const void *details = nullptr;
    std::size_t size = 0;
    for (std::size_t i = 0; i != 3; ++i)
        EXPECT_EQ(doca_rdma_export(rdma, &details, &size, &made[i]), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_export(rdma, &details, &size, &made[3]), DOCA_ERROR_FULL);
    // A task in flight keeps an ended connection, which is then no longer counted.
    const doca_rdma_connection *const kept = made[0];
    Outcome outcome;
    doca_rdma_task_send *task = nullptr;
    ASSERT_EQ(doca_rdma_connect(rdma, details, size, made[0]), DOCA_SUCCESS);
    ASSERT_EQ(doca_rdma_task_send_allocate_init(rdma, made[0], nullptr, {.ptr = &outcome}, &task), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(doca_rdma_task_send_as_task(task)), DOCA_SUCCESS);
    EXPECT_EQ(doca_rdma_connection_disconnect(made[0]), DOCA_SUCCESS);
    ASSERT_FALSE(outcome.has_ended());
    EXPECT_EQ(doca_rdma_export(rdma, &details, &size, &made[0]), DOCA_SUCCESS);
    EXPECT_NE(made[0], kept);
    EXPECT_EQ(doca_rdma_export(rdma, &details, &size, &made[3]), DOCA_ERROR_FULL);
    while (!outcome.has_ended())
        (void)instance.progress();
    EXPECT_EQ(doca_rdma_export(rdma, &details, &size, &made[3]), DOCA_ERROR_FULL);
}

class ComchSetters : public ComchTest {};

TEST_F(ComchSetters, contexts_and_connections_tell_what_they_are)
{
    const doca_devinfo *const info = doca_dev_as_devinfo(dpu);
    std::uint32_t number = 0;
    for (const auto ask :
         {doca_comch_cap_get_max_clients, doca_comch_cap_get_max_name_len, doca_comch_cap_get_max_recv_queue_size,
          doca_comch_cap_get_max_send_tasks, doca_comch_consumer_cap_get_max_buf_list_len,
          doca_comch_consumer_cap_get_max_buf_size, doca_comch_consumer_cap_get_max_consumers,
          doca_comch_consumer_cap_get_max_imm_data_len, doca_comch_consumer_cap_get_max_num_tasks,
          doca_comch_producer_cap_get_max_buf_list_len, doca_comch_producer_cap_get_max_buf_size,
          doca_comch_producer_cap_get_max_num_tasks, doca_comch_producer_cap_get_max_producers}) {
        number = 0;
        EXPECT_EQ(ask(info, &number), DOCA_SUCCESS);
        EXPECT_GT(number, 0u);
    }
    EXPECT_EQ(doca_comch_consumer_cap_is_supported(info), DOCA_SUCCESS);
    EXPECT_EQ(doca_comch_producer_cap_is_supported(info), DOCA_SUCCESS);
    doca_dev *device = nullptr;
    doca_dev_rep *representor = nullptr;
    EXPECT_EQ(doca_comch_server_get_device(server, &device), DOCA_SUCCESS);
    EXPECT_EQ(device, dpu);
    EXPECT_EQ(doca_comch_server_get_device_rep(server, &representor), DOCA_SUCCESS);
    EXPECT_EQ(representor, rep);
    EXPECT_EQ(doca_comch_client_get_device(client, &device), DOCA_SUCCESS);
    EXPECT_EQ(device, host);
    EXPECT_PROPERTY(server, doca_comch_server, max_msg_size, std::uint32_t, 1000u);
    EXPECT_PROPERTY(server, doca_comch_server, recv_queue_size, std::uint32_t, 20u);
    EXPECT_PROPERTY(client, doca_comch_client, recv_queue_size, std::uint32_t, 20u);
    start();
    doca_comch_connection *const connection = at_server.connected[0];
    EXPECT_EQ(doca_comch_connection_get_user_data(connection).u64, 0u);
    EXPECT_EQ(doca_comch_connection_set_user_data(connection, {.u64 = 5}), DOCA_SUCCESS);
    EXPECT_EQ(doca_comch_connection_get_user_data(connection).u64, 5u);
}

TEST_F(ComchSetters, tasks_of_the_fast_path)
{
    start();
    std::vector<std::byte> memory(4096);
    const MmapHandle to = map_of(dpu, memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const MmapHandle from = map_of(host, memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const InventoryHandle inventory = inventory_of(4);
    BufHandle dst, src;
    must(doca_buf_inventory_buf_get_by_addr(inventory, to, memory.data(), 64, dst.out()));
    must(doca_buf_inventory_buf_get_by_data(inventory, from, &memory[2048], 32, src.out()));
    static int num_ended;
    num_ended = 0;
    const auto consumed = [](doca_comch_consumer_task_post_recv *task, doca_data, doca_data) {
        EXPECT_EQ(doca_task_get_status(doca_comch_consumer_task_post_recv_as_task(task)), DOCA_SUCCESS);
        EXPECT_EQ(doca_comch_consumer_task_post_recv_get_imm_data_len(task), 4u);
        doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
        ++num_ended;
    };
    const auto produced = [](doca_comch_producer_task_send *task, doca_data, doca_data) {
        EXPECT_EQ(doca_task_get_status(doca_comch_producer_task_send_as_task(task)), DOCA_SUCCESS);
        doca_task_free(doca_comch_producer_task_send_as_task(task));
        ++num_ended;
    };
    ConsumerHandle consumer;
    must(doca_comch_consumer_create(at_server.connected[0], to, consumer.out()));
    EXPECT_PROPERTY(consumer, doca_comch_consumer, imm_data_len, std::uint32_t, 8u);
    must(doca_comch_consumer_task_post_recv_set_conf(consumer, consumed, consumed, 1));
    doca_ctx *const receiving = doca_comch_consumer_as_ctx(consumer), *sending = nullptr;
    must(doca_pe_connect_ctx(at_server.pe, receiving));
    EXPECT_EQ(doca_ctx_start(receiving), DOCA_ERROR_IN_PROGRESS);
    run_until([&] { return !at_client.consumers.empty() && state_of(receiving) == DOCA_CTX_STATE_RUNNING; });
    ProducerHandle producer;
    must(doca_comch_producer_create(to_server, producer.out()));
    must(doca_comch_producer_task_send_set_conf(producer, produced, produced, 1));
    sending = doca_comch_producer_as_ctx(producer);
    must(doca_pe_connect_ctx(at_client.pe, sending));
    must(doca_ctx_start(sending));

    doca_comch_consumer_task_post_recv *receive = nullptr;
    must(doca_comch_consumer_task_post_recv_alloc_init(consumer, nullptr, &receive));
    EXPECT_KEPT(doca_comch_consumer_task_post_recv, receive, buf, dst);
    must(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(receive)));
    std::array<std::uint8_t, 4> immediate = {1, 2, 3, 4};
    doca_comch_producer_task_send *send = nullptr;
    must(doca_comch_producer_task_send_alloc_init(producer, nullptr, nullptr, 0, 0, &send));
    EXPECT_KEPT(doca_comch_producer_task_send, send, buf, src);
    EXPECT_KEPT(doca_comch_producer_task_send, send, consumer_id, at_client.consumers[0]);
    doca_comch_producer_task_send_set_imm_data(send, immediate.data(), immediate.size());
    EXPECT_EQ(doca_comch_producer_task_send_get_imm_data(send), immediate.data());
    EXPECT_EQ(doca_comch_producer_task_send_get_imm_data_len(send), immediate.size());
    must(doca_task_submit(doca_comch_producer_task_send_as_task(send)));
    run_until([&] { return num_ended == 2; });
    EXPECT_EQ(data_len_of(dst), 32u);
    (void)doca_ctx_stop(sending);
    (void)doca_ctx_stop(receiving);
    run_until([&] { return state_of(receiving) == DOCA_CTX_STATE_IDLE && state_of(sending) == DOCA_CTX_STATE_IDLE; });
}

void clear_flag(void *, std::size_t, void *opaque)
{
    *static_cast<bool *>(opaque) = false;
}

TEST(MapsAndBuffers, tell_what_they_are)
{
    const DevHandle dev = open_device("soft_p0");
    std::vector<std::byte> memory(4096);
    bool is_there = true;
    {
        MmapHandle map;
        must(doca_mmap_create(map.out()));
        EXPECT_PROPERTY(map, doca_mmap, max_num_devices, std::uint32_t, 2u);
        must(doca_mmap_set_free_cb(map, clear_flag, &is_there));
        must(doca_mmap_set_memrange(map, memory.data(), memory.size()));
        must(doca_mmap_add_dev(map, dev));
        must(doca_mmap_start(map));
        std::uint8_t flag = 7;
        EXPECT_EQ(doca_mmap_get_exported(map, &flag), DOCA_SUCCESS);
        EXPECT_EQ(flag, 0);
        EXPECT_EQ(doca_mmap_get_from_export(map, &flag), DOCA_SUCCESS);
        EXPECT_EQ(flag, 0);

        InventoryHandle inventory = inventory_of(4);
        std::array<BufHandle, 3> bufs;
        for (std::size_t i = 0; i != bufs.size(); ++i)
            must(doca_buf_inventory_buf_get_by_addr(inventory, map, &memory[i * 100], 100, bufs[i].out()));
        must(doca_buf_chain_list(bufs[0], bufs[1]));
        must(doca_buf_chain_list(bufs[0], bufs[2]));
        doca_buf *other = nullptr;
        EXPECT_EQ(doca_buf_get_next_in_list(bufs[0], &other), DOCA_SUCCESS);
        EXPECT_EQ(other, bufs[1]);
        EXPECT_EQ(doca_buf_get_last_in_list(bufs[0], &other), DOCA_SUCCESS);
        EXPECT_EQ(other, bufs[2]);
        EXPECT_EQ(doca_buf_is_first_in_list(bufs[0], &flag), DOCA_SUCCESS);
        EXPECT_EQ(flag, 1);
        EXPECT_EQ(doca_buf_is_in_list(bufs[1], &flag), DOCA_SUCCESS);
        EXPECT_EQ(flag, 1);
        EXPECT_EQ(doca_buf_unchain_list(bufs[0], bufs[1]), DOCA_SUCCESS);
        EXPECT_EQ(doca_buf_is_in_list(bufs[0], &flag), DOCA_SUCCESS);
        EXPECT_EQ(flag, 0);
        must(doca_buf_unchain_list(bufs[1], bufs[2]));
        EXPECT_EQ(doca_buf_inventory_buf_reuse_by_args(bufs[2], &memory[1000], 50, &memory[1010], 20), DOCA_SUCCESS);
        EXPECT_EQ(data_len_of(bufs[2]), 20u);
        doca_data data{};
        EXPECT_EQ(doca_buf_inventory_get_user_data(inventory, &data), DOCA_SUCCESS);
    }
    EXPECT_FALSE(is_there) << "the callback that frees the memory is called when the map is destroyed";
}

TEST(MapsAndBuffers, pools_tell_what_they_have)
{
    const DevHandle dev = open_device("soft_p0");
    std::vector<std::byte> memory(4096);
    const MmapHandle map = map_of(dev, memory);
    doca_buf_pool *pool = nullptr;
    must(doca_buf_pool_create(4, 100, map, &pool));
    std::size_t alignment = 0;
    std::uint32_t number = 0;
    doca_data data{};
    EXPECT_EQ(doca_buf_pool_set_element_alignment(pool, 64), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_pool_get_element_alignment(pool, &alignment), DOCA_SUCCESS);
    EXPECT_EQ(alignment, 64u);
    EXPECT_EQ(doca_buf_pool_set_user_data(pool, {.u64 = 3}), DOCA_SUCCESS);
    EXPECT_EQ(doca_buf_pool_get_user_data(pool, &data), DOCA_SUCCESS);
    EXPECT_EQ(data.u64, 3u);
    must(doca_buf_pool_start(pool));
    doca_buf *buf = nullptr;
    must(doca_buf_pool_buf_alloc(pool, &buf));
    EXPECT_EQ(doca_buf_pool_get_num_elements(pool, &number), DOCA_SUCCESS);
    EXPECT_EQ(number, 4u);
    EXPECT_EQ(doca_buf_pool_get_num_free_elements(pool, &number), DOCA_SUCCESS);
    EXPECT_EQ(number, 3u);
    must(doca_buf_dec_refcount(buf, nullptr));
    must(doca_buf_pool_stop(pool));
    must(doca_buf_pool_destroy(pool));
}

} // namespace
