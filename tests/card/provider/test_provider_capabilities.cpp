// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the devices of a card say they can do is what they do.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "card_device.hpp"

namespace provider_test {
namespace {

class Capabilities : public testing::TestWithParam<DeviceParam> {
protected:
    void SetUp() override
    {
        const DevinfoList list;
        for (doca_devinfo *info : list) {
            if (ibdev_of(info) != GetParam().ibdev)
                continue;
            says_copies = can_copy(info);
            says_connects = can_connect(info);
            must(doca_dev_open(info, dev.out()));
            if (says_connects) {
                must(doca_rdma_get_max_send_queue_size(info, &largest_sends));
                must(doca_rdma_get_max_recv_queue_size(info, &largest_receives));
                must(doca_rdma_get_max_buf_chain_len(info, DOCA_RDMA_JOB_RECV, DOCA_RDMA_TRANSPORT_RC, &longest_chain));
            }
        }
        ASSERT_NE(dev.get(), nullptr);
    }

    DevHandle dev;
    bool says_copies = false, says_connects = false;
    std::uint32_t largest_sends = 0, largest_receives = 0, longest_chain = 0;
};
INSTANTIATE_TEST_SUITE_P(device, Capabilities, testing::ValuesIn(devices_that([](doca_devinfo *) { return true; })),
                         device_name);

TEST_P(Capabilities, CopiesAreMadeWhereTheyAreSaidToBe)
{
    if (says_copies) {
        Copies copies(dev);
        copies.submit(10);
        EXPECT_EQ(copies.results(10), times(10, DOCA_SUCCESS));
        return;
    }
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    EXPECT_EQ(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_P(Capabilities, TheLargestConnectionCanBeMade)
{
    // The port of a DPU's own function has no address.
    const bool is_uplink =
        std::string_view(std::getenv("OPENDOCA_CARD_SIDE")).ends_with("dpu") && GetParam().ibdev == "mlx5_0";
    EXPECT_EQ(says_connects, !is_uplink);
    if (!says_connects) {
        RdmaHandle rdma;
        must(doca_rdma_create(rdma.out()));
        EXPECT_EQ(doca_ctx_dev_add(doca_rdma_as_ctx(rdma), dev), DOCA_ERROR_NOT_SUPPORTED);
        return;
    }
    EXPECT_GE(largest_sends, 1024u);
    EXPECT_GE(largest_receives, 1024u);
    EXPECT_GE(longest_chain, 4u);
    const Connected pair(
        dev, dev,
        {.send_queue_size = largest_sends, .recv_queue_size = largest_receives, .recv_chain_length = longest_chain});
    const BufHandle from = pair.left_area.full(0, 64), to = pair.right_area.empty(64, 64);
    must(pair.right.receive(to));
    must(pair.left.send(from));
    EXPECT_EQ(next_result(pair.right), DOCA_SUCCESS);
    EXPECT_EQ(next_result(pair.left), DOCA_SUCCESS);
}

} // namespace
} // namespace provider_test
