// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Syndromes of acknowledgements (AETH, InfiniBand specification 9.7.5.1.2).
#pragma once

#include <cstdint>

namespace opendoca::card::acknowledgement {

inline constexpr std::uint8_t positive = 0x1f;           ///< without a number of credits
inline constexpr std::uint8_t receiver_not_ready = 0x20; ///< with the code of a timer in the low five bits
inline constexpr std::uint8_t sequence_error = 0x60;
inline constexpr std::uint8_t invalid_request = 0x61;
inline constexpr std::uint8_t remote_access_error = 0x62;
inline constexpr std::uint8_t remote_operational_error = 0x63;

inline constexpr std::uint8_t class_mask = 0x60; ///< 0: positive
inline constexpr std::uint8_t timer_mask = 0x1f;

} // namespace opendoca::card::acknowledgement
