// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages of the connection manager, and their form on the network: management datagrams of the class "communication
// management". InfiniBand specification, volume 1, chapter 12 and 13.4, and annex A11 (IP addresses).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <rdma/rdma_user_cm.h>

#include "../network/address.hpp"

namespace opendoca::card {

/// An IP address with a port, as programs name ends of connections. A value; without an address it is the wildcard.
struct CmAddress {
    Address ip;
    std::uint16_t port = 0;
    bool is_ipv6 = false;    ///< family of the socket address; an IPv4-mapped address may have either
    std::uint32_t scope = 0; ///< interface of a link-local IPv6 address

    [[nodiscard]] bool is_wildcard() const;
    [[nodiscard]] bool is_loopback() const;
};

/// A message between two connection managers. A value; which fields are valid follows from its kind.
struct CmMessage {
    enum class Kind : std::uint8_t {
        request,               ///< REQ
        receipt,               ///< MRA: the answer to `answered` takes longer
        reject,                ///< REJ
        reply,                 ///< REP
        ready_to_use,          ///< RTU
        disconnect,            ///< DREQ
        disconnect_reply,      ///< DREP
        resolve_service,       ///< SIDR REQ
        resolve_service_reply, ///< SIDR REP
        load_alternate,        ///< LAP: another path
        alternate_reply,       ///< APR
    };
    /// What a rejection or a receipt is about.
    enum class Answered : std::uint8_t { request, reply, other };

    Kind kind = Kind::request;
    std::uint64_t transaction = 0;
    std::uint32_t sender = 0, receiver = 0; ///< communication ids, or the id of a SIDR REQ
    std::uint16_t port_space = 0;           ///< with the destination's port the service id; 0: another service
    CmAddress source, destination;          ///< of requests
    std::uint8_t qp_type = 0;
    std::uint32_t qpn = 0, qkey = 0, psn = 0;
    std::uint32_t remote_qpn = 0; ///< of DREQ: the receiver's queue pair
    std::uint8_t path_mtu = 0;
    std::uint8_t responder_resources = 0, initiator_depth = 0, retry_count = 0, rnr_retry_count = 0;
    std::uint8_t flow_control = 0, srq = 0;
    std::uint8_t traffic_class = 0, ack_timeout = 0;
    std::uint64_t node_guid = 0;
    Address source_gid, destination_gid; ///< of the path
    Answered answered = Answered::request;
    std::uint8_t timeout = 0; ///< of a receipt: 4.096 us << timeout
    std::uint16_t reason = 0; ///< of a rejection, or status of the reply to SIDR REQ
    std::array<std::uint8_t, RDMA_MAX_PRIVATE_DATA> private_data{};
};

inline constexpr std::size_t management_datagram_bytes = 256;
using ManagementDatagram = std::array<std::uint8_t, management_datagram_bytes>;

ManagementDatagram encode(const CmMessage &message);
/// Parses a datagram from the network. Returns nothing if it is not of the connection manager.
std::optional<CmMessage> decode(std::span<const std::uint8_t, management_datagram_bytes> datagram);

} // namespace opendoca::card
