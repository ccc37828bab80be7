// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>

#include "../core/dev.hpp"
#include "../core/fork.hpp"
#include "../core/peer_process.hpp"
#include "limits.hpp"
#include "ring.hpp"
#include "stream.hpp"
#include "wire.hpp"

namespace opendoca::comm_channel {

/// One end of a connection between a service and a client.
class Connection {
public:
    enum class State : std::uint8_t {
        connecting, ///< the service has not taken the client in
        connected,
        left,  ///< has disconnected; its messages can still be received
        died,  ///< ended without that; likewise
        failed ///< the connection never came about
    };
    enum class Side : std::uint8_t { service, client };

    /// Of the program's messages, which are of kind 0.
    struct Counters {
        std::uint64_t send_messages = 0;
        std::uint64_t send_bytes = 0;
        std::uint64_t recv_messages = 0;
        std::uint64_t recv_bytes = 0;
        std::uint64_t send_in_flight = 0;
    };

    /// @p own_side: of this process's end of the connection, which belongs to @p dev.
    Connection(Side own_side, UniqueFd connection, const doca_dev &dev);

    /// Client: asks to be taken in.
    [[nodiscard]] doca_error_t say_hello(const ServiceKey &service,
                                         const Limits &own);
    /// Client: CONNECTION_INPROGRESS, SUCCESS, or CONNECTION_ABORTED.
    [[nodiscard]] doca_error_t take_welcome(const Limits &own);
    /// Service: the same, after which the client is taken in. Says no to it unless it @p has_space, and ends it after
    /// hello_deadline(). OPERATING_SYSTEM with errno, and no message, when descriptors or memory lack.
    /// @p is_ready is asked before the client is told that it is taken in, and answers false with errno.
    [[nodiscard]] doca_error_t take_hello(const ServiceKey &service, const Limits &own, bool has_space,
                                          const std::function<bool()> &is_ready);

    [[nodiscard]] std::chrono::steady_clock::time_point hello_deadline() const noexcept { return begin_ + longest_silence; }

    /// In any thread; all else in one at a time.
    [[nodiscard]] State state() const noexcept { return state_.load(std::memory_order_relaxed); }
    [[nodiscard]] bool has_ended() const noexcept { return state() >= State::left; }
    [[nodiscard]] bool is_released() const noexcept { return !socket_.is_open(); }
    /// Hangs up with the peer.
    [[nodiscard]] int socket() const noexcept { return socket_.get(); }
    /// Becomes readable for messages, while the peer has been asked for bells, and at the end.
    [[nodiscard]] int message_fd() const noexcept
    {
        return stream_ != nullptr ? stream_->message_fd() : socket_.get();
    }
    /// Becomes readable when the peer's process ends; -1 where nothing shows it but the socket. To be watched as
    /// message_fd() is.
    [[nodiscard]] int process_fd() const noexcept { return process_.fd(); }
    [[nodiscard]] int space_fd() const noexcept { return stream_ != nullptr ? stream_->space_fd() : space_socket_.get(); }
    /// Who watches both in one epoll says so, before the handshake.
    void descriptors_are_together() noexcept
    {
        if (stream_ != nullptr)
            stream_->descriptors_are_together();
    }
    /// Of the program's messages.
    [[nodiscard]] std::uint32_t longest_to_send() const noexcept { return out_.shape().longest(0); }
    [[nodiscard]] std::uint64_t num_received() const noexcept { return now_.recv_messages; }
    [[nodiscard]] std::uint64_t num_sent() const noexcept { return now_.send_messages; }

    /// Whether there is space, or a message; a peer that does not keep the rules counts as dead.
    [[nodiscard]] bool has_space() noexcept;
    [[nodiscard]] bool has_message() noexcept;
    /// SUCCESS, or AGAIN; CONNECTION_RESET when the peer turns out not to keep the rules.
    [[nodiscard]] doca_error_t send(const void *message, std::size_t length, std::uint32_t kind = 0) noexcept;
    /// The same; INVALID_VALUE when the message is too long for @p length.
    [[nodiscard]] doca_error_t receive(void *message, std::size_t &length, std::uint32_t &kind) noexcept;
    /// The same, where only messages of the program are expected.
    [[nodiscard]] doca_error_t receive(void *message, std::size_t &length) noexcept;
    /// A message that the peer can't receive any more, having left.
    void send_in_vain(std::size_t length) noexcept;

    /// The kernel had no memory to wake the peer, which may sleep. Each call here tries again, so the own program must
    /// not sleep meanwhile.
    [[nodiscard]] bool owes_bell() const noexcept { return owes_message_bell_ || owes_space_bell_; }

    /// Asks for bells. Each is to be followed by a look at what is there.
    void arm_for_message() noexcept;
    void arm_for_space() noexcept;
    void drain_space_bells() noexcept;

    /// Looks whether the other end is still there; true when it has just turned out that it is not.
    [[nodiscard]] bool check_end() noexcept;
    /// Takes all bells that have rung, before a look at what is there. True when the peer has gone, which is not noted.
    [[nodiscard]] bool take_bells() noexcept;
    /// Takes the bells that have rung for messages; result as check_end().
    [[nodiscard]] bool drain_bells() noexcept;

    void fail() noexcept { state_ = State::failed; }
    /// Sends what was not sent yet and a disconnect notice, and shuts the connection down. Blocks where the peer is on
    /// another machine: see Stream::say_goodbye().
    void leave() noexcept;
    /// The same without anything sent: never blocks.
    void hang_up() noexcept;
    /// Gives descriptors and memory back; counters stay.
    void release() noexcept;

    void update_counters() noexcept;

    Counters counters; ///< as of the last update

private:
    [[nodiscard]] bool tell(StreamKind kind, std::span<const std::byte> bytes, std::span<const int> files) noexcept;
    [[nodiscard]] Arrival hear(StreamKind kind, std::span<std::byte> bytes, std::span<UniqueFd> files) noexcept;
    [[nodiscard]] bool open_memory(const Welcome &welcome, std::span<UniqueFd, 2> files);
    void attach();
    /// What is owed, or under way where the peer is on another machine.
    void pump() noexcept;
    void ring_for_message() noexcept;
    void ring_for_space() noexcept;
    [[nodiscard]] bool may_tell_of_peer() const noexcept;
    /// Returns true if the peer's process has ended, also where its children keep the other end of the socket open; then
    /// this end is closed. Costs a system call.
    [[nodiscard]] bool has_lost_process() noexcept;
    void note_end() noexcept;
    void note_damage() noexcept;
    void note_departure() noexcept;

    const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
    const Side side_;
    std::atomic<State> state_{State::connecting};
    bool has_left_ = false; ///< this side
    bool owes_message_bell_ = false;
    bool owes_space_bell_ = false;
    bool was_armed_ = false;         ///< since check_end()
    std::uint8_t num_end_checks_ = 0;
    ProcessFd socket_;
    PeerProcess process_; ///< of the peer, where it is on this machine
    const HomeProcess home_;
    std::unique_ptr<Stream> stream_; ///< where the peer is on another machine, or may be
    std::shared_ptr<const DeviceFunction> messages_by_; ///< then: that has queue pairs for messages, or null
    ProcessFd space_socket_; ///< else: the peer writes to it when it has freed space in the ring
    SharedMemory memory_;
    RingShape to_service_;
    RingShape to_client_;
    SendRing out_;
    ReceiveRing in_;
    Counters now_;
};

} // namespace opendoca::comm_channel
