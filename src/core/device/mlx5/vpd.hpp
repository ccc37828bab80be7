// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <span>
#include <string>

namespace opendoca::mlx5 {

/// Returns the VUID in a PCI function's vital product data, which is the read-only keyword VU. Empty if there is none.
[[nodiscard]] std::string vuid_in_vpd(std::span<const unsigned char> data);

/// Returns the VUID of the function at @p pci_address. Empty if it has none, or if sysfs does not let this process read
/// it, as for users other than root. Read once per process, since reading can be slow. Thread-safe.
[[nodiscard]] std::string vuid_by_vpd(const std::string &pci_address);

} // namespace opendoca::mlx5
