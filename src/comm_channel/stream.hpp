// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Carries the messages of a connection between two machines, such as the host and the DPU of a card: from the rings of
// one side to the rings of the other, over TCP. Flow control: a place in the sender's ring is freed only when the
// receiver reports that its program has received the message. Both rings therefore hold the same messages, and a frame
// never waits for space at the receiver. A frame is a length and a kind, 4 bytes each, and the bytes; numbers are
// little-endian.
//
// If both sides have a queue pair of one card, messages move to the queue pairs once these are known to work. TCP then
// only detects the end of the peer:
//
//     client                        service, by TCP
//     hello, can use one       ->
//                              <-   welcome_and_offer, with the details of its queue pair
//     connects its own; offer  ->
//                              <-   connects; connected
//
// Each side then sends an empty message by its queue pair as a probe. When the card reports its completion, the side
// sends by_queue_pair as its last frame by TCP. Messages need not wait for the peer's switch.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "ring.hpp"
#include "stream_events.hpp"
#include "stream_frames.hpp"
#include "stream_transport.hpp"
#include "wire.hpp"

namespace opendoca::comm_channel {

static_assert(std::endian::native == std::endian::little, "x86-64 and Arm64 are; others need a conversion here");

/// Kinds of the transport's own frames. Smaller values are kinds of the program and of Comch.
enum class StreamKind : std::uint32_t {
    hello = 0xffffff00,
    welcome,
    received, ///< 8 bytes: count of messages that the program has received
    leaving,
    welcome_and_offer, ///< replaces welcome if the client can use a queue pair
    offer,             ///< client: connection data of its queue pair; size 0 if it has none
    connected,         ///< service: 4 bytes, 1 if its queue pair is connected
    by_queue_pair,     ///< empty: the last frame by TCP
};

/// Moves the messages of one connection between its rings and a StreamTransport, as frames. Owned by a Connection and
/// used under its lock. No function but drain_and_leave() blocks. Everything received is validated, since peers are not
/// authenticated. Invariant: a message leaves the sender's ring only when the peer's program has received it.
class Stream {
public:
    explicit Stream(int socket) noexcept : events_(socket), transport_(socket) {}

    /// Creates the descriptors. Returns false with errno on failure.
    [[nodiscard]] bool open();
    /// Become readable when pump() may make progress, while wake-ups for messages, or for space, are requested.
    /// message_fd() also does so before attach(), and at the end of the peer.
    [[nodiscard]] int message_fd() const noexcept { return events_.message_fd(); }
    [[nodiscard]] int space_fd() const noexcept { return events_.space_fd(); }
    /// See StreamEvents.
    void descriptors_share_epoll() noexcept { events_.descriptors_share_epoll(); }

    // Handshake, before attach(): one message in each direction.
    void put(StreamKind kind, std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] Arrival take(StreamKind kind, std::span<std::byte> bytes) noexcept;
    /// Returns the kind of the next frame, or nothing while its header has not arrived.
    [[nodiscard]] std::optional<StreamKind> next_kind() noexcept;

    /// Service, before attach(): creates a queue pair of @p function. Returns false, after a log line, on failure.
    [[nodiscard]] bool make_link(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing,
                                 RingShape incoming) noexcept;
    /// Returns the connection data of that queue pair.
    [[nodiscard]] Offer offer() const noexcept { return transport_.offer(); }
    /// Client, after attach(): creates a queue pair, connects it to that of @p offer, and sends its own offer.
    void accept_service_offer(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing,
                              RingShape incoming, const Offer &offer) noexcept;

    /// Makes pump() move messages between the socket and the rings of @p memory, of which it takes the peer's side.
    void attach(SharedMemory &memory, bool is_service, RingShape to_service, RingShape to_client);
    /// Moves what can be moved without blocking. Returns false when the peer violates the protocol.
    [[nodiscard]] bool pump() noexcept;
    /// Returns whether the peer has ended and everything that arrived before is in the ring.
    [[nodiscard]] bool has_ended() const noexcept
    {
        FrameHeader header{};
        return transport_.has_ended() && in_.find(header) != IncomingFrames::Next::frame;
    }
    // Request or cancel wake-ups. After a request the caller must check the ring.
    void wake_for_message(bool is_wanted) noexcept;
    void wake_for_space(bool is_wanted) noexcept;
    /// Sends the remaining messages and a disconnect notice, and blocks until they have reached the peer: at most a
    /// second by TCP, as the peer may read nothing, and at most ten seconds by a queue pair, while the card retries.
    void drain_and_leave() noexcept;

private:
    // Input.

    /// Receives once. Returns false when nothing more can be received for now, in_ is full, or the peer has ended.
    [[nodiscard]] bool receive() noexcept;
    /// Moves messages from the transport to the ring. Returns false when the peer violates the protocol.
    [[nodiscard]] bool pull(bool &has_received_message) noexcept;
    // Process frames of the peer. Each returns false when the frame violates the protocol.
    [[nodiscard]] bool accept(const FrameHeader &header, bool &has_received_message) noexcept;
    [[nodiscard]] bool accept_offer(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] bool accept_connected(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] bool accept_switch() noexcept;
    [[nodiscard]] bool note_received(std::uint64_t count) noexcept;
    /// Ends the connection if the queue pair that carries it has failed and all that it has received is processed.
    void check_link() noexcept;

    // Output.

    /// Moves messages from the ring to the transport.
    void push() noexcept;
    /// Builds the next frame. Returns false when there is nothing to send.
    [[nodiscard]] bool frame_next() noexcept;
    /// Sends what is left of the frame. Returns true when nothing is left.
    [[nodiscard]] bool flush() noexcept;
    void flush_later(bool is_needed) noexcept;

    // Events.

    void arm_link() noexcept;
    /// Called when a request or what choose() depends on has changed.
    void choose_events() noexcept;

    StreamEvents events_; ///< declared before transport_: the queue pair refers to its handle
    StreamTransport transport_;
    OutgoingFrames out_;
    IncomingFrames in_;
    bool is_service_ = false;
    bool has_unsent_ = false; ///< out_ holds a part of a frame that the transport did not accept
    // The peer's side of the rings: outgoing_ is read and sent, incoming_ is filled with received messages.
    /// The word of the shared page in which the peer's orderly disconnect is stored.
    std::atomic<std::uint32_t> *peer_left_ = nullptr;
    ReceiveRing outgoing_;
    std::uint64_t num_received_by_peer_ = 0; ///< messages of outgoing_ that the peer's program has received
    SendRing incoming_;
    std::uint64_t num_reported_ = 0; ///< messages received by this side's program, as last reported to the peer
    RingShape incoming_shape_;
};

} // namespace opendoca::comm_channel
