// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "../core/device/device.hpp"
#include "../core/engine/event_handle.hpp"
#include "queue_pair_link.hpp"
#include "ring.hpp"
#include "wire.hpp"

namespace opendoca::comm_channel {

/// Carries the bytes of a stream: by TCP, and in each direction by a queue pair from the moment at which its sender
/// switches (stream.hpp has the protocol). A part of a Stream, used under the lock of its connection. Invariant: once a
/// direction has switched it never returns to TCP, which from then on only detects the end of the peer.
class StreamTransport {
public:
    /// @p socket is connected and outlives the object.
    explicit StreamTransport(int socket) noexcept : socket_(socket) {}

    /// Sets the options of the socket.
    void open() noexcept;

    /// Sends without blocking. Returns how many of the @p bytes, the rest of a frame, were accepted.
    [[nodiscard]] std::size_t send(std::span<const std::byte> bytes) noexcept
    {
        if (sends_by_link())
            return link_->send(bytes) ? bytes.size() : 0;
        return send_by_socket(bytes);
    }
    /// Receives once, without blocking. Returns how many @p bytes were filled: 0 if there is nothing for now, or the
    /// peer has ended.
    [[nodiscard]] std::size_t receive(std::span<std::byte> bytes) noexcept
    {
        return receives_by_link_ ? receive_by_link(bytes) : receive_by_socket(bytes);
    }
    /// Returns whether the end of the peer was detected. Bytes from before may not have been received yet.
    [[nodiscard]] bool has_ended() const noexcept { return has_ended_; }
    /// Blocks until more can be sent. Returns false on a timeout, counted from @p begin, or when the peer has gone.
    [[nodiscard]] bool wait_to_send(std::chrono::steady_clock::time_point begin, const EventHandle &events) noexcept;
    /// Blocks until the peer's kernel has acknowledged what was sent by TCP, or a timeout counted from @p begin.
    void wait_for_acknowledgement(std::chrono::steady_clock::time_point begin) const noexcept;

    // The queue pair. A side that fails to create or to connect one stays with TCP.

    /// Creates the queue pair of @p function. Its completions wake @p events. Returns false on failure.
    [[nodiscard]] bool create_link(const std::shared_ptr<const DeviceFunction> &function,
                                   const std::shared_ptr<EventHandle> &events, RingShape outgoing,
                                   RingShape incoming) noexcept;
    /// The queue pair, or null if messages go by TCP alone.
    [[nodiscard]] QueuePairLink *link() const noexcept { return link_.get(); }
    [[nodiscard]] bool is_linked() const noexcept { return link_ != nullptr && link_->was_connected(); }
    /// Returns the connection data of the queue pair; size 0 if there is none.
    [[nodiscard]] Offer offer() const noexcept;
    // Connect the queue pair to that of an @p offer. On failure there is no queue pair any more.
    void connect_to_service(const Offer &offer) noexcept;
    void connect_to_client(const Offer &offer) noexcept;
    /// Client: processes whether the service has connected its queue pair. Returns false if it may not say so now.
    [[nodiscard]] bool note_service_connected(bool is_connected) noexcept;

    // The switch of the own direction: a probe; once it is acknowledged the last frame by TCP; then the queue pair.
    void probe() noexcept;
    [[nodiscard]] bool is_probe_acknowledged() const noexcept
    {
        return sending_ == Sending::probes_link && !link_->has_unsent() && !link_->has_failed();
    }
    /// The last frame by TCP is being sent.
    void begin_switch() noexcept { sending_ = Sending::switches; }
    [[nodiscard]] bool is_switching() const noexcept { return sending_ == Sending::switches; }
    void switch_sends() noexcept { sending_ = Sending::by_link; }
    [[nodiscard]] bool sends_by_link() const noexcept { return sending_ == Sending::by_link; }
    /// The switch of the peer's direction: everything that is received from now on comes by the queue pair.
    void switch_receives() noexcept { receives_by_link_ = true; }
    [[nodiscard]] bool receives_by_link() const noexcept { return receives_by_link_; }

    /// Polls the queue pair. Returns true if it has failed and carries messages: the connection is to end with
    /// end_after_failure() once all that has arrived is processed. Before the switch a failure leaves TCP in use.
    [[nodiscard]] bool has_lost_link() noexcept;
    void end_after_failure() noexcept;

private:
    [[nodiscard]] std::size_t send_by_socket(std::span<const std::byte> bytes) noexcept;
    [[nodiscard]] std::size_t receive_by_socket(std::span<std::byte> bytes) noexcept;
    [[nodiscard]] std::size_t receive_by_link(std::span<std::byte> bytes) noexcept;
    [[nodiscard]] bool connect(const Offer &offer) noexcept;
    /// Stays with TCP, after a log line with the @p reason.
    void drop_link(const char *reason) noexcept;

    enum class Sending : std::uint8_t {
        by_socket,
        probes_link, ///< probe in flight; frames go by TCP
        switches,    ///< by_queue_pair is being sent by TCP
        by_link
    };

    const int socket_;
    std::unique_ptr<QueuePairLink> link_;
    Sending sending_ = Sending::by_socket;
    bool receives_by_link_ = false; ///< the peer has sent by_queue_pair
    bool has_ended_ = false;
};

} // namespace opendoca::comm_channel
