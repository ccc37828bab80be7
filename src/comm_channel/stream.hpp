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

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "../core/engine/event_handle.hpp"
#include "../core/process/fork.hpp"
#include "queue_pair_link.hpp"
#include "ring.hpp"
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

/// The transport of one connection. Owned by a Connection and used under its lock. No function but drain_and_leave()
/// blocks. Everything received is validated, since peers are not authenticated.
class Stream {
public:
    explicit Stream(int socket) noexcept : socket_(socket) {}

    /// Creates the descriptors. Returns false with errno on failure.
    [[nodiscard]] bool open();
    /// Become readable when pump() may make progress, while wake-ups for messages, or for space, are requested.
    /// message_fd() also does so before attach(), and at the end of the peer.
    [[nodiscard]] int message_fd() const noexcept { return messages_->fd(); }
    [[nodiscard]] int space_fd() const noexcept { return space_epoll_.get(); }
    /// Declares that one epoll instance watches both descriptors, so that an event need not show in each. This saves
    /// one level of nesting: the kernel limits nested epoll instances to four, including the program's own.
    void descriptors_share_epoll() noexcept { share_epoll_ = true; }

    // Handshake, before attach(): one message in each direction.
    void put(StreamKind kind, std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] Arrival take(StreamKind kind, std::span<std::byte> bytes) noexcept;
    /// Returns the kind of the next frame, or nothing while its header has not arrived.
    [[nodiscard]] std::optional<StreamKind> next_kind() noexcept;

    /// Service, before attach(): creates a queue pair of @p function. Returns false, after a log line, on failure.
    [[nodiscard]] bool make_link(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing,
                                 RingShape incoming) noexcept;
    /// Returns the connection data of that queue pair.
    [[nodiscard]] Offer offer() const noexcept;
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
        Header header{};
        return has_ended_ && find_frame(header) != Input::frame;
    }
    // Request or cancel wake-ups. After a request the caller must check the ring.
    void wake_for_message(bool is_wanted) noexcept;
    void wake_for_space(bool is_wanted) noexcept;
    /// Sends the remaining messages and a disconnect notice, and blocks until they have reached the peer: at most a
    /// second by TCP, as the peer may read nothing, and at most ten seconds by a queue pair, while the card retries.
    void drain_and_leave() noexcept;

    /// The start of each frame by TCP and by queue pair, little-endian.
private:
    struct Header {
        std::uint32_t length;
        std::uint32_t kind;
    };
    /// Bytes; covers the longest message (4,080) and the longest handshake frame.
    static constexpr std::size_t max_frame_size = sizeof(Header) + 4096;

    /// Result of searching the received bytes for a whole frame.
    enum class Input : std::uint8_t { nothing, frame, damaged };
    [[nodiscard]] Input find_frame(Header &header) const noexcept;
    /// Removes the frame at in_at_, which find_frame() has returned.
    void drop_frame(const Header &header) noexcept;
    /// Reads once into in_. Returns false when nothing more can be received for now, in_ is full, or the peer has
    /// ended.
    [[nodiscard]] bool receive() noexcept;
    [[nodiscard]] bool receive_by_link() noexcept;
    [[nodiscard]] std::size_t write() noexcept;
    [[nodiscard]] bool flush() noexcept;
    void frame(std::uint32_t kind, std::size_t length) noexcept;
    // Process frames of the peer. Each returns false when the frame violates the protocol.
    [[nodiscard]] bool accept_offer(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] bool accept_connected(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] bool accept_switch() noexcept;
    [[nodiscard]] bool note_received(std::uint64_t count) noexcept;
    void check_link() noexcept;
    [[nodiscard]] bool is_probe_acknowledged() noexcept;
    void drop_link(const char *reason) noexcept;
    [[nodiscard]] bool wait_to_write(std::chrono::steady_clock::time_point begin) noexcept;
    [[nodiscard]] bool wait_for_acknowledgement(std::chrono::steady_clock::time_point end) const noexcept;
    void arm_link() noexcept;
    void push() noexcept;
    [[nodiscard]] bool frame_next() noexcept;
    [[nodiscard]] bool accept(const Header &header, const std::byte *bytes, bool &has_received_message) noexcept;
    [[nodiscard]] bool pull(bool &has_received_message) noexcept;
    void flush_later(bool is_needed) noexcept;
    /// Sets which events of the socket each epoll instance reports, from the flags below.
    void choose_events() noexcept;

    const int socket_;
    // Also woken when another thread's pump() has received a message.
    /// The handle that message_fd() returns, shared with the link's completion queue.
    std::shared_ptr<EventHandle> messages_;
    /// What space_fd() returns; contains the socket, space_event_ and, for a link, messages_.
    ProcessFd space_epoll_;
    bool share_epoll_ = false;
    ProcessFd space_event_;               ///< eventfd that is signalled when the peer frees space
    std::unique_ptr<QueuePairLink> link_; ///< null if messages go by TCP alone
    enum class Sending : std::uint8_t {
        by_socket,
        probes_link, ///< probe in flight; frames go by TCP
        switches,    ///< by_queue_pair is being sent by TCP
        by_link
    } sending_ = Sending::by_socket;
    bool receives_by_link_ = false; ///< the peer has sent by_queue_pair
    bool is_service_ = false;
    bool wakes_for_message_ = true; ///< a wake-up for messages is requested; before attach() for the handshake
    bool wakes_for_space_ = false;
    bool has_unsent_ = false; ///< out_ holds a part of a frame that the transport did not accept
    bool has_ended_ = false;  ///< the peer's end was detected, perhaps before its last frames were processed
    // The peer's side of the rings: outgoing_ is read and sent, incoming_ is filled with received messages.
    /// The word of the shared page in which the peer's orderly disconnect is stored.
    std::atomic<std::uint32_t> *peer_left_ = nullptr;
    ReceiveRing outgoing_;
    std::uint64_t num_received_by_peer_ = 0; ///< messages of outgoing_ that the peer's program has received
    SendRing incoming_;
    std::uint64_t num_reported_ = 0; ///< messages received by this side's program, as last reported to the peer
    RingShape incoming_shape_;
    std::size_t out_at_ = 0, out_size_ = 0;     ///< unsent part of the current frame
    std::size_t in_at_ = 0, in_size_ = 0;       ///< received bytes that are not in the ring yet
    std::array<std::byte, max_frame_size> out_; ///< the frame that is being sent
    /// Received bytes; larger than a frame, so that one system call takes several messages.
    std::array<std::byte, 16384> in_;
};

} // namespace opendoca::comm_channel
