// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>

#include "importer.hpp"

namespace opendoca::soft {

/// Announces to the exporter that its memory is about to be accessed, for the lifetime of the guard. Used on the stack
/// by the thread that owns the hazard pointer. A null memory is memory of this process, and needs no guard. A hazard
/// pointer has one writer, so the guards of a copy's two sides can share one.
class HazardGuard {
public:
    /// The side of the copy; the value is the position of its half in the hazard pointer.
    enum class Side : std::uint32_t { src = 0, dst = 16 };

    HazardGuard(const RemoteMemory *memory, HazardPointer *pointer, Side side) noexcept
        : memory_(memory),
          pointer_(pointer),
          shift_(static_cast<std::uint32_t>(side))
    {
        if (memory_ == nullptr)
            return;
        // Relaxed: only this thread writes the hazard pointer.
        const std::uint32_t marks = pointer_->in_use.load(std::memory_order_relaxed) | marks_of(*memory_, side);
        if (memory_->process()->needs_barrier()) [[unlikely]]
            // The announcement is a store, and is_live() a load that follows: needs a full barrier between them unless
            // the exporter makes it with membarrier() after it has changed the generation.
            pointer_->announce_with_barrier(marks);
        else
            pointer_->announce(marks);
    }
    HazardGuard(const HazardGuard &) = delete;
    HazardGuard &operator=(const HazardGuard &) = delete;

    ~HazardGuard()
    {
        if (memory_ == nullptr)
            return;
        // Withdrawn after the last access, and before the check: a revoker that waits may have read the announcement.
        pointer_->withdraw(pointer_->in_use.load(std::memory_order_relaxed) & ~(0xffffU << shift_));
        if (!memory_->is_live()) [[unlikely]]
            pointer_->wake_revoker();
    }

    /// Returns the value that announces @p memory on @p side: the entry plus one, as 0 means none.
    [[nodiscard]] static std::uint32_t marks_of(const RemoteMemory &memory, Side side) noexcept
    {
        return (memory.entry() + 1) << static_cast<std::uint32_t>(side);
    }

    /// Returns NOT_PERMITTED if the export was revoked, CONNECTION_RESET if its process has ended.
    [[nodiscard]] doca_error_t status() const noexcept
    {
        if (memory_ == nullptr || (memory_->is_live() && !memory_->process()->is_gone())) [[likely]]
            return DOCA_SUCCESS;
        return explain();
    }

private:
    /// Logs why the memory cannot be accessed, and returns the error.
    [[gnu::cold]] [[nodiscard]] doca_error_t explain() const noexcept;

    const RemoteMemory *memory_;
    HazardPointer *pointer_;
    std::uint32_t shift_;
};

} // namespace opendoca::soft
