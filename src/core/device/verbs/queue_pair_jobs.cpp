// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs become work requests.
#include <algorithm>

#include <doca_log.h>

#include "../../mmap.hpp"
#include "../cursor.hpp"
#include "queue_pair.hpp"

DOCA_LOG_REGISTER(DOCA_VERBS_JOBS);

namespace opendoca::verbs {

namespace {

constexpr std::uint32_t word_size = 8; ///< bytes that an atomic moves

std::uint64_t address(const std::byte *data) noexcept
{
    return reinterpret_cast<std::uintptr_t>(data);
}

/// Where a job that appends begins to write.
std::byte *end_of_data(const doca_buf &buf, TransferPlan plan) noexcept
{
    return buf.data + (plan.overwrites ? 0 : buf.data_len);
}

std::uint32_t remote_key(const MemoryKey *remote) noexcept
{
    return remote == nullptr ? 0 : static_cast<const VerbsKey *>(remote)->key();
}

} // namespace

std::uint32_t VerbsQueuePair::key_of(const doca_buf &buf) const noexcept
{
    const MemoryKey &key = buf.mmap->is_first(&dev_) ? buf.mmap->first_key() : *buf.mmap->key_for(&dev_);
    return static_cast<const VerbsKey &>(key).key();
}

/// The segments of a source's data, or of a destination's room, as far as @p plan goes. Gives their number.
std::uint32_t VerbsQueuePair::gather(const doca_buf &list, TransferPlan plan, bool is_source) noexcept
{
    Cursor cursor = is_source ? Cursor::over_data(list) : Cursor::over_room(list, plan.overwrites);
    std::uint32_t count = 0;
    for (std::size_t left = plan.length; left != 0; ++count) {
        cursor.skip_empty();
        const std::size_t length = std::min(left, cursor.left());
        segments_[count] = {.addr = address(cursor.addr()),
                            .length = static_cast<std::uint32_t>(length),
                            .lkey = key_of(cursor.buf())};
        cursor.advance(length);
        left -= length;
    }
    return count;
}

/// What the work request that is being made takes its data from; rdma_rxe wants inline_flag() for what is
/// inline.
void VerbsQueuePair::set_source(const doca_buf *buf, TransferPlan plan) noexcept
{
    if (plan.length == 0)
        ibv_wr_set_sge_list(sender_, 0, nullptr);
    else if (plan.length <= max_inline_)
        ibv_wr_set_inline_data(sender_, buf->data, plan.length);
    else
        ibv_wr_set_sge(sender_, key_of(*buf), address(buf->data), plan.length);
}

/// The work request is posted: from now on its end is awaited.
void VerbsQueuePair::take(const doca_job &job, Ring &ring, const Work &work) noexcept
{
    JobSlot &slot = *workq_->take_slot(job, *owner_);
    slot.write_result = write_outcome;
    slot.payload<Work>() = work;
    ring.push(slot);
}

/// Hands the work request to the device.
doca_error_t VerbsQueuePair::post(const doca_job &job, const Work &work) noexcept
{
    if (const int error = ibv_wr_complete(sender_); error != 0) [[unlikely]] {
        DOCA_LOG_ERR("posting a job of type %d: errno %d", job.type, error);
        return DOCA_ERROR_DRIVER;
    }
    take(job, sends_, work);
    return DOCA_SUCCESS;
}

/// A job whose local side is a list. By ibv_post_send(), because of rdma_rxe (rdma-core 44), where
/// ibv_wr_set_sge_list() takes all segments to be as long as the first.
doca_error_t VerbsQueuePair::post_list(const doca_job &job, ibv_send_wr &request, const doca_buf &list,
                                       const Work &work) noexcept
{
    request.wr_id = send_request;
    request.send_flags = IBV_SEND_SIGNALED;
    request.num_sge = static_cast<int>(gather(list, work.plan, request.opcode != IBV_WR_RDMA_READ));
    request.sg_list = segments_.data();
    ibv_send_wr *refused = nullptr;
    if (const int error = ibv_post_send(&connection_.queue_pair(), &request, &refused); error != 0) {
        DOCA_LOG_ERR("posting a job of type %d with %d segments: errno %d", job.type, request.num_sge, error);
        return DOCA_ERROR_DRIVER;
    }
    take(job, sends_, work);
    return DOCA_SUCCESS;
}

doca_error_t VerbsQueuePair::receive(const doca_rdma_job_recv &job, TransferPlan plan) noexcept
{
    if (!can_take(receives_))
        return DOCA_ERROR_NO_MEMORY;
    ibv_recv_wr request{};
    request.wr_id = receive_request;
    if (plan.length != 0) {
        request.num_sge = static_cast<int>(gather(*job.dst_buff, plan, false));
        request.sg_list = segments_.data();
    }
    ibv_recv_wr *refused = nullptr;
    if (const int error = ibv_post_recv(&connection_.queue_pair(), &request, &refused); error != 0)
        [[unlikely]] {
        DOCA_LOG_ERR("posting a receive of %u bytes: errno %d", plan.length, error);
        return DOCA_ERROR_DRIVER;
    }
    take(job.base, receives_, {job.dst_buff, plan});
    return DOCA_SUCCESS;
}

doca_error_t VerbsQueuePair::send(const doca_rdma_job_send &job, TransferPlan plan) noexcept
{
    if (!can_take(sends_))
        return DOCA_ERROR_NO_MEMORY;
    const bool has_immediate = job.base.type == DOCA_RDMA_JOB_SEND_IMM;
    if (plan.is_list) [[unlikely]] {
        ibv_send_wr request{};
        request.opcode = has_immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
        request.imm_data = job.immediate_data;
        return post_list(job.base, request, *job.src_buff, {nullptr, plan});
    }
    start_request(inline_flag(plan));
    if (has_immediate)
        ibv_wr_send_imm(sender_, job.immediate_data);
    else
        ibv_wr_send(sender_);
    set_source(job.src_buff, plan);
    return post(job.base, {nullptr, plan});
}

doca_error_t VerbsQueuePair::read(const doca_rdma_job_read_write &job, TransferPlan plan,
                                  MemoryKey *remote) noexcept
{
    if (!can_take(sends_))
        return DOCA_ERROR_NO_MEMORY;
    const bool is_empty = plan.length == 0;
    const std::uint64_t from = is_empty ? 0 : address(job.src_buff->data);
    const Work work = {is_empty ? nullptr : job.dst_buff, plan};
    if (plan.is_list) [[unlikely]] {
        ibv_send_wr request{};
        request.opcode = IBV_WR_RDMA_READ;
        request.wr.rdma = {from, remote_key(remote)};
        return post_list(job.base, request, *job.dst_buff, work);
    }
    start_request();
    ibv_wr_rdma_read(sender_, remote_key(remote), from);
    if (is_empty)
        ibv_wr_set_sge_list(sender_, 0, nullptr);
    else
        ibv_wr_set_sge(sender_, key_of(*job.dst_buff), address(end_of_data(*job.dst_buff, plan)),
                       plan.length);
    return post(job.base, work);
}

doca_error_t VerbsQueuePair::write(const doca_rdma_job_read_write &job, TransferPlan plan,
                                   MemoryKey *remote) noexcept
{
    if (!can_take(sends_))
        return DOCA_ERROR_NO_MEMORY;
    const bool is_empty = plan.length == 0;
    const bool has_immediate = job.base.type == DOCA_RDMA_JOB_WRITE_IMM;
    const std::uint64_t to = is_empty ? 0 : address(end_of_data(*job.dst_buff, plan));
    // Of the remote side one buffer grows, however many the local side has.
    const Work work = {is_empty ? nullptr : job.dst_buff, {plan.length, false, plan.overwrites}};
    if (plan.is_list) [[unlikely]] {
        ibv_send_wr request{};
        request.opcode = has_immediate ? IBV_WR_RDMA_WRITE_WITH_IMM : IBV_WR_RDMA_WRITE;
        request.imm_data = job.immediate_data;
        request.wr.rdma = {to, remote_key(remote)};
        return post_list(job.base, request, *job.src_buff, work);
    }
    start_request(inline_flag(plan));
    if (has_immediate)
        ibv_wr_rdma_write_imm(sender_, remote_key(remote), to, job.immediate_data);
    else
        ibv_wr_rdma_write(sender_, remote_key(remote), to);
    set_source(job.src_buff, plan);
    return post(job.base, work);
}

doca_error_t VerbsQueuePair::update(const doca_rdma_job_atomic &job, MemoryKey &remote) noexcept
{
    if (!can_take(sends_))
        return DOCA_ERROR_NO_MEMORY;
    const std::uint64_t target = address(job.cmp_or_add_dest_buff->data);
    start_request();
    if (job.base.type == DOCA_RDMA_JOB_ATOMIC_FETCH_ADD)
        ibv_wr_atomic_fetch_add(sender_, remote_key(&remote), target, job.swap_or_add_data);
    else
        ibv_wr_atomic_cmp_swp(sender_, remote_key(&remote), target, job.cmp_data, job.swap_or_add_data);
    ibv_wr_set_sge(sender_, key_of(*job.result_buff), address(job.result_buff->data), word_size);
    return post(job.base, {});
}

} // namespace opendoca::verbs
