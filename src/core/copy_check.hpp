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

/// What was found out about a plain copy, see CopyCheck::is_plain(). Its length is the source's data.
struct PlainCopy {
    std::size_t tailroom; ///< of the destination; where it has none, the copy overwrites
    std::uint32_t ways;   ///< FirstKey's bits for the pair

    [[nodiscard]] CopyPlan plan(const doca_buf &src) const noexcept { return {src.data_len, false, tailroom == 0}; }
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

    /// Fast path: one buffer a side, of memory that the device is the first one of, with rights, and with data
    /// for which there is room. What fails here goes to check(), which explains.
    [[gnu::always_inline]] [[nodiscard]] bool is_plain(const doca_buf &dst, const doca_buf &src,
                                                       PlainCopy &plain) const noexcept
    {
        const FirstKey &from = src.mmap->first();
        const FirstKey &to = dst.mmap->first();
        plain.ways = from.as_source & to.as_destination;
        if (!src.is_alone() || !dst.is_alone() || from.device != device_ || to.device != device_ ||
            (plain.ways & FirstKey::by_dma) == 0 || !src.has_data_inside() ||
            !dst.has_data_inside(plain.tailroom)) [[unlikely]]
            return false;
        // A length of 0 wraps around.
        return src.data_len - 1 < (plain.tailroom == 0 ? dst.data_len : plain.tailroom) &&
               src.data_len <= max_size_;
    }

    /// Any copy: makes the plan, or says in the log what is wrong. Null pointers are errors.
    [[gnu::cold]] [[nodiscard]] OPENDOCA_INTERNAL doca_error_t check(const doca_buf *dst, const doca_buf *src,
                                                                    CopyPlan &plan) const noexcept;

private:
    [[nodiscard]] doca_error_t check_list(const doca_buf &head, std::uint32_t wanted) const noexcept;

    const Device *device_;
    std::uint64_t max_size_;
    std::uint32_t max_list_elements_;
};

} // namespace opendoca
