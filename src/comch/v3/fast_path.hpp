// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Connection setup between consumers and producers, which run in threads of their own. They exchange control messages
// over the connection's link. The control context progresses the link, and so do members that poll, since its program
// may be blocked until its data threads finish. Data then goes from queue pair to queue pair.
//
//     consumer starts     new_consumer(details) ->  the program of the peer is notified; <- known: the consumer runs
//     producer's first    connect(details) ->  the consumer makes a queue pair; <- accept(details)
//     consumer stops      expired ->
//
// Each side has at most max_unanswered requests (new_consumer, connect) without a reply, and at most that many
// consumers. This bounds every queue even if the peer's program does not progress. A request beyond the limit is
// refused with AGAIN, and a peer that exceeds it loses the connection.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>

#include <doca_error.h>

#include "../../core/base/poll_budget.hpp"
#include "../../core/base/unique_fd.hpp"
#include "../../core/process/fork.hpp"

namespace opendoca::comch {

inline constexpr std::uint32_t max_unanswered = 1024;

/// Kinds of control messages. Kind 0 is a message of the program. new_consumer is answered by known, connect by accept
/// or refuse; expired has no answer.
enum class ControlKind : std::uint32_t { new_consumer = 1, known, expired, connect, accept, refuse };

/// Wire format of a control message: the kind is sent as the kind of the message, the other fields are the message.
struct ControlMessage {
    ControlKind kind;
    std::uint32_t consumer;             ///< number that its own side assigned
    std::uint32_t producer;             ///< number that its own side assigned
    std::uint32_t details_size;         ///< bytes of details that are used
    std::array<std::byte, 256> details; ///< connection data of a queue pair, or ConsumerDetails

    [[nodiscard]] std::span<const std::byte> used_details() const noexcept
    {
        return std::span(details).first(std::min<std::size_t>(details_size, details.size()));
    }
};

/// Details of a new_consumer message. Earlier versions of the library send none.
struct ConsumerDetails {
    std::uint32_t immediate_length = UINT32_MAX; ///< most bytes of immediate data that the consumer accepts
};

/// Queue of control messages for one context or for the link, with an eventfd that wakes a reader in another thread.
/// Any thread may put messages; the context's thread, or the holder of link_lock, takes them. Invariant: has_message()
/// is true whenever a message is queued.
class ControlQueue {
public:
    /// Creates the eventfd, if it does not exist, which is readable while a message is queued. Returns false with errno
    /// on failure.
    [[nodiscard]] bool open() noexcept;
    /// Returns the eventfd, or -1 before open().
    [[nodiscard]] int fd() const noexcept;

    /// Appends a message and notifies the reader. Throws std::bad_alloc.
    void put(const ControlMessage &message);
    // Acquire: pairs with the release store in announce(). What was stored before wake() is visible after it.
    [[nodiscard]] bool has_message() const noexcept { return has_message_.load(std::memory_order_acquire); }
    /// The flag behind has_message(), for pollers.
    [[nodiscard]] const std::atomic<bool> &message_flag() const noexcept { return has_message_; }
    /// Takes a message. The caller must continue until this returns false, or arrange its own notification.
    [[nodiscard]] bool take(ControlMessage &message) noexcept;
    /// Like take(), but the message stays until drop(), and the descriptor stays readable until settle().
    [[nodiscard]] bool peek(ControlMessage &message) noexcept;
    /// Removes the message that peek() has returned.
    void drop() noexcept;
    /// Resets the notification after the owner's check; later messages notify again.
    void settle() noexcept;
    /// Notifies the owner without a message.
    void wake() noexcept;
    /// Resets the descriptor for messages that are already queued.
    void drain_doorbell() noexcept;

private:
    void announce() noexcept;    ///< requires lock_
    void reset_event() noexcept; ///< requires lock_

    mutable ObjectMutex lock_; ///< guards the messages and the eventfd, and the flag together with them
    std::deque<ControlMessage> messages_;
    std::atomic<bool> has_message_{false}; ///< also set by wake(), without a message
    ProcessFd event_;                      ///< eventfd
};

/// Interface to the connection that transports control messages.
class ControlLink {
public:
    /// Sends and receives pending control messages. Any thread may call it with link_lock held.
    virtual void progress_control_messages() noexcept = 0;
    /// Lets the descriptor of FastPath::to_peer wake the control context. Called once, with link_lock held, and undone
    /// by the control context. Returns false with errno on failure.
    [[nodiscard]] virtual bool watch_control_messages() noexcept = 0;

protected:
    ~ControlLink() = default;
};

/// State that a connection shares with its consumers and producers, which are its members. Owned jointly by them and by
/// the connection, so that it outlives the connection. Any thread may use it; lock_ guards its tables, link_lock the
/// link.
class FastPath {
public:
    explicit FastPath(ControlLink &link) : link_(&link) {}

    // For members, in any thread. Control messages for a member's number are put into its queue.

    /// Prepares the connection for members: from the first one on, other threads than the control context's put
    /// messages for the peer, and wake it. To be called before a member is added. Returns NOT_CONNECTED if the
    /// connection has ended, OPERATING_SYSTEM if there is no descriptor.
    [[nodiscard]] doca_error_t prepare_for_members() noexcept;
    /// Adds a consumer and announces it to the peer. Returns NOT_CONNECTED if the connection has ended, AGAIN if the
    /// limit of consumers or of unanswered requests is reached.
    [[nodiscard]] doca_error_t add_consumer(ControlQueue &control_queue, const ConsumerDetails &details,
                                            std::uint32_t &number);
    /// Removes a consumer: refuses the requests in its queue and notifies the peer.
    void remove_consumer(std::uint32_t number, ControlQueue &control_queue) noexcept;
    /// Adds a producer and returns its number, which is unique among the members of this side.
    [[nodiscard]] std::uint32_t add_producer(ControlQueue &control_queue);
    /// Removes a producer. Replies that arrive later are dropped.
    void remove_producer(std::uint32_t number) noexcept;
    /// Sends a producer's request for a connection to a consumer. Returns AGAIN at the limit of unanswered requests.
    [[nodiscard]] doca_error_t send_request(const ControlMessage &message);
    /// Sends the reply to a request of the peer.
    void send_reply(const ControlMessage &answer) noexcept;

    /// Progresses control messages for a polling member, because the control context may not be progressed any more.
    /// Does nothing if another thread holds link_lock.
    void progress_link() noexcept;
    /// Calls progress_link() when the budget @p polls of a member is spent.
    using LinkBudget = PollBudget<64, 10, 8>;
    void progress_link_at(LinkBudget &polls) noexcept
    {
        if (polls.is_spent())
            progress_link();
    }

    [[nodiscard]] std::uint32_t num_members() const noexcept;
    /// Returns the details of a consumer of the peer, or nothing if it does not exist.
    [[nodiscard]] std::optional<ConsumerDetails> find_consumer(std::uint32_t number) const noexcept;
    /// Returns how many consumers of the peer have expired. Producers check their connections when it changes.
    [[nodiscard]] std::uint32_t num_expired() const noexcept { return num_expired_.load(std::memory_order_relaxed); }

    // For the control context, or for the thread that progresses the link for it, with link_lock held.

    /// Records that @p message, the first of to_peer, was sent.
    void sent(const ControlMessage &message) noexcept;
    /// Processes a control message of the untrusted peer. Returns false, after a log line, if it violates the protocol.
    /// Sets @p is_for_program if the program has to be notified.
    [[nodiscard]] bool take(const ControlMessage &message, bool &is_for_program) noexcept;
    /// Removes one consumer of the peer and returns its number, or 0 if there is none.
    [[nodiscard]] std::uint32_t expire_consumer() noexcept;

    /// Records that a message was lost for lack of memory. The control context then ends the connection, whose waits
    /// could otherwise never end.
    void fail() noexcept;
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_.load(std::memory_order_relaxed); }
    /// Records the end of the connection and notifies all members.
    void end() noexcept;
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(std::memory_order_acquire); }

    /// Detaches the link before it is destroyed.
    void detach_link() noexcept;

    /// Control messages for the peer; sent by the thread that progresses the link. Has a descriptor once there are
    /// members.
    ControlQueue to_peer;
    ObjectMutex link_lock; ///< guards the link and its pending messages; acquired before all other locks

private:
    using Members = std::map<std::uint32_t, ControlQueue *>;

    // Require lock_. deliver() returns false if there is no member @p number.
    [[nodiscard]] bool deliver(const Members &members, std::uint32_t number, const ControlMessage &message) noexcept;
    /// Adds or removes a consumer of the peer. Returns false if its number is in use or unknown, or too many exist.
    [[nodiscard]] bool note_consumer(const ControlMessage &message) noexcept;
    /// Queues a message. Without memory for it the connection fails.
    void put(ControlQueue &control_queue, const ControlMessage &message) noexcept;

    ControlLink *link_;                    ///< guarded by link_lock
    std::atomic<bool> is_prepared_{false}; ///< prepare_for_members() has succeeded; stored with link_lock held
    mutable ObjectMutex lock_;
    Members consumers_; ///< of this side, by number
    Members producers_;
    std::uint32_t num_joined_ = 0;          ///< numbers of consumers and producers so far; numbers are not used again
    std::uint32_t num_unanswered_ = 0;      ///< own requests without a reply
    std::uint32_t num_pending_replies_ = 0; ///< requests of the peer without a sent reply
    std::map<std::uint32_t, ConsumerDetails> of_peer_; ///< consumers of the peer
    std::atomic<std::uint32_t> num_expired_{0};        ///< for producers, which poll it
    std::atomic<bool> has_ended_{false};               ///< release in end(), acquire in has_ended()
    std::atomic<bool> has_failed_{false};
};

} // namespace opendoca::comch
