// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Commands about completion queues and shared receive queues.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/mlx5-abi.h>

#include "command.hpp"
#include "completion.hpp"
#include "limits.hpp"
#include "queue_memory.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t completion_event_size = sizeof(std::uint64_t); // ib_uverbs_comp_event_desc: the queue's handle

/// Returns whether entries of a completion queue may have this size in bytes.
bool is_entry_size(std::uint32_t size)
{
    return size == 64 || size == 128;
}

} // namespace

int create_cq(Command &command)
{
    mlx5_ib_create_cq driver;
    const std::uint32_t wanted = command.number32(UVERBS_ATTR_CREATE_CQ_CQE);
    if (!command.get(UVERBS_ATTR_UHW_IN, driver) || wanted == 0 || wanted >= max_completions ||
        !is_entry_size(driver.cqe_size) || command.number32(UVERBS_ATTR_CREATE_CQ_COMP_VECTOR) >= completion_vectors)
        return EINVAL;
    OpenFile &file = command.file;
    std::shared_ptr<EventPipe> channel;
    if (command.has(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL)) {
        const auto fd = static_cast<int>(command.number(UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL));
        // The program's descriptor may be a duplicate, so the pipe is identified by its inode.
        const auto found = std::ranges::find_if(
            file.channels, [&](const auto &other) { return other->is_open_in(*command.process, fd); });
        if (found == file.channels.end())
            return EBADF;
        channel = *found;
    }
    // The size of the ring that libmlx5 has allocated: a power of two with one entry more than requested.
    const std::uint32_t entries = std::bit_ceil(wanted + 1);
    QueueMemory memory;
    if (const int error =
            memory.pin(command, driver.buf_addr, std::uint64_t{entries} * driver.cqe_size, true, driver.db_addr))
        return error;
    auto *cq = file.card.objects.create<CompletionQueue>(file);
    if (cq == nullptr)
        return ENOMEM;
    cq->process = command.process;
    memory.move_to(*cq);
    cq->entries = entries;
    cq->entry_size = driver.cqe_size;
    cq->buffer = driver.buf_addr;
    cq->doorbell_record = driver.db_addr;
    cq->user_handle = command.number(UVERBS_ATTR_CREATE_CQ_USER_HANDLE);
    cq->channel = std::move(channel);
    if (prepare_arm(*cq) != Access::done) {
        file.card.objects.destroy(*cq);
        return EFAULT;
    }
    // From here on the queue is polled, and its destructor removes it from the list.
    command.process->completion_queues.push_back(cq);
    mlx5_ib_create_cq_resp response{};
    response.cqn = cq->number();
    command.put(UVERBS_ATTR_CREATE_CQ_RESP_CQE, cq->entries - 1);
    command.put(UVERBS_ATTR_UHW_OUT, response);
    return command.put_handle(UVERBS_ATTR_CREATE_CQ_HANDLE, *cq);
}

int resize_cq(Command &command)
{
    ib_uverbs_resize_cq request;
    mlx5_ib_resize_cq driver;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)) || !command.get(UVERBS_ATTR_UHW_IN, driver))
        return EINVAL;
    auto *cq = command.object_of<CompletionQueue>(request.cq_handle);
    if (cq == nullptr || cq->is_overrun || request.cqe == 0 || request.cqe >= max_completions ||
        !is_entry_size(driver.cqe_size))
        return EINVAL;
    const std::uint32_t entries = std::bit_ceil(request.cqe + 1);
    PinnedMemory pinned;
    if (const int error =
            pin_memory(command.process, driver.buf_addr, std::uint64_t{entries} * driver.cqe_size, true, pinned))
        return error;
    // The old buffer stays pinned until the queue has left it. libmlx5 then copies to the new buffer what the program
    // has not consumed, up to the resize entry.
    if (!resize(*cq, driver.buf_addr, entries, driver.cqe_size))
        return EINVAL;
    cq->pinned_buffer = std::move(pinned);
    ib_uverbs_resize_cq_resp response{};
    response.cqe = entries - 1;
    return command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}

int destroy_cq(Command &command)
{
    auto *cq = command.object<CompletionQueue>(UVERBS_ATTR_DESTROY_CQ_HANDLE);
    if (cq == nullptr)
        return EINVAL;
    if (cq->users != 0)
        return EBUSY;
    // ibv_destroy_cq() blocks until the program has acknowledged this number of events.
    ib_uverbs_destroy_cq_resp response{};
    response.comp_events_reported = cq->completion_events;
    // Events that the program has not read are removed: it could not acknowledge them any more.
    if (cq->channel != nullptr)
        response.comp_events_reported -=
            std::min(cq->completion_events, cq->channel->remove_unread(cq->user_handle, completion_event_size));
    response.async_events_reported = command.file.delivered_events(cq->user_handle, cq->async_events);
    command.file.card.objects.destroy(*cq);
    return command.put(UVERBS_ATTR_DESTROY_CQ_RESP, response);
}

int create_srq(Command &command)
{
    constexpr std::uint32_t basic = 0, xrc = 1; // without tag matching
    mlx5_ib_create_srq driver;
    auto *pd = command.object<ProtectionDomain>(UVERBS_ATTR_CREATE_SRQ_PD_HANDLE);
    const std::uint32_t entries = command.number32(UVERBS_ATTR_CREATE_SRQ_MAX_WR);
    const std::uint32_t sges = command.number32(UVERBS_ATTR_CREATE_SRQ_MAX_SGE);
    const std::uint32_t type = command.number32(UVERBS_ATTR_CREATE_SRQ_TYPE);
    if (type != basic && type != xrc)
        return EOPNOTSUPP;
    auto *domain = type == xrc ? command.object<XrcDomain>(UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE) : nullptr;
    auto *cq = type == xrc ? command.object<CompletionQueue>(UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE) : nullptr;
    if (type == xrc && (domain == nullptr || cq == nullptr))
        return EINVAL;
    if (!command.get(UVERBS_ATTR_UHW_IN, driver) || pd == nullptr || entries >= max_srq_entries || sges > max_srq_sges)
        return EINVAL;
    // libmlx5 keeps one entry free, so that a full list differs from an empty one.
    const std::uint32_t ring_entries = std::bit_ceil(entries + 1);
    // An entry consists of a link and of the data segments, of 16 bytes each.
    std::uint32_t log_stride = 5;
    while (1u << log_stride < 16 + sges * 16)
        ++log_stride;
    QueueMemory memory;
    if (const int error =
            memory.pin(command, driver.buf_addr, std::uint64_t{ring_entries} << log_stride, false, driver.db_addr))
        return error;
    auto *srq = command.file.card.objects.create<SharedReceiveQueue>(command.file);
    if (srq == nullptr)
        return ENOMEM;
    memory.move_to(*srq);
    srq->process = command.process;
    srq->pd = Use(pd);
    srq->domain = Use(domain);
    srq->cq = Use(cq);
    srq->user_index = driver.uidx;
    srq->entries = ring_entries;
    srq->log_stride = log_stride;
    srq->max_sges = (1u << srq->log_stride) / 16 - 1;
    srq->limit = command.number32(UVERBS_ATTR_CREATE_SRQ_LIMIT);
    srq->buffer = driver.buf_addr;
    srq->doorbell_record = driver.db_addr;
    srq->user_handle = command.number(UVERBS_ATTR_CREATE_SRQ_USER_HANDLE);
    mlx5_ib_create_srq_resp response{};
    response.srqn = srq->number();
    command.put(UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM, srq->number());
    command.put(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, srq->entries - 1);
    command.put(UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, srq->max_sges);
    command.put(UVERBS_ATTR_UHW_OUT, response);
    return command.put_handle(UVERBS_ATTR_CREATE_SRQ_HANDLE, *srq);
}

int modify_srq(Command &command)
{
    constexpr std::uint32_t max_wr = 1, limit = 2; // bits of attr_mask (ibv_srq_attr_mask)
    ib_uverbs_modify_srq request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    auto *srq = command.object_of<SharedReceiveQueue>(request.srq_handle);
    // The kernel's driver cannot resize a shared receive queue either.
    if (srq == nullptr || (request.attr_mask & max_wr) != 0)
        return EINVAL;
    if ((request.attr_mask & limit) != 0) {
        if (request.srq_limit >= srq->entries)
            return EINVAL;
        srq->limit = request.srq_limit;
    }
    return 0;
}

int query_srq(Command &command)
{
    ib_uverbs_query_srq request;
    if (!command.get(UVERBS_ATTR_CORE_IN, &request, sizeof(request)))
        return EINVAL;
    const auto *srq = command.object_of<SharedReceiveQueue>(request.srq_handle);
    if (srq == nullptr)
        return EINVAL;
    ib_uverbs_query_srq_resp response{};
    response.max_wr = srq->entries - 1;
    response.max_sge = srq->max_sges;
    response.srq_limit = srq->limit;
    return command.put(UVERBS_ATTR_CORE_OUT, &response, sizeof(response));
}

int destroy_srq(Command &command)
{
    auto *srq = command.object<SharedReceiveQueue>(UVERBS_ATTR_DESTROY_SRQ_HANDLE);
    if (srq == nullptr)
        return EINVAL;
    if (srq->users != 0)
        return EBUSY;
    ib_uverbs_destroy_srq_resp response{};
    response.events_reported = command.file.delivered_events(srq->user_handle, srq->async_events);
    command.file.card.objects.destroy(*srq);
    return command.put(UVERBS_ATTR_DESTROY_SRQ_RESP, response);
}

} // namespace opendoca::card
