// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Numbers of the connection manager, as the kernel's interface and the InfiniBand specification define them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opendoca::card {

// Events (rdma_cm_event_type).
inline constexpr std::uint32_t event_address_resolved = 0, event_address_error = 1, event_route_resolved = 2,
                               event_connect_request = 4, event_connect_response = 5, event_unreachable = 7,
                               event_rejected = 8, event_established = 9, event_disconnected = 10,
                               event_device_removal = 11, event_time_wait_exit = 15;

// Reasons of a rejection (REJ), and states of the reply to a SIDR REQ.
inline constexpr std::uint16_t reject_timeout = 4, reject_invalid_service = 8, reject_transport = 9, reject_stale = 10,
                               reject_path_mtu = 26, reject_consumer = 28;
inline constexpr std::uint16_t service_unsupported = 1, service_rejected = 2;

// Private data of the messages, in bytes: what is left for programs behind the addresses of a request.
inline constexpr std::size_t address_header_bytes = 36;
inline constexpr std::size_t max_request_data = 92 - address_header_bytes, max_reply_data = 196, max_reject_data = 148,
                             max_disconnect_data = 220, max_ready_data = 224,
                             max_resolve_data = 216 - address_header_bytes, max_resolve_reply_data = 136;

inline constexpr std::uint8_t qp_type_rc = 2, qp_type_uc = 3, qp_type_ud = 4; // ibv_qp_type
inline constexpr std::uint32_t datagram_qkey = 0x01234567;                    // of the port space UDP
inline constexpr std::uint16_t default_partition = 0xffff;
inline constexpr std::uint8_t hop_limit = 64;

// The queue pair of a port for management datagrams (GSI), and the key of its datagrams.
inline constexpr std::uint32_t management_qpn = 1, management_qkey = 0x80010000;

inline constexpr std::uint8_t packet_life_time = 18; ///< of paths on Ethernet: 4.096 us << 18
inline constexpr std::uint8_t local_ack_timeout = packet_life_time + 1;
/// A message without an answer is sent again after this time, 4.096 us << 20, and at most so often.
inline constexpr std::uint8_t response_timeout = 20, max_repetitions = 15;
/// Time that a peer asks for whose program has not answered yet, 4.096 us << 24.
inline constexpr std::uint8_t service_timeout = 24;
constexpr std::uint64_t time_of(std::uint8_t timeout)
{
    return 4'096ull << timeout;
}
/// Time after the end of a connection in which its packets may still arrive; the kernel takes 2^(timeout - 8) ms.
inline constexpr std::uint64_t time_wait_ns = (1ull << (local_ack_timeout - 8)) * 1'000'000;

/// librdmacm's table has 65536 entries.
inline constexpr std::uint32_t max_ids = 65'535, max_ids_of_file = 32'768;
inline constexpr std::uint32_t max_backlog = 1024;  ///< also in place of 0
inline constexpr std::size_t max_events_of_id = 64; ///< that are unread, on average of the ids of a file

} // namespace opendoca::card
