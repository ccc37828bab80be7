// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "buf.hpp"
#include "reason.hpp"

/// Hands out buffers of any address and length. Not thread-safe.
struct doca_buf_inventory {
    explicit doca_buf_inventory(std::size_t num_elements) { expand(num_elements); }

    void start() noexcept { is_started_ = true; }
    void stop() noexcept { is_started_ = false; }
    /// [addr, addr + len) of @p mmap, with the data section [data, data + data_len). Null when take() has to
    /// look closer.
    [[nodiscard]] doca_buf *try_take(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                                     std::size_t data_len) noexcept
    {
        return is_possible(mmap, addr, len, data, data_len) ? store_->try_take(mmap, addr, len, data, data_len)
                                                            : nullptr;
    }
    [[nodiscard]] opendoca::Status take(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                                        std::size_t data_len, doca_buf *&buf);
    /// Another range of its memory map, with the references that it has.
    [[nodiscard]] static opendoca::Status reuse(doca_buf &buf, std::byte *addr, std::size_t len, std::byte *data,
                                                std::size_t data_len) noexcept;
    [[nodiscard]] opendoca::Status duplicate(const doca_buf &source, doca_buf *&copy);
    /// Whether it may be destroyed: no buffer is out.
    [[nodiscard]] opendoca::Status check_unused() const noexcept;

    /// Throws std::bad_alloc.
    void expand(std::size_t num_elements);

    [[nodiscard]] bool is_started() const noexcept { return is_started_; }
    [[nodiscard]] std::uint32_t num_elements() const noexcept;
    [[nodiscard]] std::uint32_t num_free() const noexcept;

    doca_data user_data{};

private:
    [[nodiscard]] bool is_possible(const doca_mmap &mmap, std::byte *addr, std::size_t len, const std::byte *data,
                                   std::size_t data_len) const noexcept
    {
        return is_started_ && mmap.is_usable() && mmap.range().contains(addr, len) &&
               opendoca::MemoryRange{addr, len}.contains(data, data_len);
    }
    /// Why no buffer could be taken.
    [[nodiscard]] opendoca::Status explain(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                                           std::size_t data_len) const noexcept;

    opendoca::BufStore *store_;                   ///< that is taken from; another one takes its turn when it is empty
    std::vector<opendoca::BufStore::Ptr> stores_; ///< what it was created with, and each expansion
    bool is_started_ = false;
};
