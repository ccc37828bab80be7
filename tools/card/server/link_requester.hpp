// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "../link/link_message.hpp"
#include "../link/link_stream.hpp"
#include "objects.hpp"

namespace opendoca::card {

class OpenFile;

/// Bytes on their way from or to the other side of the card, and the requests that move them. Shared by what waits for
/// them and, weakly, by the requests: once nothing waits, replies are ignored and requests that were not sent are
/// dropped.
struct LinkOperation {
    unsigned outstanding = 0;     ///< requests without a reply
    Access result = Access::done; ///< of the first request that has failed
    std::vector<std::uint8_t> bytes;
};

/// An alias that the other side has opened. `handle` is 0 as long as it has not replied.
struct OpenedAlias {
    std::uint32_t handle = 0;
    std::uint32_t access = 0; ///< rights of the key
};

/// The requests of this side of the card to the other one. At most link_window of them are in flight; others wait in
/// their order. Owned by Link; used by the event loop's thread only.
class LinkRequester {
public:
    /// Begins with a connection, which lives until stop().
    void start(LinkStream &stream, std::uint32_t session);
    /// Fails everything that waits for a reply, and refuses everything later: the connection is about to end.
    void stop();

    /// Requests to copy `bytes` bytes between byte `at` of a segment of the other side and byte `position` of the
    /// operation.
    void transfer(LinkType type, const std::shared_ptr<LinkOperation> &operation, const Segment &segment,
                  std::uint64_t at, std::uint64_t position, std::uint64_t bytes);
    /// Requests an atomic operation, which sets the 8 bytes of the operation to the value before.
    void swap(const std::shared_ptr<LinkOperation> &operation, const Segment &segment, const LinkAtomic &atomic);
    /// Returns the alias of a key of the other side if it has replied to an earlier call, and requests it otherwise.
    /// The alias belongs to the caller then. Returns nothing if it is refused.
    std::optional<OpenedAlias> open(const OpenFile &file, const LinkOpen &wanted);
    /// Releases an alias of a session. No effect if that has ended.
    void close(std::uint32_t session, std::uint32_t handle);
    /// Drops the aliases that the file has requested and not taken yet.
    void forget(const OpenFile &file);

    /// Handles a reply. Returns false if it does not answer the oldest request: a side replies in the order of the
    /// requests.
    [[nodiscard]] bool handle(const LinkMessage &message);
    /// Returns whether an alias has been opened or refused since the last call.
    [[nodiscard]] bool take_news() { return std::exchange(has_news_, false); }
    /// Returns the time in ns since which the other side owes the next reply; 0 if it owes none.
    [[nodiscard]] std::uint64_t unanswered_since() const;
    /// Returns whether so much waits for the other side that nothing more should be requested until it has replied.
    [[nodiscard]] bool is_full() const;
    [[nodiscard]] std::uint64_t requests() const { return next_id_ - 1; }

private:
    /// A request for memory. `at` is its place in the operation's bytes.
    struct Transfer {
        LinkType type;
        std::weak_ptr<LinkOperation> operation;
        LinkRange range;
        std::uint64_t at;
        LinkAtomic atomic;
    };
    using OpenKey = std::pair<const OpenFile *, LinkOpen>;
    struct Opening {
        bool is_answered = false;
        LinkStatus status = LinkStatus::refused;
        OpenedAlias alias;
    };

    void add(Transfer transfer, LinkOperation &operation);
    /// Returns the number of a new request, and notes the time if it is the only one without a reply.
    [[nodiscard]] std::uint64_t new_request();
    /// Returns the number of the oldest request without a reply, or 0.
    [[nodiscard]] std::uint64_t oldest_request() const;
    /// Sends what the window permits.
    void pump();
    void send(const Transfer &transfer, LinkOperation &operation);
    [[nodiscard]] bool handle_data(const LinkMessage &message);
    [[nodiscard]] bool handle_opened(const LinkMessage &message);

    LinkStream *stream_ = nullptr; ///< null: not connected
    std::uint32_t session_ = 0;
    std::uint64_t next_id_ = 1;
    std::deque<Transfer> waiting_;
    std::map<std::uint64_t, Transfer> sent_;         ///< by the number of the request
    std::map<OpenKey, Opening> openings_;            ///< aliases that were requested and not taken yet
    std::map<std::uint64_t, OpenKey> open_requests_; ///< those without a reply, by the number of the request
    std::uint64_t since_ = 0; ///< time of the last reply, or of the first request since there was none to wait for
    bool has_news_ = false;
};

} // namespace opendoca::card
