// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "one_sided.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "../../../log/log.hpp"
#include "../../../objects/mmap.hpp"
#include "../../cursor.hpp"
#include "../memory/process_copy.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA_ONE_SIDED);

namespace opendoca::soft {

namespace {

/// Returns the name of @p right for log lines.
const char *name_of(std::uint32_t right) noexcept
{
    return right == Access::rdma_read ? "read" : right == Access::rdma_write ? "write" : "atomic";
}

/// Finds the peer's memory of @p request. NOT_PERMITTED, after a log line, if the peer has not granted @p right on it.
doca_error_t authorize(const PeerConnection &connection, const Request &request, std::uint32_t right,
                       const RemoteMemory *&memory) noexcept
{
    memory = static_cast<const SoftKey &>(*request.remote_key).remote();
    if (is_permitted(connection, *memory, right)) [[likely]]
        return DOCA_SUCCESS;
    const void *const address = request.remote->data;
    if (memory->process() != connection.process()) {
        LOG_ERR("the remote memory at %p belongs to process %d, but the peer of this connection is process %d", address,
                memory->process()->pid(), connection.process()->pid());
    } else if (memory->function_id() != connection.peer().function_id()) {
        LOG_ERR("the remote memory at %p was exported by another device than that of the peer, process %d", address,
                connection.process()->pid());
    } else {
        LOG_ERR("the peer does not permit RDMA %s here (memory map 0x%x, RDMA instance 0x%x)", name_of(right),
                memory->access(), connection.permissions());
    }
    return DOCA_ERROR_NOT_PERMITTED;
}

} // namespace

ResolvedKey resolve(const PeerConnection &connection, const MemoryKey &key) noexcept
{
    const RemoteMemory &memory = *static_cast<const SoftKey &>(key).remote();
    std::uint32_t rights = memory.access() & connection.permissions();
    if (memory.reach() != RemoteMemory::Reach::mapped || memory.process()->needs_barrier() ||
        !is_permitted(connection, memory, rights))
        rights = 0;
    HazardPointer *const pointer = rights != 0 ? connection.copier().hazard_pointer_for(memory) : nullptr;
    return rights != 0 && pointer == nullptr ? ResolvedKey() : ResolvedKey(key.number, memory, pointer, rights);
}

doca_error_t execute_read_or_write(const PeerConnection &connection, const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    const bool is_read = request.opcode == Opcode::read;
    const std::uint32_t right = is_read ? Access::rdma_read : Access::rdma_write;
    // Without bytes there is no memory to check, but the instance's right is required, as by a NIC's queue pair.
    if (plan.length == 0) {
        if ((connection.permissions() & right) != 0)
            return DOCA_SUCCESS;
        LOG_ERR("the peer does not permit RDMA %s, not even of 0 bytes (RDMA instance 0x%x)", name_of(right),
                connection.permissions());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const RemoteMemory *memory = nullptr;
    const doca_error_t status = authorize(connection, request, right, memory);
    if (status != DOCA_SUCCESS)
        return status;
    doca_buf &dst = is_read ? *request.local : *request.remote;
    if (plan.length > room_of(dst, plan.overwrites) || (!is_read && plan.length > data_of(*request.local))) {
        LOG_ERR("the data section of a buffer was changed while its operation of %u bytes was queued", plan.length);
        return DOCA_ERROR_IO_FAILED;
    }
    std::byte *remote = request.remote->data + (is_read || plan.overwrites ? 0 : request.remote->data_len);
    Cursor local =
        is_read ? Cursor::over_destination(*request.local, plan.overwrites) : Cursor::over_data(*request.local);
    // The remote side is one buffer, the local side a scatter/gather list.
    for (std::size_t left = plan.length; left != 0;) {
        local.skip_empty();
        const std::size_t length = std::min(left, local.left());
        const doca_error_t copied =
            is_read ? connection.copier().copy(nullptr, local.addr(), memory, remote, length, plan.length)
                    : connection.copier().copy(memory, remote, nullptr, local.addr(), length, plan.length);
        if (copied != DOCA_SUCCESS)
            return copied;
        local.advance(length);
        remote += length;
        left -= length;
    }
    extend_data(dst, plan.length, plan.overwrites);
    return DOCA_SUCCESS;
}

doca_error_t execute_atomic(const PeerConnection &connection, const Request &request) noexcept
{
    const RemoteMemory *memory = nullptr;
    if (const doca_error_t status = authorize(connection, request, Access::rdma_atomic, memory); status != DOCA_SUCCESS)
        return status;
    HazardPointer *const pointer = connection.copier().hazard_pointer_for(*memory);
    if (pointer == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    const HazardGuard hazard(memory, pointer, HazardGuard::Side::dst);
    if (const doca_error_t status = hazard.status(); status != DOCA_SUCCESS)
        return status;

    const bool is_addition = request.opcode == Opcode::fetch_and_add;
    std::uint64_t old = 0;
    if (memory->reach() == RemoteMemory::Reach::mapped) {
        const ProcessLock lock(connection.atomic_lock(), connection.identity());
        old = fetch_and_modify(*reinterpret_cast<std::uint64_t *>(memory->here(request.remote->data)), request);
    } else {
        // Memory that is not mapped here is read and written through the kernel. This is atomic with operations under
        // the lock only, not with the atomic instructions of the owner's program.
        const ProcessLock lock(connection.atomic_lock(), connection.identity()); // see fetch_and_modify()
        auto *const bytes = reinterpret_cast<std::byte *>(&old);
        doca_error_t status = read_process(*connection.process(), bytes, request.remote->data, sizeof(old));
        std::uint64_t fresh = is_addition ? old + request.operand : old == request.compare ? request.operand : old;
        if (status == DOCA_SUCCESS && fresh != old)
            status = write_process(*connection.process(), request.remote->data, reinterpret_cast<std::byte *>(&fresh),
                                   sizeof(fresh));
        if (status != DOCA_SUCCESS)
            return status;
    }
    std::memcpy(request.local->data, &old, sizeof(old));
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
