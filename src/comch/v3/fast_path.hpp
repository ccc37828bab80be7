// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How consumers and producers of a connection, each in a thread of its own, come to be connected: by control messages,
// which go by the connection's link. The control context carries them, and members that poll and wait for them: its program
// may only wait for its data threads by then. Messages then go from queue pair to queue pair.
//
//     consumer starts     new_consumer(details) ->  the peer's program is told; <- known: the consumer runs
//     producer's first    connect(details) ->  the consumer makes a queue pair; <- accept(details)
//     consumer stops      expired ->
//
// Neither side has more than max_unanswered questions (new_consumer, connect) without an answer, nor more consumers than
// that. So no queue can grow beyond it, whatever the peer's program reads or does not; who asks more has to try again, and
// a peer that does not keep to it loses the connection.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include <doca_error.h>

#include "../../core/fork.hpp"
#include "../../core/poll_budget.hpp"
#include "../../core/unique_fd.hpp"

namespace opendoca::comch {

inline constexpr std::uint32_t max_unanswered = 1024;

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

/// The details of a new consumer's message. Earlier versions of the library send none.
struct ConsumerDetails {
    std::uint32_t immediate_length = UINT32_MAX; ///< the most bytes of immediate data that it takes
};

/// Control messages for one context, or for the link. Any thread puts them in; that of the context, or who has the link's lock,
/// takes them out.
class ControlQueue {
public:
    /// OPERATING_SYSTEM. To be watched: readable while there is something.
    [[nodiscard]] bool open() noexcept;
    [[nodiscard]] int fd() const noexcept { return event_.get(); }

    void put(const ControlMessage &message);
    [[nodiscard]] bool has_message() const noexcept { return has_message_.load(std::memory_order_acquire); }
    /// The same, to be looked at by whoever polls.
    [[nodiscard]] const std::atomic<bool> &news() const noexcept { return has_message_; }
    /// False when there is none. Whoever takes goes on until there is none, or hears otherwise when to.
    [[nodiscard]] bool take(ControlMessage &message) noexcept;
    /// The same, and the message stays until drop(). The owner is woken as before, and settles it.
    [[nodiscard]] bool peek(ControlMessage &message) noexcept;
    void drop() noexcept;
    /// The owner has looked: it is woken for what comes from now on.
    void settle() noexcept;
    /// Makes the owner look, without a message.
    void wake() noexcept;
    /// The descriptor wakes nobody for what is there already.
    void take_bell() noexcept;

private:
    void announce() noexcept; ///< with the lock held

    ObjectMutex lock_;
    std::deque<ControlMessage> messages_;
    std::atomic<bool> has_message_{false};
    ProcessFd event_;
};

/// How control messages come and go.
class ControlLink {
public:
    /// In any thread, with the link's lock: sends and receives what there is of them.
    virtual void progress_control_messages() noexcept = 0;

protected:
    ~ControlLink() = default;
};

/// What the contexts on one connection share.
class FastPath {
public:
    explicit FastPath(ControlLink &link) : link_(&link) {}

    [[nodiscard]] bool open() noexcept { return to_peer.open(); }

    // Of consumers and producers, in any thread. Control messages for a member's number go to its queue.

    /// A consumer begins, and the peer is asked to know it. NOT_CONNECTED: the connection has ended. AGAIN: too much waits for
    /// the peer.
    [[nodiscard]] doca_error_t add_consumer(ControlQueue &control_queue, const ConsumerDetails &details,
                                            std::uint32_t &number);
    /// It is over: what has come for it is refused, and the peer is told.
    void remove_consumer(std::uint32_t number, ControlQueue &control_queue) noexcept;
    [[nodiscard]] std::uint32_t add_producer(ControlQueue &control_queue);
    void remove_producer(std::uint32_t number) noexcept;
    /// A producer asks for a connection to a consumer. AGAIN: too much waits for the peer.
    [[nodiscard]] doca_error_t ask(const ControlMessage &message);
    /// To a question of the peer.
    void answer(const ControlMessage &answer) noexcept;

    /// For a member that polls and may have to hear from the peer: does a part of what the control context does, whose
    /// program may progress it no more, unless another thread is at it.
    void progress_link() noexcept;
    /// The same at some of a member's polls, which it counts.
    using LinkBudget = PollBudget<64, 10, 8>;
    void progress_link_at(LinkBudget &polls) noexcept
    {
        if (polls.is_spent())
            progress_link();
    }

    [[nodiscard]] std::uint32_t num_members() const noexcept;
    /// What a consumer of the peer has told of itself; nothing when there is none of that number.
    [[nodiscard]] std::optional<ConsumerDetails> find_consumer(std::uint32_t number) const noexcept;
    /// How many consumers the peer has stopped. All producers look when it changes.
    [[nodiscard]] std::uint32_t num_expired() const noexcept { return num_expired_.load(std::memory_order_relaxed); }

    // Of the control context, which carries the messages; and with the link's lock, of whoever does that for it.

    /// The first message for the peer, @p message, is on its way.
    void sent(const ControlMessage &message) noexcept;
    /// What the peer has sent, of which nothing is certain: false, logged, when it does not keep the rules. @p tells: the
    /// program hears of it.
    [[nodiscard]] bool take(const ControlMessage &message, bool &tells) noexcept;
    /// Forgets one of the peer's consumers: its number, or 0 when the peer has none.
    [[nodiscard]] std::uint32_t lose_consumer() noexcept;

    /// Memory is short, and a message is lost: the control context ends the connection, as nobody would end a wait for it.
    void fail() noexcept;
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }
    /// The connection has ended: all who are on it look.
    void end() noexcept;
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }

    /// The link goes.
    void forget_link() noexcept;

    ControlQueue to_peer;
    ObjectMutex link_lock; ///< of the link and what waits for it; outer to all others

private:
    using Members = std::map<std::uint32_t, ControlQueue *>;

    // All with the lock held.
    [[nodiscard]] bool deliver(const Members &members, std::uint32_t number, const ControlMessage &message) noexcept;
    /// One of the peer: false when there is one of that number, or too many are there, or it has none.
    [[nodiscard]] bool note_consumer(const ControlMessage &message) noexcept;
    void put(ControlQueue &control_queue, const ControlMessage &message) noexcept;

    ControlLink *link_; ///< with its lock
    mutable ObjectMutex lock_;
    Members consumers_;
    Members producers_;
    std::uint32_t num_joined_ = 0;
    std::uint32_t num_asked_ = 0; ///< own questions that the peer has not answered
    std::uint32_t num_owed_ = 0;  ///< questions of the peer whose answers have not been sent
    std::map<std::uint32_t, ConsumerDetails> of_peer_; ///< its consumers
    std::atomic<std::uint32_t> num_expired_{0};
    std::atomic<bool> has_ended_{false};
    std::atomic<bool> has_failed_{false};
};

} // namespace opendoca::comch
