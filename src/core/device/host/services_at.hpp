// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

namespace opendoca {

/// Where services listen, and their clients look for them, as the environment says (DOCA_COMM_CHANNEL_ADDRESS): a numeric
/// address, with or without a port. Empty where it says nothing.
[[nodiscard]] std::string services_by_environment();

/// The same, or else the DPU's end of the network across the PCIe that NVIDIA's driver makes (tmfifo_net0); @p is_dpu: this
/// machine is the DPU. Empty where there is neither.
[[nodiscard]] std::string services_across_pcie(bool is_dpu);

/// Whether messages between the two sides may go by queue pairs: unless DOCA_COMM_CHANNEL_DATA is "tcp".
[[nodiscard]] bool may_send_by_queue_pairs();

} // namespace opendoca
