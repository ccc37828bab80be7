// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How consumers and producers of a connection, each in a thread of its own, come to be connected: by control messages,
// which the connection's control context carries to the peer. Messages then go from queue pair to queue pair.
//
//     consumer starts     new_consumer ->  the peer's program is told; <- known: the consumer runs
//     producer's first    connect(details) ->  the consumer makes a queue pair; <- accept(details)
//     consumer stops      expired ->
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "../../core/unique_fd.hpp"

namespace opendoca::comch {

/// A message of the program is of kind 0.
enum class ControlKind : std::uint32_t { new_consumer = 1, known, expired, connect, accept, refuse };

/// As it is on its way: a message between two processes of one machine.
struct ControlMessage {
    ControlKind kind;
    std::uint32_t consumer; ///< its number on its side of the connection
    std::uint32_t producer; ///< likewise
    std::uint32_t details_size;
    std::array<std::byte, 256> details;

    [[nodiscard]] std::span<const std::byte> used_details() const noexcept
    {
        return std::span(details).first(std::min<std::size_t>(details_size, details.size()));
    }
};

/// Control messages for one context. Any thread puts them in; that of the context takes them out.
class Mailbox {
public:
    /// OPERATING_SYSTEM. To be watched: readable while there is something.
    [[nodiscard]] bool open() noexcept;
    [[nodiscard]] int fd() const noexcept { return event_.get(); }

    void put(const ControlMessage &message);
    [[nodiscard]] bool has_mail() const noexcept { return has_mail_.load(std::memory_order_acquire); }
    /// False when there is none.
    [[nodiscard]] bool take(ControlMessage &message) noexcept;
    /// Makes the owner look, without a message.
    void wake() noexcept;

private:
    std::mutex lock_;
    std::deque<ControlMessage> messages_;
    std::atomic<bool> has_mail_{false};
    UniqueFd event_;
};

/// What the contexts on one connection share.
class FastPath {
public:
    enum class Role : std::uint8_t { consumer, producer };

    [[nodiscard]] bool open() noexcept { return to_peer.open(); }

    /// From now on control messages for the number that it gives go to @p mailbox.
    [[nodiscard]] std::uint32_t join(Role role, Mailbox &mailbox);
    void leave(Role role, std::uint32_t number) noexcept;
    [[nodiscard]] std::uint32_t num_members() const noexcept;
    /// Hands over a control message of the peer; false when nobody has the number.
    [[nodiscard]] bool deliver(Role role, std::uint32_t number, const ControlMessage &message) noexcept;
    /// For control messages that somebody waits for, from where nothing can be refused.
    void tell_peer(const ControlMessage &message) noexcept;

    void note_consumer(std::uint32_t number, bool is_there) noexcept;
    [[nodiscard]] bool has_consumer(std::uint32_t number) const noexcept;

    /// Memory is short, and a message is lost: the control context ends the connection, as nobody would end a wait for it.
    void fail() noexcept;
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }
    /// The connection has ended: all who are on it look.
    void end() noexcept;
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }

    Mailbox to_peer; ///< the control context sends them

private:
    [[nodiscard]] std::map<std::uint32_t, Mailbox *> &members(Role role) noexcept
    {
        return role == Role::consumer ? consumers_ : producers_;
    }

    mutable std::mutex lock_;
    std::map<std::uint32_t, Mailbox *> consumers_;
    std::map<std::uint32_t, Mailbox *> producers_;
    std::uint32_t num_joined_ = 0;
    std::vector<std::uint32_t> of_peer_; ///< its consumers
    std::atomic<bool> has_ended_{false};
    std::atomic<bool> has_failed_{false};
};

} // namespace opendoca::comch
