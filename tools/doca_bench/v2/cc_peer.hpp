// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages that another process sends back: by Comm Channel, and by a bare Unix socket pair.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doca_comm_channel.h>

#include "../../common/doca.hpp"
#include "../card_functions.hpp"
#include "../latency.hpp"
#include "../other_process.hpp"
#include "../socket_trips.hpp"

namespace opendoca::tools {

inline constexpr std::size_t cc_max_size = 4080;

/// The means of a round trip.
enum class CcWay : std::uint32_t {
    channel,        ///< Comm Channel, both sides poll
    channel_events, ///< Comm Channel, both sides block in epoll
    socket,         ///< a socket pair, both sides poll
    socket_sleep    ///< a socket pair, both sides block in recv
};
inline constexpr CcWay cc_ways[] = {CcWay::channel, CcWay::channel_events, CcWay::socket, CcWay::socket_sleep};
[[nodiscard]] const char *name_of(CcWay way);

/// One end of a connection by Comm Channel.
class CcEnd {
public:
    /// Makes a service on the representor of @p host_pci, or a client if there is none.
    CcEnd(doca_dev *dev, const std::string *host_pci, const std::string &name, bool sleeps);

    /// Waits, on a client, until the service has accepted it.
    void complete();
    void send(std::span<const std::byte> message);
    /// Waits for a message; the first one provides the address of the peer.
    [[nodiscard]] std::size_t receive(std::span<std::byte> room);

private:
    using Endpoint = Handle<doca_comm_channel_ep_t, doca_comm_channel_ep_destroy>;

    void arm();

    RepresentorHandle rep_;
    Endpoint ep_;
    doca_comm_channel_addr_t *peer_ = nullptr;
    UniqueFd epoll_; ///< used by the ways that block
};

/// The other process, and this one's ends of all ways to it.
class CcPeer {
public:
    /// Forks, so it must be constructed before the first DOCA object. The child is pinned to @p cpu, unless that is -1.
    explicit CcPeer(int cpu);
    CcPeer(const CcPeer &) = delete;
    CcPeer &operator=(const CcPeer &) = delete;
    ~CcPeer();

    /// Chooses the functions at both ends.
    [[nodiscard]] const std::string &description() const noexcept { return description_; }

    /// Returns the nanoseconds of a round trip, as the mean of @p count. The first bytes are compared.
    [[nodiscard]] double round_trip(CcWay way, std::size_t size, std::size_t count);
    /// Times @p count round trips one by one.
    [[nodiscard]] Percentiles latency(CcWay way, std::size_t size, std::size_t count);

private:
    void serve(int control, const std::string &name) const;
    /// Lets the other process answer @p count messages. Returns the message to send.
    [[nodiscard]] std::vector<std::byte> begin(CcWay way, std::size_t size, std::size_t count);
    void trip(CcWay way, std::span<const std::byte> message, bool compares);
    void trips(CcWay way, std::span<const std::byte> message, std::size_t count);

    SocketTrips sockets_;
    DeviceHandle dev_;
    std::unique_ptr<CcEnd> channel_;
    std::unique_ptr<CcEnd> channel_events_;
    std::string description_;
    std::optional<OtherProcess> process_;
};

} // namespace opendoca::tools
