// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../verbs/provider.hpp"

namespace opendoca::mlx5 {

/// Of an mlx5 device that takes commands; null for any other, and where libmlx5 can't be loaded.
[[nodiscard]] std::shared_ptr<verbs::VerbsFunction> make_function(ibv_context &context,
                                                                  const ibv_device_attr_ex &attributes,
                                                                  std::uint32_t port);

/// Of @p functions, all that there are: which of them have queue pairs for messages across the PCIe, of their own or of
/// another function of the card.
void choose_message_ports(const verbs::NewFunctions &functions);

} // namespace opendoca::mlx5
