// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A small verbs program: writes to itself through a connection between two functions, with events. Tests
// start it as other users, below seccomp filters, and built with sanitizers.
//
//   card_client WRITES [IDLE_SECONDS]   prints microseconds for each write; then keeps its objects, and does
//   nothing
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include <unistd.h>

#include "verbs.hpp"

using namespace card_test;

namespace {

void write_once(Device &device, Pair &pair, Buffer &from, Buffer &to)
{
    if (ibv_req_notify_cq(device.cq.get(), 0) != 0)
        throw std::runtime_error("ibv_req_notify_cq");
    pair.first.post(IBV_WR_RDMA_WRITE, *from.mr, to.address(), to.mr->rkey,
                    static_cast<std::uint32_t>(from.bytes.size()));
    ibv_cq *told = nullptr;
    void *context = nullptr;
    if (ibv_get_cq_event(device.channel.get(), &told, &context) != 0)
        throw std::runtime_error("ibv_get_cq_event");
    ibv_ack_cq_events(told, 1);
    if (const ibv_wc completion = next_completion(*told); completion.status != IBV_WC_SUCCESS)
        throw std::runtime_error(ibv_wc_status_str(completion.status));
}

} // namespace

int main(int argc, char **argv)
{
    try {
        const int writes = argc > 1 ? std::atoi(argv[1]) : 100;
        Device first("mlx5_0"), second("mlx5_1");
        Buffer from(first, 4096, all_rights, 'x'), to(second, 4096);
        Pair pair(first, second);
        const auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < writes; ++i)
            write_once(first, pair, from, to);
        const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - start;
        if (from.bytes != to.bytes)
            throw std::runtime_error("the bytes did not arrive");
        std::printf("%.1f us\n", taken.count() / writes);
        std::fflush(stdout);
        if (argc > 2)
            sleep(static_cast<unsigned>(std::atoi(argv[2])));
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "card_client: %s\n", error.what());
        return 1;
    }
}
