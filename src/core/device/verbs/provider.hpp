// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../device.hpp"

namespace opendoca::verbs {

/// Every port of every device that libibverbs knows.
[[nodiscard]] doca_error_t list_functions(DeviceFunctions &functions);

/// A device on a program's protection domain: it registers memory, and can do nothing else.
[[nodiscard]] doca_error_t open_from_pd(ibv_pd &pd, std::shared_ptr<const DeviceFunction> &function,
                                        std::unique_ptr<Device> &device);

} // namespace opendoca::verbs
