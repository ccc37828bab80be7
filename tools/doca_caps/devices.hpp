// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capabilities.hpp"

namespace opendoca::tools {

struct RepresentorReport {
    std::string pci_address;
    std::string function_type; ///< "PF", "VF", "SF"
    std::string kind;          ///< "net" or "emulated"
    std::string vuid;
};

/// A device, with everything that it says about itself. What it has not is empty.
struct DeviceReport {
    std::optional<std::string> pci_address;
    std::optional<std::string> ibdev;
    std::optional<std::string> interface;
    std::string provider;
    std::string function_type;
    std::optional<std::string> acts_as; ///< of a DPU's port: the address of the host's function that it exports as
    std::optional<std::string> mac;
    std::optional<std::string> ipv4;
    std::optional<std::string> ipv6;
    std::optional<std::uint16_t> lid;
    std::string link_layer; ///< "Ethernet" or "InfiniBand"
    bool is_port_active = false;
    std::map<std::uint32_t, std::string> gids; ///< by index, without the empty ones
    std::vector<std::string> remarks; ///< what is behind the capabilities
    std::vector<CapabilityValue> capabilities; ///< in the order of capability_rows()
    std::vector<RepresentorReport> representors;
    std::string problem; ///< why the representors could not be listed
};

/// Throws when there is no list.
[[nodiscard]] std::vector<DeviceReport> report_devices();

} // namespace opendoca::tools
