// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// READ, WRITE and the atomics: carried out by the caller's thread, in the memory that the peer has exported. The peer's
// process takes no part. A hazard pointer announces each access, so that the peer can wait for its end before it stops
// the memory map (memory/hazard_guard.hpp).
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "../../../log/log.hpp"
#include "../../../objects/mmap.hpp"
#include "../../cursor.hpp"
#include "../memory/copy.hpp"
#include "../memory/hazard_guard.hpp"
#include "../memory/process_copy.hpp"
#include "../process/lock.hpp"
#include "queue_pair.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_RDMA_ONE_SIDED);

namespace opendoca::soft {

namespace {

/// Bytes of the longest READ or WRITE of the fast path, which checks the export once. Copier checks it every 8 MiB.
constexpr std::size_t largest_at_once = std::size_t{1} << 20;

void copy_at_once(std::byte *dst, const std::byte *src, std::size_t length) noexcept
{
    // Most short operations move one word, by a single store: if the word is aligned, a peer that polls it sees all of
    // it or nothing.
    if (length == sizeof(std::uint64_t))
        std::memcpy(dst, src, sizeof(std::uint64_t));
    else
        (void)copy_bytes(dst, src, length, length);
}

/// Returns the name of @p right for log lines.
const char *name_of(std::uint32_t right) noexcept
{
    return right == Access::rdma_read ? "read" : right == Access::rdma_write ? "write" : "atomic";
}

} // namespace

doca_error_t SoftQueuePair::post_write(Tag tag, const Request &request) noexcept
{
    // Fast path: two single buffers, memory that is mapped into this process, and nothing queued before. Whatever does
    // not hold is left to post_any(), which also logs the reasons of failures.
    const TransferPlan plan = request.plan;
    if (!plan.is_list && plan.length != 0 && can_complete_now() && check_peer() == DOCA_SUCCESS) [[likely]] {
        const RemoteMemory &memory = *static_cast<SoftKey *>(request.remote_key)->remote();
        HazardPointer *const pointer = poller_->copier.hazard_pointer_for(memory);
        if (memory.reach() == RemoteMemory::Reach::mapped && plan.length <= largest_at_once && pointer != nullptr &&
            is_permitted(memory, Access::rdma_write)) [[likely]] {
            doca_buf &dst = *request.remote;
            const std::size_t before = plan.overwrites ? 0 : dst.data_len;
            const HazardGuard hazard(&memory, pointer, HazardGuard::Side::dst);
            // Checked under the hazard pointer: the peer revokes the memory first, then waits for the hazard pointers.
            if (memory.is_live()) [[likely]] {
                copy_at_once(memory.here(dst.data) + before, request.local->data, plan.length);
                dst.data_len = before + plan.length;
                completions_->done(tag, *this, DOCA_SUCCESS);
                return DOCA_SUCCESS;
            }
        }
    }
    return post_any(tag, request);
}

/// Fast path of a READ, under the same conditions as that of a WRITE.
doca_error_t SoftQueuePair::post_read(Tag tag, const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    if (!plan.is_list && plan.length != 0 && can_complete_now() && check_peer() == DOCA_SUCCESS) [[likely]] {
        const RemoteMemory &memory = *static_cast<SoftKey *>(request.remote_key)->remote();
        HazardPointer *const pointer = poller_->copier.hazard_pointer_for(memory);
        if (memory.reach() == RemoteMemory::Reach::mapped && plan.length <= largest_at_once && pointer != nullptr &&
            is_permitted(memory, Access::rdma_read)) [[likely]] {
            doca_buf &dst = *request.local;
            const std::size_t before = plan.overwrites ? 0 : dst.data_len;
            const HazardGuard hazard(&memory, pointer, HazardGuard::Side::src);
            if (memory.is_live()) [[likely]] {
                copy_at_once(dst.data + before, memory.here(request.remote->data), plan.length);
                dst.data_len = before + plan.length;
                completions_->done(tag, *this, DOCA_SUCCESS, plan.length);
                return DOCA_SUCCESS;
            }
        }
    }
    return post_any(tag, request);
}

/// Executes the atomic @p request on the word at @p at and returns the old value.
[[gnu::always_inline]] inline std::uint64_t SoftQueuePair::fetch_and_modify(std::uint64_t &at,
                                                                            const Request &request) noexcept
{
    // The lock makes the operation atomic with those of processes that access the owner's memory through the kernel.
    // The atomic instruction makes it atomic with the owner's program, and with processes that map the same memory by
    // way of another process. Acquire and release: orders the data of both sides around the operation.
    const ProcessLock lock(process_->atomic_lock(), identity_);
    const std::atomic_ref word(at);
    if (request.opcode == Opcode::fetch_and_add)
        return word.fetch_add(request.operand, std::memory_order_acq_rel);
    std::uint64_t old = request.compare;
    word.compare_exchange_strong(old, request.operand, std::memory_order_acq_rel);
    return old;
}

doca_error_t SoftQueuePair::post_atomic(Tag tag, const Request &request) noexcept
{
    // Fast path, under the same conditions as that of post_write().
    if (can_complete_now() && check_peer() == DOCA_SUCCESS) [[likely]] {
        const RemoteMemory &memory = *static_cast<SoftKey *>(request.remote_key)->remote();
        HazardPointer *const pointer = poller_->copier.hazard_pointer_for(memory);
        if (memory.reach() == RemoteMemory::Reach::mapped && pointer != nullptr &&
            is_permitted(memory, Access::rdma_atomic)) [[likely]] {
            const HazardGuard hazard(&memory, pointer, HazardGuard::Side::dst);
            if (memory.is_live()) [[likely]] {
                const std::uint64_t old =
                    fetch_and_modify(*reinterpret_cast<std::uint64_t *>(memory.here(request.remote->data)), request);
                std::memcpy(request.local->data, &old, sizeof(old));
                completions_->done(tag, *this, DOCA_SUCCESS);
                return DOCA_SUCCESS;
            }
        }
    }
    return post_any(tag, request);
}

/// Finds the peer's memory of @p request. NOT_PERMITTED, after a log line, if the peer has not granted @p right on it.
doca_error_t SoftQueuePair::authorize(const Request &request, std::uint32_t right, const RemoteMemory *&memory) noexcept
{
    memory = static_cast<const SoftKey &>(*request.remote_key).remote();
    if (is_permitted(*memory, right)) [[likely]]
        return DOCA_SUCCESS;
    const void *const address = request.remote->data;
    if (memory->process() != process_) {
        LOG_ERR("the remote memory at %p belongs to process %d, but the peer of this connection is process %d", address,
                memory->process()->pid(), process_->pid());
    } else if (memory->function_id() != peer_->function_id()) {
        LOG_ERR("the remote memory at %p was exported by another device than that of the peer, process %d", address,
                process_->pid());
    } else {
        LOG_ERR("the peer does not permit RDMA %s here (memory map 0x%x, RDMA instance 0x%x)", name_of(right),
                memory->access(), peer_permissions_);
    }
    return DOCA_ERROR_NOT_PERMITTED;
}

/// Executes a READ, a WRITE, or the data transfer of a WRITE_IMM.
doca_error_t SoftQueuePair::execute_read_or_write(const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    const bool is_read = request.opcode == Opcode::read;
    const std::uint32_t right = is_read ? Access::rdma_read : Access::rdma_write;
    // Without bytes there is no memory to check, but the instance's right is required, as by a NIC's queue pair.
    if (plan.length == 0) {
        if ((peer_permissions_ & right) != 0)
            return DOCA_SUCCESS;
        LOG_ERR("the peer does not permit RDMA %s, not even of 0 bytes (RDMA instance 0x%x)", name_of(right),
                peer_permissions_);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const RemoteMemory *memory = nullptr;
    const doca_error_t status = authorize(request, right, memory);
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
            is_read ? poller_->copier.copy(nullptr, local.addr(), memory, remote, length, plan.length)
                    : poller_->copier.copy(memory, remote, nullptr, local.addr(), length, plan.length);
        if (copied != DOCA_SUCCESS)
            return copied;
        local.advance(length);
        remote += length;
        left -= length;
    }
    extend_data(dst, plan.length, plan.overwrites);
    return DOCA_SUCCESS;
}

/// Executes an atomic operation. NO_MEMORY if there is no hazard pointer for the memory's process.
doca_error_t SoftQueuePair::execute_atomic(const Request &request) noexcept
{
    if (const doca_error_t status = check_peer(); status != DOCA_SUCCESS)
        return status;
    const RemoteMemory *memory = nullptr;
    if (const doca_error_t status = authorize(request, Access::rdma_atomic, memory); status != DOCA_SUCCESS)
        return status;
    HazardPointer *const pointer = poller_->copier.hazard_pointer_for(*memory);
    if (pointer == nullptr)
        return DOCA_ERROR_NO_MEMORY;
    const HazardGuard hazard(memory, pointer, HazardGuard::Side::dst);
    if (const doca_error_t status = hazard.status(); status != DOCA_SUCCESS)
        return status;

    const bool is_addition = request.opcode == Opcode::fetch_and_add;
    std::uint64_t old = 0;
    if (memory->reach() == RemoteMemory::Reach::mapped) {
        old = fetch_and_modify(*reinterpret_cast<std::uint64_t *>(memory->here(request.remote->data)), request);
    } else {
        // Memory that is not mapped here is read and written through the kernel. This is atomic with operations under
        // the lock only, not with the atomic instructions of the owner's program.
        const ProcessLock lock(process_->atomic_lock(), identity_); // as in fetch_and_modify()
        auto *const bytes = reinterpret_cast<std::byte *>(&old);
        doca_error_t status = read_process(*process_, bytes, request.remote->data, sizeof(old));
        std::uint64_t fresh = is_addition ? old + request.operand : old == request.compare ? request.operand : old;
        if (status == DOCA_SUCCESS && fresh != old)
            status =
                write_process(*process_, request.remote->data, reinterpret_cast<std::byte *>(&fresh), sizeof(fresh));
        if (status != DOCA_SUCCESS)
            return status;
    }
    std::memcpy(request.local->data, &old, sizeof(old));
    return DOCA_SUCCESS;
}

} // namespace opendoca::soft
