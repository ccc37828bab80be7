// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include "../core/objects/dev.hpp"
#include "../core/process/fork.hpp"
#include "../core/process/peer_process.hpp"
#include "limits.hpp"
#include "ring.hpp"
#include "stream.hpp"
#include "wire.hpp"

namespace opendoca::comm_channel {

/// One end of a connection between a service and a client. The endpoint (v2) or context (v3) that created it owns it.
/// Only state() may be called from any thread; all other functions need the owner's lock. Messages travel through
/// shared-memory rings; where the peer is on another machine, a Stream carries the contents of the rings.
class Connection {
public:
    enum class State : std::uint8_t {
        connecting, ///< the service has not accepted the client
        connected,
        left,  ///< disconnected in order; messages of the peer can still be received
        died,  ///< ended without a disconnect notice; messages of the peer can still be received
        failed ///< the handshake failed
    };
    enum class Side : std::uint8_t { service, client };
    /// How the owner watches the descriptors.
    enum class Watching : std::uint8_t {
        by_two_channels, ///< messages and space are watched separately, and each connection by itself
        by_one_channel,  ///< one event channel watches everything of all its connections
    };

    /// Traffic of the program: control messages (kind other than 0) are not counted.
    struct Counters {
        std::uint64_t send_messages = 0;
        std::uint64_t send_bytes = 0;
        std::uint64_t recv_messages = 0;
        std::uint64_t recv_bytes = 0;
        std::uint64_t send_in_flight = 0;
    };

    /// Takes over @p connection, a connected socket. @p own_side is the side of this process; @p dev is its device.
    Connection(Side own_side, UniqueFd connection, const doca_dev &dev, Watching watching);

    /// Client: sends the hello that requests a connection to @p service.
    [[nodiscard]] doca_error_t send_hello(const ServiceKey &service, const Limits &own);
    /// Client: processes the service's answer. Returns CONNECTION_INPROGRESS, SUCCESS, or CONNECTION_ABORTED.
    [[nodiscard]] doca_error_t receive_welcome(const Limits &own);
    /// Service: processes the client's hello. Returns SUCCESS once the client is accepted, CONNECTION_INPROGRESS while
    /// no hello has arrived, and CONNECTION_ABORTED if the client is refused, for example because @p has_space is false
    /// or because hello_deadline() has passed. Returns OPERATING_SYSTEM with errno, and logs nothing, when descriptors
    /// or memory lack. Calls @p is_ready before the acceptance is sent; it returns false with errno to abandon the
    /// client.
    [[nodiscard]] doca_error_t receive_hello(const ServiceKey &service, const Limits &own, bool has_space,
                                             const std::function<bool()> &is_ready);

    [[nodiscard]] std::chrono::steady_clock::time_point hello_deadline() const noexcept
    {
        return begin_ + hello_timeout;
    }

    /// May be called from any thread, unlike every other function. Relaxed: the state guards no other data.
    [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool has_ended() const noexcept { return state() >= State::left; }
    [[nodiscard]] bool is_released() const noexcept { return !socket_.is_open(); }
    /// Returns the socket, which reports a hang-up when the peer closes its end.
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    /// Returns the descriptor that becomes readable for a message while doorbells are requested, and when the peer
    /// ends.
    [[nodiscard]] int message_fd() const noexcept { return stream_ != nullptr ? stream_->message_fd() : socket_.get(); }
    /// Returns the descriptor that becomes readable for space, which may be message_fd(). On this machine it is -1
    /// before the acceptance.
    [[nodiscard]] int space_fd() const noexcept
    {
        if (stream_ != nullptr)
            return stream_->space_fd();
        return has_one_socket_ ? socket_.get() : space_socket_.get();
    }
    /// Returns whether descriptors show each end of the peer. Otherwise check_end() must be called now and then.
    [[nodiscard]] bool is_end_shown() const noexcept { return !process_->is_watched() || process_->fd() >= 0; }
    /// Returns the descriptor that becomes readable when the peer's process ends; -1 if only the socket shows the end.
    /// An owner with by_one_channel watches it once for all connections with the same process().
    [[nodiscard]] int process_fd() const noexcept { return process_->fd(); }
    /// Returns the peer's process, never null. With by_one_channel, several connections may have the same object.
    [[nodiscard]] const std::shared_ptr<const PeerProcess> &process() const noexcept { return process_; }
    /// Declares that this side understands messages of other kinds than 0. Call before the handshake.
    void offer_control_messages() noexcept { offers_control_messages_ = true; }
    /// Returns whether the peer understands them as well. Defined from state connected on. Otherwise only kind 0 may be
    /// sent, and another kind from the peer is a protocol violation.
    [[nodiscard]] bool has_control_messages() const noexcept { return has_control_messages_; }
    /// Returns the longest message of the program, in bytes, that both sides accept.
    [[nodiscard]] std::uint32_t max_send_length() const noexcept { return out_.shape().max_length(0); }
    [[nodiscard]] std::uint64_t num_received() const noexcept { return now_.recv_messages; }
    [[nodiscard]] std::uint64_t num_sent() const noexcept { return now_.send_messages; }

    /// Returns whether a send would find space, or a receive a message. A peer that violates the protocol counts as
    /// died.
    [[nodiscard]] bool has_space() noexcept;
    [[nodiscard]] bool has_message() noexcept;
    /// Returns SUCCESS, AGAIN if the ring is full, or CONNECTION_RESET if the peer violates the protocol.
    [[nodiscard]] doca_error_t send(const void *message, std::size_t length, std::uint32_t kind = 0) noexcept;
    /// Returns SUCCESS, AGAIN, CONNECTION_RESET, or INVALID_VALUE if the message is longer than @p length; it then
    /// stays.
    [[nodiscard]] doca_error_t receive(void *message, std::size_t &length, std::uint32_t &kind) noexcept;
    /// The same without control messages: has_control_messages() must be false.
    [[nodiscard]] doca_error_t receive(void *message, std::size_t &length) noexcept;
    /// Counts a message as sent that is dropped because the peer has disconnected.
    void count_lost_send(std::size_t length) noexcept;

    /// Returns whether a doorbell could not be rung because the kernel had no memory. Each call on the connection
    /// retries. Until one succeeds, the program must not block: the peer may be blocked and wait for this doorbell.
    [[nodiscard]] bool has_pending_doorbell() const noexcept
    {
        return has_pending_message_doorbell_ || has_pending_space_doorbell_;
    }

    /// Request a doorbell, unless the connection was closed after a protocol violation. The caller must check for a
    /// message, or for space, afterwards: one that came before rings none.
    void arm_for_message() noexcept;
    void arm_for_space() noexcept;
    void drain_space_doorbells() noexcept;

    /// Returns whether the caller has to check for the end of the peer, which costs system calls: when the peer's
    /// disconnect shows in the shared memory, after arming, over TCP, and otherwise once in 20 microseconds, because
    /// a peer that dies leaves no trace but on its socket.
    [[nodiscard]] bool is_end_check_due() noexcept;
    /// Checks whether the peer has closed its end. Returns true if this call detected the end.
    [[nodiscard]] bool check_end() noexcept;
    /// Drains all doorbells; check for messages and space afterwards. Returns whether the peer has closed its end,
    /// without changing the state.
    [[nodiscard]] bool drain_all_doorbells() noexcept;
    /// Drains the doorbells of message_fd(). Returns true if this call detected the peer's end.
    [[nodiscard]] bool drain_message_doorbells() noexcept;

    void fail() noexcept { state_ = State::failed; }
    /// Sends unsent messages and a disconnect notice, and shuts the connection down. Blocks if the peer is on another
    /// machine: see Stream::drain_and_leave().
    void leave() noexcept;
    /// Shuts the connection down without sending anything. Never blocks.
    void shut_down() noexcept;
    /// Closes descriptors and frees memory. The counters stay.
    void release() noexcept;

    void update_counters() noexcept;

    Counters counters; ///< values at the last update_counters()

private:
    [[nodiscard]] bool send_handshake(StreamKind kind, std::span<const std::byte> bytes,
                                      std::span<const int> files) noexcept;
    [[nodiscard]] Arrival receive_handshake(StreamKind kind, std::span<std::byte> bytes,
                                            std::span<UniqueFd> files) noexcept;
    /// Returns the bits of Feature that this side offers to the service.
    [[nodiscard]] std::uint32_t features() const noexcept
    {
        return (messages_by_ != nullptr ? Feature::queue_pairs : 0U) |
               (offers_control_messages_ ? Feature::control_messages : 0U) |
               (stream_ == nullptr && watching_ == Watching::by_one_channel ? Feature::one_socket : 0U);
    }
    [[nodiscard]] bool open_memory(const Welcome &welcome, std::span<UniqueFd, 2> files);
    void attach();
    /// Retries pending doorbells, and moves data between rings and socket if the peer is on another machine.
    void pump() noexcept;
    void ring_message_doorbell() noexcept;
    void ring_space_doorbell() noexcept;
    /// Returns true if the peer's process has ended, even if its children keep the other end of the socket open; then
    /// this end is closed. Costs a system call.
    [[nodiscard]] bool has_lost_process() noexcept;
    void record_end() noexcept;
    /// Closes the connection as died after invalid data from the peer. Further calls do nothing.
    void note_damage() noexcept;
    void note_departure() noexcept;

    /// The start of the time limit for a hello.
    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    const Side side_;
    std::atomic<State> state_{State::connecting};
    /// This side has disconnected, so that the end of the connection is no death of the peer.
    bool has_left_ = false;
    bool offers_control_messages_ = false;
    bool has_control_messages_ = false; ///< both sides offer them
    bool has_pending_message_doorbell_ = false;
    bool has_pending_space_doorbell_ = false;
    bool was_armed_ = false;                               ///< armed since the last check for the end
    std::chrono::steady_clock::time_point last_end_check_; ///< as far as is_end_check_due() required it
    ProcessFd socket_;
    /// A forked child's copy of the object must not end the connection.
    const CreatorProcess creator_;
    std::unique_ptr<Stream> stream_;                   ///< set if the connection uses TCP, null for a Unix socket
    const std::shared_ptr<const PeerProcess> process_; ///< watches nothing if there was a stream
    /// With a stream: the function with the queue pairs that carry messages, or null.
    std::shared_ptr<const DeviceFunction> messages_by_;
    /// Without a stream: carries the doorbells for space, in both directions. Not open if has_one_socket_.
    ProcessFd space_socket_;
    const Watching watching_;
    bool has_one_socket_ = false; ///< both sides have Feature::one_socket
    SharedMemory memory_;         ///< unmapped after a protocol violation: no message is read or written from then on
    RingShape to_service_;        ///< shape of the ring from client to service
    RingShape to_client_;
    SendRing out_;   ///< the ring that this side fills
    ReceiveRing in_; ///< the ring that this side empties
    Counters now_;   ///< running totals; update_counters() publishes them
};

} // namespace opendoca::comm_channel
