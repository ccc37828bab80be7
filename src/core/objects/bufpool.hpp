// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <memory>

#include "../base/memory_range.hpp"
#include "../base/reason.hpp"
#include "buf.hpp"

namespace opendoca {

/// The positions of a pool's buffers: pieces of a range, of equal size and distance.
struct BufLayout {
    std::byte *first = nullptr;
    std::size_t size = 0;   ///< bytes of one buffer
    std::size_t stride = 0; ///< bytes from the start of one buffer to that of the next

    /// Computes the layout of @p count buffers in @p range, at multiples of @p alignment, which is a power of two.
    /// Reason::range_too_small, with a message, if they do not fit.
    [[nodiscard]] static Status in(const MemoryRange &range, std::size_t count, std::size_t size, std::size_t alignment,
                                   BufLayout &layout) noexcept;
};

/// A pool of buffers of equal size at fixed places in one memory map. Owned by the program, and used by one thread at a
/// time. Each API generation derives its own type from it. Shares the map's object, which the program may destroy
/// first: the pool is then unusable, but can be destroyed.
class BufPool {
public:
    /// Without @p layout, lay_out() must follow. Throws std::bad_alloc.
    BufPool(std::size_t num_elements, std::size_t element_size, std::shared_ptr<const doca_mmap> mmap,
            const BufLayout &layout = {})
        : mmap_(std::move(mmap)),
          element_size_(element_size),
          layout_(layout),
          store_(BufStore::create(num_elements))
    {
    }
    /// Returns INVALID_VALUE, with a message, unless there are 1 to BufStore::max_num_elements buffers of at least 1
    /// byte.
    [[nodiscard]] static doca_error_t check_size(std::size_t num_elements, std::size_t element_size) noexcept;

    /// Computes the layout in the map's range, which never changes. Called before the first buffer is taken.
    [[nodiscard]] Status lay_out(std::size_t alignment) noexcept;
    [[nodiscard]] doca_error_t start() noexcept;
    void stop() noexcept { is_started_ = false; }
    [[nodiscard]] bool is_started() const noexcept { return is_started_; }
    [[nodiscard]] Status take(doca_buf *&buf);
    /// Returns IN_USE, with a message, while a buffer is in use.
    [[nodiscard]] doca_error_t check_unused() const noexcept;
    /// Returns BAD_STATE, with a message, if the map was stopped or destroyed.
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
    bool was_short_ = false; ///< true once a take() since the start has failed, for lack of a free buffer
};

/// Returns INVALID_VALUE, with a message, unless @p alignment is a power of two.
[[nodiscard]] doca_error_t check_alignment(std::size_t alignment) noexcept;

} // namespace opendoca
