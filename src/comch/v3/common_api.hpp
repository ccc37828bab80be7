// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <initializer_list>

#include <doca_error.h>

struct doca_devinfo;

namespace opendoca {
class DeviceFunction;
}

/// What the C functions of all kinds of objects have in common.
namespace opendoca::comch {

/// NOT_SUPPORTED, with a message of this level, where there is no Comch.
[[nodiscard]] doca_error_t check_device(const DeviceFunction &function, std::uint32_t level);

/// Answers a capability query: @p value, where there is Comch.
[[nodiscard]] doca_error_t tell(const doca_devinfo *devinfo, std::uint32_t *out, std::uint32_t value);

/// The answer of a function for data paths on a DPA, after its arguments were checked.
[[nodiscard]] doca_error_t not_on_the_dpa(std::initializer_list<const void *> objects);

} // namespace opendoca::comch
