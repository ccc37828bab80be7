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

/// What an interface of the e-switch stands for, as the kernel names it: "c1pf0vf2".
struct PortName {
    FunctionType type = FunctionType::pf;
    bool is_external = false; ///< of the host, and not of the DPU itself
    unsigned pf = 0;
    unsigned number = 0; ///< of the VF or SF

    /// Nothing for the uplink ("p0") and for what is no name of a representor.
    [[nodiscard]] static std::optional<PortName> parse(std::string_view text) noexcept;
    /// Its port of the e-switch, as far as its name tells; that of an SF only devlink knows.
    [[nodiscard]] std::optional<std::uint16_t> vport() const noexcept;
};

/// A representor's interface.
struct RepresentorPort {
    std::string interface;
    PortName name;
};

/// How the addresses of a PF's VFs follow from its own, by the SR-IOV capability of the PCI: in steps of functions.
struct VirtualFunctionPlaces {
    std::uint32_t first = 0;
    std::uint32_t stride = 0;

    /// That of the PF in @p pci, its folder in /sys/bus/pci/devices; nothing where the kernel does not report it.
    [[nodiscard]] static std::optional<VirtualFunctionPlaces> read(const std::string &pci);
    /// The routing ID (bus, device and function in 16 bits) of VF @p number of the PF @p pf; nothing beyond the last
    /// bus.
    [[nodiscard]] std::optional<std::uint16_t> routing_id(std::uint16_t pf, unsigned number) const noexcept;
};

/// All behind the same uplink as @p uplink, an interface in folder @p net, which is /sys/class/net: in the order PF, VFs,
/// SFs.
[[nodiscard]] std::vector<RepresentorPort> find_representors(const std::string &net, const std::string &uplink);

} // namespace opendoca::mlx5
