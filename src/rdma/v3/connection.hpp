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

/// The address of a server. The program owns those that it creates; each connection by address owns a copy.
struct doca_rdma_addr {
    doca_rdma_addr_type type;
    std::string text;
    std::uint16_t port;
    bool is_of_connection = false;
};

/// One connection of an instance. Programs ask it for its user data after its end: it stays until the instance has
/// stopped, unless a client asked for it, see doca_rdma::drop_ended(), which also gives back what it is made of.
struct doca_rdma_connection {
    /// How it comes to be connected.
    enum class Origin : std::uint8_t {
        exported, ///< the program carries the details
        accepted, ///< a client has asked for it
        address,  ///< of a server that this side has asked
    };
    enum class State : std::uint8_t {
        initial, ///< not connected, asked for, or not answered by the program
        ready,   ///< connected on this side, and the established callback is still to be called: of an accepted one
                 ///< until the client has confirmed, of an exported one until the next progress
        connected,
        ended,
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

    void drop_queue_pair() noexcept
    {
        if (queue_pair != nullptr)
            queue_pair->detach();
        queue_pair.reset();
    }

    /// The server has not answered.
    [[nodiscard]] bool is_requested() const noexcept { return origin == Origin::address && state == State::initial; }
    /// The program has connected it, and its established callback is called in the next progress.
    [[nodiscard]] bool is_callback_pending() const noexcept
    {
        return origin == Origin::exported && state == State::ready;
    }
    [[nodiscard]] bool can_submit() const noexcept { return queue_pair != nullptr && queue_pair->is_connected(); }

    doca_rdma &rdma;
    const Origin origin;
    const std::uint32_t id;
    State state = State::initial;
    bool was_established = false; ///< the program was notified that the connection is established
    doca_data user_data{};
    std::unique_ptr<doca_rdma_addr> address;        ///< a copy of the one that the program has given, or null
    std::chrono::steady_clock::time_point deadline; ///< of an answer from there
    std::atomic<opendoca::ConnectionState> queue_pair_state{opendoca::ConnectionState::none};
    std::unique_ptr<opendoca::QueuePair> queue_pair;
    std::unique_ptr<opendoca::Link> link;             ///< of one that is not exported
    std::unique_ptr<doca_rdma_connection> ended_next; ///< in EndedConnections
};

/// Connections that have ended and that the program may still use: a list, oldest first. Takes no memory.
class EndedConnections {
public:
    EndedConnections() = default;
    EndedConnections(const EndedConnections &) = delete;
    EndedConnections &operator=(const EndedConnections &) = delete;
    ~EndedConnections() { drop_to(0); }

    void add(std::unique_ptr<doca_rdma_connection> ended) noexcept
    {
        doca_rdma_connection *const newest = ended.get();
        (newest_ != nullptr ? newest_->ended_next : oldest_) = std::move(ended);
        newest_ = newest;
        ++count_;
    }
    /// Destroys the oldest until @p count are left. One by one: as a chain of destructors they would need a stack as
    /// long.
    void drop_to(std::uint32_t count) noexcept
    {
        for (; count_ > count; --count_)
            oldest_ = std::move(oldest_->ended_next);
        if (oldest_ == nullptr)
            newest_ = nullptr;
    }

private:
    std::unique_ptr<doca_rdma_connection> oldest_;
    doca_rdma_connection *newest_ = nullptr;
    std::uint32_t count_ = 0;
};
