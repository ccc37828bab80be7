// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "../device/cursor.hpp"
#include "../objects/buf.hpp"
#include "../objects/mmap.hpp"

namespace opendoca {

/// A byte of a source that a result is written over, the first one of a contiguous piece.
struct SharedByte {
    const doca_buf &from; ///< of the source
    const doca_buf &to;   ///< of the destination
    const std::byte *address;
    std::size_t in_source; ///< bytes of the source before it
    std::size_t in_result; ///< bytes of the result before it

    /// Returns whether the addresses may be those of two processes, and the byte so not shared.
    [[nodiscard]] bool may_be_two() const noexcept
    {
        return from.mmap != to.mmap && (from.mmap->is_imported() || to.mmap->is_imported());
    }
};

/// Calls @p is_fine with each contiguous piece that data of @p source and the first @p length bytes of room in
/// @p destination share, until it returns false. There is that much room. Returns false if it has returned false.
template <typename IsFine>
[[nodiscard]] bool each_shared_piece(const doca_buf &source, const doca_buf &destination, std::size_t length,
                                     IsFine is_fine) noexcept
{
    // Compared as numbers: pointers into different objects have no order.
    std::uintptr_t first = UINTPTR_MAX, last = 0; // the range in which all of the source is
    for (const doca_buf *buf = &source; buf != nullptr; buf = buf->next) {
        const auto read = reinterpret_cast<std::uintptr_t>(buf->data);
        first = std::min(first, read);
        last = std::max(last, read + buf->data_len);
    }
    Cursor room = Cursor::over_destination(destination, false);
    for (std::size_t done = 0; done != length;) {
        room.skip_empty();
        const std::byte *const written = room.addr();
        const std::size_t size = std::min(length - done, room.left());
        const std::size_t written_before = std::exchange(done, done + size);
        const auto begin = reinterpret_cast<std::uintptr_t>(written);
        room.advance(size);
        if (begin >= last || begin + size <= first)
            continue;
        std::size_t num_read = 0;
        for (const doca_buf *buf = &source; buf != nullptr; buf = buf->next) {
            const auto read = reinterpret_cast<std::uintptr_t>(buf->data);
            const std::size_t read_before = std::exchange(num_read, num_read + buf->data_len);
            const std::uintptr_t shared = std::max(begin, read);
            if (shared < std::min(begin + size, read + buf->data_len) &&
                !is_fine(SharedByte{*buf, room.buf(), written + (shared - begin), read_before + (shared - read),
                                    written_before + (shared - begin)}))
                return false;
        }
    }
    return true;
}

} // namespace opendoca
