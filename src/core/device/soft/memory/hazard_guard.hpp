// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>

#include "importer.hpp"

namespace opendoca::soft {

/// Announces to the exporter that its memory is about to be touched, for as long as it lives. Does nothing for
/// memory of this process. A hazard pointer has one writer, so that two guards can share it.
class HazardGuard {
public:
    enum class Side : std::uint32_t { src = 0, dst = 16 };

    HazardGuard(const RemoteMemory *memory, HazardPointer *pointer, Side side) noexcept
        : memory_(memory),
          pointer_(pointer),
          shift_(static_cast<std::uint32_t>(side))
    {
        if (memory_ == nullptr)
            return;
        const std::uint32_t marks = pointer_->in_use.load(std::memory_order_relaxed) | marks_of(*memory_, side);
        if (memory_->process()->needs_barrier()) [[unlikely]]
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
        pointer_->withdraw(pointer_->in_use.load(std::memory_order_relaxed) & ~(0xffffU << shift_));
        if (!memory_->is_live()) [[unlikely]]
            pointer_->wake_revoker();
    }

    /// What stands in the hazard pointer for @p memory on @p side.
    [[nodiscard]] static std::uint32_t marks_of(const RemoteMemory &memory, Side side) noexcept
    {
        return (memory.entry() + 1) << static_cast<std::uint32_t>(side);
    }

    /// NOT_PERMITTED when the memory was revoked, CONNECTION_RESET when its process has ended.
    [[nodiscard]] doca_error_t status() const noexcept
    {
        if (memory_ == nullptr || (memory_->is_live() && !memory_->process()->is_gone())) [[likely]]
            return DOCA_SUCCESS;
        return explain();
    }

private:
    [[gnu::cold]] [[nodiscard]] doca_error_t explain() const noexcept;

    const RemoteMemory *memory_;
    HazardPointer *pointer_;
    std::uint32_t shift_;
};

} // namespace opendoca::soft
