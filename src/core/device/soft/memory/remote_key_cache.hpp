// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "copy.hpp"
#include "hazard_guard.hpp"
#include "process_copy.hpp"

namespace opendoca::soft {

/// Bytes between two looks at whether memory was revoked: keeps an exporter's stop short.
inline constexpr std::size_t longest_between_looks = std::size_t{8} << 20;

/// An entry of a remote-key cache: all that a short copy between this process and an imported memory needs, in one
/// cache line: a thread's hazard pointer, and what RemoteMemory and its process know. Valid for as long as the memory
/// is imported.
class alignas(64) CachedRemoteKey {
public:
    /// Leads no_key.
    CachedRemoteKey() noexcept = default;
    CachedRemoteKey(std::uint64_t number, const RemoteMemory &memory, HazardPointer &pointer,
                    HazardGuard::Side side) noexcept
        : number_(number),
          hazard_pointer_(&pointer),
          marks_(HazardGuard::marks_of(memory, side)),
          memory_fd_(memory.reach() == RemoteMemory::Reach::mapped ? -1 : memory.process()->memory_fd()),
          generation_word_(&memory.generation_word()),
          generation_(memory.generation()),
          liveness_(&memory.process()->liveness()),
          shift_(memory.shift()),
          longest_(memory_fd_ < 0 ? longest_between_looks : largest_by_file)
    {
    }

    [[nodiscard]] bool is_of(std::uint64_t number) const noexcept { return number == number_; }
    [[nodiscard]] bool is_short(std::size_t length) const noexcept { return length <= longest_; }

    /// Of @p length that is_short(). False where something is in the way, and then Copier::copy() must
    /// follow: it says what, and wakes an exporter that waits. Inline, because each return after a system
    /// call is one that the processor did not foresee.
    template <HazardGuard::Side side>
    [[gnu::always_inline]] [[nodiscard]] bool copy(std::byte *there, std::byte *here, std::size_t length) const noexcept
    {
        // As HazardGuard does, but that no guard of this thread uses the hazard pointer meanwhile.
        hazard_pointer_->in_use.store(marks_, std::memory_order_relaxed);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const bool is_done = is_open() && copy_now<side>(there, here, length);
        hazard_pointer_->in_use.store(0, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return is_done && is_open(); // a process that has ended in the middle may have left half of it
    }

private:
    [[gnu::always_inline]] [[nodiscard]] bool is_open() const noexcept
    {
        return generation_word_->load(std::memory_order_seq_cst) == generation_ &&
               !ExporterProcess::is_marked_dead(*liveness_);
    }

    template <HazardGuard::Side side>
    [[gnu::always_inline]] [[nodiscard]] bool copy_now(std::byte *there, std::byte *here,
                                                       std::size_t length) const noexcept
    {
        constexpr bool is_read = side == HazardGuard::Side::src;
        if (memory_fd_ >= 0)
            return is_read ? read_at_once(memory_fd_, here, there, length)
                           : write_at_once(memory_fd_, there, here, length);
        std::byte *const mapped = reinterpret_cast<std::byte *>(reinterpret_cast<std::uintptr_t>(there) + shift_);
        (void)copy_bytes(is_read ? here : mapped, is_read ? mapped : here, length, length);
        return true;
    }

    static constexpr std::uint64_t no_key = UINT64_MAX; ///< no key has this number

    std::uint64_t number_ = no_key; ///< of the memory's key
    HazardPointer *hazard_pointer_ = nullptr;
    std::uint32_t marks_ = 0;
    int memory_fd_ = -1; ///< where it is mapped
    const std::atomic<std::uint64_t> *generation_word_ = nullptr;
    std::uint64_t generation_ = 0;
    const int *liveness_ = nullptr;
    std::uintptr_t shift_ = 0; ///< from there to here, where it is mapped
    std::size_t longest_ = 0;
};

static_assert(sizeof(CachedRemoteKey) == 64);

} // namespace opendoca::soft
