// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The embedded software device: see docs/software-device.md.
#pragma once

#include <string>

#include "../device.hpp"

namespace opendoca::soft {

/// Appends the functions of the topology that this process may see.
[[nodiscard]] doca_error_t list_functions(DeviceFunctions &functions);

/// Implements opendoca::explain_missing() for the software device: returns the end of a log message, or nothing.
/// @p is_listed: the software device is among the listed ones.
[[nodiscard]] std::string explain_missing(const std::string &pci_address, bool is_listed);

} // namespace opendoca::soft
