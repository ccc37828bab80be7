// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Whether a copy is possible, decided in one place, above the providers.
#pragma once

#include <cstddef>
#include <cstdint>

#include "buf.hpp"
#include "mmap.hpp"

namespace opendoca {

/// What was found out about a copy when it was checked. Passed in registers.
struct CopyPlan {
    std::size_t length;
    bool is_list;    ///< more than one buffer on a side
    bool overwrites; ///< the destination has no tailroom at all and counts as empty
};

/// The rules of one device.
class CopyCheck {
public:
    CopyCheck(const Device &device, std::uint32_t max_list_elements, std::uint64_t max_size) noexcept
        : device_(&device),
          max_size_(max_size),
          max_list_elements_(max_list_elements)
    {
    }

    // Fast paths: one buffer a side, of memory that the device is the first one of, and whose data is appended. What
    // fails here goes to check(), which explains.

    /// One that is a copy by the CPU. It overwrites where there is no tailroom.
    [[gnu::always_inline]] [[nodiscard]] bool has_cpu_fast_path(const doca_buf &dst, const doca_buf &src) const noexcept
    {
        if (!have_fast_path(dst, src) || src.mmap->first().copied_from != device_ ||
            dst.mmap->first().copied_to != device_) [[unlikely]]
            return false;
        if (fits(dst, src)) [[likely]]
            return true;
        return dst.tailroom() == 0 && src.data_len - 1 < dst.data_len; // overwrites
    }
    /// One of up to @p longest bytes, which are no more than the device copies at once.
    [[gnu::always_inline]] [[nodiscard]] bool has_fast_path(const doca_buf &dst, const doca_buf &src,
                                                            std::size_t longest) const noexcept
    {
        return may_be_copied(dst, src) && src.data_len <= longest && fits(dst, src);
    }
    /// The same for one that may also overwrite: of programs that never reset their destination, each copy does.
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

    /// Makes the plan of any copy, or logs the reason why it is impossible. Null pointers are errors.
    [[gnu::cold]] [[nodiscard]] OPENDOCA_INTERNAL doca_error_t check(const doca_buf *dst, const doca_buf *src,
                                                                     CopyPlan &plan) const noexcept;

    /// What is left to be compared are lengths.
    [[gnu::always_inline]] [[nodiscard]] bool may_be_copied(const doca_buf &dst, const doca_buf &src) const noexcept
    {
        if ((src.fast_path_uses & KeyUse::dma_source) == 0 || (dst.fast_path_uses & KeyUse::dma_destination) == 0)
            return false;
        const FirstKey &from = src.mmap->first();
        const FirstKey &to = dst.mmap->first();
        return from.device == device_ && to.device == device_;
    }

private:
    /// By one branch for both.
    [[gnu::always_inline]] [[nodiscard]] static bool have_fast_path(const doca_buf &dst, const doca_buf &src) noexcept
    {
        return (dst.fast_path_uses & src.fast_path_uses & KeyUse::by_fast_path) != 0;
    }
    /// Whether there is data, and room behind the destination's: one comparison: a length of 0 wraps around.
    [[gnu::always_inline]] [[nodiscard]] static bool fits(const doca_buf &dst, const doca_buf &src) noexcept
    {
        return src.data_len - 1 < dst.tailroom();
    }

    [[nodiscard]] doca_error_t check_list(const doca_buf &head, std::uint32_t wanted) const noexcept;

    const Device *device_;
    std::uint64_t max_size_;
    std::uint32_t max_list_elements_;
};

} // namespace opendoca
