// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Lists of devices and of representors, as programs get them.
#pragma once

#include <cstdint>

#include "dev.hpp"

namespace opendoca {

template <typename Info>
struct DevList {
    Info **array; ///< followed by a null pointer
    std::uint32_t count;
};

/// Kinds of representors, as bits. Equal in all generations of the API.
inline constexpr int rep_filter_all = 0;
inline constexpr int rep_filter_net = 2;
inline constexpr int rep_filter_emulated = 4;

[[nodiscard]] doca_error_t list_devices(DevList<doca_devinfo> &list);
/// Those of @p dev, which the list keeps alive, though not open.
[[nodiscard]] doca_error_t list_representors(doca_dev &dev, int filter, DevList<doca_devinfo_rep> &list);

/// INVALID_VALUE for what is no list.
[[nodiscard]] doca_error_t forget_list(doca_devinfo **array);
[[nodiscard]] doca_error_t forget_list(doca_devinfo_rep **array);

} // namespace opendoca
