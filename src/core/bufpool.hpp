// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_bufpool.h>

#include "buf.hpp"

/// Hands out buffers of one size, each with its own place in a memory map's range. Not thread-safe.
struct doca_bufpool {
    /// Buffer i is at @p first + i * @p stride, inside the range of @p mmap.
    doca_bufpool(doca_data data, const doca_mmap &mmap, std::byte *first, std::size_t stride,
                 std::size_t element_size, std::size_t num_elements)
        : user_data(data),
          store(num_elements),
          mmap_(mmap),
          first_(first),
          stride_(stride),
          element_size_(element_size)
    {
    }

    [[nodiscard]] doca_error_t start() noexcept;
    void stop() noexcept { is_started_ = false; }
    [[nodiscard]] doca_error_t buf_alloc(doca_buf *&buf) noexcept;

    const doca_data user_data;
    opendoca::BufStore store;

private:
    const doca_mmap &mmap_;
    std::byte *const first_;
    const std::size_t stride_;
    const std::size_t element_size_;
    bool is_started_ = false;
};
