// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <cstddef>

#include "../objects/buf.hpp"

namespace opendoca {

/// Walks a list of buffers and yields contiguous pieces: the data sections of a source list, or the free space of a
/// destination list that an operation writes to (its data sections if the operation overwrites). Refers to the list,
/// which must not change while the cursor is used. A cursor is a value of one thread.
class Cursor {
public:
    static Cursor over_data(const doca_buf &list) noexcept { return Cursor(&list, false, false); }
    static Cursor over_destination(const doca_buf &list, bool overwrites) noexcept
    {
        return Cursor(&list, true, overwrites);
    }
    /// Walks the @p len bytes of one buffer that begin at @p addr.
    static Cursor over_range(const doca_buf &buf, std::byte *addr, std::size_t len) noexcept
    {
        return Cursor(&buf, addr, len);
    }
    /// Creates a cursor without a list, which must be assigned to before use.
    Cursor() noexcept = default;

    [[nodiscard]] const doca_buf &buf() const noexcept { return *buf_; }
    /// Returns the address of the next byte of the current buffer.
    [[nodiscard]] std::byte *addr() const noexcept { return addr_; }
    /// Returns the bytes that are left in the current buffer, not in the list.
    [[nodiscard]] std::size_t left() const noexcept { return left_; }

    /// Moves to the next buffer with bytes left. There must be one.
    void skip_empty() noexcept
    {
        while (left_ == 0)
            enter(buf_->next);
    }
    /// Moves past @p length bytes, at most left().
    void advance(std::size_t length) noexcept
    {
        addr_ += length;
        left_ -= length;
    }

private:
    Cursor(const doca_buf *list, bool in_room, bool overwrites) noexcept : in_room_(in_room), overwrites_(overwrites)
    {
        enter(list);
    }

    Cursor(const doca_buf *buf, std::byte *addr, std::size_t len) noexcept : buf_(buf), addr_(addr), left_(len) {}

    /// Begins the section of @p buf that the cursor walks. It may be empty.
    void enter(const doca_buf *buf) noexcept
    {
        buf_ = buf;
        addr_ = buf->data + (in_room_ && !overwrites_ ? buf->data_len : 0);
        left_ = in_room_ && !overwrites_ ? buf->tailroom() : buf->data_len;
    }

    const doca_buf *buf_ = nullptr; ///< the current buffer
    std::byte *addr_ = nullptr;     ///< the next byte
    std::size_t left_ = 0;          ///< bytes from addr_ to the end of the buffer's section
    bool in_room_ = false;          ///< walks a destination
    bool overwrites_ = false;       ///< of a destination: walks data sections in place of free space
};

/// Returns the bytes of data in @p list.
[[nodiscard]] inline std::size_t data_of(const doca_buf &list) noexcept
{
    std::size_t length = 0;
    for (const doca_buf *buf = &list; buf != nullptr; buf = buf->next)
        length += buf->data_len;
    return length;
}

/// Returns how many bytes an operation can write to @p list: into its data sections if it @p overwrites, otherwise
/// behind them.
[[nodiscard]] inline std::size_t room_of(const doca_buf &list, bool overwrites) noexcept
{
    std::size_t room = 0;
    for (const doca_buf *buf = &list; buf != nullptr; buf = buf->next)
        room += overwrites ? buf->data_len : buf->tailroom();
    return room;
}

/// Records that an operation has written @p length bytes to @p list: the data sections grow by @p length, or hold
/// exactly @p length bytes if the operation @p overwrites.
inline void extend_data(doca_buf &list, std::size_t length, bool overwrites) noexcept
{
    for (doca_buf *buf = &list; buf != nullptr; buf = buf->next) {
        const std::size_t part = std::min(length, overwrites ? buf->data_len : buf->tailroom());
        buf->data_len = overwrites ? part : buf->data_len + part;
        length -= part;
    }
}

} // namespace opendoca
