// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Converts operations into work requests.
#include <cstdint>
#include <cstring>
#include <iterator>

#include "../../log/log.hpp"
#include "../../objects/mmap.hpp"
#include "queue_pair.hpp"
#include "segments.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_POST);

namespace opendoca::verbs {

namespace {

constexpr std::uint32_t word_size = 8; ///< bytes of an atomic operation

/// Returns the buffer whose data section grows by this operation: the remote one of a WRITE, the local one (or list) of
/// a READ. Null for sends, and for atomics, whose result overwrites 8 bytes of existing data.
doca_buf *destination_of(Opcode opcode, const Request &request) noexcept
{
    return is_write(opcode) ? request.remote : opcode == Opcode::read ? request.local : nullptr;
}

} // namespace

[[gnu::always_inline]] inline bool VerbsQueuePair::take_credit(std::int32_t &credits) noexcept
{
    if (completions_->is_full()) [[unlikely]]
        return false;
    if (--credits >= 0) [[likely]] // decremented in memory, without a separate load
        return true;
    credits = 0;
    return false;
}

/// Returns whether the CPU puts the data of @p request, a send or a write of one buffer, into the work request. Memory
/// of a dmabuf, as that of a GPU, need not be mapped where the CPU can read it.
[[gnu::always_inline]] inline bool VerbsQueuePair::goes_inline(const Request &request) const noexcept
{
    const std::uint32_t length = request.plan.length;
    return length != 0 && length <= max_inline_ && !request.local->mmap->is_of_dmabuf();
}

/// Sets up an Operation, for which a credit was taken. @p plan says how it extends @p dst on completion.
[[gnu::always_inline]] inline Operation &VerbsQueuePair::begin(Tag tag, Opcode opcode, TransferPlan plan,
                                                               doca_buf *dst) noexcept
{
    Operation &operation = completions_->begin(tag, *this);
    operation.length = opcode == Opcode::read ? plan.length : 0;
    Work &work = operation.payload<Work>();
    work.opcode = opcode;
    work.is_srq_receive = false;
    work.is_list = plan.is_list;
    work.overwrites = plan.overwrites;
    work.growth = plan.length;
    work.dst = dst;
    return operation;
}

/// Starts polling and sets the credits, once: before the first operation. The queue pair must be connected.
void VerbsQueuePair::grant_credits() noexcept
{
    if (credits_ != 0) [[likely]]
        return;
    if (!poller_->start())
        return poller_->fail(*this, DOCA_ERROR_IO_FAILED);
    send_credits_ = static_cast<std::int32_t>(settings_.send_queue_size);
    receive_credits_ = srq_ != nullptr ? 0 : static_cast<std::int32_t>(settings_.recv_queue_size);
    credits_ = send_credits_ + receive_credits_;
}

/// Handles errno's value @p error of a posting call. Releases the Operation and returns the credit, so that the failed
/// call has no side effect.
doca_error_t VerbsQueuePair::undo_post(Operation &operation, int error) noexcept
{
    auto &self = static_cast<VerbsQueuePair &>(*operation.source);
    const Work &work = operation.payload<Work>();
    LOG_ERR("queue pair 0x%x: %s could not be posted: %s", self.number(), name_of(work.opcode), std::strerror(error));
    self.return_credit(work);
    self.completions_->release(operation);
    return DOCA_ERROR_DRIVER;
}

doca_error_t VerbsQueuePair::post(Tag tag, const Request &request) noexcept
{
    // By a table, so that each opcode has its own stack frame and none pays for the registers of others.
    static constexpr doca_error_t (*functions[])(VerbsQueuePair &, Tag, const Request &) noexcept = {
        post_single<Opcode::send>,
        post_single<Opcode::send_with_immediate>,
        post_single<Opcode::write>,
        post_single<Opcode::write_with_immediate>,
        post_single<Opcode::read>,
        post_any,
        post_any,
    };
    static_assert(static_cast<unsigned>(Opcode::fetch_and_add) == std::size(functions) - 1);
    return functions[static_cast<unsigned>(request.opcode)](*this, tag, request);
}

/// Posts a request with one buffer on its local side and at least one byte, by one work request. Fields of @p request
/// are read again after calls: values that are kept across a call occupy registers that have to be saved.
template <Opcode opcode>
doca_error_t VerbsQueuePair::post_single(VerbsQueuePair &self, Tag tag, const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    const bool is_inline = opcode != Opcode::read && self.goes_inline(request);
    if (plan.is_list || (!is_inline && plan.length == 0) || !self.take_credit(self.send_credits_)) [[unlikely]]
        return post_any(self, tag, request);
    Operation &operation =
        self.begin(tag, opcode, {plan.length, false, plan.overwrites}, destination_of(opcode, request));
    ibv_qp_ex *const sender = self.sender_;
    sender->wr_id = id_of(operation);
    const auto begin_request = [&](unsigned flags) __attribute__((always_inline))
    {
        sender->wr_flags = flags; // set before the start, as rdma_rxe requires
        ibv_wr_start(sender);
        if constexpr (opcode == Opcode::send)
            return ibv_wr_send(sender);
        if constexpr (opcode == Opcode::send_with_immediate)
            return ibv_wr_send_imm(sender, request.immediate);
        if constexpr (!is_write(opcode) && opcode != Opcode::read)
            return;
        const doca_buf &remote = *request.remote;
        const std::uint64_t at =
            address(remote.data) + (opcode == Opcode::read || request.plan.overwrites ? 0 : remote.data_len);
        const std::uint32_t key = verbs_key(request.remote_key->number);
        if constexpr (opcode == Opcode::read)
            ibv_wr_rdma_read(sender, key, at);
        else if constexpr (opcode == Opcode::write)
            ibv_wr_rdma_write(sender, key, at);
        else
            ibv_wr_rdma_write_imm(sender, key, at, request.immediate);
    };
    if (is_inline) {
        begin_request(IBV_SEND_SIGNALED | IBV_SEND_INLINE);
        ibv_wr_set_inline_data(sender, request.local->data, request.plan.length);
    } else {
        begin_request(IBV_SEND_SIGNALED);
        const doca_buf &local = *request.local;
        const bool appends = opcode == Opcode::read && !request.plan.overwrites;
        ibv_wr_set_sge(sender, key_of(self.device_, local), address(local.data) + (appends ? local.data_len : 0),
                       request.plan.length);
    }
    if (const int error = ibv_wr_complete(sender); error != 0) [[unlikely]]
        return undo_post(operation_of(sender->wr_id), error);
    return DOCA_SUCCESS;
}

/// Posts any request, or returns NO_MEMORY. Uses ibv_post_send(), since with rdma_rxe (rdma-core 44)
/// ibv_wr_set_sge_list() takes the length of the first segment for all segments.
[[gnu::noinline]] doca_error_t VerbsQueuePair::post_any(VerbsQueuePair &self, Tag tag, const Request &request) noexcept
{
    static constexpr ibv_wr_opcode opcodes[] = {
        IBV_WR_SEND,      IBV_WR_SEND_WITH_IMM,      IBV_WR_RDMA_WRITE,          IBV_WR_RDMA_WRITE_WITH_IMM,
        IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD};
    self.grant_credits();
    if (!self.take_credit(self.send_credits_))
        return DOCA_ERROR_NO_MEMORY;
    const Opcode opcode = request.opcode;
    const bool is_read = opcode == Opcode::read;
    const TransferPlan plan = is_atomic(opcode) ? TransferPlan{} : request.plan;
    ibv_send_wr work_request{};
    work_request.opcode = opcodes[static_cast<unsigned>(opcode)];
    // An atomic has one segment of 8 bytes, which receives the old value.
    if (is_atomic(opcode)) {
        const bool is_addition = opcode == Opcode::fetch_and_add;
        work_request.wr.atomic = {.remote_addr = address(request.remote->data),
                                  .compare_add = is_addition ? request.operand : request.compare,
                                  .swap = request.operand,
                                  .rkey = verbs_key(request.remote_key->number)};
        self.segments_[0] = {address(request.local->data), word_size, key_of(self.device_, *request.local)};
        work_request.num_sge = 1;
    } else {
        if (has_immediate(opcode))
            work_request.imm_data = request.immediate;
        if ((is_read || is_write(opcode)) && plan.length != 0)
            work_request.wr.rdma = {address(request.remote->data) +
                                        (is_read || plan.overwrites ? 0 : request.remote->data_len),
                                    verbs_key(request.remote_key->number)};
        work_request.num_sge = gather(self.device_, request.local, plan, !is_read, self.segments_);
    }
    // is_list concerns the buffer that grows: only that of a READ can be a list.
    Operation &operation = self.begin(tag, opcode, {plan.length, is_read && plan.is_list, plan.overwrites},
                                      plan.length == 0 ? nullptr : destination_of(opcode, request));
    work_request.wr_id = id_of(operation);
    work_request.send_flags = IBV_SEND_SIGNALED;
    work_request.sg_list = self.segments_.data();
    ibv_send_wr *bad = nullptr;
    if (const int error = ibv_post_send(self.queue_pair_, &work_request, &bad); error != 0)
        return undo_post(operation, error);
    return DOCA_SUCCESS;
}

/// Posts a receive by one work request. The fast path takes one buffer and at least one byte.
doca_error_t VerbsQueuePair::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    if (plan.is_list || plan.length == 0 || !take_credit(receive_credits_)) [[unlikely]]
        return receive_any(tag, dst, plan);
    Operation &operation = begin(tag, Opcode::receive, plan, dst);
    ibv_sge segment = {address(dst->data) + (plan.overwrites ? 0 : dst->data_len), plan.length, key_of(device_, *dst)};
    return post_receive(operation, &segment, 1);
}

[[gnu::noinline]] doca_error_t VerbsQueuePair::receive_any(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    grant_credits();
    if (!take_credit(receive_credits_))
        return DOCA_ERROR_NO_MEMORY;
    Operation &operation = begin(tag, Opcode::receive, plan, plan.length == 0 ? nullptr : dst);
    return post_receive(operation, segments_.data(), gather(device_, dst, plan, false, segments_));
}

[[gnu::always_inline]] inline doca_error_t VerbsQueuePair::post_receive(Operation &operation, ibv_sge *segments,
                                                                        int num_segments) noexcept
{
    ibv_recv_wr work_request;
    work_request.wr_id = id_of(operation);
    work_request.next = nullptr;
    work_request.sg_list = segments;
    work_request.num_sge = num_segments;
    ibv_recv_wr *bad;
    if (const int error = ibv_post_recv(queue_pair_, &work_request, &bad); error != 0) [[unlikely]]
        return undo_post(operation_of(work_request.wr_id), error);
    return DOCA_SUCCESS;
}

/// Records a receive that no queue pair has posted. assign_receiver() sets its queue pair once a message has arrived.
void VerbsQueuePair::describe_shared_receive(Operation &operation, doca_buf *dst, TransferPlan plan) noexcept
{
    operation.length = 0;
    operation.payload<Work>() = {.opcode = Opcode::receive,
                                 .is_srq_receive = true,
                                 .is_list = plan.is_list,
                                 .overwrites = plan.overwrites,
                                 .growth = 0,
                                 .dst = plan.length == 0 ? nullptr : dst};
}

} // namespace opendoca::verbs
