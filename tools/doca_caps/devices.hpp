// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capabilities.hpp"

namespace opendoca::tools {

/// A function that a DPU represents, as its representor reports it. Missing values are empty.
struct RepresentorReport {
    std::string pci_address;
    std::string function_type; ///< "PF", "VF", "SF"
    std::string kind;          ///< "net" or "emulated"
    std::string vuid;
    std::string interface;                ///< the interface of the representor itself on this side
    std::optional<std::uint16_t> vhca_id; ///< the identifier of the represented function
};

/// The information of the kernel (sysfs) on a real device and its port. Missing values are empty.
struct HardwareReport {
    std::string firmware;
    std::string driver;
    std::string board;
    std::string rate;                           ///< "100 Gb/sec (4X EDR)"
    std::string state;                          ///< "ACTIVE"
    std::string physical_state;                 ///< "LinkUp"
    std::optional<std::uint64_t> interface_mtu; ///< bytes
    std::optional<std::uint64_t> rdma_mtu;      ///< bytes of a packet's payload
};

/// A capability that a device lacks, with the reason that the library gives.
struct LackReport {
    const char *key;   ///< the name in JSON
    std::string title; ///< the title that is complete without its context
    std::string reason;
};

/// A device with all of its properties, as report_devices() found them. Missing values are empty. A copy of everything,
/// so it stays valid after the device list is destroyed.
struct DeviceReport {
    std::optional<std::string> pci_address;
    std::optional<std::string> ibdev;
    std::optional<std::string> interface;
    std::string provider;
    std::string function_type;
    std::optional<std::string> acts_as; ///< for a DPU's port: PCI address of the host function as which it exports
    std::optional<std::string> mac;
    std::optional<std::string> ipv4;
    std::optional<std::string> ipv6;
    std::optional<std::uint16_t> lid;
    std::string link_layer; ///< "Ethernet" or "InfiniBand"
    bool is_port_active = false;
    std::map<std::uint32_t, std::string> gids; ///< by index, without empty entries
    std::optional<std::uint64_t> active_rate;  ///< bits per second
    std::optional<std::uint16_t> vhca_id;
    std::optional<std::uint32_t> sf_number;
    std::optional<HardwareReport> hardware; ///< empty for software devices
    std::vector<LackReport> lacks;
    std::vector<std::string> remarks;          ///< what implements the capabilities
    std::vector<CapabilityValue> capabilities; ///< in the order of capability_rows()
    std::vector<RepresentorReport> representors;
    std::string problem; ///< the reason why the representors could not be listed
};

/// Returns whether @p name is the device's ibdev name, its interface or its PCI address, with or without the domain.
[[nodiscard]] bool is_named(const DeviceReport &device, const std::string &name);

/// Returns the name for tables: the ibdev name, else the PCI address, else "-".
[[nodiscard]] const std::string &name_of(const DeviceReport &device);

/// Returns the title of a capability that is complete without its context: a detail follows the title of its main row.
[[nodiscard]] std::string full_title(std::size_t row);

/// Reports all devices. Throws if the library can't list them.
[[nodiscard]] std::vector<DeviceReport> report_devices();

} // namespace opendoca::tools
