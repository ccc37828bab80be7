// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../../core/acceptor.hpp"
#include "../../core/device/connector.hpp"
#include "../../core/fork.hpp"
#include "handshake.hpp"

namespace opendoca::v3 {

class TcpLink;

/// In place of rdma_cm where a device has none: the two sides exchange the details of their queue pairs over TCP,
/// so both have to be ours. A client is half-open until it has sent its request, and again from the server's answer
/// until it has confirmed that: either has to be done within max_handshake_time.
class TcpConnector final : public Connector {
public:
    /// @p is_local: all such devices are on this machine, whatever their addresses. OPERATING_SYSTEM.
    [[nodiscard]] static doca_error_t create(bool is_local, std::unique_ptr<Connector> &made);
    ~TcpConnector() override;

    [[nodiscard]] int fd() const noexcept override { return epoll_.get(); }
    [[nodiscard]] doca_error_t listen(std::uint16_t port) override;
    [[nodiscard]] bool is_listening() const noexcept override { return listener_.is_open(); }
    void stop_listening() noexcept override;
    [[nodiscard]] doca_error_t connect(const ServerAddress &server, std::chrono::milliseconds timeout,
                                       QueuePair &queue_pair, std::unique_ptr<Link> &link) override;
    [[nodiscard]] LinkEvent poll() override;

    /// From now on the socket of @p link is looked at for @p events, or for nothing. False with errno.
    [[nodiscard]] bool watch(TcpLink &link, std::uint32_t events) noexcept;
    void unwatch(const TcpLink &link) noexcept;

    /// From the server's answer on, @p link fails at its deadline, unless it is confirmed before.
    void await_confirmation(TcpLink &link);
    void stop_awaiting_confirmation(const TcpLink &link) noexcept;

private:
    static constexpr std::size_t max_silent = 64;

    TcpConnector(bool is_local, UniqueFd epoll, UniqueFd timer) noexcept;
    [[nodiscard]] bool accept_client();
    [[nodiscard]] LinkEvent end_late_client() noexcept;
    void set_timer() noexcept;

    const bool is_local_;
    ProcessFd epoll_; ///< of the listener, the timer, and all sockets that something can come by
    ProcessFd timer_; ///< expires at the first deadline of a half-open client
    bool is_timer_set_ = false;
    ProcessFd listener_;
    Acceptor acceptor_;
    std::vector<std::unique_ptr<TcpLink>> silent_; ///< clients that have sent no request, oldest first
    std::vector<TcpLink *> unconfirmed_; ///< links of clients that have not confirmed the answer, oldest first
};

} // namespace opendoca::v3
