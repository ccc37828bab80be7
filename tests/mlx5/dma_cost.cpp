// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies by the DMA engine for callgrind, as path_cost.cpp has other jobs; and the same by libmlx5 alone.
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <infiniband/mlx5dv.h>

#include "../conformance/support/dma_fixture.hpp"
#include "../conformance/support/plain_verbs.hpp"
#include "bare_verbs.hpp"
#include "counted_jobs.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t size = 64;
constexpr std::size_t long_size = std::size_t{8} << 20; ///< what takes the card a while

/// The first device, with memory whose second half is the copy of the first.
class Memory : public testing::Test {
protected:
    [[nodiscard]] std::byte &from() { return memory[0]; }
    [[nodiscard]] std::byte &to() { return memory[long_size]; }
    void set_mark(int mark) { from() = static_cast<std::byte>(mark); }
    /// What is counted after this mostly finds that the copy has ended.
    void await_mark()
    {
        while (__atomic_load_n(reinterpret_cast<const unsigned char *>(&to()), __ATOMIC_ACQUIRE) !=
               std::to_integer<unsigned char>(from()))
            std::this_thread::yield();
    }

    DevHandle dev{open_device(devices_that(can_copy).front())};
    std::vector<std::byte> memory = std::vector<std::byte>(2 * long_size);
    int number = 0;
};

class PathCost : public Memory {
protected:
    [[nodiscard]] doca_error_t retrieve_once(bool is_counted)
    {
        doca_event event = {};
        return counted(is_counted, [&] { return engine.retrieve(event); });
    }
    [[nodiscard]] int retrieve(bool is_counted)
    {
        int num_empty = 0;
        doca_error_t status = DOCA_ERROR_AGAIN;
        for (; (status = retrieve_once(is_counted)) == DOCA_ERROR_AGAIN; ++num_empty)
            std::this_thread::yield();
        must(status);
        return num_empty;
    }

    LocalMap map{dev.get(), memory};
    Inventory inventory{4};
    BufHandle src = inventory.full(map, &from(), size);
    BufHandle dst = inventory.empty(map, &to(), size);
    DmaEngine engine{dev};
};

/// With a copy in flight: only then is the device asked.
TEST_F(PathCost, OfEmptyRetrieves)
{
    BufHandle all = inventory.full(map, &from(), long_size);
    BufHandle copy = inventory.empty(map, &to(), long_size);
    constexpr int most_tries = 100;
    for (int i = 0; i != most_tries; ++i) {
        must(doca_buf_reset_data_len(copy));
        must(engine.submit(copy, all));
        CALLGRIND_ZERO_STATS;
        int num_empty = 0;
        while (num_empty != num_counted_jobs && retrieve_once(true) == DOCA_ERROR_AGAIN)
            ++num_empty;
        if (num_empty == num_counted_jobs) {
            CALLGRIND_DUMP_STATS_AT("nothing");
            (void)retrieve(false);
            return;
        }
    }
    FAIL() << "each of " << most_tries << " copies had ended before it was asked for " << num_counted_jobs << " times";
}

TEST_F(PathCost, OfCopy)
{
    count_jobs(
        "memcpy",
        [&] {
            set_mark(++number);
            must(doca_buf_reset_data_len(dst));
        },
        [&] { must(engine.submit(dst, src)); }, [&] { await_mark(); },
        [&](bool is_counted) { return retrieve(is_counted); });
}

/// The same by libmlx5 alone.
class BareCost : public Memory {
protected:
    void SetUp() override
    {
        must_hold(pd != nullptr, "ibv_alloc_pd");
        const int access = IBV_ACCESS_LOCAL_WRITE; // ibv_reg_mr() is a macro that mixes enumerations
        region.reset(ibv_reg_mr(pd.get(), memory.data(), memory.size(), access));
        must_hold(region != nullptr, "ibv_reg_mr");
        ibv_qp_init_attr_ex wanted{};
        wanted.qp_type = IBV_QPT_RC;
        wanted.send_cq = wanted.recv_cq = queue.get();
        wanted.cap = {4, 0, 1, 0, 0};
        wanted.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
        wanted.pd = pd.get();
        wanted.send_ops_flags = IBV_QP_EX_WITH_SEND;
        mlx5dv_qp_init_attr more{};
        more.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
        more.send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY;
        pair.reset(mlx5dv_create_qp(context.get(), &wanted, &more));
        must_hold(pair != nullptr, "mlx5dv_create_qp");
        connect_to_itself(pair.get());
    }

    [[nodiscard]] VerbsHandle<ibv_cq> create_queue() const
    {
        ibv_cq_init_attr_ex wanted{};
        wanted.cqe = 8;
        ibv_cq_ex *const created = ibv_create_cq_ex(context.get(), &wanted);
        must_hold(created != nullptr, "ibv_create_cq_ex");
        return VerbsHandle<ibv_cq>(ibv_cq_ex_to_cq(created));
    }
    [[nodiscard]] bool poll(bool is_counted)
    {
        bare::Completion completion{};
        auto *const extended = reinterpret_cast<ibv_cq_ex *>(queue.get()); // as ibv_cq_ex_to_cq() has it
        const bool is_there = counted(is_counted, [&] { return bare::poll(extended, completion); });
        must_hold(!is_there || completion.status == IBV_WC_SUCCESS, "a completion without an error");
        return is_there;
    }

    VerbsHandle<ibv_context> context{open_context(ibdev_of(doca_dev_as_devinfo(dev)))};
    VerbsHandle<ibv_pd> pd{ibv_alloc_pd(context.get())};
    VerbsHandle<ibv_mr> region;
    VerbsHandle<ibv_cq> queue{create_queue()};
    VerbsHandle<ibv_qp> pair;
};

TEST_F(BareCost, OfEmptyPolls)
{
    CALLGRIND_ZERO_STATS;
    for (int i = 0; i != num_counted_jobs; ++i)
        must_hold(!poll(true), "there is nothing to poll");
    CALLGRIND_DUMP_STATS_AT("bare nothing");
}

TEST_F(BareCost, OfCopy)
{
    ibv_qp_ex *const sender = ibv_qp_to_qp_ex(pair.get());
    mlx5dv_qp_ex *const engine = mlx5dv_qp_ex_from_ibv_qp_ex(sender);
    const bare::Transfer transfer = {1,           &from(), size, region->lkey, reinterpret_cast<std::uintptr_t>(&to()),
                                     region->lkey};
    count_jobs(
        "bare memcpy", [&] { set_mark(++number); },
        [&] { must_hold(bare::post_memcpy(sender, engine, transfer) == 0, "a copy"); }, [&] { await_mark(); },
        [&](bool is_counted) {
            int num_empty = 0;
            for (; !poll(is_counted); ++num_empty)
                std::this_thread::yield();
            return num_empty;
        });
}

} // namespace
