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

enum class Side : std::uint8_t { dpu, host };

/// One function of the software topology. The strings are what the JSON file gives or the defaults for it.
struct TopologyFunction {
    std::string name;
    Side side = Side::dpu;
    FunctionType type = FunctionType::pf;
    std::string pci_address;       ///< dddd:bb:dd.f; an SF has its parent's
    std::vector<std::string> also; ///< further addresses that it answers to; an SF's are its parent's
    std::string parent;            ///< the DPU's PF that owns the representor; empty for a DPU's PF itself
    std::string ibdev_name;
    std::string iface_name;
    MacAddress mac{};
    Ipv4Address ipv4{};
    Ipv6Address ipv6{};
    std::string vuid;
    bool sha_hardware = false;  ///< reports that it has an engine for SHA
    std::string rep_iface_name; ///< of its representor's interface on the DPU; empty for a DPU's PF, which has none
    std::optional<std::uint64_t> active_rate; ///< bits per second; none for a function that has no rate
    std::optional<std::uint16_t> vhca_id;     ///< unique in the topology, and always there once it has been read
    std::optional<std::uint32_t> sf_number;   ///< of an SF

    [[nodiscard]] bool answers_to(const std::string &address) const;
};

using Topology = std::vector<TopologyFunction>;

/// "the default topology", or the path that DOCA_SOFT_TOPOLOGY names.
[[nodiscard]] std::string topology_origin();

/// The example of the Core guide, or the one that the file named by DOCA_SOFT_TOPOLOGY describes.
[[nodiscard]] doca_error_t load_topology(Topology &topology);

/// Reads a topology from JSON text; @p origin names it in messages.
[[nodiscard]] doca_error_t parse_topology(const std::string &text, const std::string &origin, Topology &topology);

} // namespace opendoca::soft
