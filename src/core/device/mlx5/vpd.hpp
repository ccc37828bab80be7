// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <span>
#include <string>

namespace opendoca::mlx5 {

/// The VUID among a PCI function's vital product data: the read-only keyword VU. Empty where there is none.
[[nodiscard]] std::string vuid_in_vpd(std::span<const unsigned char> data);

/// That of the function at @p pci_address, as sysfs has it for root. Empty where it has none, or does not show it. Read once
/// a process, as that can take long. Thread-safe.
[[nodiscard]] std::string vuid_by_vpd(const std::string &pci_address);

} // namespace opendoca::mlx5
