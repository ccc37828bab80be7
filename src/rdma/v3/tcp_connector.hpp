// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../core/device/connector.hpp"
#include "../../core/process/acceptor.hpp"
#include "../../core/process/fork.hpp"
#include "handshake.hpp"

namespace opendoca::v3 {

class TcpLink;

/// Connections by address for devices without rdma_cm: the two sides exchange the details of their queue pairs over
/// TCP, so both must be programs of opendoca. Owned by a doca_rdma, outlives its links, and is used by the thread of
/// its progress engine.
/// A client is half-open from the accept of its TCP connection until its request arrives, and again from the server's
/// answer until its confirmation arrives. Each of the two may take max_handshake_time; then the connection is closed.
/// Invariant: while a client is half-open, the timer is set and expires no later than the first deadline.
class TcpConnector final : public Connector {
public:
    /// Creates a connector. With @p is_local all devices of this kind are on this machine (software devices), so it
    /// listens on and connects to loopback only, whatever the address. OPERATING_SYSTEM if descriptors lack.
    [[nodiscard]] static doca_error_t create(bool is_local, std::unique_ptr<Connector> &made);
    ~TcpConnector() override;

    [[nodiscard]] int fd() const noexcept override { return epoll_.get(); }
    [[nodiscard]] doca_error_t listen(std::uint16_t port) override;
    [[nodiscard]] bool is_listening() const noexcept override { return listener_.is_open(); }
    void stop_listening() noexcept override;
    [[nodiscard]] doca_error_t connect(const ServerAddress &server, std::chrono::milliseconds timeout,
                                       QueuePair &queue_pair, std::unique_ptr<Link> &link) override;
    [[nodiscard]] LinkEvent poll() override;

    /// Makes poll() report @p events (EPOLLIN or EPOLLOUT) of the socket of @p link, in place of those watched before.
    /// Returns false, with errno set, on failure.
    [[nodiscard]] bool watch(TcpLink &link, std::uint32_t events) noexcept;
    /// Makes poll() ignore the socket of @p link, which may be unwatched already.
    void unwatch(const TcpLink &link) noexcept;

    /// Makes @p link fail at its deadline, which must be set, unless stop_awaiting_confirmation() is called before.
    void await_confirmation(TcpLink &link);
    void stop_awaiting_confirmation(const TcpLink &link) noexcept;

private:
    /// Limits the descriptors that clients without a request can occupy.
    static constexpr std::size_t max_awaiting_request = 64;

    TcpConnector(bool is_local, UniqueFd epoll, UniqueFd timer) noexcept;
    /// Accepts a TCP connection. Returns false if none is pending.
    [[nodiscard]] bool accept_client();
    /// Closes one client that is past its deadline, or sets the timer anew if there is none.
    [[nodiscard]] LinkEvent expire_client() noexcept;
    /// Sets the timer to the first deadline of a half-open client, or stops it.
    void set_timer() noexcept;

    const bool is_local_;
    /// Watches the listener (data pointer null), the timer (data pointer &timer_), and the sockets of all links from
    /// which a message or an end is expected (data pointer the TcpLink).
    ProcessFd epoll_;
    ProcessFd timer_; ///< expires at the first deadline of a half-open client
    bool is_timer_set_ = false;
    ProcessFd listener_; ///< open while is_listening()
    Acceptor acceptor_;
    /// Clients that have sent no request, oldest first. The owner of the connector was not notified of them.
    std::vector<std::unique_ptr<TcpLink>> awaiting_request_;
    /// Links of connections that the program has accepted and the client has not confirmed, oldest first.
    std::vector<TcpLink *> awaiting_confirmation_;
};

} // namespace opendoca::v3
