// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "../../../src/comm_channel/relay_wire.hpp"
#include "../../../src/core/base/unique_fd.hpp"
#include "../link/link_message.hpp"
#include "../link/link_stream.hpp"
#include "card.hpp"
#include "counted_stream.hpp"
#include "last_bytes.hpp"

namespace opendoca::card {

/// Carries the connections of the host's programs with services of the DPU's, Comm Channel and Comch, over the link.
/// relay_wire.hpp has the sockets of the programs. Each connection has a window in each direction: a program that does
/// not read holds up its own connection only, and no more is kept for it than the window. While the link has not sent
/// much of what they have sent before, nothing is read from programs. Owned by Link; used by the event loop's thread
/// only. What the other side sends is attacker input: it reaches only sockets with the names of services in this side's
/// directory.
class LinkRelay {
public:
    /// Throws std::system_error if the card has too few descriptors.
    explicit LinkRelay(Side own_side);

    /// Creates the directory of the sockets and, at the host's side, begins to listen. Returns false, with the reason
    /// in @p message, if that fails.
    [[nodiscard]] bool open(const std::string &directory, std::string &message);
    /// Readable when progress() has work.
    [[nodiscard]] int descriptor() const { return epoll_.get(); }
    /// Begins with a connection of the sides, which lives until stop().
    void start(LinkStream &stream) { stream_.start(stream); }
    /// Ends all connections of programs, and refuses later ones. A program gets what the other side had sent for it if
    /// that was all of it.
    void stop();

    /// Serves the sockets that are ready. Appends to the stream.
    void progress();
    /// Reads from programs again once the link has sent most of what they have sent before.
    void resume();
    /// Drops programs that have connected and do not ask for a service, ends the connections of those that have ended
    /// while a child of theirs keeps the socket open, and accepts others again after descriptors were
    /// short. To be called a few times a second.
    void serve_timer(std::uint64_t now);
    /// To be called before each round of messages of the other side.
    void begin_round() { connects_ = 0; }
    /// Handles a message of the other side. Returns false if it is malformed.
    [[nodiscard]] bool handle(const LinkMessage &message);
    /// Returns the time in ns at which the oldest request without a reply was made; 0 if there is none.
    [[nodiscard]] std::uint64_t unanswered_since() const;
    /// Returns whether bytes of programs, which may have ended, are on their way, and some were moved in the last 10 s.
    [[nodiscard]] bool is_carrying(std::uint64_t now) const;
    [[nodiscard]] std::size_t connections() const { return connections_.size(); }

private:
    enum class State : std::uint8_t {
        greeting,   ///< host: the program has not asked for a service yet
        connecting, ///< host: the other side has not replied yet
        open
    };
    struct Connection {
        UniqueFd socket; ///< closed once has_ended_here
        State state;
        UniqueFd process;        ///< of the program; not open if it cannot be watched
        std::uint64_t since = 0; ///< time in ns at which the state began
        std::array<std::uint8_t, sizeof(comm_channel::RelayRequest)> request{};
        std::size_t request_bytes = 0;
        std::size_t in_flight = 0;            ///< bytes that were sent to the other side without credit so far
        std::vector<std::uint8_t> incoming{}; ///< bytes of the other side that the program has no room for yet
        std::size_t uncredited = 0;           ///< bytes that were delivered without credit so far
        bool is_deaf = false;                 ///< the program does not take bytes any more
        bool has_ended_here = false, has_ended_there = false; ///< `end` was sent, has come
        std::uint32_t interest = 0;                           ///< events that epoll waits for; 0: not in epoll
    };
    using Entry = std::map<std::uint64_t, Connection>::iterator; ///< by number

    void accept();
    void serve(Entry entry);
    void serve_greeting(Entry entry);
    void answer(Connection &connection, comm_channel::RelayAnswer answer) const;
    /// Sends the other side what the program has sent.
    void read(Entry entry);
    /// Gives the program what the other side has sent.
    void deliver(Entry entry);
    /// Ends the connection if its program has ended, and nothing of it is left to be read.
    void end_with_program(Entry entry);
    /// Sends `end`, after which nothing of the program is left.
    void end_here(Entry entry);
    /// Lets epoll wait for what the connection is waiting for. Ends the connection if that fails.
    void update_interest(Entry entry);
    void update_all_interests();

    [[nodiscard]] bool handle_connect(const LinkMessage &message);
    [[nodiscard]] bool handle_connected(const LinkMessage &message);
    [[nodiscard]] bool handle_bytes(Entry entry, std::span<const std::uint8_t> bytes);
    [[nodiscard]] bool handle_credit(Entry entry, std::span<const std::uint8_t> body);
    [[nodiscard]] bool handle_end(Entry entry);
    /// Connects to a service of this side. Not open, with the status for the other side, if it cannot.
    [[nodiscard]] UniqueFd connect_to_service(std::span<const std::uint8_t, link_key_bytes> key,
                                              LinkStatus &status) const;

    const Side own_side_;
    UniqueFd epoll_, directory_, listener_;
    /// Open while the sides are connected. What others have to send does not count: accesses to memory have a window of
    /// their own, and keep it filled for as long as they like.
    CountedStream stream_;
    std::map<std::uint64_t, Connection> connections_;
    LastBytes last_bytes_; ///< of links that have ended
    std::uint64_t last_number_ = 0;
    std::size_t connects_ = 0;    ///< requests of this round to connect
    std::uint64_t moved_ = 0;     ///< time in ns at which bytes of a program were moved last
    bool is_listening_ = true;    ///< false: the timer tries again to accept programs
    std::uint64_t paused_at_ = 0; ///< connection that was not read from any more at the last pause
    bool is_paused_ = false;      ///< nothing is read from programs, since much of what they have sent is unsent
};

} // namespace opendoca::card
