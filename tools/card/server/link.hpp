// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include <sys/types.h>

#include "../link/link_address.hpp"
#include "../link/link_stream.hpp"
#include "card.hpp"
#include "link_relay.hpp"
#include "link_requester.hpp"
#include "link_responder.hpp"

namespace opendoca::card {

/// How the two sides of one card reach each other.
struct LinkSettings {
    LinkAddress address;
    std::optional<uid_t> user;  ///< of the other side's card, if it is another one than that of this card
    std::optional<LinkKey> key; ///< for TLS
    std::string services{};     ///< directory for the connections of programs; "": there are none

    /// Returns which peer is accepted, without blanks: its user, or the name of the key; "-" by default.
    [[nodiscard]] std::string peer_text() const;
    /// Returns what both sides have in common, and other cards have not.
    [[nodiscard]] std::string common_name() const
    {
        return key ? std::string(key->name.begin(), key->name.end()) : address.common_name();
    }
};

/// This side's end of the link between the two sides of one card, each of which has a card process of its own. The
/// DPU's side listens, and the host's side connects, again and again. Several connections may be candidates, and the
/// first that shows that it is the other side becomes a session, in which nothing of an earlier one is valid. Owned by
/// Card; driven by the event loop, which waits for descriptor().
class Link {
public:
    /// Throws std::system_error if the card has too few descriptors.
    Link(Card &card, LinkSettings settings);
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;
    ~Link();

    /// Begins to listen or to connect. Returns false, with the reason in @p message, if it never can. Throws
    /// std::system_error if the library lacks what a key needs.
    [[nodiscard]] bool start(std::string &message);
    /// Readable when progress() has work.
    [[nodiscard]] int descriptor() const { return epoll_.get(); }
    /// Handles what has arrived, ends a connection that has failed, and tries to get a new one.
    void progress();
    /// Sends what requests and replies have left to send.
    void flush();
    /// Returns whether the card should stay for what programs that have ended have sent.
    [[nodiscard]] bool is_carrying(std::uint64_t now) const { return relay_.is_carrying(now); }

    /// Returns the number of the connection; 0 if the sides are not connected.
    [[nodiscard]] std::uint32_t session() const { return session_; }
    [[nodiscard]] LinkRequester &requester() { return requester_; }
    [[nodiscard]] const LinkSettings &settings() const { return settings_; }
    /// Returns the state for the status request: names and values, in pairs.
    [[nodiscard]] std::string describe() const;

private:
    /// A connection to something that has not shown yet what it is.
    struct Candidate {
        LinkStream stream;
        std::uint64_t begun;    ///< time in ns
        bool is_sending = true; ///< the event loop waits until the socket takes more, at first until it is connected
    };
    using Entry = std::list<Candidate>::iterator;

    void accept();
    void connect();
    /// Adds a candidate, in place of the oldest one if there are too many.
    void begin(UniqueFd socket);
    void serve(Entry candidate);
    void refuse(Entry candidate, const std::string &reason);
    /// Returns why the first message of a candidate is not that of the other side, or "".
    [[nodiscard]] std::string reason_against(const LinkMessage &message) const;
    /// Makes the candidate the connection, and drops all others.
    void start_session(Entry candidate);
    /// Makes the event loop wait until the socket takes more, if there is more to send.
    void update_events(const LinkStream &stream, bool &is_sending) const;
    /// Returns why a Unix socket's peer may not connect, or "".
    [[nodiscard]] std::string reason_against_user(int socket) const;
    void serve_stream();
    /// Handles a message. Returns why the connection must end, or "".
    [[nodiscard]] std::string handle(const LinkMessage &message);
    void serve_timer();
    /// Ends the connection. Everything that uses it fails, and the other side's functions disappear.
    void end(std::string reason);
    [[nodiscard]] LinkHello hello_of(Side side) const;
    void show_functions(bool is_present);
    void log(const std::string &line);

    Card &card_;
    const LinkSettings settings_;
    UniqueFd epoll_, timer_, listener_;
    std::list<Candidate> candidates_;  ///< the oldest one first; none during a session
    std::optional<LinkStream> stream_; ///< of the session
    LinkRequester requester_;
    LinkResponder responder_;
    LinkRelay relay_;
    std::uint32_t session_ = 0, last_session_ = 0;
    unsigned refused_ = 0;      ///< candidates that have not become a session
    std::uint64_t heard_ = 0;   ///< time in ns of the last bytes
    std::uint64_t replied_ = 0; ///< time in ns of the last reply
    bool is_sending_ = false;   ///< as that of a candidate
    bool is_listening_ = true;  ///< false: the timer tries again to accept
    std::string last_line_;     ///< logged last
    std::uint64_t minute_ = 0;  ///< in which `lines_` lines were logged
    unsigned lines_ = 0;
};

} // namespace opendoca::card
