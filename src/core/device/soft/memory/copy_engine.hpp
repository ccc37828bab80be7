// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "../../../engine/completion_queue.hpp"
#include "../../copy_engine.hpp"
#include "../device.hpp"
#include "copier.hpp"
#include "copy.hpp"
#include "remote_key_cache.hpp"

namespace opendoca::soft {

/// Copies by the CPU. A copy is carried out in its submit, or with DOCA_SOFT_DEFER=1 when it is retrieved, so that
/// programs which read the destination too early are found out.
class OPENDOCA_INTERNAL SoftCopyEngine : public CopyEngine, public Pollable {
public:
    /// Whether front ends may use copy_fast(), or have to call copy() for every copy.
    enum class FastCopies : bool { enabled, disabled };

    SoftCopyEngine(const SoftDevice &device, CompletionQueue &completions,
                   FastCopies fast_copies = FastCopies::enabled);
    ~SoftCopyEngine() override;

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override;

    /// Whether copies are carried out in their submit.
    [[nodiscard]] bool copies_at_once() const noexcept { return copies_at_once_; }
    /// Fast path where copies_at_once(), for a completion queue that is not armed: it has nobody to wake up. Nothing is
    /// left to be done after the copy, and so there is no stack frame: between two buffers of this process nothing can
    /// go wrong that is not known before, and so the end can be recorded first, which only this thread could see.
    [[gnu::always_inline]] [[nodiscard]] bool admit(const CopyCheck &check, const doca_buf &dst,
                                                    const doca_buf &src) const noexcept
    {
        return check.has_cpu_fast_path(dst, src) && !completions_.is_full();
    }
    [[gnu::always_inline]] [[nodiscard]] static bool admit_with_credit(const CopyCheck &check, const doca_buf &dst,
                                                                       const doca_buf &src) noexcept
    {
        return check.has_cpu_fast_path(dst, src);
    }
    /// @p tag is a Tag, or becomes one where it is stored.
    template <typename AsTag>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t copy_fast(const AsTag &tag, doca_buf &dst,
                                                                const doca_buf &src) noexcept
    {
        const std::size_t length = src.data_len;
        const std::size_t before = extend(dst, length);
        completions_.done_unarmed(tag, *this, DOCA_SUCCESS);
        // Read again, and not kept: that takes a register, which has to be saved.
        return copy_bytes(__atomic_load_n(&dst.data, __ATOMIC_RELAXED) + before, src.data, length, length);
    }
    /// Like the above, without a completion, for a copy that was admitted with a credit.
    [[gnu::always_inline]] static void copy_at_once(doca_buf &dst, const doca_buf &src) noexcept
    {
        const std::size_t length = src.data_len;
        const std::size_t before = extend(dst, length);
        (void)copy_bytes(dst.data + before, src.data, length, length);
    }

    static constexpr HazardGuard::Side imported_src = HazardGuard::Side::src;
    static constexpr HazardGuard::Side imported_dst = HazardGuard::Side::dst;
    /// Moves the bytes of a fast-path copy with imported memory on @p side, and its key in the cache;
    /// end_imported() is to follow. False, and nothing has changed, where it is not such a copy, or where something is
    /// in the way: then it is for copy().
    template <HazardGuard::Side side>
    [[gnu::always_inline]] [[nodiscard]] bool copy_imported(const CopyCheck &check, const doca_buf &dst,
                                                            const doca_buf &src) noexcept
    {
        const doca_buf &here = side == HazardGuard::Side::src ? dst : src;
        if (!check.may_be_copied(dst, src) || (here.fast_path_uses & KeyUse::copied_here) == 0 ||
            completions_.is_full()) [[unlikely]]
            return false;
        const std::size_t tailroom = dst.tailroom();
        return src.data_len - 1 < (tailroom == 0 ? dst.data_len : tailroom) &&
               copy_by_cache<side>(dst, src, tailroom == 0 ? 0 : dst.data_len, src.data_len);
    }
    /// Finds anew what copy_imported() has known: to keep that over the copy would be more stores, which is what a
    /// short copy waits for.
    [[gnu::always_inline]] void end_imported(Tag tag, doca_buf &dst, const doca_buf &src) noexcept
    {
        dst.data_len = (dst.tailroom() == 0 ? 0 : dst.data_len) + src.data_len;
        completions_.done_unarmed(tag, *this, DOCA_SUCCESS);
    }

    /// One copy a call, so that each waits for the retrieve that gives it out.
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override { return num_deferred_ != 0; }

protected:
    /// Null for memory of this process that was not imported.
    [[nodiscard]] const RemoteMemory *memory_of(const doca_buf &buf) const noexcept;

    const SoftDevice &device_;
    CompletionQueue &completions_;

private:
    /// Of a deferred operation.
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        CopyPlan plan;
    };

    /// Makes the data of a fast-path copy's destination longer; where in it the copy begins. It appends, or else
    /// overwrites: that costs nothing, as the check has branched by the same.
    [[gnu::always_inline]] [[nodiscard]] static std::size_t extend(doca_buf &dst, std::size_t length) noexcept
    {
        const std::size_t before = length - 1 < dst.tailroom() ? dst.data_len : 0;
        dst.data_len = before + length;
        return before;
    }
    /// Of imported memory.
    [[nodiscard]] static const FirstKey &imported_key(HazardGuard::Side side, const doca_buf &dst,
                                                      const doca_buf &src) noexcept
    {
        return (side == HazardGuard::Side::src ? src : dst).mmap->first();
    }
    [[nodiscard]] CachedRemoteKey &cached(HazardGuard::Side side, std::uint64_t number) noexcept
    {
        return key_cache_[side == HazardGuard::Side::src][number % key_cache_size];
    }
    /// Between buffers of which that on @p side is imported. False when something is in the way.
    template <HazardGuard::Side side>
    [[gnu::always_inline]] [[nodiscard]] bool copy_by_cache(const doca_buf &dst, const doca_buf &src,
                                                            std::size_t before, std::size_t length) noexcept
    {
        const std::uint64_t number = imported_key(side, dst, src).number;
        const CachedRemoteKey &key = cached(side, number);
        std::byte *const to = dst.data + before;
        if (!key.is_of(number) || !key.is_short(length)) [[unlikely]]
            return false;
        return side == HazardGuard::Side::src ? key.copy<side>(src.data, to, length)
                                              : key.copy<side>(to, src.data, length);
    }
    template <HazardGuard::Side side>
    [[nodiscard]] doca_error_t copy_remote(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept;
    [[nodiscard]] doca_error_t defer(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept;
    [[nodiscard]] doca_error_t execute(doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept;
    [[nodiscard]] doca_error_t execute_list(doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept;
    [[nodiscard]] doca_error_t execute_deferred(const Copy &copy) noexcept;

    const bool is_deferring_;
    const bool copies_at_once_;
    static constexpr std::size_t key_cache_size = 8;
    Copier copier_;
    std::array<std::array<CachedRemoteKey, key_cache_size>, 2>
        key_cache_;                           ///< of each side, by the number of the memory
    std::unique_ptr<Operation *[]> deferred_; ///< a ring of the completion queue's depth
    std::uint32_t first_deferred_ = 0;
    std::uint32_t num_deferred_ = 0;
};

} // namespace opendoca::soft
