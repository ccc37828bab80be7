// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <doca_error.h>

#include "../../core/base/wait_notice.hpp"
#include "../../core/objects/dev.hpp"
#include "../limits.hpp"
#include "../listener.hpp"
#include "../service_directory.hpp"
#include "endpoint_events.hpp"
#include "peer_table.hpp"

namespace opendoca::comm_channel {

/// The clients of an endpoint that is a service: accepts them, processes their hellos and removes those that have
/// ended. Owned by the endpoint and used under its lock. Clients are not trusted: the number of connections without a
/// hello is limited, and so is their time.
class ServiceClients {
public:
    using Peer = doca_comm_channel_addr_t;

    /// All three are those of the endpoint, and outlive the object.
    ServiceClients(doca_comm_channel_ep_t &endpoint, PeerTable &peers, EndpointEvents &events) noexcept
        : endpoint_(endpoint),
          peers_(peers),
          events_(events)
    {
    }

    /// Listens as service @p key on @p device, with @p limits. @p name and @p description are for log messages. A
    /// failure changes nothing.
    [[nodiscard]] doca_error_t begin(const doca_dev &device, const ServiceKey &key, const Limits &limits,
                                     const char *name, std::string description);
    /// Returns the listener, and forgets everything else. The peers stay.
    [[nodiscard]] Listener end() noexcept;

    /// Processes what has happened on the sockets: new clients, hellos, doorbells and ends.
    void process_events();
    /// Called when the end of @p client was detected, or a violation of the protocol. It stays in the table.
    void handle_end(const Peer &client) noexcept
    {
        has_ended_ = true;
        events_.note_end(client);
    }
    /// Returns once whether the last client died after sending: the next receive without a message reports it.
    [[nodiscard]] bool take_reset() noexcept { return std::exchange(has_unreported_reset_, false); }
    [[nodiscard]] bool has_unreported_reset() const noexcept { return has_unreported_reset_; }
    /// Logs that no client is connected: the program may be polling for a host that never comes, or has ended.
    void log_if_none();

    /// Refreshes the two values below, and accepts waiting connections.
    void update();
    [[nodiscard]] const std::vector<Peer *> &listed() const noexcept { return listed_; }
    [[nodiscard]] std::uint32_t num_pending() const noexcept { return num_pending_; }

private:
    static constexpr auto no_deadline = std::chrono::steady_clock::time_point::max();

    [[nodiscard]] Peer *accept_client();
    [[nodiscard]] std::size_t num_silent() const noexcept;
    void accept_new();
    void close_late();
    void process_hello(Peer &peer);
    void drop(const Peer &peer) noexcept;
    void retire_ended();

    doca_comm_channel_ep_t &endpoint_;
    PeerTable &peers_;
    EndpointEvents &events_;

    Listener listener_;
    const doca_dev *device_ = nullptr; ///< set while listening; the endpoint keeps it open
    ServiceKey key_{};
    Limits limits_;
    std::string description_; ///< text for log messages
    WaitNotice wait_;
    std::chrono::steady_clock::time_point next_deadline_ = no_deadline; ///< earliest deadline for a hello
    std::vector<Peer *> listed_;                                        ///< connected clients at the last update
    std::uint32_t num_pending_ = 0;                                     ///< without a hello, at the last update
    bool has_had_one_ = false;                                          ///< for log messages
    bool has_ended_ = false;                                            ///< retire_ended() has work
    bool has_unreported_reset_ = false;                                 ///< see take_reset()
    bool has_logged_silent_ = false;                                    ///< the warning is logged once
};

} // namespace opendoca::comm_channel
