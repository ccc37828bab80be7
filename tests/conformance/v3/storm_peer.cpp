// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The other side of a storm, until it is killed: storm_peer rdma|comch DEVICE PORT. It connects again and again, sends,
// receives, and leaves.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include <sys/prctl.h>

#include <csignal>

#include "comch_sides.hpp"
#include "rdma_instance.hpp"

using namespace doca_test;

namespace {

constexpr auto longest_stay = std::chrono::milliseconds(30);
constexpr std::size_t longest_message = 64;

class Stay {
public:
    [[nodiscard]] bool is_over() const { return std::chrono::steady_clock::now() > end_; }

private:
    std::chrono::steady_clock::time_point end_ = std::chrono::steady_clock::now() + longest_stay;
};

void peer_by_rdma(const std::string &device, std::uint16_t port, std::minstd_rand &random)
{
    const DevHandle dev = open_device(device);
    std::vector<std::byte> memory(2 * longest_message);
    const MmapHandle map = map_of(dev, memory, rdma_rights);
    const InventoryHandle inventory = inventory_of(2);
    BufHandle src, dst;
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, memory.data(), longest_message, src.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, map, &memory[longest_message], longest_message, dst.out()));
    AddressHandle address;
    must(doca_rdma_addr_create(DOCA_RDMA_ADDR_TYPE_IPv4, "127.0.0.1", port, address.out()));
    RdmaInstance own(dev);
    for (;;) {
        own.open.clear();
        own.ends.clear();
        own.failures.clear();
        own.start();
        if (doca_rdma_connect_to_addr(own.get(), address, {}) == DOCA_SUCCESS) {
            while (own.open.empty() && own.failures.empty())
                (void)own.progress();
        }
        Outcome sent, received;
        bool is_sending = false, is_receiving = false;
        for (const Stay stay; !own.open.empty() && own.ends.empty() && !stay.is_over();) {
            (void)own.progress();
            if (!is_sending || sent.has_ended()) {
                sent = {};
                const std::size_t length = 1 + random() % longest_message;
                std::fill_n(memory.begin(), length, static_cast<std::byte>(length));
                must(doca_buf_reset_data_len(src));
                must(doca_buf_set_data_len(src, length));
                doca_rdma_task_send *task = nullptr;
                must(doca_rdma_task_send_allocate_init(own.get(), own.open[0], src, {.ptr = &sent}, &task));
                must(doca_task_submit(doca_rdma_task_send_as_task(task)));
                is_sending = true;
            }
            if (!is_receiving || received.has_ended()) {
                received = {};
                must(doca_buf_reset_data_len(dst));
                doca_rdma_task_receive *task = nullptr;
                must(doca_rdma_task_receive_allocate_init(own.get(), dst, {.ptr = &received}, &task));
                must(doca_task_submit(doca_rdma_task_receive_as_task(task)));
                is_receiving = true;
            }
        }
        own.stop();
    }
}

/// A client, with a consumer now and then.
void peer_by_comch(const std::string &device, const std::string &name, std::minstd_rand &random)
{
    const DevHandle dev = open_device(device);
    std::vector<std::byte> memory(longest_message);
    const MmapHandle map = map_of(dev, memory, DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    Side side;
    ClientHandle client;
    must(doca_comch_client_create(dev, name.c_str(), client.out()));
    must(doca_comch_client_event_msg_recv_register(client, received));
    must(doca_comch_client_task_send_set_conf(client, sent, send_failed, num_sends));
    doca_ctx *const ctx = doca_comch_client_as_ctx(client);
    must(doca_ctx_set_user_data(ctx, {.ptr = &side}));
    must(doca_pe_connect_ctx(side.pe, ctx));
    for (;;) {
        std::uint32_t number = 0;
        (void)doca_ctx_start(ctx);
        while (state_of(ctx) == DOCA_CTX_STATE_STARTING)
            (void)doca_pe_progress(side.pe);
        doca_comch_connection *connection = nullptr;
        ConsumerHandle consumer;
        if (state_of(ctx) == DOCA_CTX_STATE_RUNNING) {
            must(doca_comch_client_get_connection(client, &connection));
            if (random() % 2 == 0) {
                must(doca_comch_consumer_create(connection, map, consumer.out()));
                must(doca_pe_connect_ctx(side.pe, doca_comch_consumer_as_ctx(consumer)));
                (void)doca_ctx_start(doca_comch_consumer_as_ctx(consumer));
            }
        }
        for (const Stay stay; state_of(ctx) == DOCA_CTX_STATE_RUNNING && !stay.is_over();) {
            (void)doca_pe_progress(side.pe);
            side.messages.clear();
            doca_comch_task_send *task = nullptr;
            const std::uint32_t next = number + 1;
            if (doca_comch_client_task_send_alloc_init(client, connection, &next, sizeof(next), &task) ==
                DOCA_SUCCESS) {
                number = next;
                must(doca_task_submit(doca_comch_task_send_as_task(task)));
            }
        }
        const auto end = [&](doca_ctx *each) {
            (void)doca_ctx_stop(each);
            while (state_of(each) != DOCA_CTX_STATE_IDLE)
                (void)doca_pe_progress(side.pe);
        };
        if (consumer != nullptr)
            end(doca_comch_consumer_as_ctx(consumer));
        end(ctx);
    }
}

} // namespace

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::minstd_rand random(static_cast<unsigned>(getpid()));
    const std::string library = argv[1], device = argv[2], port = argv[3];
    if (library == "rdma")
        peer_by_rdma(device, static_cast<std::uint16_t>(std::stoi(port)), random);
    else
        peer_by_comch(device, "storm " + port, random);
}
