// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include <doca_rdma.h>

#include "../../core/device/connector.hpp"
#include "../../core/device/queue_pair.hpp"

/// The address of a server: a numeric address or a GID, and a port. The program owns those that it creates; each
/// connection by address owns a copy, which the program can query and must not free. Constant after creation.
struct doca_rdma_addr {
    doca_rdma_addr_type type;
    std::string text;              ///< numeric; names are not resolved
    std::uint16_t port;            ///< in host byte order
    bool is_of_connection = false; ///< the copy of a connection: doca_rdma_addr_destroy() refuses it
};

/// One connection of an instance: a queue pair, and for connections by address the link that established it. Owned by
/// its doca_rdma, first in connections_ and after its end in one of the lists of ended connections; used by the thread
/// of the progress engine.
/// The program holds a pointer to it. The object therefore outlives the connection: it exists until the instance is
/// idle. There are exceptions for connections that a client has or may have requested (see doca_rdma::drop_ended()): an
/// incoming one that was never established is freed by one of the next progress calls after its end, and the number of
/// other incoming and bridged ones that have ended is limited. The queue pair and the link are destroyed earlier, when
/// nothing is in flight.
struct doca_rdma_connection {
    /// How the connection was created.
    enum class Origin : std::uint8_t {
        exported, ///< doca_rdma_export(): the program carries the connection details to the peer itself
        incoming, ///< requested by a client of a port on which this instance listens
        outgoing, ///< doca_rdma_connect_to_addr(): requested by this side
        bridged,  ///< doca_rdma_bridge_prepare_connection(): established by the program, by an id of rdma_cm of its own
    };
    /// State of the connection as the program may use it. Changes in the order below; every state can change to ended.
    enum class State : std::uint8_t {
        initial, ///< not connected yet; if incoming, the program has not answered the request
        /// Connected on this side, with the established callback pending: of an incoming connection until the client
        /// confirms or its first message arrives, of an exported one until the next progress, of a bridged one until
        /// the progress after doca_rdma_bridge_established() or until its first message arrives.
        ready,
        connected, ///< in use; the established callback was called if it is set
        ended,     ///< final; the queue pair is flushed and may already be destroyed
    };

    doca_rdma_connection(doca_rdma &owner, Origin how, std::uint32_t number) noexcept
        : rdma(owner),
          origin(how),
          id(number)
    {
    }
    doca_rdma_connection(const doca_rdma_connection &) = delete;
    doca_rdma_connection &operator=(const doca_rdma_connection &) = delete;
    ~doca_rdma_connection() { drop_queue_pair(); }

    /// Detaches the queue pair from the completion queue and destroys it. Nothing may be in flight on it, since
    /// completions refer to it as their source.
    void drop_queue_pair() noexcept
    {
        if (queue_pair != nullptr)
            queue_pair->detach();
        queue_pair.reset();
    }

    /// Returns whether this side has requested the connection and the server has not answered. deadline applies in
    /// this state.
    [[nodiscard]] bool is_requested() const noexcept { return origin == Origin::outgoing && state == State::initial; }
    /// Returns whether the program has connected an exported or a bridged connection and the next progress calls its
    /// established callback. The callback must not be called inside the program's call itself.
    [[nodiscard]] bool is_callback_pending() const noexcept
    {
        return state == State::ready && (origin == Origin::exported || is_confirmed);
    }
    /// Returns whether the connection was lost, and the next progress calls its disconnection callback.
    [[nodiscard]] bool has_failed() const noexcept
    {
        return state == State::connected && queue_pair->state() == opendoca::ConnectionState::failed;
    }
    /// Returns whether operations can be posted: also in state ready, in which this side is already connected.
    [[nodiscard]] bool can_submit() const noexcept { return queue_pair != nullptr && queue_pair->is_connected(); }

    // The instance that owns the connection. Outlives it.
    doca_rdma &rdma;
    const Origin origin;
    const std::uint32_t id; ///< number of the connection in order of creation since the start of the instance
    State state = State::initial;
    bool was_established = false;            ///< the program was notified that the connection is established
    bool is_confirmed = false;               ///< doca_rdma_bridge_established() was called
    doca_data user_data{};                   ///< argument of the callbacks; set by the program at any time
    std::unique_ptr<doca_rdma_addr> address; ///< copy of the one that the program passed; null unless Origin::outgoing
    std::chrono::steady_clock::time_point deadline; ///< of the answer of the server; valid while is_requested()
    // Stored by create_queue_pair() and then by the queue pair, which refers to it: declared before it, so that it is
    // destroyed later.
    std::atomic<opendoca::ConnectionState> queue_pair_state{opendoca::ConnectionState::none};
    std::unique_ptr<opendoca::QueuePair> queue_pair; ///< null once drop_queue_pair() was called
    /// Null if exported, and after the exchange with the peer is over. A BridgedLink if bridged.
    std::unique_ptr<opendoca::Link> link;
    std::unique_ptr<doca_rdma_connection> ended_next; ///< next newer connection in EndedConnections
};

/// Connections that have ended and that the program may still query, oldest first. An intrusive singly linked list
/// through ended_next, so that ending a connection allocates no memory and cannot fail. Owned by a doca_rdma; used by
/// the thread of its progress engine.
class EndedConnections {
public:
    EndedConnections() = default;
    EndedConnections(const EndedConnections &) = delete;
    EndedConnections &operator=(const EndedConnections &) = delete;
    ~EndedConnections() { drop_to(0); }

    /// Appends @p ended as the newest.
    void add(std::unique_ptr<doca_rdma_connection> ended) noexcept
    {
        doca_rdma_connection *const newest = ended.get();
        (newest_ != nullptr ? newest_->ended_next : oldest_) = std::move(ended);
        newest_ = newest;
        ++count_;
    }
    /// Destroys the oldest connections until @p count are left. Iterative: recursive destruction of the chain of
    /// unique_ptrs would need stack space in proportion to its length.
    void drop_to(std::uint32_t count) noexcept
    {
        for (; count_ > count; --count_)
            oldest_ = std::move(oldest_->ended_next);
        if (oldest_ == nullptr)
            newest_ = nullptr;
    }

private:
    std::unique_ptr<doca_rdma_connection> oldest_;
    doca_rdma_connection *newest_ = nullptr; ///< end of the list; null if it is empty
    std::uint32_t count_ = 0;
};
