// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_bufpool.h>

#include "buf.hpp"
#include "memory_range.hpp"

namespace opendoca {

/// Equal places in a row.
struct BufPlaces {
    std::byte *first;
    std::size_t size;   ///< of one, in bytes
    std::size_t stride; ///< from one to the next, in bytes
    std::size_t count;

    /// In @p range, at multiples of @p alignment, which is a power of two. INVALID_VALUE when they do not
    /// fit.
    [[nodiscard]] static doca_error_t in(const MemoryRange &range, std::size_t count, std::size_t size,
                                         std::size_t alignment, BufPlaces &places) noexcept;
};

} // namespace opendoca

/// Hands out the buffers of one memory map that are laid out at creation. Not thread-safe.
struct doca_bufpool {
    doca_bufpool(doca_data data, const opendoca::BufPlaces &places, const doca_mmap &mmap)
        : user_data(data),
          store(places.count),
          mmap_(mmap),
          places_(places)
    {
    }

    [[nodiscard]] doca_error_t start() noexcept;
    void stop() noexcept { is_started_ = false; }
    [[nodiscard]] doca_error_t alloc(doca_buf *&buf) noexcept;

    const doca_data user_data;
    opendoca::BufStore store;

private:
    /// The range of a map never changes, but the map may have been stopped.
    [[nodiscard]] doca_error_t check_memory() const noexcept;

    const doca_mmap &mmap_;
    const opendoca::BufPlaces places_;
    bool is_started_ = false;
};
