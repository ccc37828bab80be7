// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The ports of a DPU's e-switch, as its network interfaces and devlink show them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "card.hpp"

namespace opendoca::card {

struct Representor {
    std::string name;              ///< of the network interface
    std::string port_name;         ///< phys_port_name
    std::uint32_t interface_index; ///< of no real interface
    std::array<std::uint8_t, 6> address;
    std::uint32_t port_index; ///< of devlink: the manager's VHCA id and the vport
    const Function *function; ///< null: the uplink, which represents none
    bool is_external;         ///< the function is the host's
    std::uint16_t virtual_function;
};

/// The ports of the e-switch that the DPU's embedded function manages; none on a card without a DPU.
std::vector<Representor> representors_of(const Card &card);
/// The function that manages the e-switch, or null.
const Function *eswitch_manager(const Card &card);
/// The e-switch's id, as phys_switch_id.
std::string switch_id_of(const Card &card);

} // namespace opendoca::card
