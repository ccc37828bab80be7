// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Contexts of all kinds on one progress engine, of a program that sleeps on it.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <poll.h>

#include "comch_sides.hpp"
#include "dma_tasks.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

namespace {

constexpr std::size_t room = 4096;

/// What the tasks of the fast path have told.
struct FastPath {
    std::string data;
    std::string immediate;
    int num_received = 0;
    int num_sent = 0;
    int num_failed = 0;
};

void posted(doca_comch_consumer_task_post_recv *task, doca_data, doca_data ctx_data)
{
    auto &seen = *static_cast<FastPath *>(ctx_data.ptr);
    doca_buf *const buf = doca_comch_consumer_task_post_recv_get_buf(task);
    void *data = nullptr;
    must(doca_buf_get_data(buf, &data));
    seen.data.assign(static_cast<const char *>(data), data_len_of(buf));
    seen.immediate.assign(reinterpret_cast<const char *>(doca_comch_consumer_task_post_recv_get_imm_data(task)),
                          doca_comch_consumer_task_post_recv_get_imm_data_len(task));
    ++seen.num_received;
    doca_task_free(doca_comch_consumer_task_post_recv_as_task(task));
}
void produced(doca_comch_producer_task_send *task, doca_data, doca_data ctx_data)
{
    ++static_cast<FastPath *>(ctx_data.ptr)->num_sent;
    doca_task_free(doca_comch_producer_task_send_as_task(task));
}
template <typename Task, doca_task *(*as_task)(Task *)>
void broken(Task *task, doca_data, doca_data ctx_data)
{
    ++static_cast<FastPath *>(ctx_data.ptr)->num_failed;
    doca_task_free(as_task(task));
}

class OneEngine : public testing::Test {
protected:
    void SetUp() override
    {
        must(doca_pe_get_notification_handle(pe, &handle));
        must(doca_comch_server_create(dpu, rep, "one engine", server.out()));
        must(doca_comch_server_event_msg_recv_register(server, received));
        must(doca_comch_server_event_connection_status_changed_register(server, connected, disconnected));
        must(doca_comch_server_event_consumer_register(server, consumer_came, consumer_went));
        must(doca_comch_server_task_send_set_conf(server, sent, send_failed, num_sends));
        join(server_ctx, &at_server);
        must(doca_comch_client_create(host, "one engine", client.out()));
        must(doca_comch_client_event_msg_recv_register(client, received));
        must(doca_comch_client_event_consumer_register(client, consumer_came, consumer_went));
        must(doca_comch_client_task_send_set_conf(client, sent, send_failed, num_sends));
        join(client_ctx, &at_client);
        must(doca_ctx_start(server_ctx()));
        ASSERT_EQ(doca_ctx_start(client_ctx()), DOCA_ERROR_IN_PROGRESS);
        sleep_until([&] { return is(client_ctx(), DOCA_CTX_STATE_RUNNING) && !at_server.connected.empty(); });
        must(doca_comch_client_get_connection(client, &to_server));
    }
    void join(const std::function<doca_ctx *()> &ctx, void *user_data)
    {
        must(doca_ctx_set_user_data(ctx(), {.ptr = user_data}));
        must(doca_pe_connect_ctx(pe, ctx()));
    }
    static bool is(const doca_ctx *ctx, doca_ctx_states state) { return state_of(ctx) == state; }
    static doca_error_t begin_stop(doca_ctx *ctx)
    {
        const doca_error_t status = doca_ctx_stop(ctx);
        return status == DOCA_ERROR_IN_PROGRESS ? DOCA_SUCCESS : status;
    }
    /// Progress where there is any, sleep where there is none: what is waited for has to wake.
    void sleep_until(const std::function<bool()> &is_done)
    {
        while (!is_done()) {
            if (doca_pe_progress(pe) != 0)
                continue;
            must(doca_pe_request_notification(pe));
            pollfd entry{handle, POLLIN, 0};
            constexpr int hang_ms = 60'000;
            if (poll(&entry, 1, hang_ms) != 1)
                throw std::runtime_error("nothing has woken the program");
            must(doca_pe_clear_notification(pe, handle));
        }
    }
    [[nodiscard]] BufHandle buf(doca_mmap *map, void *memory, std::size_t length, std::size_t data_length) const
    {
        BufHandle created;
        must(doca_buf_inventory_buf_get_by_args(inventory, map, memory, length, memory, data_length, created.out()));
        return created;
    }

    DevHandle dpu = open_device("soft_p0");
    DevHandle host = open_device("soft_pf0");
    RepHandle rep = representor_of(dpu, host);
    PeHandle pe = [] {
        PeHandle created;
        must(doca_pe_create(created.out()));
        return created;
    }();
    doca_notification_handle_t handle = -1;
    std::vector<std::byte> dpu_memory = std::vector<std::byte>(2 * room);
    std::vector<std::byte> host_memory = std::vector<std::byte>(room);
    MmapHandle dpu_map = map_of(dpu, dpu_memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    MmapHandle host_map = map_of(host, host_memory, DOCA_ACCESS_FLAG_PCI_READ_ONLY);
    InventoryHandle inventory = inventory_of(16);
    Side at_server;
    Side at_client;
    ServerHandle server;
    ClientHandle client;
    doca_comch_connection *to_server = nullptr;
    std::function<doca_ctx *()> server_ctx = [this] { return doca_comch_server_as_ctx(server); };
    std::function<doca_ctx *()> client_ctx = [this] { return doca_comch_client_as_ctx(client); };
};

TEST_F(OneEngine, serves_contexts_of_all_kinds_to_a_program_that_sleeps)
{
    // Messages, there and back.
    doca_comch_task_send *send = nullptr;
    ASSERT_EQ(doca_comch_client_task_send_alloc_init(client, to_server, "there", 5, &send), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(doca_comch_task_send_as_task(send)), DOCA_SUCCESS);
    sleep_until([&] { return !at_server.messages.empty() && at_client.num_sent == 1; });
    ASSERT_EQ(doca_comch_server_task_send_alloc_init(server, at_server.from, "back", 4, &send), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(doca_comch_task_send_as_task(send)), DOCA_SUCCESS);
    sleep_until([&] { return !at_client.messages.empty() && at_server.num_sent == 1; });

    // A consumer of the server, and a producer of the client.
    FastPath seen;
    ConsumerHandle consumer;
    ASSERT_EQ(doca_comch_consumer_create(at_server.from, dpu_map, consumer.out()), DOCA_SUCCESS);
    ASSERT_EQ(doca_comch_consumer_task_post_recv_set_conf(
                  consumer, posted,
                  broken<doca_comch_consumer_task_post_recv, doca_comch_consumer_task_post_recv_as_task>, 1),
              DOCA_SUCCESS);
    doca_ctx *const consumer_ctx = doca_comch_consumer_as_ctx(consumer);
    join([&] { return consumer_ctx; }, &seen);
    ASSERT_EQ(doca_ctx_start(consumer_ctx), DOCA_ERROR_IN_PROGRESS);
    sleep_until([&] { return is(consumer_ctx, DOCA_CTX_STATE_RUNNING) && !at_client.consumers.empty(); });
    ProducerHandle producer;
    ASSERT_EQ(doca_comch_producer_create(to_server, producer.out()), DOCA_SUCCESS);
    ASSERT_EQ(doca_comch_producer_task_send_set_conf(
                  producer, produced, broken<doca_comch_producer_task_send, doca_comch_producer_task_send_as_task>, 1),
              DOCA_SUCCESS);
    doca_ctx *const producer_ctx = doca_comch_producer_as_ctx(producer);
    join([&] { return producer_ctx; }, &seen);
    ASSERT_EQ(doca_ctx_start(producer_ctx), DOCA_SUCCESS);
    {
        const BufHandle to = buf(dpu_map, dpu_memory.data(), room, 0);
        const BufHandle from = buf(host_map, host_memory.data(), room, 4);
        std::memcpy(host_memory.data(), "data", 4);
        std::uint8_t immediate[] = {'i', 'm', 'm'};
        doca_comch_consumer_task_post_recv *receive = nullptr;
        ASSERT_EQ(doca_comch_consumer_task_post_recv_alloc_init(consumer, to, &receive), DOCA_SUCCESS);
        ASSERT_EQ(doca_task_submit(doca_comch_consumer_task_post_recv_as_task(receive)), DOCA_SUCCESS);
        doca_comch_producer_task_send *produce = nullptr;
        ASSERT_EQ(doca_comch_producer_task_send_alloc_init(producer, from, immediate, sizeof(immediate),
                                                           at_client.consumers[0], &produce),
                  DOCA_SUCCESS);
        ASSERT_EQ(doca_task_submit(doca_comch_producer_task_send_as_task(produce)), DOCA_SUCCESS);
        sleep_until([&] { return seen.num_received + seen.num_failed != 0 && seen.num_sent != 0; });
        EXPECT_EQ(seen.data, "data");
        EXPECT_EQ(seen.immediate, "imm");
    }

    // RDMA to itself, and a copy of what has come.
    RdmaInstance sender(dpu, 1, pe);
    RdmaInstance receiver(dpu, 1, pe);
    doca_rdma_connection *connections[2] = {};
    const void *details[2] = {};
    std::size_t sizes[2] = {};
    RdmaInstance *const instances[] = {&sender, &receiver};
    for (std::size_t i = 0; i != 2; ++i) {
        instances[i]->start();
        ASSERT_EQ(doca_rdma_export(instances[i]->get(), &details[i], &sizes[i], &connections[i]), DOCA_SUCCESS);
    }
    for (std::size_t i = 0; i != 2; ++i)
        ASSERT_EQ(doca_rdma_connect(instances[i]->get(), details[1 - i], sizes[1 - i], connections[i]), DOCA_SUCCESS);
    const BufHandle source = buf(dpu_map, dpu_memory.data(), room, 4);
    const BufHandle target = buf(dpu_map, &dpu_memory[room], room / 2, 0);
    const BufHandle copied = buf(dpu_map, &dpu_memory[room + room / 2], room / 2, 0);
    Outcome went;
    Outcome came;
    doca_rdma_task_receive *receive = nullptr;
    ASSERT_EQ(doca_rdma_task_receive_allocate_init(receiver.get(), target, {.ptr = &came}, &receive), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(doca_rdma_task_receive_as_task(receive)), DOCA_SUCCESS);
    doca_rdma_task_send *rdma_send = nullptr;
    ASSERT_EQ(doca_rdma_task_send_allocate_init(sender.get(), connections[0], source, {.ptr = &went}, &rdma_send),
              DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(doca_rdma_task_send_as_task(rdma_send)), DOCA_SUCCESS);
    sleep_until([&] { return went.has_ended() && came.has_ended(); });
    ASSERT_EQ(came.num_succeeded, 1) << doca_error_get_name(came.status);
    DmaContext dma(dpu, pe, 1);
    ASSERT_EQ(doca_ctx_start(dma.ctx()), DOCA_SUCCESS);
    Copy copy;
    ASSERT_EQ(dma.alloc(copy, target, copied), DOCA_SUCCESS);
    ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    sleep_until([&] { return copy.has_ended(); });
    doca_task_free(copy.as_task());
    EXPECT_EQ(std::memcmp(&dpu_memory[room + room / 2], "data", 4), 0);

    // The client goes first, under a consumer and a producer that are still there.
    for (doca_ctx *const ctx : {client_ctx(), consumer_ctx, producer_ctx, receiver.ctx(), dma.ctx(), server_ctx()})
        ASSERT_EQ(begin_stop(ctx), DOCA_SUCCESS);
    sleep_until([&] {
        return is(client_ctx(), DOCA_CTX_STATE_IDLE) && is(server_ctx(), DOCA_CTX_STATE_IDLE) &&
               is(consumer_ctx, DOCA_CTX_STATE_IDLE) && is(producer_ctx, DOCA_CTX_STATE_IDLE) &&
               is(receiver.ctx(), DOCA_CTX_STATE_IDLE);
    });
    EXPECT_EQ(at_server.disconnected.size(), 1u);
}

} // namespace
