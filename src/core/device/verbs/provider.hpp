// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "../device.hpp"

struct ibv_context;
struct ibv_device_attr_ex;

namespace opendoca::verbs {

class VerbsFunction;

/// Returns the function of a port if a more specific provider supports its device, else null.
using MakeFunction = std::shared_ptr<VerbsFunction>(ibv_context &context, const ibv_device_attr_ex &attributes,
                                                    std::uint32_t port);

/// Functions that are still mutable, while a list is being made: they may refer to each other.
using NewFunctions = std::vector<std::shared_ptr<DeviceFunction>>;

/// Lists all ports of all devices that libibverbs finds. Each is created by @p make_derived if that does not return
/// null.
[[nodiscard]] NewFunctions find_functions(MakeFunction &make_derived);

/// Opens a device on a protection domain of the program. Such a device only registers memory.
[[nodiscard]] doca_error_t open_from_pd(ibv_pd &pd, std::shared_ptr<const DeviceFunction> &function,
                                        std::unique_ptr<Device> &device);

} // namespace opendoca::verbs
