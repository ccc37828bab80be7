// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <doca_rdma.h>

#include "../../core/base/unique_fd.hpp"
#include "../../core/device/connector.hpp"
#include "../../core/process/fork.hpp"
#include "connection.hpp"

namespace opendoca::v3 {

/// Establishes connections of an instance by address and port: listens, requests connections, and processes the events
/// of the connector that does both. A part of its doca_rdma, which owns the connections themselves; used by the thread
/// of the progress engine. Invariant: the connector and the timer of the deadlines are both open or both closed, and
/// open they are watched by the event handle of the engine.
class ConnectionsByAddress {
public:
    explicit ConnectionsByAddress(doca_rdma &rdma) noexcept : rdma_(rdma) {}

    /// Accepts connection requests on @p port of all local addresses; one port at a time (NOT_SUPPORTED for a second
    /// one).
    [[nodiscard]] doca_error_t listen(std::uint16_t port);
    /// Closes the port; established connections and requests already reported stay.
    [[nodiscard]] doca_error_t stop_listening(std::uint16_t port);
    /// Requests a connection from a server. A callback reports the outcome, at the latest after request_timeout.
    [[nodiscard]] doca_error_t connect(const doca_rdma_addr &address, doca_data connection_data);
    /// accept() and reject() answer a connection that the request callback has reported; BAD_STATE for any other. If
    /// accept() cannot connect, it ends the connection.
    [[nodiscard]] doca_error_t accept(doca_rdma_connection &connection, std::span<const std::byte> private_data);
    [[nodiscard]] doca_error_t reject(doca_rdma_connection &connection);

    /// Returns whether an address was used since the start, so that progress() has to be called.
    [[nodiscard]] bool is_open() const noexcept { return connector_ != nullptr; }
    /// Returns true if it has called a callback, which must be the last action of the progress call, or has stopped
    /// with events left. More events are likely in both cases. is_open() must be true.
    [[nodiscard]] bool progress() noexcept;
    /// Takes no more requests. Connections stay.
    void stop() noexcept;
    /// Closes the connector. No connection may have a link any more.
    void close() noexcept;

private:
    [[nodiscard]] doca_error_t open();
    void set_timer() noexcept;
    [[nodiscard]] doca_rdma_connection *oldest_half_open() noexcept;
    // These return whether they called a callback.
    [[nodiscard]] bool expire_request() noexcept;
    [[nodiscard]] bool handle_request(std::unique_ptr<Link> client);
    [[nodiscard]] bool handle_event(const LinkEvent &event);

    doca_rdma &rdma_;
    /// Created with the first use of an address after a start; null before.
    std::unique_ptr<Connector> connector_;
    /// A timer that is readable from the first deadline of a connection request on.
    ProcessFd deadlines_;
    /// A connection request that could not be reported yet: a half-open connection was ended to make room for it, and
    /// the failure callback of that one was the last action of its progress call.
    std::unique_ptr<Link> waiting_client_;
    std::uint16_t port_ = 0;           ///< valid while the connector is listening
    bool has_deadline_passed_ = false; ///< the timer has expired and not all expired requests are failed yet
};

} // namespace opendoca::v3
