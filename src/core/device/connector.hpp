// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The provider contract of connections that are asked for by an address and a port. Nothing here waits: what takes time
// is told by Connector::poll().
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

/// What there is of one connection beside its queue pair: the conversation by which it is made, and by which its end
/// is told. Destroying it ends it.
class Link {
public:
    Link() = default;
    Link(const Link &) = delete;
    Link &operator=(const Link &) = delete;
    virtual ~Link() = default;

    // The answer to a client, once.

    /// Connects @p queue_pair, and tells the client, which gets @p private_data. Established is told later.
    /// CONNECTION_ABORTED, logged, when the client has gone or cannot be reached.
    [[nodiscard]] virtual doca_error_t accept(QueuePair &queue_pair, std::span<const std::byte> private_data) = 0;
    virtual void reject() noexcept = 0;

    /// Ends the connection, or what there is of it, and tells the peer. Nothing of it is told any more, and the queue
    /// pair may go.
    virtual void disconnect() noexcept = 0;
    /// After it, and after a rejection: the peer need not be told any more, so that the link may go as well.
    [[nodiscard]] virtual bool is_over() const noexcept = 0;

    void *owner = nullptr; ///< of whoever has it
    std::string server;    ///< that a client asks, for messages
};

struct LinkEvent {
    enum class Kind : std::uint8_t {
        nothing,     ///< there is nothing to do
        step,        ///< something was done that nobody is told of, and there may be more
        request,     ///< somebody asks for a connection: client, which waits for its answer
        established, ///< both sides know of the connection
        failed,      ///< there will be no connection; the log has the reason
        ended,       ///< the peer has ended an established one, or has died
    };

    Kind kind = Kind::nothing;
    Link *link = nullptr; ///< whose event it is
    std::unique_ptr<Link> client = {};
};

struct ServerAddress {
    std::string text; ///< a numeric IPv4 or IPv6 address, or a GID, which is written as the latter
    bool is_gid;
    std::uint16_t port;
};

/// Listens, and asks. Outlives its links.
class Connector {
public:
    Connector() = default;
    Connector(const Connector &) = delete;
    Connector &operator=(const Connector &) = delete;
    virtual ~Connector() = default;

    /// Readable when poll() has something to do.
    [[nodiscard]] virtual int fd() const noexcept = 0;

    /// To one port at a time. CONNECTION_ABORTED, logged, when it can't be had.
    [[nodiscard]] virtual doca_error_t listen(std::uint16_t port) = 0;
    [[nodiscard]] virtual bool is_listening() const noexcept = 0;
    virtual void stop_listening() noexcept = 0;
    /// Begins to ask @p server for a connection of @p queue_pair, which outlives @p link.
    [[nodiscard]] virtual doca_error_t connect(const ServerAddress &server, std::chrono::milliseconds timeout,
                                               QueuePair &queue_pair, std::unique_ptr<Link> &link) = 0;

    /// What happens next, one thing a call. The library gives up a link whose end it is told of.
    [[nodiscard]] virtual LinkEvent poll() = 0;
};

} // namespace opendoca
