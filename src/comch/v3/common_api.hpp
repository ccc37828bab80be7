// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <initializer_list>

#include <doca_error.h>

struct doca_comch_connection;
struct doca_devinfo;

namespace opendoca {
class DeviceFunction;
}

/// Helpers that the C functions of all Comch objects share.
namespace opendoca::comch {

/// Returns NOT_SUPPORTED, after a log line of the given level, if the device does not support Comch.
[[nodiscard]] doca_error_t check_device(const DeviceFunction &function, std::uint32_t level);

/// Answers a capability query: stores @p value if the device supports Comch, else returns NOT_SUPPORTED.
[[nodiscard]] doca_error_t answer_query(const doca_devinfo *devinfo, std::uint32_t *out, std::uint32_t value);

/// Checks, with a log line on failure, that consumers and producers can use @p connection. BAD_STATE: it is not
/// established. NOT_SUPPORTED: the device lacks shared receive queues. NOT_PERMITTED: the peer uses Comm Channel, which
/// has no consumers and producers.
[[nodiscard]] doca_error_t check_fast_path(const doca_comch_connection &connection);

/// Returns the status of a function for data paths on a DPA, after its arguments have been checked.
[[nodiscard]] doca_error_t not_on_the_dpa(std::initializer_list<const void *> objects);

} // namespace opendoca::comch
