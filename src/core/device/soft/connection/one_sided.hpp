// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// READ, WRITE and the atomics: carried out by the caller's thread, in the memory that the peer has exported. The peer's
// process takes no part. A hazard pointer announces each access, so that the peer can wait for its end before it stops
// the memory map (memory/hazard_guard.hpp).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "../../../objects/buf.hpp"
#include "../../request.hpp"
#include "../device.hpp"
#include "../memory/copier.hpp"
#include "../memory/copy.hpp"
#include "../memory/hazard_guard.hpp"
#include "../process/lock.hpp"
#include "peer_connection.hpp"

namespace opendoca::soft {

// Slow paths: for any request, with a log line that has the reason of a failure. The peer must be connected.

/// Executes a READ, a WRITE, or the data transfer of a WRITE_IMM.
[[nodiscard]] doca_error_t execute_read_or_write(const PeerConnection &connection, const Request &request) noexcept;
/// Executes an atomic operation. NO_MEMORY if there is no hazard pointer for the memory's process.
[[nodiscard]] doca_error_t execute_atomic(const PeerConnection &connection, const Request &request) noexcept;

// Fast paths: for single buffers and memory that is mapped into this process. Return false, without any change, for
// whatever does not hold. The peer must be connected.

/// Returns whether the peer has granted @p right on @p memory to this connection: the memory must be of the peer's
/// process and device, and both the memory map and the peer's instance must grant the right.
[[nodiscard]] inline bool is_permitted(const PeerConnection &connection, const RemoteMemory &memory,
                                       std::uint32_t right) noexcept
{
    return memory.process() == connection.process() && memory.function_id() == connection.peer().function_id() &&
           (memory.access() & connection.permissions() & right) != 0;
}

/// Bytes of the longest READ or WRITE of the fast path, which checks the export once. Copier checks it every 8 MiB.
inline constexpr std::size_t largest_at_once = std::size_t{1} << 20;

inline void copy_at_once(std::byte *dst, const std::byte *src, std::size_t length) noexcept
{
    // Most short operations move one word, by a single store: if the word is aligned, a peer that polls it sees all of
    // it or nothing.
    if (length == sizeof(std::uint64_t))
        std::memcpy(dst, src, sizeof(std::uint64_t));
    else
        (void)copy_bytes(dst, src, length, length);
}

/// Executes the atomic @p request on the word at @p at and returns the old value.
[[gnu::always_inline]] inline std::uint64_t fetch_and_modify(const PeerConnection &connection, std::uint64_t &at,
                                                             const Request &request) noexcept
{
    // The lock makes the operation atomic with those of processes that access the owner's memory through the kernel.
    // The atomic instruction makes it atomic with the owner's program, and with processes that map the same memory by
    // way of another process. Acquire and release: orders the data of both sides around the operation.
    const ProcessLock lock(connection.process()->atomic_lock(), connection.identity());
    const std::atomic_ref word(at);
    if (request.opcode == Opcode::fetch_and_add)
        return word.fetch_add(request.operand, std::memory_order_acq_rel);
    std::uint64_t old = request.compare;
    word.compare_exchange_strong(old, request.operand, std::memory_order_acq_rel);
    return old;
}

// Always inline: each is the body of a function of its own that SoftQueuePair::post() calls.

[[gnu::always_inline]] [[nodiscard]] inline bool write_at_once(const PeerConnection &connection,
                                                               const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    const RemoteMemory &memory = *static_cast<SoftKey *>(request.remote_key)->remote();
    HazardPointer *const pointer = connection.copier().hazard_pointer_for(memory);
    if (memory.reach() == RemoteMemory::Reach::mapped && plan.length <= largest_at_once && pointer != nullptr &&
        is_permitted(connection, memory, Access::rdma_write)) [[likely]] {
        doca_buf &dst = *request.remote;
        const std::size_t before = plan.overwrites ? 0 : dst.data_len;
        const HazardGuard hazard(&memory, pointer, HazardGuard::Side::dst);
        // Checked under the hazard pointer: the peer revokes the memory first, then waits for the hazard pointers.
        if (memory.is_live()) [[likely]] {
            copy_at_once(memory.here(dst.data) + before, request.local->data, plan.length);
            dst.data_len = before + plan.length;
            return true;
        }
    }
    return false;
}

[[gnu::always_inline]] [[nodiscard]] inline bool read_at_once(const PeerConnection &connection,
                                                              const Request &request) noexcept
{
    const TransferPlan plan = request.plan;
    const RemoteMemory &memory = *static_cast<SoftKey *>(request.remote_key)->remote();
    HazardPointer *const pointer = connection.copier().hazard_pointer_for(memory);
    if (memory.reach() == RemoteMemory::Reach::mapped && plan.length <= largest_at_once && pointer != nullptr &&
        is_permitted(connection, memory, Access::rdma_read)) [[likely]] {
        doca_buf &dst = *request.local;
        const std::size_t before = plan.overwrites ? 0 : dst.data_len;
        const HazardGuard hazard(&memory, pointer, HazardGuard::Side::src);
        if (memory.is_live()) [[likely]] {
            copy_at_once(dst.data + before, memory.here(request.remote->data), plan.length);
            dst.data_len = before + plan.length;
            return true;
        }
    }
    return false;
}

[[gnu::always_inline]] [[nodiscard]] inline bool modify_at_once(const PeerConnection &connection,
                                                                const Request &request) noexcept
{
    const RemoteMemory &memory = *static_cast<SoftKey *>(request.remote_key)->remote();
    HazardPointer *const pointer = connection.copier().hazard_pointer_for(memory);
    if (memory.reach() == RemoteMemory::Reach::mapped && pointer != nullptr &&
        is_permitted(connection, memory, Access::rdma_atomic)) [[likely]] {
        const HazardGuard hazard(&memory, pointer, HazardGuard::Side::dst);
        if (memory.is_live()) [[likely]] {
            const std::uint64_t old = fetch_and_modify(
                connection, *reinterpret_cast<std::uint64_t *>(memory.here(request.remote->data)), request);
            std::memcpy(request.local->data, &old, sizeof(old));
            return true;
        }
    }
    return false;
}

} // namespace opendoca::soft
