// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lists of devices and of representors, as programs get them.
#pragma once

#include <cstdint>

#include "dev.hpp"

namespace opendoca {

/// Kinds of representors, as bits. Equal in all generations of the API.
inline constexpr int rep_filter_all = 0;
inline constexpr int rep_filter_net = 2;
inline constexpr int rep_filter_emulated = 4;

/// What a list has: an element for each function, or behind these another one for each further address, for programs
/// up to DOCA 2.0.2, which compare addresses themselves.
enum class Shown : std::uint8_t { each_function, each_address };

/// A null pointer follows the @p count pointers of @p array.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t list_devices(doca_devinfo **&array, std::uint32_t &count,
                                                          Shown shown = Shown::each_function);
/// Those of @p dev, which the list keeps alive, though not open.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t list_representors(doca_dev &dev, int filter, doca_devinfo_rep **&array,
                                                               std::uint32_t &count,
                                                               Shown shown = Shown::each_function);

/// INVALID_VALUE for what is no list.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t destroy_list(doca_devinfo **array);
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t destroy_list(doca_devinfo_rep **array);

} // namespace opendoca
