// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../device.hpp"

struct ibv_context;
struct ibv_device_attr_ex;

namespace opendoca::verbs {

class VerbsFunction;

/// The function of a port whose device another provider can do more with than this one; null for all others.
using MakeFunction = std::shared_ptr<VerbsFunction>(ibv_context &context, const ibv_device_attr_ex &attributes,
                                                    std::uint32_t port);

/// While a list is made: they may still learn of each other.
using NewFunctions = std::vector<std::shared_ptr<DeviceFunction>>;

/// Every port of every device that libibverbs knows, by @p make_derived where that gives something.
[[nodiscard]] NewFunctions find_functions(MakeFunction &make_derived);

/// A device on a program's protection domain: it registers memory, and can do nothing else.
[[nodiscard]] doca_error_t open_from_pd(ibv_pd &pd, std::shared_ptr<const DeviceFunction> &function,
                                        std::unique_ptr<Device> &device);

} // namespace opendoca::verbs
