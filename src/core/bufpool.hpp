// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>

#include "buf.hpp"
#include "memory_range.hpp"
#include "reason.hpp"

namespace opendoca {

/// Where the buffers of a pool lie: equal pieces of a range, one after the other.
struct BufLayout {
    std::byte *first = nullptr;
    std::size_t size = 0;   ///< of one, in bytes
    std::size_t stride = 0; ///< from one to the next, in bytes

    /// In @p range, at multiples of @p alignment, which is a power of two.
    [[nodiscard]] static Status in(const MemoryRange &range, std::size_t count, std::size_t size, std::size_t alignment,
                                   BufLayout &layout) noexcept;
};

/// Hands out the buffers of one memory map that lie one after the other. Not thread-safe. Each API generation has a
/// name of its own for it.
class BufPool {
public:
    /// Without @p layout, lay_out() is needed.
    BufPool(std::size_t num_elements, std::size_t element_size, std::shared_ptr<const doca_mmap> mmap,
            const BufLayout &layout = {})
        : mmap_(std::move(mmap)),
          element_size_(element_size),
          layout_(layout),
          store_(BufStore::create(num_elements))
    {
    }
    /// 1 to BufStore::max_num_elements buffers of at least 1 byte; else INVALID_VALUE.
    [[nodiscard]] static doca_error_t check_size(std::size_t num_elements, std::size_t element_size) noexcept;

    /// Before the first buffer is taken. The range of a map never changes.
    [[nodiscard]] Status lay_out(std::size_t alignment) noexcept;
    [[nodiscard]] doca_error_t start() noexcept;
    void stop() noexcept { is_started_ = false; }
    [[nodiscard]] bool is_started() const noexcept { return is_started_; }
    [[nodiscard]] Status take(doca_buf *&buf);
    /// IN_USE while a buffer is out.
    [[nodiscard]] doca_error_t check_unused() const noexcept;
    /// BAD_STATE when the map was stopped, or destroyed.
    [[nodiscard]] doca_error_t check_memory() const noexcept;

    [[nodiscard]] const BufStore &store() const noexcept { return *store_; }

    doca_data user_data{};

private:
    [[gnu::cold]] void explain_shortage() noexcept;

    const std::shared_ptr<const doca_mmap> mmap_;
    const std::size_t element_size_;
    BufLayout layout_;
    const BufStore::Ptr store_;
    bool is_started_ = false;
    bool was_short_ = false; ///< since the start: all buffers were out when one more was wanted
};

/// INVALID_VALUE for what is no power of two.
[[nodiscard]] doca_error_t check_alignment(std::size_t alignment) noexcept;

} // namespace opendoca
