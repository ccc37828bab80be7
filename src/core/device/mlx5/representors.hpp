// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../device.hpp"

namespace opendoca::mlx5 {

/// The function that an interface of the e-switch represents, parsed from the kernel's port name, such as "c1pf0vf2".
struct PortName {
    FunctionType type = FunctionType::pf;
    bool is_external = false; ///< a function of the host, not of the DPU itself
    unsigned pf = 0;
    unsigned number = 0; ///< number of the VF or SF

    /// Returns nothing for the uplink ("p0") and for other names that do not denote a representor.
    [[nodiscard]] static std::optional<PortName> parse(std::string_view text) noexcept;
    /// Returns the vport number if the name determines it; that of an SF is only known to devlink.
    [[nodiscard]] std::optional<std::uint16_t> vport() const noexcept;
};

/// The network interface of a representor.
struct RepresentorPort {
    std::string interface;
    PortName name;
};

/// The layout of a PF's VFs on the PCI bus, from its SR-IOV capability: routing IDs relative to the PF's.
struct VirtualFunctionLayout {
    std::uint32_t first = 0;
    std::uint32_t stride = 0;

    /// Reads the layout of the PF with folder @p pci in /sys/bus/pci/devices. Returns nothing if the kernel does not
    /// report it.
    [[nodiscard]] static std::optional<VirtualFunctionLayout> read(const std::string &pci);
    /// Returns the routing ID (bus, device and function in 16 bits) of VF @p number of the PF with routing ID @p pf, or
    /// nothing if it would lie beyond the last bus.
    [[nodiscard]] std::optional<std::uint16_t> routing_id(std::uint16_t pf, unsigned number) const noexcept;
};

/// Lists all representors behind @p uplink, an interface in folder @p net (/sys/class/net). Functions of the host come
/// first; within each side PFs, then VFs, then SFs.
[[nodiscard]] std::vector<RepresentorPort> find_representors(const std::string &net, const std::string &uplink);

} // namespace opendoca::mlx5
