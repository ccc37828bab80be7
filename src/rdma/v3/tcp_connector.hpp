// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../../core/acceptor.hpp"
#include "../../core/device/connector.hpp"
#include "handshake.hpp"

namespace opendoca::v3 {

class TcpLink;

/// In place of rdma_cm where a device has none: the two sides exchange the details of their queue pairs over TCP,
/// so both have to be ours.
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

private:
    static constexpr std::size_t most_silent = 64;

    TcpConnector(bool is_local, UniqueFd epoll) noexcept;
    [[nodiscard]] bool accept_client();

    const bool is_local_;
    UniqueFd epoll_; ///< of the listener, and of all sockets that something can come by
    UniqueFd listener_;
    Acceptor acceptor_;
    std::vector<std::unique_ptr<TcpLink>> silent_; ///< clients that have not said what they want, oldest first
};

} // namespace opendoca::v3
