// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_buf_inventory.h>

#include "buf.hpp"

/// Hands out buffers of any address and length. Not thread-safe.
struct doca_buf_inventory {
    doca_buf_inventory(doca_data data, std::size_t num_elements) : user_data(data), store(num_elements) {}

    [[nodiscard]] doca_error_t buf_by_args(const doca_mmap &mmap, std::byte *addr, std::size_t len,
                                           std::byte *data, std::size_t data_len, doca_buf *&buf) noexcept;
    [[nodiscard]] doca_error_t buf_dup(const doca_buf &source, doca_buf *&copy) noexcept;

    const doca_data user_data;
    opendoca::BufStore store;
    bool is_started = false;

private:
    [[nodiscard]] doca_error_t check_usable(const doca_mmap &mmap) const noexcept;
};
