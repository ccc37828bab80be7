// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <string>

namespace opendoca {

/// Returns the value of DOCA_COMM_CHANNEL_ADDRESS, the address at which services listen and to which clients connect: a
/// numeric address with or without a port, or "unix:" and the directory of a relay. Empty if it is not set.
[[nodiscard]] std::string services_by_environment();

/// Returns the same, or by default the DPU's address on the network across the PCIe that NVIDIA's driver creates
/// (tmfifo_net0). @p is_dpu: this machine is the DPU. Empty if there is neither.
[[nodiscard]] std::string services_across_pcie(bool is_dpu);

/// Returns whether messages across the PCIe may use queue pairs: true unless DOCA_COMM_CHANNEL_DATA is "tcp" or
/// "stream".
[[nodiscard]] bool may_send_by_queue_pairs();

/// Returns whether queue pairs can have peers across the PCIe: true unless DOCA_COMM_CHANNEL_DATA is "stream".
[[nodiscard]] bool do_queue_pairs_reach_peers();

} // namespace opendoca
