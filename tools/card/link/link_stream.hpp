// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "../../../src/core/base/unique_fd.hpp"
#include "link_message.hpp"
#include "link_tls.hpp"

namespace opendoca::card {

/// A connection with the other side of the card, as a sequence of messages. Never blocks: what the socket does not take
/// is kept, up to a limit. Used by the event loop's thread only. What arrives is attacker input; after the first error
/// the connection is of no use.
class LinkStream {
public:
    /// With @p tls above the socket, if it is not null.
    explicit LinkStream(UniqueFd socket, std::unique_ptr<LinkTls> tls = nullptr)
        : socket_(std::move(socket)),
          tls_(std::move(tls))
    {
    }

    /// Reads a limited amount of what has arrived. Returns false, with the reason in error(), if the connection has
    /// ended; messages that arrived before can still be taken.
    [[nodiscard]] bool receive();
    /// Takes the next complete message, which is valid until the next call of receive(). Returns nothing if there is
    /// none, or if it is malformed, which error() shows.
    std::optional<LinkMessage> next();

    /// Appends a message. The body's bytes are returned, for the caller to fill in before the next call of any
    /// function.
    std::span<std::uint8_t> append(LinkType type, std::uint64_t id, std::size_t body_bytes);
    void append(LinkType type, std::uint64_t id, std::span<const std::uint8_t> body);
    /// Shortens the body of the message that was appended last.
    void shorten_last(std::size_t body_bytes);
    /// Sends what the socket takes. Returns false, with the reason in error(), if the connection has ended or the other
    /// side does not read what it has asked for.
    [[nodiscard]] bool flush();

    /// Returns whether there is something to send once the socket takes more.
    [[nodiscard]] bool has_unsent() const
    {
        return sent_ != out_.size() && (tls_ == nullptr || !tls_->is_send_waiting_for_input());
    }
    /// Returns the number of bytes that were appended to the connection, and of these the number that its socket has
    /// taken.
    [[nodiscard]] std::uint64_t appended() const { return erased_ + out_.size(); }
    [[nodiscard]] std::uint64_t sent() const { return erased_ + sent_; }
    /// Returns whether there is more to send than a side can be owed that keeps to the window: flush() must be called.
    [[nodiscard]] bool is_overfull() const;
    [[nodiscard]] int descriptor() const { return socket_.get(); }
    /// Returns why the connection has ended, or "".
    [[nodiscard]] const std::string &error() const { return error_; }

private:
    ssize_t read_some(std::span<std::uint8_t> to);
    ssize_t write_some(std::span<const std::uint8_t> from);
    void set_error(bool is_closed);

    UniqueFd socket_;
    std::unique_ptr<LinkTls> tls_; ///< null: what is sent is not encrypted
    std::vector<std::uint8_t> in_, out_;
    std::size_t filled_ = 0;   ///< bytes of `in_` that have arrived
    std::size_t taken_ = 0;    ///< of these, bytes that next() has returned
    std::size_t sent_ = 0;     ///< bytes of `out_` that the socket has taken
    std::size_t last_ = 0;     ///< offset of the last message in `out_`
    std::uint64_t erased_ = 0; ///< bytes that were removed from the front of `out_`
    std::string error_;
};

} // namespace opendoca::card
