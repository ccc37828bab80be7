// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Strict mode: when copies are carried out, and in which order they complete.
#include <cstddef>
#include <cstdint>
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

} // namespace
} // namespace doca_test
