// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Converts operations into work requests.
#include <cstdint>

#include "../../log.hpp"
#include "queue_pair.hpp"
#include "segments.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_POST);

namespace opendoca::verbs {

namespace {

constexpr std::uint32_t word_size = 8; ///< bytes of an atomic operation

std::uint32_t key_of(const doca_buf &buf, const Device &device) noexcept
{
    return verbs_key(buf.mmap->key_for(device)->number);
}

std::uint32_t key_of(const MemoryKey *remote) noexcept
{
    return remote == nullptr ? 0 : verbs_key(remote->number);
}

} // namespace

/// Takes a credit and sets up an Operation. Returns null if there are no credits.
Operation *VerbsQueuePair::begin_any(Tag tag, std::int32_t &credits, Kind kind, std::uint32_t reported, doca_buf *dst,
                                     TransferPlan plan) noexcept
{
    open();
    if (credits == 0 || completions_->is_full())
        return nullptr;
    --credits;
    Operation &operation = completions_->begin(tag, *this);
    operation.length = reported;
    operation.payload<Work>() = {.kind = kind,
                                 .is_list = plan.is_list,
                                 .overwrites = plan.overwrites,
                                 .growth = plan.length,
                                 .dst = plan.length == 0 ? nullptr : dst};
    return &operation;
}

/// Makes the credits available. The queue pair must be connected.
void VerbsQueuePair::open() noexcept
{
    if (credits_ != 0) [[likely]]
        return;
    if (!poller_->start())
        return poller_->fail(*this, DOCA_ERROR_IO_FAILED);
    send_credits_ = static_cast<std::int32_t>(settings_.send_queue_size);
    receive_credits_ = shared_ != nullptr ? 0 : static_cast<std::int32_t>(settings_.recv_queue_size);
    credits_ = send_credits_ + receive_credits_;
}

doca_error_t VerbsQueuePair::refuse(Operation &operation, int error) noexcept
{
    auto &self = static_cast<VerbsQueuePair &>(*operation.source);
    const Kind kind = operation.payload<Work>().kind;
    LOG_ERR("posting an operation of kind %d: errno %d", static_cast<int>(kind), error);
    ++(kind == Kind::receive ? self.receive_credits_ : self.send_credits_);
    self.completions_->release(operation);
    return DOCA_ERROR_DRIVER;
}

int VerbsQueuePair::gather(const doca_buf *list, TransferPlan plan, bool is_source) noexcept
{
    return verbs::gather(device_, list, plan, is_source, segments_);
}

void VerbsQueuePair::describe_shared_receive(Operation &operation, doca_buf *dst, TransferPlan plan) noexcept
{
    operation.length = 0;
    operation.payload<Work>() = {.kind = Kind::shared_receive,
                                 .is_list = plan.is_list,
                                 .overwrites = plan.overwrites,
                                 .growth = 0,
                                 .dst = plan.length == 0 ? nullptr : dst};
}

/// Posts @p request with the scatter/gather list in segments_. Uses ibv_post_send(), since with rdma_rxe (rdma-core 44)
/// ibv_wr_set_sge_list() takes the length of the first segment for all segments.
doca_error_t VerbsQueuePair::post_any(Tag tag, ibv_send_wr &request, Kind kind, std::uint32_t reported, doca_buf *dst,
                                      TransferPlan plan) noexcept
{
    Operation *const operation = begin_any(tag, send_credits_, kind, reported, dst, plan);
    if (operation == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    request.wr_id = id_of(*operation);
    request.send_flags = IBV_SEND_SIGNALED;
    request.sg_list = segments_.data();
    ibv_send_wr *bad = nullptr;
    if (const int error = ibv_post_send(queue_pair_, &request, &bad); error != 0)
        return refuse(*operation, error);
    return DOCA_SUCCESS;
}

doca_error_t VerbsQueuePair::receive(Tag tag, doca_buf *dst, TransferPlan plan) noexcept
{
    Operation *const operation = begin_any(tag, receive_credits_, Kind::receive, 0, dst, plan);
    if (operation == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    const int num_segments = gather(dst, plan, false);
    return post_receive(*operation, segments_.data(), num_segments);
}

doca_error_t VerbsQueuePair::send(Tag tag, const doca_buf *src, TransferPlan plan, Immediate immediate) noexcept
{
    ibv_send_wr request{};
    request.opcode = immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    request.imm_data = immediate.value();
    request.num_sge = gather(src, plan, true);
    return post_any(tag, request, Kind::send, 0, nullptr, plan);
}

doca_error_t VerbsQueuePair::read(Tag tag, doca_buf *dst, const doca_buf *src, TransferPlan plan,
                                  MemoryKey *remote) noexcept
{
    ibv_send_wr request{};
    request.opcode = IBV_WR_RDMA_READ;
    request.wr.rdma = {plan.length == 0 ? 0 : address(src->data), key_of(remote)};
    request.num_sge = gather(dst, plan, false);
    return post_any(tag, request, Kind::read, plan.length, dst, plan);
}

doca_error_t VerbsQueuePair::write(Tag tag, doca_buf *dst, const doca_buf *src, TransferPlan plan, MemoryKey *remote,
                                   Immediate immediate) noexcept
{
    ibv_send_wr request{};
    request.opcode = immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
    request.imm_data = immediate.value();
    const std::uint64_t to = plan.length == 0 ? 0 : address(dst->data) + (plan.overwrites ? 0 : dst->data_len);
    request.wr.rdma = {to, key_of(remote)};
    request.num_sge = gather(src, plan, true);
    // The remote side is always one buffer, even if the local side is a list.
    return post_any(tag, request, immediate ? Kind::write_with_immediate : Kind::write, 0, dst,
                    {plan.length, false, plan.overwrites});
}

doca_error_t VerbsQueuePair::update(Tag tag, doca_buf &result, doca_buf &target, const AtomicUpdate &update,
                                    MemoryKey &remote) noexcept
{
    const bool is_add = update.kind == AtomicUpdate::Kind::fetch_and_add;
    ibv_send_wr request{};
    request.opcode = is_add ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP;
    request.wr.atomic = {.remote_addr = address(target.data),
                         .compare_add = is_add ? update.operand : update.compare,
                         .swap = update.operand,
                         .rkey = verbs_key(remote.number)};
    segments_[0] = {address(result.data), word_size, key_of(result, device_)};
    request.num_sge = 1;
    return post_any(tag, request, Kind::update, 0, nullptr, {});
}

} // namespace opendoca::verbs
