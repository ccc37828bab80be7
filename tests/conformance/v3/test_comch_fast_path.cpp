// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Comch of DOCA 3.0: consumers and producers on a connection, in one process.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <poll.h>

#include "../support/footprint.hpp"
#include "comch_sides.hpp"

using namespace doca_test;

namespace {

/// What became of a task of the fast path.
struct Transfer {
    int num_succeeded = 0;
    int num_failed = 0;
    doca_error_t status = DOCA_SUCCESS; // of one that failed
    std::uint32_t producer = 0;
    std::string immediate;
};

void post_ended(doca_comch_consumer_task_post_recv *task, doca_data task_data, doca_data)
{
    auto &transfer = *static_cast<Transfer *>(task_data.ptr);
    ++transfer.num_succeeded;
    transfer.producer = doca_comch_consumer_task_post_recv_get_producer_id(task);
    if (const std::uint8_t *data = doca_comch_consumer_task_post_recv_get_imm_data(task))
        transfer.immediate.assign(reinterpret_cast<const char *>(data),
                                  doca_comch_consumer_task_post_recv_get_imm_data_len(task));
    doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}
void note_failure(doca_task *task, doca_data task_data)
{
    auto &transfer = *static_cast<Transfer *>(task_data.ptr);
    ++transfer.num_failed;
    transfer.status = doca_task_get_status(task);
    doca_task_free(task);
}
void post_failed(doca_comch_consumer_task_post_recv *task, doca_data task_data, doca_data)
{
    note_failure(doca_comch_consumer_task_post_recv_as_task(task), task_data);
}
void produced(doca_comch_producer_task_send *task, doca_data task_data, doca_data)
{
    ++static_cast<Transfer *>(task_data.ptr)->num_succeeded;
    doca_task_free(doca_comch_producer_task_send_as_task(task));
}
void produce_failed(doca_comch_producer_task_send *task, doca_data task_data, doca_data)
{
    note_failure(doca_comch_producer_task_send_as_task(task), task_data);
}

/// A consumer at the server, a producer at the client, each with a progress engine of its own.
class ComchFastPath : public ComchTest {
protected:
    static constexpr std::size_t size = std::size_t{1} << 20;

    void SetUp() override
    {
        ComchTest::SetUp();
        start();
        consumer = start_consumer(at_server.connected[0], to_map, consumer_pe);
        run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_RUNNING; });
        must(doca_comch_producer_create(to_server, producer.out()));
        must(doca_comch_producer_task_send_set_conf(producer, produced, produce_failed, 32));
        must(doca_pe_connect_ctx(producer_pe, producer_ctx()));
        ASSERT_EQ(doca_ctx_start(producer_ctx()), DOCA_SUCCESS);
        for (std::size_t i = 0; i != size; ++i)
            from[i] = static_cast<std::byte>(i * 31 + 1);
    }
    void TearDown() override
    {
        (void)doca_ctx_stop(producer_ctx());
        (void)doca_ctx_stop(consumer_ctx());
        run_all_until([&] {
            return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE && state_of(producer_ctx()) == DOCA_CTX_STATE_IDLE;
        });
        ComchTest::TearDown();
    }
    [[nodiscard]] static ConsumerHandle start_consumer(doca_comch_connection *connection, doca_mmap *map, doca_pe *pe)
    {
        ConsumerHandle made;
        must(doca_comch_consumer_create(connection, map, made.out()));
        must(doca_comch_consumer_task_post_recv_set_conf(made, post_ended, post_failed, 32));
        must(doca_pe_connect_ctx(pe, doca_comch_consumer_as_ctx(made)));
        EXPECT_EQ(doca_ctx_start(doca_comch_consumer_as_ctx(made)), DOCA_ERROR_IN_PROGRESS);
        return made;
    }
    [[nodiscard]] doca_ctx *consumer_ctx() const { return doca_comch_consumer_as_ctx(consumer); }
    [[nodiscard]] doca_ctx *producer_ctx() const { return doca_comch_producer_as_ctx(producer); }
    void run_all_until(const std::function<bool()> &is_done)
    {
        run_until([&] {
            progress_data();
            return is_done();
        });
    }
    void progress_data()
    {
        (void)doca_pe_progress(consumer_pe);
        (void)doca_pe_progress(producer_pe);
    }
    void post(Transfer &transfer, doca_buf *buf)
    {
        doca_comch_consumer_task_post_recv *task = nullptr;
        must(doca_comch_consumer_task_post_recv_alloc_init(consumer, buf, &task));
        doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(task), {.ptr = &transfer});
        must(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
    }
    void produce(Transfer &transfer, const doca_buf *buf, std::string &immediate, std::uint32_t id)
    {
        doca_comch_producer_task_send *task = nullptr;
        must(doca_comch_producer_task_send_alloc_init(producer, buf, reinterpret_cast<std::uint8_t *>(immediate.data()),
                                                      static_cast<std::uint32_t>(immediate.size()), id, &task));
        doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), {.ptr = &transfer});
        must(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
    }
    [[nodiscard]] static std::uint32_t id_of(const doca_comch_consumer *of)
    {
        std::uint32_t id = 0;
        must(doca_comch_consumer_get_id(of, &id));
        return id;
    }
    [[nodiscard]] std::uint32_t consumer_id() const { return id_of(consumer); }
    [[nodiscard]] BufHandle data(std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_data(inventory, from_map, from.data(), length, buf.out()));
        return buf;
    }
    [[nodiscard]] BufHandle room(std::size_t offset, std::size_t length)
    {
        BufHandle buf;
        must(doca_buf_inventory_buf_get_by_addr(inventory, to_map, &to[offset], length, buf.out()));
        return buf;
    }

    std::vector<std::byte> from = std::vector<std::byte>(size);
    std::vector<std::byte> to = std::vector<std::byte>(size);
    MmapHandle from_map = map_of(host, from, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
    MmapHandle to_map = map_of(dpu, to, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    InventoryHandle inventory = inventory_of(64);
    PeHandle consumer_pe = [] {
        PeHandle pe;
        must(doca_pe_create(pe.out()));
        return pe;
    }();
    PeHandle producer_pe = [] {
        PeHandle pe;
        must(doca_pe_create(pe.out()));
        return pe;
    }();
    ConsumerHandle consumer;
    ProducerHandle producer;
};

TEST_F(ComchFastPath, data_and_immediate_data_arrive)
{
    EXPECT_EQ(at_client.consumers, std::vector<std::uint32_t>{consumer_id()});
    for (const std::size_t length : {std::size_t{8}, std::size_t{5000}, size}) {
        for (std::string immediate : {std::string(), std::string("imm"), std::string(32, 'i')}) {
            BufHandle dst = room(0, size);
            const BufHandle src = data(length);
            Transfer posted, sent_one;
            post(posted, dst);
            std::string own = immediate;
            produce(sent_one, src, own, consumer_id());
            own.assign(own.size(), '?'); // it is the program's again, although nothing may have been sent yet
            run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0 && sent_one.num_succeeded != 0; });
            EXPECT_EQ(posted.num_succeeded, 1);
            EXPECT_EQ(posted.immediate, immediate);
            EXPECT_EQ(data_len_of(dst), length);
            EXPECT_EQ(0, std::memcmp(to.data(), from.data(), length));
            std::uint32_t id = 0;
            must(doca_comch_producer_get_id(producer, &id));
            EXPECT_EQ(posted.producer, id);
        }
    }
}

/// The queue pair is made by a progress call between the request and the wait.
TEST_F(ComchFastPath, ConsumerIsWokenByAProducerThatConnectsWhileTheEngineIsArmed)
{
    pollfd ready = {.fd = -1, .events = POLLIN, .revents = 0};
    must(doca_pe_get_notification_handle(consumer_pe, &ready.fd));
    Transfer posted, sent_one;
    std::string immediate = "first";
    post(posted, nullptr);
    const auto request_and_check = [&] {
        while (doca_pe_progress(consumer_pe) != 0) {
        }
        must(doca_pe_request_notification(consumer_pe));
        EXPECT_EQ(doca_pe_progress(consumer_pe), 0);
    };
    request_and_check();
    produce(sent_one, nullptr, immediate, consumer_id());
    for (int i = 0; i != 1000; ++i) { // the request to connect arrives, and is answered
        (void)doca_pe_progress(at_client.pe);
        (void)doca_pe_progress(at_server.pe);
        ASSERT_EQ(doca_pe_progress(consumer_pe), 0);
    }
    if (poll(&ready, 1, 0) == 1) { // as a program that was woken for nothing
        must(doca_pe_clear_notification(consumer_pe, 0));
        request_and_check();
    }
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (poll(&ready, 1, 0) == 0) {
        ASSERT_LT(std::chrono::steady_clock::now(), end) << "no wake-up for the message";
        (void)doca_pe_progress(producer_pe);
        (void)doca_pe_progress(at_client.pe);
        (void)doca_pe_progress(at_server.pe);
    }
    run_all_until([&] { return posted.num_succeeded != 0 && sent_one.num_succeeded != 0; });
    EXPECT_EQ(posted.immediate, immediate);
}

TEST_F(ComchFastPath, immediate_data_needs_no_buffer)
{
    Transfer posted, sent_one;
    std::string immediate = "alone";
    post(posted, nullptr);
    produce(sent_one, nullptr, immediate, consumer_id());
    run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
    EXPECT_EQ(posted.num_succeeded, 1);
    EXPECT_EQ(posted.immediate, "alone");
}

TEST_F(ComchFastPath, immediate_data_that_the_consumer_does_not_take_is_not_sent)
{
    for (const std::uint32_t limit : {0u, 4u}) {
        SCOPED_TRACE(limit);
        ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
        ASSERT_EQ(doca_comch_consumer_set_imm_data_len(consumer, limit), DOCA_SUCCESS);
        ASSERT_EQ(doca_ctx_start(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
        run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_RUNNING; });
        Transfer posted;
        BufHandle dst = room(0, 128);
        const BufHandle src = data(64);
        post(posted, dst);
        std::string too_long(limit + 1, 'i'), longest(limit, 'i');
        for (int i = 0; i != 2; ++i) { // also the first one, with which the two get to know each other
            Transfer refused;
            produce(refused, src, too_long, consumer_id());
            run_all_until([&] { return refused.num_succeeded + refused.num_failed != 0; });
            EXPECT_EQ(refused.status, DOCA_ERROR_INVALID_VALUE);
        }
        doca_comch_producer_task_send *task = nullptr;
        must(doca_comch_producer_task_send_alloc_init(producer, src, reinterpret_cast<std::uint8_t *>(too_long.data()),
                                                      limit + 1, consumer_id(), &task));
        EXPECT_EQ(doca_task_try_submit(doca_comch_producer_task_send_as_task(task)), DOCA_ERROR_INVALID_VALUE);
        doca_task_free(doca_comch_producer_task_send_as_task(task));
        // What it takes arrives.
        Transfer sent_one;
        produce(sent_one, src, longest, consumer_id());
        run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0 && sent_one.num_succeeded != 0; });
        EXPECT_EQ(posted.num_succeeded, 1);
        EXPECT_EQ(posted.immediate, longest);
        EXPECT_EQ(data_len_of(dst), 64u);
    }
}

TEST_F(ComchFastPath, data_beyond_its_receive_is_not_cut)
{
    for (std::string immediate : {std::string(), std::string("imm")}) {
        Transfer posted, sent_one;
        BufHandle dst = room(0, 64);
        const BufHandle src = data(65);
        post(posted, dst);
        produce(sent_one, src, immediate, consumer_id());
        run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
        EXPECT_EQ(posted.num_failed, 1);
        EXPECT_EQ(posted.status, DOCA_ERROR_FULL);
        EXPECT_EQ(data_len_of(dst), 0u);
    }
    Transfer posted, sent_one; // the two still reach each other
    std::string immediate = "imm";
    BufHandle dst = room(0, 64);
    const BufHandle src = data(64);
    post(posted, dst);
    produce(sent_one, src, immediate, consumer_id());
    run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
    EXPECT_EQ(posted.num_succeeded, 1);
    EXPECT_EQ(posted.immediate, immediate);
    EXPECT_EQ(data_len_of(dst), 64u);
}

TEST_F(ComchFastPath, buffers_are_of_memory_of_this_process)
{
    std::vector<std::byte> of_host(64);
    const MmapHandle host_map = map_of(host, of_host, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const void *descriptor = nullptr;
    std::size_t length = 0;
    MmapHandle imported;
    must(doca_mmap_export_pci(host_map, host, &descriptor, &length));
    must(doca_mmap_create_from_export(nullptr, descriptor, length, dpu, imported.out()));
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
    must(doca_comch_consumer_create(at_server.connected[0], imported, consumer.out()));
    must(doca_comch_consumer_task_post_recv_set_conf(consumer, post_ended, post_failed, 1));
    must(doca_pe_connect_ctx(consumer_pe, consumer_ctx()));
    ASSERT_EQ(doca_ctx_start(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
    run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_RUNNING; });
    BufHandle buf;
    must(doca_buf_inventory_buf_get_by_addr(inventory, imported, of_host.data(), of_host.size(), buf.out()));
    Transfer posted;
    post(posted, buf);
    run_all_until([&] { return posted.num_failed != 0; });
    EXPECT_EQ(posted.status, DOCA_ERROR_NOT_SUPPORTED);
    buf.reset();
    (void)doca_ctx_stop(consumer_ctx());
    run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE; });
}

/// Nine producers: so many connections are only looked at when their peers ring. One of them ends by a message that its
/// receive can't take; what it has sent behind that does not keep the next receive from another one's message.
TEST_F(ComchFastPath, a_receive_is_for_those_whose_messages_can_be_received)
{
    ASSERT_EQ(doca_ctx_stop(producer_ctx()), DOCA_SUCCESS);
    constexpr std::size_t num_producers = 9;
    std::array<ProducerHandle, num_producers> producers;
    std::string none;
    const auto send = [&](std::size_t i, Transfer &transfer, const doca_buf *buf) {
        doca_comch_producer_task_send *task = nullptr;
        must(doca_comch_producer_task_send_alloc_init(producers[i], buf, nullptr, 0, consumer_id(), &task));
        doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), {.ptr = &transfer});
        must(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
    };
    const BufHandle small = data(8);
    for (std::size_t i = 0; i != num_producers; ++i) {
        must(doca_comch_producer_create(to_server, producers[i].out()));
        doca_ctx *const ctx = doca_comch_producer_as_ctx(producers[i]);
        must(doca_comch_producer_task_send_set_conf(producers[i], produced, produce_failed, 32));
        must(doca_pe_connect_ctx(producer_pe, ctx));
        ASSERT_EQ(doca_ctx_start(ctx), DOCA_SUCCESS);
        Transfer posted, first;
        const BufHandle dst = room(0, 64);
        post(posted, dst);
        send(i, first, small);
        run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0 && first.num_succeeded != 0; });
        ASSERT_EQ(posted.num_succeeded, 1);
    }
    Transfer posted, next, too_long, behind, of_another;
    const BufHandle long_one = data(512);
    const BufHandle dst = room(0, 64), dst_of_next = room(64, 64);
    post(posted, dst);
    send(0, too_long, long_one);
    send(0, behind, small);
    send(1, of_another, small);
    while (posted.num_failed == 0)
        (void)doca_pe_progress(consumer_pe);
    while (doca_pe_progress(consumer_pe) != 0) {
    }
    post(next, dst_of_next);
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(consumer_pe, &handle));
    for (int i = 0; i != 20 && next.num_succeeded == 0; ++i) { // as a program that sleeps
        while (doca_pe_progress(consumer_pe) != 0) {
        }
        must(doca_pe_request_notification(consumer_pe));
        pollfd event = {.fd = handle, .events = POLLIN, .revents = 0};
        const int is_woken = poll(&event, 1, 500);
        must(doca_pe_clear_notification(consumer_pe, 0));
        if (is_woken == 0)
            break;
    }
    EXPECT_EQ(next.num_succeeded, 1) << "the message of another producer waits for ever";
    for (const ProducerHandle &each : producers)
        (void)doca_ctx_stop(doca_comch_producer_as_ctx(each));
    run_all_until([&] {
        return std::ranges::all_of(producers, [](const ProducerHandle &each) {
            return state_of(doca_comch_producer_as_ctx(each)) == DOCA_CTX_STATE_IDLE;
        });
    });
}

TEST_F(ComchFastPath, an_answer_that_a_producer_has_not_seen_is_not_one_to_its_next_start)
{
    std::string none;
    const BufHandle src = data(8);
    Transfer in_vain;
    produce(in_vain, src, none, consumer_id());
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    run_until([&] { // all but the producer: the consumer's answer has come, and is not looked at
        (void)doca_pe_progress(consumer_pe);
        return std::chrono::steady_clock::now() > end;
    });
    ASSERT_EQ(doca_ctx_stop(producer_ctx()), DOCA_ERROR_IN_PROGRESS);
    while (state_of(producer_ctx()) != DOCA_CTX_STATE_IDLE)
        (void)doca_pe_progress(producer_pe);
    EXPECT_EQ(in_vain.num_failed, 1);
    ASSERT_EQ(doca_ctx_start(producer_ctx()), DOCA_SUCCESS);
    Transfer posted, sent_one;
    const BufHandle dst = room(0, 64);
    post(posted, dst);
    produce(sent_one, src, none, consumer_id());
    run_all_until([&] { return sent_one.num_succeeded + sent_one.num_failed != 0; });
    EXPECT_EQ(sent_one.num_succeeded, 1);
    if (sent_one.num_succeeded == 1)
        run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
    EXPECT_EQ(posted.num_succeeded, 1);
}

TEST_F(ComchFastPath, a_receive_without_a_buffer_has_no_room_for_data)
{
    Transfer posted, sent_one;
    std::string immediate = "imm";
    const BufHandle src = data(8);
    post(posted, nullptr);
    produce(sent_one, src, immediate, consumer_id());
    run_all_until([&] { return posted.num_succeeded + posted.num_failed != 0; });
    EXPECT_EQ(posted.status, DOCA_ERROR_FULL);
}

TEST_F(ComchFastPath, immediate_data_that_is_none_is_refused)
{
    std::array<std::uint8_t, 64> data{};
    doca_comch_producer_task_send *task = nullptr;
    for (const auto &[start, length] : {std::pair(data.data(), 33u), std::pair<std::uint8_t *, unsigned>(nullptr, 4u)})
        EXPECT_EQ(doca_comch_producer_task_send_alloc_init(producer, nullptr, start, length, consumer_id(), &task),
                  DOCA_ERROR_INVALID_VALUE);
}

/// The libraries have messages of their own on the connection.
TEST_F(ComchFastPath, counters_are_of_the_programs_messages)
{
    Transfer posted, sent_one; // which asks for a connection
    std::string none;
    const BufHandle src = data(8), dst = room(0, 64);
    post(posted, dst);
    produce(sent_one, src, none, consumer_id());
    run_all_until([&] { return posted.num_succeeded != 0 && sent_one.num_succeeded != 0; });
    send_from_client("hello");
    send_from_server("an answer");
    run_all_until([&] { return !at_server.messages.empty() && !at_client.messages.empty(); });
    const auto count = [](doca_comch_connection *connection, doca_comch_counter which) {
        std::uint64_t value = 0;
        must(doca_comch_connection_update_info(connection));
        must(doca_comch_connection_get_counter(connection, which, &value));
        return value;
    };
    for (const auto &[of_client, of_server] :
         {std::pair(DOCA_COMCH_COUNTER_SENT_MESSAGES, DOCA_COMCH_COUNTER_RECV_MESSAGES),
          std::pair(DOCA_COMCH_COUNTER_RECV_MESSAGES, DOCA_COMCH_COUNTER_SENT_MESSAGES)}) {
        EXPECT_EQ(count(to_server, of_client), 1u);
        EXPECT_EQ(count(at_server.connected[0], of_server), 1u);
    }
    for (const auto &[of_client, of_server, bytes] :
         {std::tuple(DOCA_COMCH_COUNTER_SENT_BYTES, DOCA_COMCH_COUNTER_RECV_BYTES, 5u),
          std::tuple(DOCA_COMCH_COUNTER_RECV_BYTES, DOCA_COMCH_COUNTER_SENT_BYTES, 9u)}) {
        EXPECT_EQ(count(to_server, of_client), bytes);
        EXPECT_EQ(count(at_server.connected[0], of_server), bytes);
    }
}

TEST_F(ComchFastPath, a_consumer_that_stops_expires)
{
    const std::uint32_t id = consumer_id();
    Transfer posted;
    BufHandle dst = room(0, 64);
    post(posted, dst);
    EXPECT_EQ(doca_comch_server_disconnect(server, at_server.connected[0]), DOCA_ERROR_IN_USE);
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
    run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE && !at_client.expired.empty(); });
    EXPECT_EQ(posted.num_failed, 1);
    EXPECT_EQ(at_client.expired, std::vector<std::uint32_t>{id});
    Transfer in_vain;
    std::string none;
    const BufHandle src = data(64);
    produce(in_vain, src, none, id);
    run_all_until([&] { return in_vain.num_succeeded + in_vain.num_failed != 0; });
    EXPECT_EQ(in_vain.num_failed, 1);
}

/// A producer that goes on keeps nothing of the consumers that have gone, whose connections have descriptors.
TEST_F(ComchFastPath, connections_to_consumers_that_have_expired_are_dropped)
{
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
    must(doca_comch_consumer_task_post_recv_set_conf(consumer, post_ended, post_failed,
                                                     1)); // so at most 16 messages wait
    const BufHandle src = data(8);
    std::string none;
    const auto come_and_go = [&](std::uint32_t num_messages) {
        at_client.consumers.clear();
        at_client.expired.clear();
        ASSERT_EQ(doca_ctx_start(consumer_ctx()), DOCA_ERROR_IN_PROGRESS);
        run_all_until(
            [&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_RUNNING && !at_client.consumers.empty(); });
        const std::uint32_t id = consumer_id();
        Transfer posted, sent;
        const BufHandle dst = room(0, 64);
        post(posted, dst);
        for (std::uint32_t i = 0; i != num_messages; ++i)
            produce(sent, src, none, id);
        run_all_until([&] { return posted.num_succeeded != 0 && sent.num_succeeded != 0; });
        (void)doca_ctx_stop(consumer_ctx());
        run_all_until([&] { return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE && !at_client.expired.empty(); });
        run_all_until([&] { return sent.num_succeeded + sent.num_failed == static_cast<int>(num_messages); });
        Transfer late;
        produce(late, src, none, id);
        run_all_until([&] { return late.num_failed != 0; });
        EXPECT_TRUE(late.status == DOCA_ERROR_NOT_FOUND || late.status == DOCA_ERROR_CONNECTION_RESET);
    };
    come_and_go(1); // some are the process's from now on
    const auto before = num_descriptors();
    for (int i = 0; i != 10; ++i)
        come_and_go(1);
    for (int i = 0; i != (is_soft_pair ? 10 : 1); ++i) // where the card tries for seconds
        come_and_go(32);                               // of which some are under way when it goes
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    run_all_until([&] { return num_descriptors() <= before || std::chrono::steady_clock::now() > end; });
    EXPECT_LE(num_descriptors(), before);
    Transfer late;
    produce(late, src, none, at_client.expired[0]);
    run_all_until([&] { return late.num_failed != 0; });
    EXPECT_EQ(late.status, DOCA_ERROR_NOT_FOUND);
}

/// A producer that sleeps is woken for it.
TEST_F(ComchFastPath, a_producer_that_sleeps_drops_what_has_expired)
{
    if (!is_soft_pair)
        GTEST_SKIP() << "a card's connections have no descriptors of their own";
    Transfer sent;
    const BufHandle src = data(8);
    std::string none;
    produce(sent, src, none, consumer_id());
    run_all_until([&] { return sent.num_succeeded == 1; });
    while (doca_pe_progress(producer_pe) != 0) {
    }
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(producer_pe, &handle));
    must(doca_pe_request_notification(producer_pe));
    (void)doca_ctx_stop(consumer_ctx());
    run_until([&] {
        (void)doca_pe_progress(consumer_pe);
        return state_of(consumer_ctx()) == DOCA_CTX_STATE_IDLE && !at_client.expired.empty();
    });
    const auto before = num_descriptors();
    pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&ready, 1, 2000), 1);
    must(doca_pe_clear_notification(producer_pe, 0));
    while (doca_pe_progress(producer_pe) != 0) {
    }
    EXPECT_LT(num_descriptors(), before);
}

// The peer's engine has no progress between the consumer's stop and the connection's end, in which it could say so.
TEST_F(ComchFastPath, a_consumer_whose_server_stops_expires)
{
    const std::uint32_t id = consumer_id();
    ASSERT_EQ(doca_ctx_stop(producer_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_stop(server_ctx()), DOCA_ERROR_IN_PROGRESS);
    run_until([&] { return state_of(client_ctx()) == DOCA_CTX_STATE_IDLE; });
    EXPECT_EQ(at_client.expired, std::vector<std::uint32_t>{id});
}

// One end per wake-up: an engine that has more to tell does not fall asleep.
TEST_F(ComchFastPath, consumers_of_a_client_that_leaves_expire_before_it)
{
    const MmapHandle map = map_of(host, from, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    std::array<ConsumerHandle, 3> theirs;
    for (ConsumerHandle &each : theirs) {
        must(doca_comch_consumer_create(to_server, map, each.out()));
        must(doca_comch_consumer_task_post_recv_set_conf(each, post_ended, post_failed, 1));
        must(doca_pe_connect_ctx(consumer_pe, doca_comch_consumer_as_ctx(each)));
        ASSERT_EQ(doca_ctx_start(doca_comch_consumer_as_ctx(each)), DOCA_ERROR_IN_PROGRESS);
    }
    run_all_until([&] { return at_server.consumers.size() == theirs.size() && at_client.consumers.size() == 1; });
    for (ConsumerHandle &each : theirs) {
        run_all_until([&] { return state_of(doca_comch_consumer_as_ctx(each)) == DOCA_CTX_STATE_RUNNING; });
        ASSERT_EQ(doca_ctx_stop(doca_comch_consumer_as_ctx(each)), DOCA_SUCCESS);
    }
    ASSERT_EQ(doca_ctx_stop(producer_ctx()), DOCA_SUCCESS);
    ASSERT_EQ(doca_ctx_stop(client_ctx()), DOCA_SUCCESS);
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(at_server.pe, &handle));
    while (at_server.disconnected.empty()) {
        must(doca_pe_request_notification(at_server.pe));
        pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
        ASSERT_EQ(poll(&ready, 1, 10000), 1) << at_server.expired.size() << " have expired";
        must(doca_pe_clear_notification(at_server.pe, 0));
        (void)doca_pe_progress(at_server.pe);
    }
    EXPECT_EQ(at_server.expired, at_server.consumers);
    ASSERT_EQ(doca_ctx_stop(consumer_ctx()), DOCA_SUCCESS);
}

using ComchFirstMember = ComchTest;

/// Consumers may be started by other threads, and need the thread of the server to be announced.
TEST_F(ComchFirstMember, wakes_a_server_that_sleeps)
{
    start();
    std::vector<std::byte> memory(64);
    const MmapHandle map = map_of(dpu, memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    PeHandle pe;
    must(doca_pe_create(pe.out()));
    ConsumerHandle consumer;
    must(doca_comch_consumer_create(at_server.connected[0], map, consumer.out()));
    must(doca_pe_connect_ctx(pe, doca_comch_consumer_as_ctx(consumer)));
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(at_server.pe, &handle));
    pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
    do { // until there is nothing to do
        while (doca_pe_progress(at_server.pe) != 0) {
        }
        must(doca_pe_request_notification(at_server.pe));
    } while (poll(&ready, 1, 0) != 0);
    ASSERT_EQ(doca_ctx_start(doca_comch_consumer_as_ctx(consumer)), DOCA_ERROR_IN_PROGRESS);
    EXPECT_EQ(poll(&ready, 1, 10000), 1);
    must(doca_pe_clear_notification(at_server.pe, 0));
    run_until([&] { return at_client.consumers.size() == 1; });
    const auto run_pe_until = [&](doca_ctx_states state) {
        run_until([&] {
            (void)doca_pe_progress(pe);
            return state_of(doca_comch_consumer_as_ctx(consumer)) == state;
        });
    };
    run_pe_until(DOCA_CTX_STATE_RUNNING);
    (void)doca_ctx_stop(doca_comch_consumer_as_ctx(consumer));
    run_pe_until(DOCA_CTX_STATE_IDLE);
}

/// A program may do something else for long once it has been told of a consumer.
TEST_F(ComchFastPath, a_consumer_runs_once_the_peer_has_told_its_program)
{
    const ConsumerHandle other = start_consumer(at_server.connected[0], to_map, consumer_pe);
    doca_ctx *const ctx = doca_comch_consumer_as_ctx(other);
    run_all_until([&] { return at_client.consumers.size() == 2; });
    while (state_of(ctx) != DOCA_CTX_STATE_RUNNING) { // without the client's engine
        (void)doca_pe_progress(at_server.pe);
        (void)doca_pe_progress(consumer_pe);
    }
    (void)doca_ctx_stop(ctx);
    run_all_until([&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE; });
}

TEST_F(ComchFastPath, a_producer_says_what_it_waits_for)
{
    const BufHandle into = room(0, 100);
    const BufHandle buf = data(100);
    Transfer received, sent;
    post(received, into);
    const LogCapture log;
    std::string nothing;
    produce(sent, buf, nothing, consumer_id());
    while (!log.has("is its engine progressed?")) { // it is not
        (void)doca_pe_progress(producer_pe);
        (void)doca_pe_progress(at_server.pe);
    }
    EXPECT_EQ(sent.num_succeeded + sent.num_failed, 0);
    EXPECT_TRUE(log.has("wait for consumer " + std::to_string(consumer_id()))) << log.text();
    run_all_until([&] { return received.num_succeeded == 1 && sent.num_succeeded == 1; });
}

/// Programs that only wait for their data threads once all is set up.
TEST_F(ComchFastPath, data_needs_no_control_engine)
{
    const BufHandle into = room(0, 100);
    const BufHandle buf = data(100);
    Transfer received, sent;
    post(received, into);
    std::string nothing;
    produce(sent, buf, nothing, consumer_id());
    while (received.num_succeeded + received.num_failed == 0 || sent.num_succeeded + sent.num_failed == 0)
        progress_data();
    EXPECT_EQ(received.num_succeeded, 1);
    EXPECT_EQ(sent.num_succeeded, 1);
}

/// What data threads have received for the program, it is told in the order in which it came.
TEST_F(ComchFastPath, what_data_threads_meet_is_kept_for_the_program)
{
    doca_notification_handle_t handle = 0;
    must(doca_pe_get_notification_handle(at_server.pe, &handle));
    must(doca_pe_request_notification(at_server.pe));
    const MmapHandle map = map_of(host, from, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    const ConsumerHandle other = start_consumer(to_server, map, producer_pe); // the server's program is to be told of
    doca_ctx *const ctx = doca_comch_consumer_as_ctx(other);
    while (state_of(ctx) != DOCA_CTX_STATE_RUNNING) // both control engines rest
        progress_data();
    EXPECT_TRUE(at_server.consumers.empty());
    send_from_client("first");
    send_from_client("second");
    for (int i = 0; i != 10000; ++i)
        progress_data();
    EXPECT_TRUE(at_server.messages.empty());
    pollfd ready = {.fd = handle, .events = POLLIN, .revents = 0};
    EXPECT_EQ(poll(&ready, 1, 0), 1) << "who sleeps is woken, whatever other threads have looked at since";
    must(doca_pe_clear_notification(at_server.pe, 0));
    run_all_until([&] { return !at_server.consumers.empty(); });
    run_all_until([&] { return at_server.messages.size() == 2; });
    EXPECT_EQ(at_server.messages, (std::vector<std::string>{"first", "second"}));
    (void)doca_ctx_stop(ctx);
    run_all_until([&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE && at_server.expired.size() == 1; });
}

/// All four engines in threads of their own: who carries control messages is whoever comes first.
TEST_F(ComchFastPath, control_messages_are_carried_by_many_threads)
{
    constexpr int num_rounds = 30;
    const BufHandle into = room(0, 100);
    const BufHandle buf = data(100);
    std::atomic<bool> is_over{false};
    const auto serve = [&](Side &side) {
        while (!is_over)
            (void)doca_pe_progress(side.pe);
    };
    std::thread server_thread(serve, std::ref(at_server));
    std::thread client_thread(serve, std::ref(at_client));
    const auto run_one = [](doca_pe *pe, const std::function<bool()> &is_done) {
        while (!is_done())
            (void)doca_pe_progress(pe);
    };
    for (int round = 0; round != num_rounds; ++round) {
        Transfer received, sent;
        std::atomic<std::uint32_t> id{0};
        std::atomic<bool> has_arrived{false};
        std::thread producing([&] {
            while (id == 0)
                std::this_thread::yield();
            ProducerHandle own;
            must(doca_comch_producer_create(to_server, own.out()));
            must(doca_comch_producer_task_send_set_conf(own, produced, produce_failed, 1));
            doca_ctx *const ctx = doca_comch_producer_as_ctx(own);
            must(doca_pe_connect_ctx(producer_pe, ctx));
            must(doca_ctx_start(ctx));
            doca_comch_producer_task_send *task = nullptr;
            must(doca_comch_producer_task_send_alloc_init(own, buf, nullptr, 0, id, &task));
            doca_task_set_user_data(doca_comch_producer_task_send_as_task(task), {.ptr = &sent});
            must(doca_task_submit(doca_comch_producer_task_send_as_task(task)));
            run_one(producer_pe, [&] { return sent.num_succeeded + sent.num_failed == 1 && has_arrived; });
            (void)doca_ctx_stop(ctx);
            run_one(producer_pe, [&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE; });
        });
        const ConsumerHandle own = start_consumer(at_server.connected[0], to_map, consumer_pe);
        doca_ctx *const ctx = doca_comch_consumer_as_ctx(own);
        run_one(consumer_pe, [&] { return state_of(ctx) == DOCA_CTX_STATE_RUNNING; });
        must(doca_buf_reset_data_len(into));
        doca_comch_consumer_task_post_recv *task = nullptr;
        must(doca_comch_consumer_task_post_recv_alloc_init(own, into, &task));
        doca_task_set_user_data(doca_comch_consumer_task_post_recv_as_task(task), {.ptr = &received});
        must(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(task)));
        id = id_of(own);
        run_one(consumer_pe, [&] { return received.num_succeeded + received.num_failed == 1; });
        has_arrived = true;
        producing.join();
        EXPECT_EQ(sent.num_succeeded, 1);
        EXPECT_EQ(received.num_succeeded, 1);
        (void)doca_ctx_stop(ctx);
        run_one(consumer_pe, [&] { return state_of(ctx) == DOCA_CTX_STATE_IDLE; });
    }
    is_over = true;
    server_thread.join();
    client_thread.join();
    run_until([&] { return at_client.expired.size() == num_rounds; });
    EXPECT_EQ(at_client.consumers.size(), num_rounds + 1u); // that of the fixture runs
}

} // namespace
