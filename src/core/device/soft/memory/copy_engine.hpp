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
#include "../strict/strict_random.hpp"
#include "copier.hpp"
#include "copy.hpp"
#include "remote_key_cache.hpp"

namespace opendoca::soft {

/// Copies by the CPU. A copy is carried out in its submit, or with DOCA_SOFT_DEFER=1 and in strict mode when it is
/// retrieved, so that programs which read the destination too early are found out.
class OPENDOCA_INTERNAL SoftCopyEngine : public CopyEngine, public Pollable {
public:
    /// Whether front ends may use copy_fast(). Otherwise they must call copy() for every copy.
    enum class FastCopies : bool { enabled, disabled };

    SoftCopyEngine(const SoftDevice &device, CompletionQueue &completions,
                   FastCopies fast_copies = FastCopies::enabled);
    ~SoftCopyEngine() override;

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override;

    /// Returns whether copies are carried out in their submit.
    [[nodiscard]] bool copies_at_once() const noexcept { return copies_at_once_; }
    /// Fast path if copies_at_once(), for a queue that is neither armed nor parked, so that nothing must be woken. A
    /// copy between two buffers of this process cannot fail after the check, so its completion is recorded before the
    /// bytes are copied; only this thread can see it. The copy is then the last step, which needs no stack frame.
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
    /// @p tag is a Tag, or a type that is stored as one.
    template <typename AsTag>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t copy_fast(const AsTag &tag, doca_buf &dst,
                                                                const doca_buf &src) noexcept
    {
        const std::size_t length = src.data_len;
        const std::size_t before = extend(dst, length);
        completions_.done_unarmed(tag, *this, DOCA_SUCCESS);
        // Loaded again: keeping the value would take a register, which must be saved.
        return copy_bytes(__atomic_load_n(&dst.data, __ATOMIC_RELAXED) + before, src.data, length, length);
    }
    /// Does the same without a completion, for a copy that was admitted with a credit.
    [[gnu::always_inline]] static void copy_at_once(doca_buf &dst, const doca_buf &src) noexcept
    {
        const std::size_t length = src.data_len;
        const std::size_t before = extend(dst, length);
        (void)copy_bytes(dst.data + before, src.data, length, length);
    }

    static constexpr HazardGuard::Side imported_src = HazardGuard::Side::src;
    static constexpr HazardGuard::Side imported_dst = HazardGuard::Side::dst;
    /// Copies the bytes of a fast-path copy with imported memory on @p side, whose key is in the cache; end_imported()
    /// must follow. Returns false, without any change, if it is not such a copy or cannot be carried out now: copy()
    /// must then be called.
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
    /// Computes again what copy_imported() has computed: keeping it during the copy would take more stores, for which a
    /// short copy has to wait.
    [[gnu::always_inline]] void end_imported(Tag tag, doca_buf &dst, const doca_buf &src) noexcept
    {
        dst.data_len = (dst.tailroom() == 0 ? 0 : dst.data_len) + src.data_len;
        completions_.done_unarmed(tag, *this, DOCA_SUCCESS);
    }

    /// Has an effect in strict mode only, where copies complete in a random order by default.
    void set_ordered(bool is_ordered) noexcept override { is_shuffling_ = device_.is_strict() && !is_ordered; }

    /// Carries out one copy in each call, so that a copy is not done before the retrieval that returns it.
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override { return num_deferred_ != 0; }
    [[nodiscard]] bool park() noexcept override { return num_deferred_ == 0; } // defer() wakes the queue

protected:
    /// Returns null for memory of this process that was not imported.
    [[nodiscard]] const RemoteMemory *memory_of(const doca_buf &buf) const noexcept;

    /// Completes all deferred copies with @p status, without carrying them out.
    void end_deferred(doca_error_t status) noexcept;

    const SoftDevice &device_;
    CompletionQueue &completions_;

private:
    /// Of a deferred operation.
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        CopyPlan plan;
    };

    /// Extends the data of the destination of a fast-path copy. Returns the offset at which the copy begins. The copy
    /// appends, or else overwrites; the distinction costs nothing, since the check has branched on the same condition.
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
    /// Copies between buffers of which the one on @p side is imported. Returns false if the fast path cannot be used.
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
    // In strict mode.
    bool is_shuffling_ = false; ///< the next deferred copy is any of them, and not the oldest
    StrictRandom random_;
};

} // namespace opendoca::soft
