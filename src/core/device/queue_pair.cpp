// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "queue_pair.hpp"

#include <algorithm>
#include <cinttypes>

#include <doca_log.h>

DOCA_LOG_REGISTER(DOCA_QUEUE_PAIR);

namespace opendoca {

namespace {

/// Bytes that an atomic job reads, and writes.
constexpr std::size_t word_size = 8;

} // namespace

QueuePair::QueuePair(const doca_dev &dev, const QueuePairSettings &settings,
                     std::atomic<doca_rdma_state> &state) noexcept
    : state_(state),
      dev_(dev),
      max_message_size_(dev.function().can.rdma.max_message_size),
      max_chain_length_(dev.function().can.rdma.max_chain_length),
      recv_chain_length_(settings.recv_chain_length),
      has_atomics_(dev.function().can.rdma.atomics)
{
}

doca_error_t QueuePair::submit(const doca_job &job) noexcept
{
    // Acquire: pairs with the store when the instance was connected.
    if (const doca_rdma_state state = state_.load(std::memory_order_acquire);
        state != DOCA_RDMA_STATE_CONNECTED) [[unlikely]] {
        DOCA_LOG_ERR("the instance is not connected: %s", state == DOCA_RDMA_STATE_ERROR
                                                              ? "a job has failed, or its peer has gone"
                                                              : "connect it first");
        return DOCA_ERROR_BAD_STATE;
    }
    switch (job.type) {
    case DOCA_RDMA_JOB_RECV:
        return submit_receive(reinterpret_cast<const doca_rdma_job_recv &>(job));
    case DOCA_RDMA_JOB_SEND:
    case DOCA_RDMA_JOB_SEND_IMM:
        return submit_send(reinterpret_cast<const doca_rdma_job_send &>(job));
    case DOCA_RDMA_JOB_READ:
        return submit_read(reinterpret_cast<const doca_rdma_job_read_write &>(job));
    case DOCA_RDMA_JOB_WRITE:
    case DOCA_RDMA_JOB_WRITE_IMM:
        return submit_write(reinterpret_cast<const doca_rdma_job_read_write &>(job));
    case DOCA_RDMA_JOB_ATOMIC_CMP_SWP:
    case DOCA_RDMA_JOB_ATOMIC_FETCH_ADD:
        return submit_update(reinterpret_cast<const doca_rdma_job_atomic &>(job));
    default:
        DOCA_LOG_ERR("job type %d is not one of RDMA's", job.type);
        return DOCA_ERROR_INVALID_VALUE;
    }
}

doca_error_t QueuePair::submit_receive(const doca_rdma_job_recv &job) noexcept
{
    TransferPlan plan{};
    if (job.dst_buff != nullptr) {
        const doca_error_t status = plan_local(*job.dst_buff, Use::destination, recv_chain_length_, plan);
        if (status != DOCA_SUCCESS)
            return status;
    }
    return receive(job, plan);
}

doca_error_t QueuePair::submit_send(const doca_rdma_job_send &job) noexcept
{
    TransferPlan plan{};
    if (job.src_buff != nullptr) {
        const doca_error_t status = plan_local(*job.src_buff, Use::source, max_chain_length_, plan);
        if (status != DOCA_SUCCESS)
            return status;
    }
    return send(job, plan);
}

doca_error_t QueuePair::submit_read(const doca_rdma_job_read_write &job) noexcept
{
    if (job.src_buff == nullptr)
        return read(job, {}, nullptr);
    MemoryKey *remote = nullptr;
    if (const doca_error_t status = find_remote(job.src_buff, remote); status != DOCA_SUCCESS)
        return status;
    if (job.dst_buff == nullptr) {
        DOCA_LOG_ERR("a read that has a source needs a destination");
        return DOCA_ERROR_INVALID_VALUE;
    }
    TransferPlan plan{};
    if (const doca_error_t status = plan_local(*job.dst_buff, Use::destination, max_chain_length_, plan);
        status != DOCA_SUCCESS)
        return status;
    if (const doca_error_t status = check_length(job.src_buff->data_len); status != DOCA_SUCCESS)
        return status;
    plan.length = static_cast<std::uint32_t>(std::min<std::size_t>(job.src_buff->data_len, plan.length));
    return read(job, plan, remote);
}

doca_error_t QueuePair::submit_write(const doca_rdma_job_read_write &job) noexcept
{
    if (job.src_buff == nullptr)
        return write(job, {}, nullptr);
    MemoryKey *remote = nullptr;
    if (const doca_error_t status = find_remote(job.dst_buff, remote); status != DOCA_SUCCESS)
        return status;
    TransferPlan plan{};
    if (const doca_error_t status = plan_local(*job.src_buff, Use::source, max_chain_length_, plan);
        status != DOCA_SUCCESS)
        return status;
    const std::size_t tailroom = job.dst_buff->tailroom();
    plan.overwrites = tailroom == 0;
    if (const std::size_t room = plan.overwrites ? job.dst_buff->data_len : tailroom; plan.length > room) {
        DOCA_LOG_ERR("%" PRIu32 " bytes do not fit into a destination with room for %zu", plan.length, room);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return write(job, plan, remote);
}

doca_error_t QueuePair::submit_update(const doca_rdma_job_atomic &job) noexcept
{
    if (!has_atomics_) [[unlikely]] {
        DOCA_LOG_ERR("device %s cannot do atomics", dev_.function().name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    MemoryKey *remote = nullptr;
    if (const doca_error_t status = find_remote(job.cmp_or_add_dest_buff, remote); status != DOCA_SUCCESS)
        return status;
    if (job.result_buff == nullptr || !job.result_buff->is_alone()) {
        DOCA_LOG_ERR("the result of an atomic goes to a single buffer, not to %p",
                     static_cast<const void *>(job.result_buff));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_local(*job.result_buff); status != DOCA_SUCCESS)
        return status;
    const auto room_behind = [](const doca_buf &buf) {
        return static_cast<std::size_t>(buf.head + buf.len - buf.data);
    };
    if (room_behind(*job.cmp_or_add_dest_buff) < word_size || room_behind(*job.result_buff) < word_size) {
        DOCA_LOG_ERR(
            "an atomic needs %zu bytes behind the data address of both buffers; there are %zu and %zu",
            word_size, room_behind(*job.cmp_or_add_dest_buff), room_behind(*job.result_buff));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (reinterpret_cast<std::uintptr_t>(job.cmp_or_add_dest_buff->data) % word_size != 0) {
        DOCA_LOG_ERR("the target %p of an atomic is not aligned to %zu bytes",
                     static_cast<const void *>(job.cmp_or_add_dest_buff->data), word_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return update(job, *remote);
}

/// Finds out what a job does on its local side. The length is the data of a source, and the room of a
/// destination.
doca_error_t QueuePair::plan_local(const doca_buf &list, Use use, std::uint32_t max_elements,
                                   TransferPlan &plan) const noexcept
{
    if (!is_plain_local(list))
        return plan_list(list, use, max_elements, plan);
    std::size_t length = list.data_len;
    if (use == Use::destination) {
        const std::size_t tailroom = list.tailroom();
        plan.overwrites = tailroom == 0;
        length = plan.overwrites ? length : tailroom;
        length = std::min<std::size_t>(length, max_message_size_);
    } else if (length > max_message_size_) [[unlikely]] {
        return check_length(length);
    }
    plan.length = static_cast<std::uint32_t>(length);
    return DOCA_SUCCESS;
}

doca_error_t QueuePair::plan_list(const doca_buf &list, Use use, std::uint32_t max_elements,
                                  TransferPlan &plan) const noexcept
{
    if (!list.is_head()) {
        DOCA_LOG_ERR("buffer %p is not the head of its list", static_cast<const void *>(&list));
        return DOCA_ERROR_INVALID_VALUE;
    }
    std::uint32_t count = 0;
    // A term is cut off above what a job moves at most: their sums can't wrap around.
    std::size_t data = 0, tailroom = 0;
    const std::size_t limit = std::size_t{max_message_size_} + 1;
    for (const doca_buf *buf = &list; buf != nullptr; buf = buf->next) {
        if (++count > max_elements) {
            DOCA_LOG_ERR("the %s has more than %" PRIu32 " buffers",
                         use == Use::source ? "source" : "destination", max_elements);
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (const doca_error_t status = check_local(*buf); status != DOCA_SUCCESS)
            return status;
        data += std::min(buf->data_len, limit);
        tailroom += std::min(buf->tailroom(), limit);
    }
    plan.is_list = count > 1;
    std::size_t length = data;
    if (use == Use::destination) {
        // A destination without any tailroom counts as empty, for programs that never reset it.
        plan.overwrites = tailroom == 0;
        length = std::min<std::size_t>(plan.overwrites ? data : tailroom, max_message_size_);
    } else if (const doca_error_t status = check_length(length); status != DOCA_SUCCESS) {
        return status;
    }
    plan.length = static_cast<std::uint32_t>(length);
    return DOCA_SUCCESS;
}

doca_error_t QueuePair::check_local(const doca_buf &buf) const noexcept
{
    const MemoryKey *const key = buf.mmap->key_for(&dev_);
    if (key == nullptr) {
        DOCA_LOG_ERR("device %s was not added to the memory map of buffer %p", dev_.description().c_str(),
                     static_cast<const void *>(&buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (key->can(opendoca::KeyUse::rdma_local))
        return DOCA_SUCCESS;
    if (buf.mmap->is_imported()) {
        DOCA_LOG_ERR("buffer %p is of imported memory: a local one belongs here",
                     static_cast<const void *>(&buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    DOCA_LOG_ERR("the memory map of buffer %p lacks DOCA_ACCESS_LOCAL_READ_WRITE", static_cast<const void *>(&buf));
    return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t QueuePair::find_remote(const doca_buf *buf, MemoryKey *&key) const noexcept
{
    if (buf == nullptr || !buf->is_alone()) {
        DOCA_LOG_ERR("the remote side of a job is a single buffer, not %p", static_cast<const void *>(buf));
        return DOCA_ERROR_INVALID_VALUE;
    }
    key = buf->mmap->is_first(&dev_) ? &buf->mmap->first_key() : buf->mmap->key_for(&dev_);
    if (key == nullptr || !key->can(opendoca::KeyUse::rdma_remote)) {
        DOCA_LOG_ERR("buffer %p is not of memory that device %s has imported for RDMA",
                     static_cast<const void *>(buf), dev_.description().c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t QueuePair::check_length(std::size_t length) const noexcept
{
    if (length <= max_message_size_)
        return DOCA_SUCCESS;
    DOCA_LOG_ERR("%zu bytes or more: a job moves at most %" PRIu32, length, max_message_size_);
    return DOCA_ERROR_INVALID_VALUE;
}

void QueuePair::write_result(std::uint64_t detail, doca_error_t result, doca_event &event) const noexcept
{
    write_rdma_result({.length = static_cast<std::uint32_t>(detail), .immediate = 0, .opcode = 0}, result,
                      event);
}

} // namespace opendoca
