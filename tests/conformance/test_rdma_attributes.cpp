// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties of an RDMA instance reach the queue pair of the device. Asked of the queue pair itself, which is
// seen on its way to ibv_modify_qp().
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <dlfcn.h>

#include <doca_rdma_bridge.h>
#include <infiniband/verbs.h>

#include "support/plain_verbs.hpp"
#include "support/rdma_fixture.hpp"

namespace {

ibv_qp *last_queue_pair = nullptr;
int last_service_level = -1;

} // namespace

/// In the place of libibverbs' for all of this program, the libraries included.
extern "C" int ibv_modify_qp(ibv_qp *queue_pair, ibv_qp_attr *attributes, int mask)
{
    using Function = int(ibv_qp *, ibv_qp_attr *, int);
    static auto *const real = reinterpret_cast<Function *>(dlvsym(RTLD_NEXT, "ibv_modify_qp", "IBVERBS_1.1"));
    last_queue_pair = queue_pair;
    if ((mask & IBV_QP_AV) != 0)
        last_service_level = attributes->ah_attr.sl;
    return real(queue_pair, attributes, mask);
}

namespace {

using namespace doca_test;

bool has_queue_pairs(doca_devinfo *info)
{
    return can_connect(info) && has_protection_domain(info);
}

class RdmaAttributes : public DeviceTest {
protected:
    /// The GIDs that are set, by their index.
    [[nodiscard]] std::vector<std::uint32_t> gids() const
    {
        std::vector<std::uint32_t> found;
        std::uint32_t size = 0;
        must(doca_rdma_get_gid_table_size(info, &size));
        for (std::uint32_t i = 0; i < size; ++i) {
            doca_rdma_gid gid = {};
            must(doca_rdma_get_gid(info, i, 1, &gid));
            if (std::ranges::any_of(gid.raw, [](std::uint8_t byte) { return byte != 0; }))
                found.push_back(i);
        }
        return found;
    }
};
INSTANTIATE_FOR_DEVICES(RdmaAttributes, has_queue_pairs);

TEST_P(RdmaAttributes, ReachTheQueuePair)
{
    int num_connected = 0;
    for (const std::uint32_t gid : gids()) {
        RdmaHandle rdma;
        must(doca_rdma_create(rdma.out()));
        doca_ctx *const ctx = doca_rdma_as_ctx(rdma);
        must(doca_ctx_dev_add(ctx, dev));
        must(doca_rdma_set_send_queue_size(rdma, 64));
        must(doca_rdma_set_recv_queue_size(rdma, 32));
        must(doca_rdma_set_recv_buf_chain_len(rdma, 3));
        must(doca_rdma_set_mtu(rdma, DOCA_MTU_SIZE_512_BYTES));
        must(doca_rdma_set_sl(rdma, 5));
        must(doca_rdma_set_gid_index(rdma, gid));
        must(doca_rdma_set_grh_enabled(rdma, true));
        must(doca_rdma_set_permissions(rdma, DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_ATOMIC));
        must(doca_ctx_start(ctx));
        const void *details = nullptr;
        std::size_t size = 0;
        must(doca_rdma_export(rdma, &details, &size));
        // Not every address leads back to the device itself.
        if (doca_rdma_connect(rdma, details, size) == DOCA_SUCCESS) {
            ++num_connected;
            ibv_qp_attr attributes{};
            ibv_qp_init_attr initial{};
            ASSERT_EQ(ibv_query_qp(last_queue_pair, &attributes,
                                   IBV_QP_STATE | IBV_QP_CAP | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_ACCESS_FLAGS |
                                       IBV_QP_RNR_RETRY,
                                   &initial),
                      0);
            EXPECT_EQ(attributes.qp_state, IBV_QPS_RTS);
            EXPECT_GE(attributes.cap.max_send_wr, 64U);
            EXPECT_GE(attributes.cap.max_recv_wr, 32U);
            EXPECT_GE(attributes.cap.max_recv_sge, 3U);
            EXPECT_EQ(attributes.path_mtu, IBV_MTU_512);
            EXPECT_EQ(attributes.ah_attr.is_global, 1);
            EXPECT_EQ(attributes.ah_attr.grh.sgid_index, gid);
            EXPECT_EQ(last_service_level, 5); // rdma_rxe does not give it back
            EXPECT_EQ(attributes.qp_access_flags &
                          (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC),
                      unsigned{IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC});
        }
        must(doca_ctx_stop(ctx));
    }
    EXPECT_GT(num_connected, 0);
}

} // namespace
