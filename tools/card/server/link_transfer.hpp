// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Parts of work requests with memory at the other side of the card.
#pragma once

#include <cstdint>
#include <memory>

#include "../link/link_message.hpp"
#include "access.hpp"
#include "link_requester.hpp"

namespace opendoca::card {

/// Bytes of a request that are read from, or written to, the other side at a time. They are in the card's memory
/// meanwhile.
inline constexpr std::uint64_t max_bytes_per_transfer = 1 << 20;

/// A part of a queue pair's first request while the other side of the card has not replied: it is first read into the
/// card's memory, and then written. Owned by its QueuePair, which drops it with the request; replies that come later
/// are then ignored. The request's keys are resolved again before each call, so only what a call was given is used.
class LinkTransfer {
public:
    LinkTransfer(std::uint64_t offset, std::uint64_t bytes);

    /// Returns whether it is the part of the request that begins there.
    [[nodiscard]] bool is_for(std::uint64_t offset, std::uint64_t bytes) const;
    /// Requests the bytes of the source.
    CopyResult begin_read(LinkRequester &requester, const SegmentList &source);
    /// Requests an atomic operation, the result of which is the part's 8 bytes.
    CopyResult begin_swap(LinkRequester &requester, const SegmentList &word, const LinkAtomic &operation);
    /// Writes the bytes to the destination once they have come. Returns `pending` until all is done.
    CopyResult advance(LinkRequester &requester, const SegmentList &destination);

private:
    CopyResult begin_write(LinkRequester &requester, const SegmentList &destination);

    std::uint64_t offset_;
    bool is_writing_ = false;
    std::shared_ptr<LinkOperation> operation_;
};

/// Copies bytes [offset, offset + bytes) of a request of which one list is at the other side. Must be called again
/// while it returns `pending`. Begins nothing while too much waits for the other side, so that programs cannot fill the
/// card's memory.
CopyResult copy_by_link(QueuePair &qp, const SegmentList &source, const SegmentList &destination, std::uint64_t offset,
                        std::uint64_t bytes);
/// Carries out an atomic operation of which the word, or the place of the result, is at the other side; as
/// copy_by_link().
CopyResult swap_by_link(QueuePair &qp, const SegmentList &word, const SegmentList &result, const LinkAtomic &operation);

} // namespace opendoca::card
