// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Provider contract for RDMA connections that a client requests by address and port. No function here blocks;
// Connector::poll() reports the outcome of everything that takes time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <doca_error.h>

namespace opendoca {

class QueuePair;

/// The control channel of one connection: the exchange with the peer that establishes the connection and reports its
/// end. Owned by the caller of Connector, and used by the thread that polls the Connector. The queue pair is a separate
/// object that the link does not own. Destroying the link ends the connection.
class Link {
public:
    Link() = default;
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;
    virtual ~Link() = default;

    // On the server's side: exactly one of accept() and reject() answers a client.

    /// Connects @p queue_pair and accepts the client, which receives @p private_data. A later event reports when the
    /// connection is established. CONNECTION_ABORTED, logged, if the client has disconnected or cannot be reached.
    [[nodiscard]] virtual doca_error_t accept(QueuePair &queue_pair, std::span<const std::byte> private_data) = 0;
    /// Refuses the client.
    virtual void reject() noexcept = 0;

    /// Ends the connection or the attempt, and sends a disconnect notice to the peer. The link has no further events,
    /// and the queue pair may be destroyed.
    virtual void disconnect() noexcept = 0;
    /// After disconnect() or reject(): returns whether the exchange with the peer is complete, so that the link may be
    /// destroyed without losing the notice.
    [[nodiscard]] virtual bool is_over() const noexcept = 0;

    void *owner = nullptr; ///< the object of the link's owner; the provider does not access it
    std::string server;    ///< on the client's side, the server's address, for log messages
};

/// The control channel of a connection that the program establishes itself, by an id of rdma_cm of its own: the program
/// resolves addresses, listens, reads the events and destroys the id. accept() is as for any link, reject() does
/// nothing.
class BridgedLink : public Link {
public:
    /// Called when the id is connected, and the queue pair was not accept()ed. Connects the queue pair where rdma_cm
    /// has not, and sets the rights and the MTU in any case. CONNECTION_ABORTED, logged, if there is no connection.
    [[nodiscard]] virtual doca_error_t establish() = 0;
};

/// One event of a link, as Connector::poll() returns it.
struct LinkEvent {
    enum class Kind : std::uint8_t {
        nothing,     ///< no event is pending
        step,        ///< an internal step was taken; more events may be pending
        request,     ///< a client requests a connection; see client
        established, ///< both sides are connected
        failed,      ///< the attempt has failed; the reason is in the log
        ended,       ///< the peer has ended an established connection, or has died
    };

    Kind kind = Kind::nothing;
    Link *link = nullptr; ///< the link that the event is about; null for a request
    // The new link of a request. The receiver answers by accept() or reject().
    std::unique_ptr<Link> client = {};
};

/// The server that a client connects to.
struct ServerAddress {
    std::string text; ///< a numeric IPv4 or IPv6 address, or a GID in the notation of an IPv6 address
    bool is_gid;
    std::uint16_t port; ///< in host byte order
};

/// Listens for connection requests and makes them, for one device. Must outlive its links. Used by one thread at a
/// time.
class Connector {
public:
    Connector() = default;
    Connector(const Connector &) = delete;
    Connector &operator=(const Connector &) = delete;
    virtual ~Connector() = default;

    /// Returns a descriptor that is readable while poll() has an event.
    [[nodiscard]] virtual int fd() const noexcept = 0;

    /// Listens on @p port; on one port at a time. CONNECTION_ABORTED, logged, if the port is not available.
    [[nodiscard]] virtual doca_error_t listen(std::uint16_t port) = 0;
    [[nodiscard]] virtual bool is_listening() const noexcept = 0;
    /// Stops listening. Does nothing if the connector is not listening.
    virtual void stop_listening() noexcept = 0;
    /// Starts a connection of @p queue_pair to @p server. @p queue_pair must outlive @p link. An event reports the
    /// outcome.
    [[nodiscard]] virtual doca_error_t connect(const ServerAddress &server, std::chrono::milliseconds timeout,
                                               QueuePair &queue_pair, std::unique_ptr<Link> &link) = 0;

    /// Returns the next event. After failed or ended, the caller destroys the link.
    [[nodiscard]] virtual LinkEvent poll() = 0;
};

} // namespace opendoca
