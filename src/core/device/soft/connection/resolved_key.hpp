// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "../../../base/public_values.hpp"
#include "../memory/hazard_guard.hpp"

namespace opendoca::soft {

/// A remote key as one connection may use it: the peer's rights and all that an access to the mapped memory needs, in
/// one cache line. Owned by a SoftQueuePair, in a cache by the number of the key; used by its thread. Valid while the
/// key exists and the connection is attached. No key gets the number of an earlier one, so an entry of a key that was
/// destroyed is never found.
class alignas(64) ResolvedKey {
public:
    /// An empty entry: no key has its number.
    ResolvedKey() noexcept = default;
    /// @p rights are those that both the memory map and the peer's instance grant; without rights, the other parameters
    /// have no effect.
    ResolvedKey(std::uint64_t number, const RemoteMemory &memory, HazardPointer *pointer, std::uint32_t rights) noexcept
        : number_(number),
          pointer_(pointer),
          generation_word_(&memory.generation_word()),
          generation_(memory.generation()),
          shift_(memory.shift()),
          rights_(rights),
          src_marks_(HazardGuard::marks_of(memory, HazardGuard::Side::src))
    {
    }

    [[nodiscard]] bool is_of(std::uint64_t number) const noexcept { return number == number_; }
    [[nodiscard]] bool permits(std::uint32_t right) const noexcept { return (rights_ & right) != 0; }

    /// Returns the address in this process of @p addr, an address of the exporter.
    [[nodiscard]] std::byte *here(std::byte *addr) const noexcept
    {
        return reinterpret_cast<std::byte *>(reinterpret_cast<std::uintptr_t>(addr) + shift_);
    }

    /// What access() has found: the export was live until after the access, was revoked meanwhile, or before it.
    enum class Export : std::uint8_t { live, revoked_during_access, revoked };

    /// Calls @p action while the memory is announced to the exporter in the hazard pointer, unless the export was
    /// revoked. If it does not return `live`, wake_revoker() must follow. Does what HazardGuard does, but without other
    /// bits, since no guard of this thread uses the hazard pointer meanwhile, and without a barrier: the exporter's
    /// membarrier() provides it.
    template <HazardGuard::Side side, typename Action>
    [[gnu::always_inline]] [[nodiscard]] Export access(Action action) const noexcept
    {
        pointer_->announce(src_marks_ << static_cast<std::uint32_t>(side));
        // Checked under the hazard pointer: the exporter revokes the memory first, then waits for the hazard pointers.
        const bool was_live = is_live();
        if (was_live) [[likely]]
            action();
        // Withdrawn after the last access, and before the check: a revoker that waits may have read the announcement.
        pointer_->withdraw(0);
        if (is_live()) [[likely]]
            return Export::live;
        return was_live ? Export::revoked_during_access : Export::revoked;
    }
    void wake_revoker() const noexcept { pointer_->wake_revoker(); }

private:
    /// Returns whether the export is live. Sequentially consistent: see RemoteMemory::is_live().
    [[nodiscard]] bool is_live() const noexcept
    {
        return generation_word_->load(std::memory_order_seq_cst) == generation_;
    }

    static constexpr std::uint64_t no_key = UINT64_MAX; ///< no key has this number

    std::uint64_t number_ = no_key; ///< of the key
    HazardPointer *pointer_ = nullptr;
    const std::atomic<std::uint64_t> *generation_word_ = nullptr;
    std::uint64_t generation_ = 0;
    std::uintptr_t shift_ = 0;    ///< from the exporter's addresses to ours
    std::uint32_t rights_ = 0;    ///< of Access
    std::uint32_t src_marks_ = 0; ///< value of the hazard pointer during a read
};

static_assert(sizeof(ResolvedKey) == 64);

} // namespace opendoca::soft
