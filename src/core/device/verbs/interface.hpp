// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Facts about an RDMA device that the kernel reports outside of verbs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <infiniband/verbs.h>

#include "../device.hpp"

namespace opendoca::verbs {

/// The PCI function of a device.
struct PciFunction {
    std::string pci_address; ///< dddd:bb:dd.f; the parent's for a subfunction; empty if there is none
    FunctionType type = FunctionType::pf;
    std::optional<std::uint32_t> sf_number; ///< if the kernel reports it
};

/// Returns the PCI function of the RDMA device or network interface with directory @p path in sysfs.
[[nodiscard]] PciFunction pci_function_of(const std::string &path);

/// Returns the network interface of a port, or an empty string.
[[nodiscard]] std::string interface_of(ibv_context &context, std::uint32_t port);
/// Does the same by @p ibdev_path, the device's directory in sysfs. Also finds an interface that is down.
[[nodiscard]] std::string interface_in(const std::string &ibdev_path, std::uint32_t port);

struct Addresses {
    std::optional<MacAddress> mac;
    std::optional<Ipv4Address> ipv4;
    std::optional<Ipv6Address> ipv6; ///< a global one if there is one
};

[[nodiscard]] Addresses addresses_of(const std::string &interface);

} // namespace opendoca::verbs
