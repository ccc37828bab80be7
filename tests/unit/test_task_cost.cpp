// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// From the allocation of tasks to their callbacks nothing is allocated or locked, however many contexts there are.
#include <cstdint>
#include <memory>
#include <vector>

#include "../conformance/support/sanitizers.hpp"
#include "../conformance/v3/dma_tasks.hpp"
#include "cost_counters.hpp"

namespace {

using namespace doca_test;

class TaskCost : public DmaTaskTest {};

TEST_P(TaskCost, AThousandTasksOfTenContextsAllocateNothing)
{
    if (is_sanitized)
        GTEST_SKIP() << "sanitizers have an allocator of their own";
    constexpr std::uint32_t num_contexts = 10;
    constexpr std::uint32_t each = 100;
    constexpr std::uint32_t num_rounds = 20;
    std::vector<std::unique_ptr<DmaContext>> contexts;
    std::vector<BufHandle> bufs;
    std::vector<Copy> copies(num_contexts * each);
    for (std::uint32_t i = 0; i != copies.size(); ++i) {
        if (i % each == 0) {
            contexts.push_back(std::make_unique<DmaContext>(dev, pe, each));
            must(doca_ctx_start(contexts.back()->ctx()));
        }
        bufs.push_back(source(i * 32, 32));
        bufs.push_back(destination(i * 32, 32));
    }
    std::uint32_t num_ended = 0;
    for (Copy &copy : copies) {
        copy.then = [&num_ended](Copy &self) {
            ++num_ended;
            doca_task_free(self.as_task());
        };
    }
    const auto run = [&] {
        for (std::uint32_t round = 0; round != num_rounds; ++round) {
            num_ended = 0;
            for (std::uint32_t i = 0; i != copies.size(); ++i) {
                (void)doca_buf_reset_data_len(bufs[2 * i + 1]);
                if (contexts[i / each]->alloc(copies[i], bufs[2 * i], bufs[2 * i + 1]) != DOCA_SUCCESS ||
                    doca_task_submit(copies[i].as_task()) != DOCA_SUCCESS)
                    return false;
            }
            while (num_ended != copies.size())
                (void)doca_pe_progress(pe);
        }
        return true;
    };
    ASSERT_TRUE(run());
    begin_counting();
    const bool has_run = run();
    const Costs costs = end_counting();
    EXPECT_TRUE(has_run);
    EXPECT_EQ(costs.allocations, 0u);
    EXPECT_EQ(costs.locks, 0u);
    for (const auto &dma : contexts)
        EXPECT_EQ(doca_ctx_stop(dma->ctx()), DOCA_SUCCESS);
}

INSTANTIATE_FOR_COPYING_DEVICES(TaskCost);

} // namespace
