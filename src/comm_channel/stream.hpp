// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A connection between two machines, of which the host and the DPU of a card are two: what is in the rings of this side
// goes over TCP to the rings of the other. A place in the sender's ring is free when the receiver's program has got the
// message, of which it is told; so both rings hold the same, and TCP never holds up anybody. A message on its way is its
// length and its kind, 4 bytes each, and its bytes; all numbers in the order that both machines have.
//
// Where both sides have a queue pair of one card, each goes on by these as soon as it knows that they work, and TCP then
// only tells of its end:
//
//     client                        service, by TCP
//     hello, can use one       ->
//                              <-   welcome_and_offer, with the details of its queue pair
//     connects its own; offer  ->
//                              <-   connects; connected
//
// Now each side sends nothing by its queue pair. When the card tells that this has arrived, by_queue_pair is the last that
// the side sends by TCP. Neither waits for the other before it sends messages.
#pragma once

#include <array>
#include <bit>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "../core/engine/event_handle.hpp"
#include "../core/fork.hpp"
#include "queue_pair_link.hpp"
#include "ring.hpp"
#include "wire.hpp"

namespace opendoca::comm_channel {

static_assert(std::endian::native == std::endian::little, "x86-64 and Arm64 are; others need a conversion here");

/// Of messages of the libraries' transport itself. Below are those of the program and of the libraries above.
enum class StreamKind : std::uint32_t {
    hello = 0xffffff00,
    welcome,
    received, ///< how many messages the program has received: 8 bytes
    leaving,
    welcome_and_offer, ///< in place of welcome, to a client that can use a queue pair
    offer,             ///< by a client: the same of its own; of 0 bytes when it has none after all
    connected,         ///< by the service: 4 bytes, 1 if it has connected
    by_queue_pair,     ///< of nothing
};

/// Never waits, but for say_goodbye(). Whatever comes is checked: anybody may connect.
class Stream {
public:
    explicit Stream(int socket) noexcept : socket_(socket) {}

    /// What is needed to sleep; false with errno.
    [[nodiscard]] bool open();
    /// Readable when pump() could do something, for who has asked to be woken for messages or for space; and the first one
    /// before attach(), and at the end.
    [[nodiscard]] int message_fd() const noexcept { return messages_->fd(); }
    [[nodiscard]] int space_fd() const noexcept { return space_epoll_.get(); }
    /// Both descriptors are watched in one place, so what wakes by the one need not be in the other as well. The kernel
    /// nests four epolls in each other and no more, and the program's own is one of them.
    void descriptors_are_together() noexcept { are_together_ = true; }

    // Before attach(): one message from each side.
    void put(StreamKind kind, std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] Arrival take(StreamKind kind, std::span<std::byte> bytes) noexcept;
    /// What comes next, as far as has come.
    [[nodiscard]] std::optional<StreamKind> next_kind() noexcept;

    /// A service, before attach(): makes a queue pair of @p function. False, with a line in the log, when there is none.
    [[nodiscard]] bool make_link(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing,
                                 RingShape incoming) noexcept;
    /// Of that queue pair.
    [[nodiscard]] Offer offer() const noexcept;
    /// A client, after attach(): likewise, and connects it to that of @p offer.
    void take_up(const std::shared_ptr<const DeviceFunction> &function, RingShape outgoing, RingShape incoming,
                 const Offer &offer) noexcept;

    /// From now on pump() carries messages between the socket and the rings of @p memory, as the peer's side of them.
    void attach(SharedMemory &memory, bool is_service, RingShape to_service, RingShape to_client);
    /// Carries what can be carried now. False when the peer does not keep the rules.
    [[nodiscard]] bool pump() noexcept;
    /// Nothing comes any more, and all that came is in the ring.
    [[nodiscard]] bool has_ended() const noexcept
    {
        Header header{};
        return has_ended_ && find_frame(header) != Input::frame;
    }
    // Whether one of the two is to wake. To be followed by a look at the ring.
    void wake_for_message(bool is_wanted) noexcept;
    void wake_for_space(bool is_wanted) noexcept;
    /// Sends what is in the ring, and that it was the last. Waits until the peer has it: by TCP at most a second, as a peer
    /// may take nothing; by a queue pair at most ten, while the card tries.
    void say_goodbye() noexcept;

private:
    struct Header {
        std::uint32_t length;
        std::uint32_t kind;
    };
    static constexpr std::size_t longest_frame = sizeof(Header) + 4096;

    enum class Input : std::uint8_t { nothing, frame, damaged };
    [[nodiscard]] Input find_frame(Header &header) const noexcept;
    void drop_frame(const Header &header) noexcept;
    [[nodiscard]] bool receive() noexcept;
    [[nodiscard]] bool receive_by_link() noexcept;
    [[nodiscard]] std::size_t write() noexcept;
    [[nodiscard]] bool flush() noexcept;
    void frame(std::uint32_t kind, std::size_t length) noexcept;
    [[nodiscard]] bool accept_offer(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] bool accept_connected(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] bool accept_switch() noexcept;
    [[nodiscard]] bool note_received(std::uint64_t count) noexcept;
    void look_at_link() noexcept;
    [[nodiscard]] bool try_link() noexcept;
    void drop_link(const char *reason) noexcept;
    [[nodiscard]] bool wait_to_write(std::chrono::steady_clock::time_point begin) noexcept;
    [[nodiscard]] bool wait_for_acknowledgement(std::chrono::steady_clock::time_point end) const noexcept;
    void arm_link() noexcept;
    void push() noexcept;
    [[nodiscard]] bool frame_next() noexcept;
    [[nodiscard]] bool accept(const Header &header, const std::byte *bytes, bool &has_brought) noexcept;
    [[nodiscard]] bool pull(bool &has_brought) noexcept;
    void flush_later(bool is_needed) noexcept;
    void choose_events() noexcept;

    const int socket_;
    // Woken also when another thread has brought what one sleeps for.
    std::shared_ptr<EventHandle> messages_;
    ProcessFd space_epoll_;
    bool are_together_ = false;
    ProcessFd space_news_; ///< an eventfd
    std::unique_ptr<QueuePairLink> link_; ///< null where all goes by the socket
    enum class Sending : std::uint8_t {
        by_socket,
        tries_link, ///< still by the socket
        switches,   ///< the socket's last frame is on its way
        by_link
    } sending_ = Sending::by_socket;
    bool receives_by_link_ = false;
    bool is_service_ = false;
    bool wakes_for_message_ = true;
    bool wakes_for_space_ = false;
    bool has_unsent_ = false;
    bool has_ended_ = false;
    // The peer's sides of the rings.
    std::atomic<std::uint32_t> *peer_left_ = nullptr;
    ReceiveRing outgoing_;
    std::uint64_t num_got_ = 0; ///< of those, by the peer's program
    SendRing incoming_;
    std::uint64_t num_told_ = 0; ///< of these, by this side's program, as the peer knows
    RingShape incoming_shape_;
    std::size_t out_at_ = 0, out_size_ = 0; ///< what is left of the frame that is being sent
    std::size_t in_at_ = 0, in_size_ = 0;   ///< what has come and is not in the ring
    std::array<std::byte, longest_frame> out_;
    std::array<std::byte, 16384> in_;
};

} // namespace opendoca::comm_channel
