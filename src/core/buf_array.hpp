// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

#include <doca_buf_array.h>

/// A description of buffers. It is never started, as there is no target that could be set: a provider with a
/// GPU brings the states beyond, and what they need of the description.
struct doca_buf_arr {
    explicit doca_buf_arr(const doca_mmap &map) noexcept : mmap(map) {}

    [[nodiscard]] doca_error_t set_params(std::size_t size, std::uint32_t num_elem,
                                          std::uint32_t start_offset) noexcept;

    const doca_mmap &mmap;
    std::size_t element_size = 0; ///< bytes
    std::uint32_t num_elements = 0;
    std::uint32_t offset = 0; ///< of the first, in bytes
};
