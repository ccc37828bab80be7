// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: when copies are carried out, and in which order they complete.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "strict_fixture.hpp"

namespace doca_test {
namespace {

class StrictCopies : public StrictTest {
protected:
    static constexpr std::size_t num_copies = 32;

    /// Allocates the tasks of copies of one byte each, to consecutive places.
    void make_copies(const DmaContext &dma)
    {
        for (std::size_t i = 0; i != num_copies; ++i) {
            src[i] = static_cast<std::byte>(i + 1);
            must(doca_buf_inventory_buf_get_by_data(inventory, src_map, &src[i], 1, from[i].out()));
            must(doca_buf_inventory_buf_get_by_addr(inventory, dst_map, &dst[i], 1, to[i].out()));
            must(dma.alloc(copies[i], from[i], to[i]));
            copies[i].then = [this, i](Copy &) { order.push_back(i); };
        }
    }
    void stop(DmaContext &dma)
    {
        for (const Copy &copy : copies)
            doca_task_free(copy.as_task());
        (void)doca_ctx_stop(dma.ctx());
        run_until([&] { return dma.state() == DOCA_CTX_STATE_IDLE; });
        from = std::vector<BufHandle>(num_copies);
        to = std::vector<BufHandle>(num_copies);
    }

    std::vector<std::byte> src = std::vector<std::byte>(num_copies);
    std::vector<std::byte> dst = std::vector<std::byte>(num_copies);
    MmapHandle src_map = map_of(dev, src);
    MmapHandle dst_map = map_of(dev, dst);
    InventoryHandle inventory = inventory_of(2 * num_copies);
    std::vector<BufHandle> from = std::vector<BufHandle>(num_copies);
    std::vector<BufHandle> to = std::vector<BufHandle>(num_copies);
    std::vector<Copy> copies = std::vector<Copy>(num_copies);
    std::vector<std::size_t> order; ///< in which the copies have completed
};
INSTANTIATE_STRICT(StrictCopies);

TEST_P(StrictCopies, the_destination_is_written_at_completion)
{
    DmaContext dma(dev, pe, num_copies);
    must(doca_ctx_start(dma.ctx()));
    make_copies(dma);
    ASSERT_EQ(doca_task_submit(copies[0].as_task()), DOCA_SUCCESS);
    EXPECT_EQ(dst[0] == std::byte{1}, !is_strict()) << "a program that reads now relies on the software device";
    run_until([&] { return copies[0].has_ended(); });
    EXPECT_EQ(copies[0].status, DOCA_SUCCESS);
    EXPECT_EQ(dst[0], std::byte{1});
    stop(dma);
    expect_rule("late-destination");
}

TEST_P(StrictCopies, copies_complete_in_an_order_by_the_seed)
{
    std::vector<std::size_t> sorted(num_copies);
    std::iota(sorted.begin(), sorted.end(), std::size_t{0});
    std::vector<std::vector<std::size_t>> orders;
    for (const char *const seed : {"1", "2"}) {
        const Environment other_seed("DOCA_SOFT_STRICT_SEED", seed);
        DmaContext dma(dev, pe, num_copies);
        must(doca_ctx_start(dma.ctx()));
        copies = std::vector<Copy>(num_copies);
        make_copies(dma);
        order.clear();
        for (const Copy &copy : copies)
            ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
        run_until([&] { return order.size() == num_copies; });
        for (const Copy &copy : copies)
            EXPECT_EQ(copy.num_succeeded, 1);
        EXPECT_EQ(order == sorted, !is_strict()) << "a program that counts on the order relies on the software device";
        EXPECT_EQ(dst, src);
        orders.push_back(order);
        std::ranges::sort(order);
        EXPECT_EQ(order, sorted) << "each completes once";
        stop(dma);
    }
    EXPECT_EQ(orders[0] == orders[1], !is_strict());
    expect_rule("unordered-completions");
}

TEST_P(StrictCopies, copies_complete_in_order_on_request)
{
    DmaContext dma(dev, pe, num_copies);
    ASSERT_EQ(doca_dma_set_ordered_completions(dma.dma(), 1), DOCA_SUCCESS);
    must(doca_ctx_start(dma.ctx()));
    make_copies(dma);
    for (const Copy &copy : copies)
        ASSERT_EQ(doca_task_submit(copy.as_task()), DOCA_SUCCESS);
    run_until([&] { return order.size() == num_copies; });
    EXPECT_TRUE(std::ranges::is_sorted(order));
    stop(dma);
}

TEST(StrictSeed, other_values_are_refused)
{
    const LogCapture log;
    for (const char *const value : {"x", "1x", "-1", "99999999999999999999"}) {
        const Environment seed("DOCA_SOFT_STRICT_SEED", value);
        doca_devinfo **list = nullptr;
        std::uint32_t size = 0;
        EXPECT_EQ(doca_devinfo_create_list(&list, &size), DOCA_ERROR_INVALID_VALUE) << value;
        EXPECT_LOGGED(log, std::string("DOCA_SOFT_STRICT_SEED is '") + value + "'");
    }
}

} // namespace
} // namespace doca_test
