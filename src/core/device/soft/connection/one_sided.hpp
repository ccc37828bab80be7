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
#include "resolved_key.hpp"

namespace opendoca::soft {

// Slow paths: for any request, with a log line that has the reason of a failure. The peer must be connected.

/// Executes a READ, a WRITE, or the data transfer of a WRITE_IMM.
[[nodiscard]] doca_error_t execute_read_or_write(const PeerConnection &connection, const Request &request) noexcept;
/// Executes an atomic operation. NO_MEMORY if there is no hazard pointer for the memory's process.
[[nodiscard]] doca_error_t execute_atomic(const PeerConnection &connection, const Request &request) noexcept;

/// Returns whether the peer has granted @p right on @p memory to this connection: the memory must be of the peer's
/// process and device, and both the memory map and the peer's instance must grant the right.
[[nodiscard]] inline bool is_permitted(const PeerConnection &connection, const RemoteMemory &memory,
                                       std::uint32_t right) noexcept
{
    return memory.process() == connection.process() && memory.function_id() == connection.peer().function_id() &&
           (memory.access() & connection.permissions() & right) != 0;
}

/// Resolves @p key for the fast paths below. The entry has no rights if these cannot be used: the memory is not mapped
/// here, the peer has not granted any, or accesses need a barrier (see HazardGuard). It is empty if there is no hazard
/// pointer for the memory's process.
[[nodiscard]] ResolvedKey resolve(const PeerConnection &connection, const MemoryKey &key) noexcept;

// Fast paths: for single buffers and a key that was resolved and permits the operation. Return false, without any
// change, if the export was revoked. The peer must be connected. Always inline: each is the body of a function of its
// own that SoftQueuePair::post() calls.

/// Bytes of the longest READ or WRITE of the fast path, which checks the export once. Copier checks it every 8 MiB.
inline constexpr std::size_t largest_at_once = std::size_t{1} << 20;

/// Whether a transfer has word_size bytes, so that it takes no call.
enum class Transfer : bool { word, any };

inline constexpr std::size_t word_size = sizeof(std::uint64_t);

template <Transfer transfer>
[[gnu::always_inline]] inline void copy_at_once(std::byte *dst, const std::byte *src, std::size_t length) noexcept
{
    // Most short operations move one word, by a single store: if the word is aligned, a peer that polls it sees all of
    // it or nothing.
    if constexpr (transfer == Transfer::word)
        std::memcpy(dst, src, word_size);
    else
        (void)copy_bytes(dst, src, length, length);
}

/// Executes the atomic @p request on the word at @p at, and returns the old value. The caller holds the lock of the
/// word's owner: it makes the operation atomic with those of processes that access the owner's memory through the
/// kernel.
[[gnu::always_inline]] inline std::uint64_t fetch_and_modify(std::uint64_t &at, const Request &request) noexcept
{
    // The atomic instruction makes it atomic with the owner's program, and with processes that map the same memory by
    // way of another process. Acquire and release: orders the data of both sides around the operation.
    const std::atomic_ref word(at);
    if (request.opcode == Opcode::fetch_and_add)
        return word.fetch_add(request.operand, std::memory_order_acq_rel);
    std::uint64_t old = request.compare;
    word.compare_exchange_strong(old, request.operand, std::memory_order_acq_rel);
    return old;
}

template <Transfer transfer>
[[gnu::always_inline]] [[nodiscard]] inline ResolvedKey::Export write_at_once(const ResolvedKey &key,
                                                                              const Request &request) noexcept
{
    doca_buf &dst = *request.remote;
    const std::size_t length = transfer == Transfer::word ? word_size : request.plan.length;
    const std::size_t before = request.plan.overwrites ? 0 : dst.data_len;
    return key.access<HazardGuard::Side::dst>([&] {
        copy_at_once<transfer>(key.here(dst.data) + before, request.local->data, length);
        dst.data_len = before + length;
    });
}

template <Transfer transfer>
[[gnu::always_inline]] [[nodiscard]] inline ResolvedKey::Export read_at_once(const ResolvedKey &key,
                                                                             const Request &request) noexcept
{
    doca_buf &dst = *request.local;
    const std::size_t length = transfer == Transfer::word ? word_size : request.plan.length;
    const std::size_t before = request.plan.overwrites ? 0 : dst.data_len;
    return key.access<HazardGuard::Side::src>([&] {
        copy_at_once<transfer>(dst.data + before, key.here(request.remote->data), length);
        dst.data_len = before + length;
    });
}

/// @p is_done is set to whether the lock of the memory's owner was free: otherwise nothing has changed.
[[gnu::always_inline]] [[nodiscard]] inline ResolvedKey::Export
modify_at_once(const PeerConnection &connection, const ResolvedKey &key, const Request &request, bool &is_done) noexcept
{
    is_done = false;
    return key.access<HazardGuard::Side::dst>([&] {
        is_done = ProcessLock::try_with(connection.atomic_lock(), connection.identity(), [&] {
            const std::uint64_t old =
                fetch_and_modify(*reinterpret_cast<std::uint64_t *>(key.here(request.remote->data)), request);
            std::memcpy(request.local->data, &old, sizeof(old));
        });
    });
}

} // namespace opendoca::soft
