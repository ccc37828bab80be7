// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Erasure coding allocates and locks nothing from the allocation of a task to its callback.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../conformance/support/sanitizers.hpp"
#include "../conformance/v3/erasure_coding_fixture.hpp"
#include "cost_counters.hpp"

namespace doca_test {
namespace {

class CodingCost : public ErasureCodingTest {};

TEST_P(CodingCost, SixtyFourTasksInFlightAllocateNothing)
{
    if (is_sanitized)
        GTEST_SKIP() << "sanitizers have an allocator of their own";
    constexpr std::uint32_t in_flight = 64;
    constexpr std::size_t k = 4, m = 2, block = 4096, long_block = std::size_t{320} << 10;
    must(doca_ctx_stop(ctx()));
    must(configure<doca_ec_task_create>(in_flight));
    must(doca_ctx_start(ctx()));
    const MatrixHandle coding = matrix(DOCA_EC_MATRIX_TYPE_CAUCHY, k, m);
    // Half of the sources in one buffer, and half split within a block. The first one has more than a slice, so that
    // the others wait for it.
    std::vector<BufHandle> sources, destinations;
    for (std::uint32_t i = 0; i != in_flight; ++i) {
        BufHandle source = data(i == 0 ? k * long_block : i % 2 == 0 ? k * block : 100);
        if (i % 2 != 0)
            append(source, data(k * block - 100));
        sources.push_back(std::move(source));
        destinations.push_back(room(m * (i == 0 ? long_block : block)));
    }
    on_end = [](doca_task *task) { doca_task_free(task); };
    const auto run_all = [&] {
        const int before = num_ended;
        for (std::uint32_t i = 0; i != in_flight; ++i) {
            doca_ec_task_create *task = nullptr;
            (void)doca_buf_reset_data_len(destinations[i]);
            if (doca_ec_task_create_allocate_init(ec, coding, sources[i], destinations[i], {.u64 = 7}, &task) !=
                    DOCA_SUCCESS ||
                doca_task_submit(doca_ec_task_create_as_task(task)) != DOCA_SUCCESS)
                return false;
        }
        if (num_ended != before)
            return false;
        while (num_ended != before + static_cast<int>(in_flight))
            (void)doca_pe_progress(pe);
        return true;
    };
    ASSERT_TRUE(run_all());
    begin_counting();
    const bool has_run = run_all() && run_all();
    const Costs costs = end_counting();
    EXPECT_TRUE(has_run);
    EXPECT_EQ(costs.allocations, 0u);
    EXPECT_EQ(costs.locks, 0u);
    EXPECT_TRUE(last_succeeded);
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CodingCost);
INSTANTIATE_TEST_SUITE_P(device, CodingCost, testing::ValuesIn(coding_devices()), name_of_device);

} // namespace
} // namespace doca_test
