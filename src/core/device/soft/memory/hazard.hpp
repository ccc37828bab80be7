// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>

#include "importer.hpp"

namespace opendoca::soft {

/// Announces to the exporter that its memory is about to be touched, for as long as it lives. Does nothing for
/// memory of this process. A slot has one writer, so that two of them can share it.
class Hazard {
public:
    enum class Side : std::uint32_t { src = 0, dst = 16 };

    Hazard(const RemoteMemory *memory, ReaderSlot *slot, Side side) noexcept
        : memory_(memory),
          slot_(slot),
          shift_(static_cast<std::uint32_t>(side))
    {
        if (memory_ == nullptr)
            return;
        const std::uint32_t marks = slot_->in_use.load(std::memory_order_relaxed) | marks_of(*memory_, side);
        if (memory_->process()->needs_barrier()) [[unlikely]]
            slot_->announce_with_barrier(marks);
        else
            slot_->announce(marks);
    }
    Hazard(const Hazard &) = delete;
    Hazard &operator=(const Hazard &) = delete;

    ~Hazard()
    {
        if (memory_ == nullptr)
            return;
        slot_->withdraw(slot_->in_use.load(std::memory_order_relaxed) & ~(0xffffU << shift_));
        if (!memory_->is_live()) [[unlikely]]
            slot_->wake_revoker();
    }

    /// What stands in the slot for @p memory on @p side.
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
    ReaderSlot *slot_;
    std::uint32_t shift_;
};

} // namespace opendoca::soft
