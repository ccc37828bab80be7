// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a program does by libibverbs alone, beside DOCA.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <doca_rdma_bridge.h>
#include <infiniband/verbs.h>

#include "handle.hpp"

namespace doca_test {

struct EndVerbs {
    void operator()(ibv_context *context) const { EXPECT_EQ(ibv_close_device(context), 0); }
    void operator()(ibv_pd *pd) const { EXPECT_EQ(ibv_dealloc_pd(pd), 0); } // EBUSY while something is on it
    void operator()(ibv_mr *region) const { EXPECT_EQ(ibv_dereg_mr(region), 0); }
    void operator()(ibv_cq *queue) const { EXPECT_EQ(ibv_destroy_cq(queue), 0); }
    void operator()(ibv_qp *pair) const { EXPECT_EQ(ibv_destroy_qp(pair), 0); }
};

template <typename T>
using VerbsHandle = std::unique_ptr<T, EndVerbs>;

/// A predicate for devices_that(): it is one of libibverbs.
inline bool has_protection_domain(doca_devinfo *info)
{
    DevHandle dev;
    ibv_pd *pd = nullptr;
    must(doca_dev_open(info, dev.out()));
    return doca_dev_get_pd(dev, &pd) == DOCA_SUCCESS;
}

/// A context of a program's own of an RDMA device.
inline VerbsHandle<ibv_context> open_context(const std::string &ibdev)
{
    int count = 0;
    ibv_device **const list = ibv_get_device_list(&count);
    must_hold(list != nullptr, "ibv_get_device_list");
    VerbsHandle<ibv_context> context;
    for (int i = 0; i < count && context == nullptr; ++i) {
        if (ibv_get_device_name(list[i]) == ibdev)
            context.reset(ibv_open_device(list[i]));
    }
    ibv_free_device_list(list);
    must_hold(context != nullptr, "ibv_open_device");
    return context;
}

/// A side of a transfer, as work requests name it.
struct PlainSide {
    void *addr;
    std::uint32_t key;
};

/// Not every GID of a port leads back to it.
inline bool is_ready_to_receive(ibv_qp *pair, const ibv_port_attr &port)
{
    ibv_qp_attr state{};
    state.qp_state = IBV_QPS_RTR;
    state.path_mtu = port.active_mtu;
    state.dest_qp_num = pair->qp_num;
    state.max_dest_rd_atomic = 1;
    state.min_rnr_timer = 12;
    state.ah_attr.port_num = 1;
    state.ah_attr.dlid = port.lid;
    const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    if (port.link_layer == IBV_LINK_LAYER_INFINIBAND)
        return ibv_modify_qp(pair, &state, mask) == 0;
    state.ah_attr.is_global = 1;
    state.ah_attr.grh.hop_limit = 64;
    for (int i = port.gid_tbl_len; i-- > 0;) { // those of addresses come after those of the link
        ibv_gid_entry entry{};
        if (ibv_query_gid_ex(pair->context, 1, static_cast<std::uint32_t>(i), &entry, 0) != 0)
            continue;
        state.ah_attr.grh.dgid = entry.gid;
        state.ah_attr.grh.sgid_index = static_cast<std::uint8_t>(i);
        if (ibv_modify_qp(pair, &state, mask) == 0)
            return true;
    }
    return false;
}

/// Connects a queue pair of the type RC with itself on port 1.
inline void connect_to_itself(ibv_qp *pair)
{
    ibv_port_attr port{};
    must_hold(ibv_query_port(pair->context, 1, &port) == 0, "ibv_query_port");
    ibv_qp_attr state{};
    state.qp_state = IBV_QPS_INIT;
    state.port_num = 1;
    state.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    must_hold(ibv_modify_qp(pair, &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
              "a queue pair in INIT");
    must_hold(is_ready_to_receive(pair, port), "a queue pair in RTR, by any GID");
    state.qp_state = IBV_QPS_RTS;
    state.timeout = 14;
    state.retry_cnt = 6;
    state.rnr_retry = 6;
    state.max_rd_atomic = 1;
    must_hold(ibv_modify_qp(pair, &state,
                            IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                                IBV_QP_MAX_QP_RD_ATOMIC) == 0,
              "a queue pair in RTS");
}

/// A reliable connection with itself on port 1, for one transfer after the other until one fails.
class PlainQueuePair {
public:
    explicit PlainQueuePair(ibv_pd *pd) : queue_(ibv_create_cq(pd->context, 4, nullptr, nullptr, 0))
    {
        must_hold(queue_ != nullptr, "ibv_create_cq");
        ibv_qp_init_attr wanted{};
        wanted.qp_type = IBV_QPT_RC;
        wanted.send_cq = wanted.recv_cq = queue_.get();
        wanted.cap = {2, 2, 1, 1, 0};
        pair_.reset(ibv_create_qp(pd, &wanted));
        must_hold(pair_ != nullptr, "ibv_create_qp");
        connect_to_itself(pair_.get());
    }

    /// Moves @p size bytes: a write, a read, or a fetch-and-add of 1, which takes 8.
    [[nodiscard]] ibv_wc_status run(ibv_wr_opcode opcode, PlainSide local, PlainSide remote, std::uint32_t size)
    {
        ibv_sge segment = {reinterpret_cast<std::uintptr_t>(local.addr), size, local.key};
        ibv_send_wr request{};
        request.opcode = opcode;
        request.send_flags = IBV_SEND_SIGNALED;
        request.sg_list = &segment;
        request.num_sge = 1;
        if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
            request.wr.atomic.remote_addr = reinterpret_cast<std::uintptr_t>(remote.addr);
            request.wr.atomic.rkey = remote.key;
            request.wr.atomic.compare_add = 1;
        } else {
            request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(remote.addr);
            request.wr.rdma.rkey = remote.key;
        }
        ibv_send_wr *bad = nullptr;
        must_hold(ibv_post_send(pair_.get(), &request, &bad) == 0, "ibv_post_send");
        ibv_wc completion{};
        int count = 0;
        while ((count = ibv_poll_cq(queue_.get(), 1, &completion)) == 0) {
        }
        must_hold(count == 1, "ibv_poll_cq");
        return completion.status;
    }

private:
    VerbsHandle<ibv_cq> queue_;
    VerbsHandle<ibv_qp> pair_;
};

} // namespace doca_test
