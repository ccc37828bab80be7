// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <doca_buf.h>
#include <doca_mmap.h>

namespace opendoca {
class BufStore;
}

/// One element of a scatter/gather list: [head, head + len) of a memory map, of which [data, data + data_len)
/// holds data. The order of the first four words is relied on by programs in the wild.
struct doca_buf {
    std::byte *head;
    std::size_t len;
    std::byte *data;
    std::size_t data_len;
    const doca_mmap *mmap;
    doca_buf *next;            ///< the next element of the list, or of the store's free list
    doca_buf *last;            ///< of a list's head: the list's last element (itself when alone); else null
    opendoca::BufStore *store; ///< where the element goes home to

    [[nodiscard]] bool is_head() const noexcept { return last != nullptr; }
    /// The head of a list that has no other element.
    [[nodiscard]] bool is_alone() const noexcept { return last == this; }
    [[nodiscard]] std::size_t tailroom() const noexcept
    {
        return static_cast<std::size_t>(head + len - (data + data_len));
    }

    /// doca_buf_set_data() moves the data section wherever it is told to.
    [[nodiscard]] bool has_data_inside() const noexcept
    {
        const auto offset = static_cast<std::size_t>(data - head);
        return offset <= len && data_len <= len - offset;
    }

    /// The same, and what tailroom() is then.
    [[nodiscard]] bool has_data_inside(std::size_t &room) const noexcept
    {
        const auto offset = static_cast<std::size_t>(data - head);
        room = len - offset;
        const bool is_inside = offset <= len && data_len <= room;
        room -= data_len;
        return is_inside;
    }

    void chain(doca_buf &list) noexcept;
    [[nodiscard]] doca_error_t unchain(doca_buf &list) noexcept;
    [[nodiscard]] std::size_t num_elements() const noexcept;
    /// Gives every element of the list that starts here back to its store.
    void release() noexcept;
};

static_assert(sizeof(doca_buf) == 64, "a buffer is one cache line");
static_assert(offsetof(doca_buf, data) == 16 && offsetof(doca_buf, data_len) == 24);

namespace opendoca {

/// A fixed number of buffers that are handed out and come home. Not thread-safe, as its owners.
class BufStore {
public:
    explicit BufStore(std::size_t num_elements);
    BufStore(const BufStore &) = delete;
    BufStore &operator=(const BufStore &) = delete;

    /// A list of one element without data section in @p mmap, or null when all are out.
    [[nodiscard]] doca_buf *take(const doca_mmap &mmap, std::byte *head, std::size_t len) noexcept;
    void give_back(doca_buf &buf) noexcept;
    /// Which of the store's buffers it is, counted from 0; the same each time that it is taken.
    [[nodiscard]] std::size_t number_of(const doca_buf &buf) const noexcept
    {
        return static_cast<std::size_t>(&buf - elements_.data());
    }

    [[nodiscard]] std::uint32_t num_elements() const noexcept { return static_cast<std::uint32_t>(elements_.size()); }
    [[nodiscard]] std::uint32_t num_free() const noexcept { return num_free_; }

private:
    std::vector<doca_buf> elements_;
    doca_buf *free_ = nullptr;
    std::uint32_t num_free_ = 0;
};

} // namespace opendoca
