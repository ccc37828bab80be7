// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The checks of a DMA copy before its submission: in one place, above the providers, so that all devices have the same
// rules.
#pragma once

#include <cstddef>
#include <cstdint>

#include "../objects/buf.hpp"
#include "../objects/mmap.hpp"

namespace opendoca {

/// The result of the check of a copy, which the provider need not compute again. Small enough for registers.
struct CopyPlan {
    std::size_t length; ///< bytes
    bool is_list;       ///< more than one buffer on a side
    bool overwrites;    ///< the destination has no tailroom at all and counts as empty
};

/// The rules for copies by one device. A value that front ends store; constant and therefore thread-safe. The checked
/// buffers belong to the calling thread.
class CopyCheck {
public:
    CopyCheck(const Device &device, std::uint32_t max_list_elements, std::uint64_t max_size) noexcept
        : device_(&device),
          max_size_(max_size),
          max_list_elements_(max_list_elements)
    {
    }

    // Fast paths: one buffer on each side, of memory maps with this device as the first one, and data that is appended.
    // They log nothing: if one returns false, check() decides and logs the reason.

    /// Returns whether this is a valid copy for the CPU, which overwrites the destination if it has no tailroom.
    [[gnu::always_inline]] [[nodiscard]] bool has_cpu_fast_path(const doca_buf &dst, const doca_buf &src) const noexcept
    {
        if (!have_fast_path(dst, src) || src.mmap->first().copied_from != device_ ||
            dst.mmap->first().copied_to != device_) [[unlikely]]
            return false;
        if (fits(dst, src)) [[likely]]
            return true;
        return dst.tailroom() == 0 && src.data_len - 1 < dst.data_len; // overwrites
    }
    /// Returns whether this is a valid copy of at most @p longest bytes, which must not exceed the device's limit.
    [[gnu::always_inline]] [[nodiscard]] bool has_fast_path(const doca_buf &dst, const doca_buf &src,
                                                            std::size_t longest) const noexcept
    {
        return may_be_copied(dst, src) && src.data_len <= longest && fits(dst, src);
    }
    /// Does the same for a copy that may also overwrite, and sets @p plan. Programs that never reset their destination
    /// overwrite with each copy. @p plan is undefined if this returns false.
    [[gnu::always_inline]] [[nodiscard]] bool has_fast_path(const doca_buf &dst, const doca_buf &src,
                                                            CopyPlan &plan) const noexcept
    {
        if (!may_be_copied(dst, src) || src.data_len > max_size_)
            return false;
        const std::size_t tailroom = dst.tailroom();
        const bool overwrites = tailroom == 0;
        plan = {src.data_len, false, overwrites};
        return src.data_len - 1 < (overwrites ? dst.data_len : tailroom);
    }

    /// Checks any copy, and sets @p plan. Otherwise logs the reason. Null pointers are errors. INVALID_VALUE;
    /// NOT_PERMITTED if a memory map lacks a right.
    [[gnu::cold]] [[nodiscard]] OPENDOCA_INTERNAL doca_error_t check(const doca_buf *dst, const doca_buf *src,
                                                                     CopyPlan &plan) const noexcept;

    /// Returns whether the copy is valid apart from the lengths.
    [[gnu::always_inline]] [[nodiscard]] bool may_be_copied(const doca_buf &dst, const doca_buf &src) const noexcept
    {
        if ((src.fast_path_uses & KeyUse::dma_source) == 0 || (dst.fast_path_uses & KeyUse::dma_destination) == 0)
            return false;
        const FirstKey &from = src.mmap->first();
        const FirstKey &to = dst.mmap->first();
        return from.device == device_ && to.device == device_;
    }

private:
    /// Returns whether both buffers are on the fast path, with a single branch.
    [[gnu::always_inline]] [[nodiscard]] static bool have_fast_path(const doca_buf &dst, const doca_buf &src) noexcept
    {
        return (dst.fast_path_uses & src.fast_path_uses & KeyUse::by_fast_path) != 0;
    }
    /// Returns whether there is data and room for it behind the destination's data. One comparison, as the length of an
    /// empty source wraps around.
    [[gnu::always_inline]] [[nodiscard]] static bool fits(const doca_buf &dst, const doca_buf &src) noexcept
    {
        return src.data_len - 1 < dst.tailroom();
    }

    [[nodiscard]] doca_error_t check_list(const doca_buf &head, std::uint32_t wanted) const noexcept;

    const Device *device_;
    std::uint64_t max_size_;          ///< bytes of one copy
    std::uint32_t max_list_elements_; ///< buffers on a side
};

} // namespace opendoca
