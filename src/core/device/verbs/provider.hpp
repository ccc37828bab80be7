// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../device.hpp"

namespace opendoca::verbs {

/// Every port of every device that libibverbs knows.
[[nodiscard]] doca_error_t list_functions(DeviceFunctions &functions);

} // namespace opendoca::verbs
