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

struct RepresentorReport {
    std::string pci_address;
    std::string function_type; ///< "PF", "VF", "SF"
    std::string kind;          ///< "net" or "emulated"
    std::string vuid;
    std::string interface;                ///< of the representor itself, on this side
    std::optional<std::uint16_t> vhca_id; ///< of the function that it represents
};

/// The kernel's information on a real device and its port. Missing values are empty.
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

/// A capability that a device lacks.
struct LackReport {
    const char *key;   ///< in JSON
    std::string title; ///< that stands alone
    std::string reason;
};

/// A device with all of its properties. Missing values are empty.
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
    std::optional<std::uint64_t> active_rate;  ///< bits per second
    std::optional<std::uint16_t> vhca_id;
    std::optional<std::uint32_t> sf_number;
    std::optional<HardwareReport> hardware; ///< of software devices: none
    std::vector<LackReport> lacks;
    std::vector<std::string> remarks;          ///< what is behind the capabilities
    std::vector<CapabilityValue> capabilities; ///< in the order of capability_rows()
    std::vector<RepresentorReport> representors;
    std::string problem; ///< why the representors could not be listed
};

/// By its name, its interface or its PCI address, short or long.
[[nodiscard]] bool is_named(const DeviceReport &device, const std::string &name);

/// Returns its display name.
[[nodiscard]] const std::string &name_of(const DeviceReport &device);

/// What a capability is called where it stands alone: that of a detail has its owner's name in front.
[[nodiscard]] std::string full_title(std::size_t row);

/// Throws when there is no list.
[[nodiscard]] std::vector<DeviceReport> report_devices();

} // namespace opendoca::tools
