// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <infiniband/verbs.h>

#include "../cursor.hpp"

namespace opendoca::verbs {

/// The scatter/gather list of one side of a work request.
struct SegmentList {
    static constexpr std::uint32_t capacity = 8; ///< a larger one would enlarge every entry of a queue

    std::array<ibv_sge, capacity> segments;
    std::uint32_t count = 0;
    const doca_buf *last = nullptr; ///< the buffer of the last segment

    /// Returns whether the current piece of @p cursor fits: it extends the last segment, or a further segment is free.
    [[nodiscard]] bool has_room(const Cursor &cursor, std::uint32_t limit) const noexcept
    {
        return last == &cursor.buf() || count != limit;
    }
    /// Adds @p length bytes at the cursor. Bytes of the same buffer are contiguous, so they extend its segment.
    template <typename KeyOf>
    void append(const Cursor &cursor, std::uint32_t length, const KeyOf &key_of) noexcept
    {
        if (last == &cursor.buf()) {
            segments[count - 1].length += length;
            return;
        }
        last = &cursor.buf();
        segments[count++] = {reinterpret_cast<std::uintptr_t>(cursor.addr()), length, key_of(*last)};
    }
};

/// The part of a copy that one work request carries: equally many bytes on both sides, which may be split into
/// different segments.
struct CopyPart {
    SegmentList src;
    SegmentList dst;
    std::uint32_t length = 0;
};

struct CopyPartLimits {
    std::uint32_t length;   ///< bytes
    std::uint32_t segments; ///< per side; at most SegmentList::capacity
};

/// Takes the next part off a copy of which @p left bytes remain, and advances both cursors past it. @p key_of returns
/// the local key of a buffer's memory. The part is not empty unless @p left is 0.
template <typename KeyOf>
[[nodiscard]] CopyPart take_part(Cursor &src, Cursor &dst, std::size_t left, const CopyPartLimits &limits,
                                 const KeyOf &key_of) noexcept
{
    CopyPart part;
    const auto length = static_cast<std::uint32_t>(std::min<std::size_t>(left, limits.length));
    while (part.length != length) {
        src.skip_empty();
        dst.skip_empty();
        // A list is full: further parts carry the rest of the copy.
        if (!part.src.has_room(src, limits.segments) || !part.dst.has_room(dst, limits.segments))
            break;
        // The longest piece that is contiguous on both sides.
        const std::size_t piece = std::min({std::size_t{length - part.length}, src.left(), dst.left()});
        const auto bytes = static_cast<std::uint32_t>(piece);
        part.src.append(src, bytes, key_of);
        part.dst.append(dst, bytes, key_of);
        src.advance(piece);
        dst.advance(piece);
        part.length += bytes;
    }
    return part;
}

} // namespace opendoca::verbs
