// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "objects.hpp"
#include "process.hpp"

namespace opendoca::card {

/// Walks through a segment list from an offset on, in pieces that may span segments. Lives on the stack; refers
/// to the list, which must not change meanwhile.
class SegmentCursor {
public:
    SegmentCursor(const SegmentList &list, std::uint64_t offset)
        : next_(list.segments.data()),
          end_(next_ + list.segments.size())
    {
        while (next_ != end_ && offset >= next_->length)
            offset -= next_++->length;
        offset_ = offset;
    }

    /// Calls `transfer(segment, offset, position, bytes)` for consecutive parts, up to `max_bytes` bytes in total, and
    /// sets `taken` to their sum. Stops at the first part that fails and returns its result.
    template <typename Transfer>
    Access take(std::uint64_t max_bytes, std::uint64_t &taken, Transfer &&transfer)
    {
        taken = 0;
        while (taken < max_bytes && next_ != end_) {
            const std::uint64_t part = std::min(max_bytes - taken, next_->length - offset_);
            if (const Access access = transfer(*next_, offset_, taken, part); access != Access::done)
                return access;
            taken += part;
            offset_ += part;
            if (offset_ == next_->length) {
                ++next_;
                offset_ = 0;
            }
        }
        return Access::done;
    }

private:
    const Segment *next_, *end_;
    std::uint64_t offset_ = 0;
};

} // namespace opendoca::card
