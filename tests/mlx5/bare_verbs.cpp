// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "bare_verbs.hpp"

namespace bare {

namespace {

void start(ibv_qp_ex *pair, const Transfer &transfer, unsigned flags)
{
    ibv_wr_start(pair);
    pair->wr_id = transfer.id;
    pair->wr_flags = IBV_SEND_SIGNALED | flags;
}

} // namespace

int post_write(ibv_qp_ex *pair, const Transfer &transfer)
{
    start(pair, transfer, IBV_SEND_INLINE);
    ibv_wr_rdma_write(pair, transfer.remote_key, transfer.remote);
    ibv_wr_set_inline_data(pair, transfer.local, transfer.length);
    return ibv_wr_complete(pair);
}

int post_send(ibv_qp_ex *pair, const Transfer &transfer)
{
    start(pair, transfer, IBV_SEND_INLINE);
    ibv_wr_send(pair);
    ibv_wr_set_inline_data(pair, transfer.local, transfer.length);
    return ibv_wr_complete(pair);
}

int post_read(ibv_qp_ex *pair, const Transfer &transfer)
{
    start(pair, transfer, 0);
    ibv_wr_rdma_read(pair, transfer.remote_key, transfer.remote);
    ibv_wr_set_sge(pair, transfer.local_key, reinterpret_cast<std::uintptr_t>(transfer.local), transfer.length);
    return ibv_wr_complete(pair);
}

int post_receive(ibv_qp *pair, const Transfer &transfer)
{
    ibv_sge segment = {reinterpret_cast<std::uintptr_t>(transfer.local), transfer.length, transfer.local_key};
    ibv_recv_wr request{};
    request.wr_id = transfer.id;
    request.sg_list = &segment;
    request.num_sge = 1;
    ibv_recv_wr *bad = nullptr;
    return ibv_post_recv(pair, &request, &bad);
}

int post_memcpy(ibv_qp_ex *pair, mlx5dv_qp_ex *engine, const Transfer &transfer)
{
    start(pair, transfer, 0);
    mlx5dv_wr_memcpy(engine, transfer.remote_key, transfer.remote, transfer.local_key,
                     reinterpret_cast<std::uintptr_t>(transfer.local), transfer.length);
    return ibv_wr_complete(pair);
}

bool poll(ibv_cq_ex *queue, Completion &completion)
{
    ibv_poll_cq_attr attributes{};
    if (ibv_start_poll(queue, &attributes) != 0)
        return false;
    completion.id = queue->wr_id;
    completion.status = queue->status;
    ibv_end_poll(queue);
    return true;
}

bool poll_receive(ibv_cq_ex *queue, Completion &completion)
{
    ibv_poll_cq_attr attributes{};
    if (ibv_start_poll(queue, &attributes) != 0)
        return false;
    completion.id = queue->wr_id;
    completion.status = queue->status;
    completion.length = ibv_wc_read_byte_len(queue);
    ibv_end_poll(queue);
    return true;
}

} // namespace bare
