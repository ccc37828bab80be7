// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <map>

#include "../link/link_message.hpp"
#include "../link/link_stream.hpp"
#include "access.hpp"

namespace opendoca::card {

/// Carries out the requests of the other side of the card on the memory of this side's programs. The key of each access
/// is looked up again, so that a key that was destroyed, or the death of its program, counts at once. What the other
/// side sends is attacker input: it reaches only memory of which it has shown the access key. Owned by Link; used by
/// the event loop's thread only.
class LinkResponder {
public:
    explicit LinkResponder(Card &card) : card_(card) {}

    /// Handles a request, and appends its reply to the stream. Returns false if it is malformed.
    [[nodiscard]] bool handle(LinkStream &stream, const LinkMessage &message);
    /// Drops all aliases, when the connection has ended.
    void clear()
    {
        aliases_.clear();
        last_handle_ = 0;
    }
    [[nodiscard]] std::uint64_t requests() const { return requests_; }

private:
    [[nodiscard]] bool open(LinkStream &stream, const LinkMessage &message);
    [[nodiscard]] bool read(LinkStream &stream, const LinkMessage &message);
    [[nodiscard]] bool write(LinkStream &stream, const LinkMessage &message);
    [[nodiscard]] bool swap(LinkStream &stream, const LinkMessage &message);
    [[nodiscard]] bool resolve(const LinkRange &range, SegmentList &list);

    Card &card_;
    std::map<std::uint32_t, SharedKey> aliases_; ///< by handle
    std::uint32_t last_handle_ = 0;
    std::uint64_t requests_ = 0; ///< reads, writes and atomics
};

} // namespace opendoca::card
