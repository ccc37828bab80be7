// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "representor.hpp"

#include <algorithm>
#include <cstdio>

namespace opendoca::card {

namespace {

constexpr std::uint32_t first_interface_index = 1'000'000; // larger than the indices that the kernel has assigned
constexpr std::uint16_t uplink_vport = 0xffff;             // as mlx5 devices number it

} // namespace

const Function *eswitch_manager(const Card &card)
{
    const auto found = std::ranges::find_if(
        card.functions, [](const Function &function) { return function.profile.kind == FunctionKind::embedded; });
    return found == card.functions.end() ? nullptr : &*found;
}

std::string switch_id_of(const Card &card)
{
    // The bytes of the system image GUID, in reverse order.
    std::string id;
    for (std::uint64_t guid = card.guid, i = 0; i < sizeof(guid); ++i, guid >>= 8) {
        char byte[3];
        std::snprintf(byte, sizeof(byte), "%02x", static_cast<unsigned>(guid & 0xff));
        id += byte;
    }
    return id;
}

std::vector<Representor> representors_of(const Card &card)
{
    std::vector<Representor> ports = all_ports_of(card);
    std::erase_if(ports, [](const Representor &port) { return !port.is_present(); });
    return ports;
}

std::vector<Representor> all_ports_of(const Card &card)
{
    std::vector<Representor> ports;
    const Function *manager = eswitch_manager(card);
    if (manager == nullptr)
        return ports;
    const auto add = [&](std::string name, std::string port_name, std::uint16_t vport, const Function *function,
                         std::uint16_t virtual_function) {
        const auto number = static_cast<std::uint8_t>(ports.size());
        ports.push_back({std::move(name),
                         std::move(port_name),
                         first_interface_index + number,
                         {0x02, 0x00, 0x00, 0xbf, 0x32, number},
                         static_cast<std::uint32_t>(manager->profile.vhca_id) << 16 | vport,
                         function,
                         function != nullptr && function->profile.side == Side::host,
                         virtual_function});
    };
    // Names as on a BlueField: the uplink, the host's PF and VFs, and the DPU's subfunctions.
    add("p0", "p0", uplink_vport, nullptr, 0);
    std::uint16_t virtual_functions = 0;
    for (const Function &function : card.functions) {
        const FunctionProfile &its = function.profile;
        if (its.kind == FunctionKind::physical) {
            add("pf0hpf", "c1pf0", its.vport, &function, 0);
        } else if (its.kind == FunctionKind::virtual_function) {
            const std::string number = std::to_string(virtual_functions);
            add("pf0vf" + number, "c1pf0vf" + number, its.vport, &function, virtual_functions);
            ++virtual_functions;
        } else if (its.kind == FunctionKind::subfunction) {
            const std::string number = std::to_string(its.subfunction);
            add("en3f0pf0sf" + number, "pf0sf" + number, its.vport, &function, 0);
        }
    }
    return ports;
}

} // namespace opendoca::card
