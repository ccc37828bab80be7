// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "buf.hpp"
#include "memory_range.hpp"
#include "reason.hpp"

namespace opendoca {

/// Where the buffers of a pool lie: equal pieces of a range, one after the other.
struct BufLayout {
    std::byte *first;
    std::size_t size;   ///< of one, in bytes
    std::size_t stride; ///< from one to the next, in bytes

    /// In @p range, at multiples of @p alignment, which is a power of two.
    [[nodiscard]] static Status in(const MemoryRange &range, std::size_t count, std::size_t size,
                                   std::size_t alignment, BufLayout &layout) noexcept;
};

} // namespace opendoca

/// Hands out the buffers of one memory map that are laid out at creation. Not thread-safe.
struct doca_bufpool {
    doca_bufpool(std::size_t num_elements, const opendoca::BufLayout &layout,
                 std::shared_ptr<const doca_mmap> mmap)
        : mmap_(std::move(mmap)),
          layout_(layout),
          store_(opendoca::BufStore::create(num_elements))
    {
    }

    [[nodiscard]] doca_error_t start() noexcept;
    void stop() noexcept { is_started_ = false; }
    [[nodiscard]] opendoca::Status take(doca_buf *&buf);
    /// Whether it may be destroyed: no buffer is out.
    [[nodiscard]] doca_error_t check_unused() const noexcept;

    [[nodiscard]] const opendoca::BufStore &store() const noexcept { return *store_; }

    doca_data user_data{};

private:
    /// The range of a map never changes, but the map may have been stopped, or destroyed.
    [[nodiscard]] doca_error_t check_memory() const noexcept;

    const std::shared_ptr<const doca_mmap> mmap_;
    const opendoca::BufLayout layout_;
    const opendoca::BufStore::Ptr store_;
    bool is_started_ = false;
};
