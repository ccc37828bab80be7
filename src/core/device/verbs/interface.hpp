// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the kernel knows of an RDMA device besides verbs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <infiniband/verbs.h>

#include "../device.hpp"


namespace opendoca::verbs {

/// The PCI function that a device belongs to.
struct PciFunction {
    std::string pci_address; ///< dddd:bb:dd.f; of the parent for a subfunction, and empty where there is none
    FunctionType type = FunctionType::pf;
    std::optional<std::uint32_t> sf_number; ///< where the kernel tells it
};

/// @p path is the directory in sysfs of an RDMA device, or of a network interface.
[[nodiscard]] PciFunction pci_function_of(const std::string &path);

/// The network interface of a port, or nothing.
[[nodiscard]] std::string interface_of(ibv_context &context, std::uint32_t port);
/// The same by @p ibdev_path, the device's directory in sysfs: also of an interface that is down.
[[nodiscard]] std::string interface_in(const std::string &ibdev_path, std::uint32_t port);

struct Addresses {
    std::optional<MacAddress> mac;
    std::optional<Ipv4Address> ipv4;
    std::optional<Ipv6Address>
        ipv6; ///< a global one, where there is
};

[[nodiscard]] Addresses addresses_of(const std::string &interface);

} // namespace opendoca::verbs
