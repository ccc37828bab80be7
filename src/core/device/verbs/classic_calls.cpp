// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "classic_calls.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>

namespace opendoca::verbs {

ClassicCompletions::ClassicCompletions(ibv_cq &queue) noexcept : ibv_cq_ex{}, queue_(queue)
{
    // ibv_poll_cq() copies the whole completion into completion_, so ending the poll has nothing to release, and the
    // read functions only return members. next_poll stays null: opendoca never calls it, see
    // VerbsCompletions::begin_poll().
    start_poll = [](ibv_cq_ex *self, ibv_poll_cq_attr *) { return of(self).poll(); };
    end_poll = [](ibv_cq_ex *) {};
    read_opcode = [](ibv_cq_ex *self) { return of(self).completion_.opcode; };
    read_byte_len = [](ibv_cq_ex *self) { return of(self).completion_.byte_len; };
    read_imm_data = [](ibv_cq_ex *self) { return of(self).completion_.imm_data; };
    read_qp_num = [](ibv_cq_ex *self) { return of(self).completion_.qp_num; };
    read_wc_flags = [](ibv_cq_ex *self) { return of(self).completion_.wc_flags; };
}

/// Polls for one completion with ibv_poll_cq(). Returns 0, or a non-zero value as ibv_start_poll() does: ENOENT if the
/// queue is empty, EIO if the driver reports a failure of the queue. wr_id and status are members of ibv_cq_ex that
/// callers read directly, so they are copied there.
int ClassicCompletions::poll() noexcept
{
    const int count = ibv_poll_cq(&queue_, 1, &completion_);
    if (count != 1)
        return count == 0 ? ENOENT : EIO;
    wr_id = completion_.wr_id;
    status = completion_.status;
    return 0;
}

ClassicSender::ClassicSender(ibv_qp &queue_pair) noexcept : ibv_qp_ex{}, queue_pair_(queue_pair)
{
    // The start does nothing, each operation and each data segment fills in a part of request_, and the completion of
    // the sequence posts it. The order of the calls is that of the extended calls: start, operation, data, complete.
    request_.sg_list = &segment_;
    wr_start = [](ibv_qp_ex *) {};
    wr_complete = [](ibv_qp_ex *self) { return of(self).post(); };
    wr_send = [](ibv_qp_ex *self) { of(self).request_.opcode = IBV_WR_SEND; };
    wr_send_imm = [](ibv_qp_ex *self, __be32 immediate) {
        of(self).request_.opcode = IBV_WR_SEND_WITH_IMM;
        of(self).request_.imm_data = immediate;
    };
    wr_rdma_read = [](ibv_qp_ex *self, std::uint32_t key, std::uint64_t address) {
        of(self).set_remote(IBV_WR_RDMA_READ, address, key);
    };
    wr_rdma_write = [](ibv_qp_ex *self, std::uint32_t key, std::uint64_t address) {
        of(self).set_remote(IBV_WR_RDMA_WRITE, address, key);
    };
    wr_rdma_write_imm = [](ibv_qp_ex *self, std::uint32_t key, std::uint64_t address, __be32 immediate) {
        of(self).set_remote(IBV_WR_RDMA_WRITE_WITH_IMM, address, key);
        of(self).request_.imm_data = immediate;
    };
    wr_set_sge = [](ibv_qp_ex *self, std::uint32_t key, std::uint64_t address, std::uint32_t length) {
        of(self).segment_ = {address, length, key};
    };
    wr_set_inline_data = [](ibv_qp_ex *self, void *data, std::size_t length) {
        // The caller has set IBV_SEND_INLINE in wr_flags. The driver then copies the data during ibv_post_send() and
        // does not use the key.
        of(self).segment_ = {reinterpret_cast<std::uintptr_t>(data), static_cast<std::uint32_t>(length), 0};
    };
}

void ClassicSender::set_remote(ibv_wr_opcode opcode, std::uint64_t address, std::uint32_t key) noexcept
{
    request_.opcode = opcode;
    request_.wr.rdma = {address, key};
}

/// Posts request_ with ibv_post_send(). Returns errno's value, as ibv_wr_complete() does. wr_id and wr_flags are
/// members of ibv_qp_ex that callers set directly before the request.
int ClassicSender::post() noexcept
{
    request_.wr_id = wr_id;
    request_.send_flags = wr_flags;
    request_.num_sge = 1;
    ibv_send_wr *bad = nullptr;
    return ibv_post_send(&queue_pair_, &request_, &bad);
}

} // namespace opendoca::verbs
