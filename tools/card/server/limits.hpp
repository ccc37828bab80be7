// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Limits that the card reports and that requests are checked against.
#pragma once

#include <bit>
#include <cstdint>

namespace opendoca::card {

inline constexpr std::uint32_t port_number = 1; ///< number of the only port
inline constexpr std::uint32_t completion_vectors = 2;
inline constexpr std::uint32_t max_completions = 1 << 22; ///< entries of one completion queue
inline constexpr std::uint32_t max_send_slots = 32768;    ///< slots of 64 bytes of one send queue
inline constexpr std::uint32_t max_receive_entries = 32768;
inline constexpr std::uint32_t max_srq_entries = 32768;
inline constexpr std::uint32_t max_srq_sges = 31;
inline constexpr std::uint32_t max_receive_log_stride = 9; ///< 512 bytes: 32 data segments
inline constexpr std::uint32_t max_reads_in_flight = 16;   ///< reads and atomics in flight of one queue pair
inline constexpr std::uint64_t max_message_bytes = 1ull << 30;
inline constexpr std::uint64_t max_datagram_bytes = 4096;       ///< the largest MTU
inline constexpr std::uint32_t max_key_entries = 1 << 16;       ///< ranges of one indirect key
inline constexpr std::uint64_t max_device_memory = 128 << 10;   ///< bytes of one allocation of device memory
inline constexpr std::uint64_t device_memory_bytes = 256 << 10; ///< device memory of one function
inline constexpr std::uint32_t log_device_memory_unit = 6;      ///< alignment of every allocation
inline constexpr std::uint32_t log_max_device_memory_alignment = 12;

/// What the device reports in device_cap_flags (ibv_device_cap_flags): the port may be changed in state SQD, event of a
/// port that becomes active, system image GUID, NAK of a receiver that is not ready, memory windows (also of type 2B),
/// XRC, memory management extensions.
inline constexpr std::uint32_t device_capability_flags =
    1 << 5 | 1 << 10 | 1 << 11 | 1 << 12 | 1 << 17 | 1 << 20 | 1 << 21 | 1 << 24;

/// Returns what a port reports in port_cap_flags: a connection manager and, on Ethernet, GIDs from IP addresses.
constexpr std::uint32_t port_capability_flags(bool is_ethernet)
{
    constexpr std::uint32_t ip_based_gids = 1 << 26, cm_supported = 1 << 16;
    return is_ethernet ? cm_supported | ip_based_gids : cm_supported;
}

/// The state of a port as verbs and netlink report it.
struct PortState {
    std::uint8_t logical;  ///< as ibv_port_state
    std::uint8_t physical; ///< as the standard's PortPhysicalState
};
constexpr PortState port_state(bool is_up)
{
    constexpr std::uint8_t down = 1, active = 4, polling = 2, link_up = 5;
    return is_up ? PortState{active, link_up} : PortState{down, polling};
}

inline constexpr std::uint64_t timestamp_mask = ~0ull >> 1; ///< bits of the card's clock, which counts nanoseconds

/// Offsets of the uverbs file at which UARs are mapped. They are beyond the offsets that mlx5 uses for its numbered
/// mappings.
inline constexpr std::uint64_t first_uar_offset = 1ull << 40;
inline constexpr unsigned uar_offset_shift = 20;
/// Returns the offset at which the UAR with this handle is mapped. Each handle has a range of 1 MiB, which is larger
/// than a page on every machine.
constexpr std::uint64_t uar_offset(std::uint32_t handle)
{
    return first_uar_offset + (static_cast<std::uint64_t>(handle) << uar_offset_shift);
}

/// Returns whether a ring of this size is valid: empty, or a power of two up to `max_entries`.
constexpr bool is_ring_size(std::uint32_t entries, std::uint32_t max_entries)
{
    return entries == 0 || (std::has_single_bit(entries) && entries <= max_entries);
}

} // namespace opendoca::card
