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

    /// One that is a copy by the CPU.
    [[gnu::always_inline]] [[nodiscard]] bool is_plain_here(const doca_buf &dst, const doca_buf &src) const noexcept
    {
        return src.is_alone() && dst.is_alone() && src.mmap->first().copied_from == device_ &&
               dst.mmap->first().copied_to == device_ && fits(dst, src);
    }
    [[gnu::always_inline]] [[nodiscard]] bool is_plain(const doca_buf &dst, const doca_buf &src) const noexcept
    {
        const FirstKey &from = src.mmap->first();
        const FirstKey &to = dst.mmap->first();
        return src.is_alone() && dst.is_alone() && from.device == device_ && to.device == device_ &&
               (from.uses & KeyUse::dma_source) != 0 && (to.uses & KeyUse::dma_destination) != 0 &&
               src.data_len <= max_size_ && fits(dst, src);
    }

    /// Any copy: makes the plan, or says in the log what is wrong. Null pointers are errors.
    [[gnu::cold]] [[nodiscard]] OPENDOCA_INTERNAL doca_error_t check(const doca_buf *dst, const doca_buf *src,
                                                                    CopyPlan &plan) const noexcept;

private:
    /// Whether the data of both is inside of their memory, and there is some that fits behind the destination's. By
    /// one branch for all that is negative: where data is in front of its buffer, or goes beyond it.
    [[gnu::always_inline]] [[nodiscard]] static bool fits(const doca_buf &dst, const doca_buf &src) noexcept
    {
        std::ptrdiff_t offset = src.data - src.head;
        std::ptrdiff_t all = offset | (static_cast<std::ptrdiff_t>(src.len - src.data_len) - offset);
        offset = dst.data - dst.head;
        const std::ptrdiff_t tailroom = static_cast<std::ptrdiff_t>(dst.len - dst.data_len) - offset;
        all |= offset | static_cast<std::ptrdiff_t>(dst.data_len) | tailroom;
        // A length of 0 wraps around. One that is too large for its buffer's length to be subtracted is also too
        // large for the tailroom.
        return all >= 0 && src.data_len - 1 < static_cast<std::size_t>(tailroom);
    }

    [[nodiscard]] doca_error_t check_list(const doca_buf &head, std::uint32_t wanted) const noexcept;

    const Device *device_;
    std::uint64_t max_size_;
    std::uint32_t max_list_elements_;
};

} // namespace opendoca
