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

/// Bytes between two checks whether memory was revoked; bounds the time that an exporter's stop takes.
inline constexpr std::size_t max_bytes_between_checks = std::size_t{8} << 20;

/// An entry of a remote-key cache: all that a short copy between this process and an imported memory needs, in one
/// cache line. Owned by a copy engine and used by its thread. Valid for as long as the memory is imported.
class alignas(64) CachedRemoteKey {
public:
    /// An empty entry: no key has its number.
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
          longest_(memory_fd_ < 0 ? max_bytes_between_checks : largest_by_file)
    {
    }

    [[nodiscard]] bool is_of(std::uint64_t number) const noexcept { return number == number_; }
    [[nodiscard]] bool is_short(std::size_t length) const noexcept { return length <= longest_; }

    /// Copies @p length bytes, for which is_short() is true. Returns false if the export was revoked or its process has
    /// ended, or the kernel did not copy everything. Copier::copy() must then follow: it logs the reason, and wakes a
    /// waiting exporter. Inline, since the processor predicts the returns after a system call badly.
    template <HazardGuard::Side side>
    [[gnu::always_inline]] [[nodiscard]] bool copy(std::byte *there, std::byte *here, std::size_t length) const noexcept
    {
        // Like HazardGuard, but without other bits: no guard of this thread uses the hazard pointer meanwhile.
        hazard_pointer_->in_use.store(marks_, std::memory_order_relaxed);
        // No CPU barrier: the exporter's membarrier() provides it. The fence keeps the compiler from reordering.
        std::atomic_signal_fence(std::memory_order_seq_cst);
        const bool is_done = is_open() && copy_now<side>(there, here, length);
        // Release: pairs with the revoker's load of the hazard pointer: the accesses are complete before it is
        // withdrawn.
        hazard_pointer_->in_use.store(0, std::memory_order_release);
        std::atomic_signal_fence(std::memory_order_seq_cst);
        return is_done && is_open(); // a process that has ended in the middle may have left half of the data
    }

private:
    /// Returns whether the export is live and its process has not ended.
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

    std::uint64_t number_ = no_key; ///< number of the memory's key
    HazardPointer *hazard_pointer_ = nullptr;
    std::uint32_t marks_ = 0; ///< value of the hazard pointer during a copy
    int memory_fd_ = -1;      ///< -1 if the memory is mapped
    const std::atomic<std::uint64_t> *generation_word_ = nullptr;
    std::uint64_t generation_ = 0;
    const int *liveness_ = nullptr;
    std::uintptr_t shift_ = 0; ///< from the exporter's addresses to ours, if the memory is mapped
    std::size_t longest_ = 0;  ///< bytes; see is_short()
};

static_assert(sizeof(CachedRemoteKey) == 64);

} // namespace opendoca::soft
