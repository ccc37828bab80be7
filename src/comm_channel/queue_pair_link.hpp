// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Carries the frames of a stream in order, by a reliable queue pair of the card. Flow control is by credits: each side
// posts as many receives as messages may wait for its program, plus max_empty. A sender that respects the rings
// therefore always finds a posted receive. Each message begins with two 4-byte numbers: how many receives the sender
// has reposted, and how many messages its program has received. Messages that consist of these numbers alone report
// them when nothing else is sent. Four of the extra receives are kept for these reports and two for reports of reposted
// receives only, so that credits always reach the peer.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include "../core/device/queue_pair.hpp"
#include "../core/engine/completion_queue.hpp"
#include "../core/objects/buf.hpp"
#include "../core/objects/dev.hpp"
#include "ring.hpp"

namespace opendoca::comm_channel {

/// One queue pair with its send and receive slots. Owned by a Stream and used under the lock of its connection.
/// Invariant: at most sends_.count messages are in flight, or occupy receives of the peer.
class QueuePairLink {
public:
    /// Creates a queue pair of @p function for messages of rings of the two shapes. Completions wake @p events while
    /// armed. Logs the reason of a failure.
    [[nodiscard]] static doca_error_t create(const std::shared_ptr<const DeviceFunction> &function,
                                             std::shared_ptr<EventHandle> events, RingShape outgoing,
                                             RingShape incoming, std::unique_ptr<QueuePairLink> &created);
    QueuePairLink(const QueuePairLink &) = delete;
    QueuePairLink &operator=(const QueuePairLink &) = delete;
    ~QueuePairLink();

    /// Returns the data that the peer passes to connect().
    [[nodiscard]] std::span<const std::byte> details() const noexcept { return queue_pair_->details(); }
    /// Connects to the peer; may be called once. Can block for a second or two while the network resolves the address.
    [[nodiscard]] doca_error_t connect(std::span<const std::byte> details_of_peer);
    /// Returns whether connect() has succeeded, even if the link has failed since.
    [[nodiscard]] bool was_connected() const noexcept { return was_connected_; }

    /// Sends one frame. Returns false when no slot or credit is available.
    [[nodiscard]] bool send(std::span<const std::byte> frame) noexcept;
    /// Sends an empty message; its completion shows that the path works.
    void probe() noexcept { post_send({}); }
    /// Stores how many messages this side's program has received; the next message carries the number.
    void set_received(std::uint64_t count) noexcept { num_received_ = static_cast<std::uint32_t>(count); }
    /// Sends that number in an empty message if it is unreported and a credit is available.
    void send_received_count() noexcept;
    /// Returns how many messages the peer claims that its program has received. The caller must validate the number.
    [[nodiscard]] std::uint32_t num_received_by_peer() const noexcept { return num_received_by_peer_; }
    /// Returns the number of bytes received, 0 if there are none. Data that arrived before a failure is still returned.
    [[nodiscard]] std::size_t receive(std::span<std::byte> bytes) noexcept;
    /// Returns whether the queue pair has failed; nothing is sent or received any more.
    [[nodiscard]] bool has_failed() const noexcept { return has_failed_; }
    /// Polls, and returns whether sends are in flight.
    [[nodiscard]] bool has_unsent() noexcept;

    /// Wakes the events for completions from now on, until disarm().
    void arm() noexcept;
    void disarm() noexcept;

private:
    // Limits of empty messages for which the peer has not reposted a receive.
    /// Limit for messages that report receives of the program
    static constexpr std::uint32_t max_empty_for_received = 4;
    static constexpr std::uint32_t max_empty = 6; ///< including those that report reposted receives only
    /// Reposted receives that are worth an empty message.
    static constexpr std::uint32_t min_unreported_reposts = 2;
    static constexpr std::size_t alignment = 64;

    /// The start of each message; the wire format is little-endian.
    struct Prefix {
        std::uint32_t reposted;
        std::uint32_t received;
    };
    struct Free {
        void operator()(std::byte *memory) const noexcept { ::operator delete (memory, std::align_val_t{alignment}); }
    };

    /// A ring of message slots of one size.
    struct Slots {
        std::byte *start = nullptr;
        std::uint32_t count;
        std::size_t size;

        explicit Slots(RingShape shape) noexcept;
        [[nodiscard]] std::size_t bytes() const noexcept { return count * size; }
        [[nodiscard]] std::byte *at(std::uint32_t number) const noexcept { return start + number % count * size; }
    };

    QueuePairLink(RingShape outgoing, RingShape incoming);
    [[nodiscard]] doca_error_t open(const std::shared_ptr<const DeviceFunction> &function,
                                    std::shared_ptr<EventHandle> events);
    [[nodiscard]] doca_buf buffer_of(std::byte *slot, std::size_t size, std::size_t data) const noexcept;
    [[nodiscard]] bool post_receive(std::uint32_t number) noexcept;
    [[nodiscard]] bool has_space(std::uint32_t max_empty_before) noexcept;
    void post_send(std::span<const std::byte> bytes) noexcept;
    void send_reposted_count() noexcept;
    void poll() noexcept;
    void note(Tag tag, doca_error_t status, std::uint32_t length) noexcept;
    void note_message(std::uint32_t length) noexcept;

    /// Returns a buffer object of one slot with @p size bytes, of which @p data are used. Needs no inventory.
    // Declared in the order of their dependencies.
    OwnDevice device_;
    Slots sends_, receives_;
    std::unique_ptr<std::byte, Free> memory_;
    std::shared_ptr<const doca_mmap> map_;
    CompletionQueue completions_;
    std::atomic<ConnectionState> state_{ConnectionState::none};
    std::unique_ptr<QueuePair> queue_pair_;

    // The queue pair refers to these buffers until their operations complete; receives store their length in them.
    std::unique_ptr<doca_buf[]> sending_;
    std::unique_ptr<doca_buf[]> receiving_;
    std::unique_ptr<std::uint32_t[]> lengths_; ///< lengths of received messages, by slot
    std::unique_ptr<bool[]> are_empty_;        ///< by send slot: whether the message is empty
    std::uint32_t num_empty_ = 0;              ///< empty messages for which the peer has not reposted a receive
    // Totals since the link was created. They wrap around; only differences are meaningful.
    std::uint32_t num_sent_ = 0;
    std::uint32_t num_done_ = 0;          ///< completed sends
    std::uint32_t num_peer_reposted_ = 0; ///< receives that the peer has reposted after a message of this side
    std::uint32_t num_arrived_ = 0;
    std::uint32_t num_reposted_ = 0; ///< receives reposted after their message was consumed
    std::uint32_t num_reported_ = 0; ///< value of num_reposted_ in the last message sent
    std::uint32_t num_received_ = 0; ///< messages received by this side's program
    std::uint32_t num_received_reported_ = 0;
    std::uint32_t num_received_by_peer_ = 0;
    std::size_t at_ = 0; ///< offset of the unread part of the oldest message
    bool was_connected_ = false;
    bool has_failed_ = false;
    bool is_armed_ = false;
};

} // namespace opendoca::comm_channel
