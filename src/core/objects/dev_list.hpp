// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The lists of devices and of representors that programs receive.
#pragma once

#include <cstdint>

#include "dev.hpp"

namespace opendoca {

/// Kinds of representors, as bits. Equal in all generations of the API.
inline constexpr int rep_filter_all = 0;
inline constexpr int rep_filter_net = 2;
inline constexpr int rep_filter_emulated = 4;

/// The elements of a list: one for each function, or also, after these, one for each further address. The latter is for
/// programs up to DOCA 2.0.2, which compare addresses themselves.
enum class Shown : std::uint8_t { each_function, each_address };

/// Lists the devices. @p array has @p count pointers and a null pointer, and is valid until destroy_list().
/// Thread-safe, like the other functions.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t list_devices(doca_devinfo **&array, std::uint32_t &count,
                                                          Shown shown = Shown::each_function);
/// Lists the representors of @p dev. The list shares the object of the device, but does not keep it open. @p filter is
/// a set of the bits above: INVALID_VALUE for others, NOT_SUPPORTED if the device has no representors of a kind.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t list_representors(doca_dev &dev, int filter, doca_devinfo_rep **&array,
                                                               std::uint32_t &count,
                                                               Shown shown = Shown::each_function);

/// Destroys a list. INVALID_VALUE, with a message, if @p array is not one.
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t destroy_list(doca_devinfo **array);
[[nodiscard]] OPENDOCA_INTERNAL doca_error_t destroy_list(doca_devinfo_rep **array);

} // namespace opendoca
