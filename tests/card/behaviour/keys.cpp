// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "keys.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace card_test {

namespace {

constexpr std::size_t least_create_mkey = 0x110;

struct CreateKey {
    explicit CreateKey(std::size_t entries) : in(least_create_mkey + entries * 16)
    {
        set_bits(in.data(), 0, 16, 0x200);
    }
    void set_context(unsigned bit, unsigned width, std::uint64_t value) { set_bits(in.data() + 16, bit, width, value); }
    std::vector<std::uint8_t> in;
};

void fill_context(CreateKey &create, std::uint32_t pd, unsigned mode, std::uint64_t address, std::uint64_t size)
{
    create.set_context(17, 5, 31); // atomic, remote write and read, local write and read
    create.set_context(22, 2, mode);
    create.set_context(0x20, 24, 0xffffff);
    create.set_context(56, 8, 0x42);
    create.set_context(0x68, 24, pd);
    create.set_context(0x80, 64, address);
    create.set_context(0xc0, 64, size);
}

void run(DevxKey &key, ibv_context &context, const std::vector<std::uint8_t> &in, unsigned index_bit,
         unsigned index_width)
{
    std::uint8_t out[16] = {};
    key.object.reset(mlx5dv_devx_obj_create(&context, in.data(), in.size(), out, sizeof(out)));
    key.status = out[0];
    key.syndrome = static_cast<std::uint32_t>(get_bits(out, 32, 32));
    key.index = static_cast<std::uint32_t>(get_bits(out, index_bit, index_width));
}

} // namespace

DevxKey make_direct_key(ibv_context &context, ibv_pd &pd, void *address, std::size_t size, Wrong wrong)
{
    DevxKey key;
    const int rights =
        wrong == Wrong::rights ? 0 : IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
    key.memory.reset(mlx5dv_devx_umem_reg(&context, address, size, static_cast<std::uint32_t>(rights)));
    if (key.memory == nullptr)
        return key;
    CreateKey create(0);
    fill_context(create, number_of(pd) + (wrong == Wrong::pd ? 1000 : 0), 1, reinterpret_cast<std::uintptr_t>(address),
                 size + (wrong == Wrong::length ? 1 : 0));
    if (wrong == Wrong::mode)
        create.set_context(3, 3, 1);
    set_bits(create.in.data(), 0x320, 32, key.memory->umem_id + (wrong == Wrong::umem ? 1000 : 0));
    set_bits(create.in.data(), 0x340, 64, wrong == Wrong::offset ? 8 : 0);
    if (wrong == Wrong::short_mailbox)
        create.in.resize(64);
    key.variant = 0x42;
    run(key, context, create.in, 72, 24);
    return key;
}

DevxKey make_indirect_key(ibv_context &context, ibv_pd &pd, const ibv_mr &mr)
{
    constexpr std::size_t entries = 4; // a list is filled up to four
    const auto address = reinterpret_cast<std::uintptr_t>(mr.addr);
    CreateKey create(entries);
    fill_context(create, number_of(pd), 3, address, mr.length);
    create.set_context(0x1a0, 32, entries);
    set_bits(create.in.data(), 0x300, 32, entries);
    set_bits(create.in.data() + 0x110, 32, 32, mr.lkey);
    set_bits(create.in.data() + 0x110, 64, 64, address);
    DevxKey key;
    key.variant = 0x42;
    run(key, context, create.in, 72, 24);
    return key;
}

std::uint8_t allow_access(ibv_context &context, std::uint32_t index, const AccessKey &access_key)
{
    std::uint8_t in[64] = {}, out[16] = {};
    set_bits(in, 0, 16, 0xb16);
    set_bits(in, 0x90, 16, 0xff01);
    set_bits(in, 0xa0, 32, index);
    std::ranges::copy(access_key, in + 32);
    mlx5dv_devx_general_cmd(&context, in, sizeof(in), out, sizeof(out));
    return out[0];
}

DevxKey make_alias(ibv_context &context, ibv_pd &pd, std::uint16_t vhca_id, std::uint32_t index,
                   const AccessKey &access_key)
{
    std::vector<std::uint8_t> in(80);
    set_bits(in.data(), 0, 16, 0xa00);
    set_bits(in.data(), 0x30, 16, 0xff01);
    set_bits(in.data(), 0x60, 1, 1);
    set_bits(in.data(), 0x80, 16, vhca_id);
    set_bits(in.data(), 0xa0, 32, index);
    std::ranges::copy(access_key, in.begin() + 32);
    set_bits(in.data(), 0x200, 32, number_of(pd));
    DevxKey key;
    run(key, context, in, 0x40, 32);
    return key;
}

CopyQueue::CopyQueue(Device &device) : device_(device)
{
    mlx5dv_qp_init_attr more{};
    more.comp_mask = MLX5DV_QP_INIT_ATTR_MASK_SEND_OPS_FLAGS;
    more.send_ops_flags = MLX5DV_QP_EX_WITH_MEMCPY;
    ibv_qp_init_attr_ex attributes{};
    attributes.send_cq = attributes.recv_cq = device.cq.get();
    attributes.cap = {16, 1, 1, 1, 0};
    attributes.qp_type = IBV_QPT_RC;
    attributes.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
    attributes.pd = device.pd.get();
    attributes.send_ops_flags = IBV_QP_EX_WITH_SEND;
    qp_.reset(mlx5dv_create_qp(device.context.get(), &attributes, &more));
    if (qp_ == nullptr) {
        error = errno;
        return;
    }
    ibv_qp_attr state{};
    state.qp_state = IBV_QPS_INIT;
    state.port_num = 1;
    error = ibv_modify_qp(qp_.get(), &state, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    state = {};
    state.qp_state = IBV_QPS_RTR;
    state.path_mtu = IBV_MTU_1024;
    state.ah_attr.port_num = 1;
    state.ah_attr.is_global = 1;
    state.ah_attr.grh.sgid_index = 3;
    if (error == 0)
        error = ibv_modify_qp(qp_.get(), &state,
                              IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                                  IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    state = {};
    state.qp_state = IBV_QPS_RTS;
    if (error == 0)
        error = ibv_modify_qp(qp_.get(), &state,
                              IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                  IBV_QP_MAX_QP_RD_ATOMIC);
}

ibv_wc_status CopyQueue::copy(std::uint32_t destination_key, std::uint64_t destination, std::uint32_t source_key,
                              std::uint64_t source, std::size_t bytes)
{
    ibv_qp_ex *qp = ibv_qp_to_qp_ex(qp_.get());
    ibv_wr_start(qp);
    qp->wr_id = 7;
    qp->wr_flags = IBV_SEND_SIGNALED;
    mlx5dv_wr_memcpy(mlx5dv_qp_ex_from_ibv_qp_ex(qp), destination_key, destination, source_key, source, bytes);
    if (ibv_wr_complete(qp) != 0)
        return IBV_WC_GENERAL_ERR;
    return next_completion(*device_.cq).status;
}

} // namespace card_test
