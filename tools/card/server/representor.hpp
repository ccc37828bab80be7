// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The ports of a DPU's e-switch, as network interfaces and devlink show them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "card.hpp"

namespace opendoca::card {

/// One port of the e-switch. Computed on demand from the functions of the card, which are constant apart from their
/// presence; therefore the same port has the same name and indices in sysfs and in devlink.
struct Representor {
    std::string name;              ///< of the network interface
    std::string port_name;         ///< phys_port_name
    std::uint32_t interface_index; ///< index that no interface of the kernel has
    std::array<std::uint8_t, 6> address;
    std::uint32_t port_index;       ///< index in devlink: the manager's VHCA id and the vport
    const Function *function;       ///< function behind the port; null for the uplink
    bool is_external;               ///< the function belongs to the host
    std::uint16_t virtual_function; ///< number of a virtual function, else 0

    [[nodiscard]] bool is_present() const { return function == nullptr || function->is_present; }
};

/// Returns the ports of the e-switch; none on a card without a DPU.
std::vector<Representor> all_ports_of(const Card &card);
/// Returns those with a function that is present, which are all unless the host's side is a place of its own.
std::vector<Representor> representors_of(const Card &card);
/// Returns the function that manages the e-switch, or null.
const Function *eswitch_manager(const Card &card);
/// Returns the e-switch's id in the format of phys_switch_id.
std::string switch_id_of(const Card &card);

} // namespace opendoca::card
