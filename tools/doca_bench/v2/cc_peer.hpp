// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Round trips of messages with another process: by Comm Channel, and by a bare Unix socket pair.
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

/// The largest message of the benchmark in bytes, which is Comm Channel's limit as well.
inline constexpr std::size_t cc_max_size = 4080;

/// The means of a round trip, and how both sides wait.
enum class CcWay : std::uint32_t {
    channel,        ///< Comm Channel, both sides poll
    channel_events, ///< Comm Channel, both sides block in epoll
    socket,         ///< a socket pair, both sides poll
    socket_block    ///< a socket pair, both sides block in recv
};
inline constexpr CcWay cc_ways[] = {CcWay::channel, CcWay::channel_events, CcWay::socket, CcWay::socket_block};
[[nodiscard]] const char *name_of(CcWay way);

/// One end of a connection by Comm Channel. Owned by CcPeer or by its other process, and used by one thread. The
/// address of a service's client comes with the first message; before, the service can't send.
class CcEnd {
public:
    /// Creates a service on the representor of @p host_pci, or a client if @p host_pci is null. Both sides use the same
    /// @p name. With @p blocks, receive() blocks in epoll.
    CcEnd(doca_dev *dev, const std::string *host_pci, const std::string &name, bool blocks);

    /// Waits, on a client, until the service has accepted the connection.
    void complete();
    /// Sends a message; polls while the queue is full.
    void send(std::span<const std::byte> message);
    /// Receives a message into @p room and returns its length.
    [[nodiscard]] std::size_t receive(std::span<std::byte> room);

private:
    using Endpoint = Handle<doca_comm_channel_ep_t, doca_comm_channel_ep_destroy>;

    /// Creates the epoll instance for the endpoint's event descriptor, and arms it.
    void arm();

    RepresentorHandle rep_;
    Endpoint ep_;
    doca_comm_channel_addr_t *peer_ = nullptr; ///< of a service: null before the first message
    UniqueFd epoll_;                           ///< used by the ways that block
};

/// The other process with a service for each way of waiting, and this process's clients of them. Owned by the benchmark
/// and used by its only thread. Requests go over the channel of the other process: the way, and the number of messages
/// to send back.
class CcPeer {
public:
    /// Forks, so it must be constructed before the first DOCA object. The child is pinned to @p cpu, unless that is -1.
    explicit CcPeer(int cpu);
    CcPeer(const CcPeer &) = delete;
    CcPeer &operator=(const CcPeer &) = delete;
    ~CcPeer();

    /// Returns the two devices: "soft_pf0 to soft_p0".
    [[nodiscard]] const std::string &description() const noexcept { return description_; }

    /// Returns the nanoseconds of a round trip, as the mean of @p count. The first answer is compared with its message.
    [[nodiscard]] double round_trip(CcWay way, std::size_t size, std::size_t count);
    /// Times @p count round trips one by one.
    [[nodiscard]] Percentiles latency(CcWay way, std::size_t size, std::size_t count);

private:
    /// The main function of the other process.
    void serve(int control, const std::string &name) const;
    /// Lets the other process answer @p count messages. Returns the message to send.
    [[nodiscard]] std::vector<std::byte> begin(CcWay way, std::size_t size, std::size_t count);
    /// Does one round trip. Throws if the answer has another length, or with @p compares other bytes.
    void trip(CcWay way, std::span<const std::byte> message, bool compares);
    void trips(CcWay way, std::span<const std::byte> message, std::size_t count);

    SocketTrips sockets_; ///< created before the fork
    DeviceHandle dev_;
    std::unique_ptr<CcEnd> channel_;
    std::unique_ptr<CcEnd> channel_events_;
    std::string description_;
    std::optional<OtherProcess> process_; ///< empty before the fork
};

} // namespace opendoca::tools
