// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "../base/reason.hpp"
#include "buf.hpp"

/// Creates buffers of any address and length in any memory map. Owned by the program, and used by one thread at a time.
/// Buffers are allocated in advance: at creation and by expand(). Must not be destroyed while buffers are in use.
struct doca_buf_inventory {
    explicit doca_buf_inventory(std::size_t num_elements) { expand(num_elements); }

    void start() noexcept { is_started_ = true; }
    void stop() noexcept { is_started_ = false; }
    /// Takes a buffer for [addr, addr + len) of @p mmap, with the data section [data, data + data_len). Returns null
    /// for whatever is not the common case: the caller then calls take().
    [[nodiscard]] doca_buf *try_take(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                                     std::size_t data_len) noexcept
    {
        return is_possible(mmap, addr, len, data, data_len) ? store_->try_take(mmap, addr, len, data, data_len)
                                                            : nullptr;
    }
    /// Does the same in all cases, with a message on failure.
    [[nodiscard]] opendoca::Status take(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                                        std::size_t data_len, doca_buf *&buf);
    /// Moves @p buf to another range of its memory map. Its references stay.
    [[nodiscard]] static opendoca::Status reuse(doca_buf &buf, std::byte *addr, std::size_t len, std::byte *data,
                                                std::size_t data_len) noexcept;
    /// Takes another buffer for the same range and data section as @p source. Does not copy data.
    [[nodiscard]] opendoca::Status duplicate(const doca_buf &source, doca_buf *&copy);
    /// Checks whether the inventory may be destroyed: no buffer is in use.
    [[nodiscard]] opendoca::Status check_unused() const noexcept;

    /// Adds @p num_elements buffers. Throws std::bad_alloc.
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
    /// Logs why no buffer could be taken, and returns the error.
    [[nodiscard]] opendoca::Status explain(const doca_mmap &mmap, std::byte *addr, std::size_t len, std::byte *data,
                                           std::size_t data_len) const noexcept;

    opendoca::BufStore *store_;                   ///< the store in use; replaced by another one once it is empty
    std::vector<opendoca::BufStore::Ptr> stores_; ///< the first one, and one for each expansion
    bool is_started_ = false;
};
