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
inline constexpr std::uint64_t max_datagram_bytes = 4096; ///< the largest MTU
inline constexpr std::uint32_t max_key_entries = 1 << 16; ///< ranges of one indirect key

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
