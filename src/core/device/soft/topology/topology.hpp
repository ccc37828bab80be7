// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "../../device.hpp"

namespace opendoca::soft {

/// The side of the PCIe that a function belongs to.
enum class Side : std::uint8_t { dpu, host };

/// How the card is configured, as firmware does it: "mode" of a topology.
enum class CardMode : std::uint8_t {
    dpu,        ///< the Arm cores own the card: their ports have representors, and services for the host
    nic,        ///< an adapter card of the host: the Arm side has no functions
    restricted, ///< as dpu, and the host may not configure the card
};

/// One function of the software topology. Strings are from the JSON file, or the defaults for it. Invariants, checked
/// by parse_topology(): names, PCI addresses, VHCA ids and representor interfaces are unique, and a parent precedes its
/// children.
struct TopologyFunction {
    std::string name;
    Side side = Side::dpu;
    FunctionType type = FunctionType::pf;
    std::string pci_address;       ///< dddd:bb:dd.f; an SF has its parent's
    std::vector<std::string> also; ///< further addresses by which programs find it; an SF has those of its parent
    std::string parent;            ///< the DPU's PF that owns the representor; empty for a DPU's PF itself
    std::string ibdev_name;
    std::string iface_name;
    MacAddress mac{};
    Ipv4Address ipv4{};
    Ipv6Address ipv6{};
    std::string vuid;
    bool sha_hardware = false;                  ///< reports that it has an engine for SHA
    EngineProfile engines = EngineProfile::all; ///< whose engines it claims for tasks other than SHA's
    std::string rep_iface_name; ///< of its representor's interface on the DPU; empty for a DPU's PF, which has none
    std::optional<std::uint64_t> active_rate; ///< bits per second; nothing for a function that reports no rate
    /// Unique in the topology; set by parse_topology() if the file does not.
    std::optional<std::uint16_t> vhca_id;
    std::optional<std::uint32_t> sf_number; ///< of an SF
    bool is_strict = false;                 ///< it behaves as a card where the software device is more lenient
    CardMode mode = CardMode::dpu;          ///< of the card, the same for all functions

    /// Returns whether the mode leaves the function in existence: NIC mode has none on the DPU.
    [[nodiscard]] bool exists() const noexcept { return mode != CardMode::nic || side == Side::host; }

    /// Returns whether @p address is one of the function's, in the long form dddd:bb:dd.f.
    [[nodiscard]] bool has_address(const std::string &address) const;
};

/// The functions in the order of the file.
using Topology = std::vector<TopologyFunction>;

/// Returns "the default topology", or the path in DOCA_SOFT_TOPOLOGY.
[[nodiscard]] std::string topology_origin();

/// Loads the example topology of the Core guide, or the file named by DOCA_SOFT_TOPOLOGY. Returns OPERATING_SYSTEM if
/// the file cannot be read, INVALID_VALUE if it is malformed; @p topology is then unchanged.
[[nodiscard]] doca_error_t load_topology(Topology &topology);

/// Reads a topology from JSON text; @p origin names it in messages.
[[nodiscard]] doca_error_t parse_topology(const std::string &text, const std::string &origin, Topology &topology);

} // namespace opendoca::soft
