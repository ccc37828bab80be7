// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include "../verbs/provider.hpp"

namespace opendoca::mlx5 {

/// Returns the function of an mlx5 device that accepts DEVX commands; null for any other device, or if libmlx5 cannot
/// be loaded.
[[nodiscard]] std::shared_ptr<verbs::VerbsFunction>
make_function(ibv_context &context, const ibv_device_attr_ex &attributes, std::uint32_t port);

/// Decides for each of @p functions, which must be all of this machine, whether queue pairs can carry messages across
/// the PCIe: its own, or those of another function of the card.
void choose_message_ports(const verbs::NewFunctions &functions);

} // namespace opendoca::mlx5
