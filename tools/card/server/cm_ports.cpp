// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Addresses, ports and paths of the connection manager.
#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <vector>

#include <endian.h>

#include "cm_constants.hpp"
#include "connection_manager.hpp"
#include "limits.hpp"
#include "roce_network.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint8_t roce_v2_type = 2;
constexpr std::uint32_t first_free_port = 32'768, free_ports = 28'232; // ip_local_port_range

std::uint32_t port_key(const CmId &id, std::uint16_t port)
{
    return static_cast<std::uint32_t>(id.file->side) << 31 | (id.port_space & 0x7fffu) << 16 | port;
}

bool has_link(const Function &function)
{
    return function.is_port_up && !function.is_dead;
}

bool has_gid(const Function &function, const Address &ip)
{
    return std::ranges::any_of(function.profile.gids,
                               [&](const Gid &gid) { return gid.is_set() && gid.raw == ip.gid; });
}

/// Returns the index of the GID by which a function is reached: a routable one of RoCE v2 before a link-local one.
std::size_t preferred_index(const Function &function)
{
    const std::vector<Gid> &gids = function.profile.gids;
    std::size_t best = 0;
    int best_rank = -1;
    for (std::size_t i = 0; i < gids.size(); ++i) {
        const int rank = !gids[i].is_set() ? -1
                                           : (gids[i].type == roce_v2_type ? 2 : 0) +
                                                 (Address::of_gid(gids[i].raw.data()).is_usable() ? 1 : 0);
        if (rank > best_rank) {
            best = i;
            best_rank = rank;
        }
    }
    return best;
}

std::uint16_t lid_of(const Function *function)
{
    return function != nullptr ? function->profile.lid : std::uint16_t{0};
}

} // namespace

bool CmAddress::is_wildcard() const
{
    return ip == Address{} ||
           (ip.is_ipv4() && ip.gid[12] == 0 && ip.gid[13] == 0 && ip.gid[14] == 0 && ip.gid[15] == 0);
}

bool CmAddress::is_loopback() const
{
    Address ipv6;
    ipv6.gid.back() = 1;
    return ip == ipv6 || (ip.is_ipv4() && ip.gid[12] == 127);
}

Function *CmPorts::owner_of(const CmAddress &address) const
{
    if (address.is_wildcard())
        return nullptr;
    const auto found =
        std::ranges::find_if(card_.functions, [&](const Function &function) { return has_gid(function, address.ip); });
    return found == card_.functions.end() ? nullptr : &*found;
}

Function *CmPorts::first_function(Side side) const
{
    const auto found = std::ranges::find_if(card_.functions, [&](const Function &function) {
        return function.profile.side == side && has_link(function) &&
               std::ranges::any_of(function.profile.gids, &Gid::is_set);
    });
    return found == card_.functions.end() ? nullptr : &*found;
}

/// Returns an errno if the port cannot be had beside those that hold it: as the kernel, EADDRNOTAVAIL if one of both is
/// not bound to a device, and EADDRINUSE for the same address.
int CmPorts::check_port(const CmId &id, const CmAddress &address, bool is_reusing) const
{
    const auto [first, last] = ports_.equal_range(port_key(id, address.port));
    for (auto entry = first; entry != last; ++entry) {
        const CmId &other = *entry->second;
        if (&other == &id || (is_reusing && other.is_reusing && other.state != CmState::listening))
            continue;
        if (address.is_ipv6 != other.source.is_ipv6 && (address.is_ipv6 ? id.is_ipv6_only : other.is_ipv6_only))
            continue;
        if (address.is_wildcard() || other.source.is_wildcard())
            return EADDRNOTAVAIL;
        if (address.ip == other.source.ip)
            return EADDRINUSE;
    }
    return 0;
}

int CmPorts::bind_to(CmId &id, CmAddress address)
{
    if (id.state != CmState::idle)
        return EINVAL;
    Function *owner = owner_of(address);
    // The other side is another machine. 127.0.0.1 is every machine's own, also where it is a function's address.
    if (owner != nullptr && owner->profile.side != id.file->side) {
        if (!address.is_loopback() || address.ip.gid.back() != 1)
            return EADDRNOTAVAIL;
        owner = nullptr;
    }
    if (owner == nullptr && !address.is_wildcard() && !address.is_loopback()) {
        if (!interface_of(address.ip))
            return EADDRNOTAVAIL;
        owner = first_function(id.file->side);
        if (owner == nullptr)
            return ENODEV;
    }
    if (address.port != 0) {
        if (const int error = check_port(id, address, id.is_reusing); error != 0)
            return error;
    } else {
        static std::minstd_rand random{std::random_device{}()};
        const std::uint32_t start = static_cast<std::uint32_t>(random());
        std::uint32_t tries = 0;
        do
            address.port = static_cast<std::uint16_t>(first_free_port + (start + tries) % free_ports);
        while (ports_.contains(port_key(id, address.port)) && ++tries < free_ports);
        if (tries == free_ports)
            return EADDRNOTAVAIL;
    }
    id.source = address;
    id.function = owner;
    id.state = CmState::bound;
    id.has_port = true;
    ports_.emplace(port_key(id, address.port), &id);
    return 0;
}

/// Resolves at once, since a card knows all of its functions and the machine its routes; the program reads the result
/// as an event. Loopback addresses stand for the function that the id is bound to, or for the first one of the side; so
/// do other addresses of this machine, unless a function with an address of the same family reaches them.
int CmPorts::resolve_to(CmId &id, const CmAddress *source, const CmAddress &destination)
{
    if (id.state == CmState::idle) {
        CmAddress any;
        any.is_ipv6 = destination.is_ipv6;
        if (!any.is_ipv6)
            any.ip.gid[10] = any.ip.gid[11] = 0xff;
        if (const int error = bind_to(id, source != nullptr ? *source : any); error != 0)
            return error;
    }
    if (id.state != CmState::bound)
        return EINVAL;
    if (id.source.is_ipv6 != destination.is_ipv6 && !id.source.is_wildcard())
        return EINVAL;
    // A program that resolves again after each failure, and never reads why, could add events without end.
    if (id.file->events.size() > max_events_of_id * id.file->ids)
        return ENOMEM;
    const Side side = id.file->side;
    Function *const bound = id.function;
    Function *target = owner_of(destination);
    const bool is_own_loopback = destination.is_loopback() && destination.ip.gid.back() == 1;
    if (is_own_loopback && (id.function != nullptr || (target != nullptr && target->profile.side != side)))
        target = nullptr;
    Function *const exit =
        target == nullptr && !is_own_loopback && !destination.is_wildcard() ? exit_to(id, destination) : nullptr;
    const bool is_this_machine =
        target == nullptr && exit == nullptr &&
        (destination.is_loopback() || destination.is_wildcard() || interface_of(destination.ip));
    if (exit != nullptr)
        id.function = exit;
    if (id.function == nullptr)
        id.function = target != nullptr && target->profile.side == side ? target : first_function(side);
    if (is_this_machine)
        target = id.function;
    id.destination = destination;
    if (exit == nullptr && (target == nullptr || id.function == nullptr)) {
        const bool has_device = id.function != nullptr;
        id.function = bound;
        report(id, event_address_error, target == nullptr && has_device ? -ENETUNREACH : -ENODEV);
        return 0;
    }
    id.peer_node = exit != nullptr ? CmNode{nullptr, destination.ip} : node_of(*target, destination);
    if (destination.is_wildcard()) // the own address is meant
        id.destination.ip = id.peer_node.gid;
    if (id.source.is_wildcard()) {
        const Address own = source_gid(id);
        id.source.ip = is_this_machine || own.is_ipv4() != id.destination.ip.is_ipv4() || !card_.profile.is_ethernet
                           ? id.destination.ip
                           : own;
        id.source.is_ipv6 = destination.is_ipv6;
    }
    id.state = CmState::address_resolved;
    report(id, event_address_resolved);
    return 0;
}

Function *CmPorts::exit_to(const CmId &id, const CmAddress &destination) const
{
    if (card_.network == nullptr || !destination.ip.is_usable())
        return nullptr;
    const std::optional<Address> source = route_source(destination.ip);
    if (!source)
        return nullptr;
    Function *best = nullptr;
    for (Function &function : card_.functions) {
        const Endpoint *endpoint = card_.network->endpoint_of(function);
        if (endpoint == nullptr || !has_link(function) || function.profile.side != id.file->side ||
            endpoint->address().is_ipv4() != destination.ip.is_ipv4() ||
            (id.function != nullptr && id.function != &function))
            continue;
        // Rather the function by whose address the machine itself would send.
        if (best == nullptr || has_gid(function, *source))
            best = &function;
    }
    return best;
}

CmId *CmPorts::listener_of(const Function &function, const CmMessage &request, bool is_from_network)
{
    // A request in a packet may have any address, so the function's is checked.
    if (is_from_network && !has_gid(function, request.destination.ip))
        return nullptr;
    CmId *wildcard = nullptr;
    const std::uint32_t key = static_cast<std::uint32_t>(function.profile.side) << 31 |
                              (request.port_space & 0x7fffu) << 16 | request.destination.port;
    const auto [first, last] = ports_.equal_range(key);
    for (auto entry = first; entry != last; ++entry) {
        CmId &id = *entry->second;
        // The key has not all bits of the port space.
        if (id.state != CmState::listening || id.port_space != request.port_space ||
            (is_from_network && id.function != nullptr && id.function != &function))
            continue;
        if (id.source.is_wildcard()) {
            if (id.source.is_ipv6 == request.destination.is_ipv6 || (id.source.is_ipv6 && !id.is_ipv6_only))
                wildcard = &id;
        } else if (id.source.ip == request.destination.ip) {
            return &id;
        }
    }
    return wildcard;
}

std::size_t CmPorts::source_index(const CmId &id) const
{
    const std::vector<Gid> &gids = id.function->profile.gids;
    // By the own address, if the device has it. RoCE v1 entries come before those of v2.
    for (std::size_t i = gids.size(); i-- != 0;) {
        if (gids[i].is_set() && gids[i].raw == id.source.ip.gid)
            return i;
    }
    return preferred_index(*id.function);
}

Address CmPorts::source_gid(const CmId &id) const
{
    return id.function == nullptr ? Address{} : Address::of_gid(id.function->profile.gids[source_index(id)].raw.data());
}

CmNode CmPorts::node_of(Function &function, const CmAddress &address)
{
    if (has_gid(function, address.ip))
        return {&function, address.ip};
    return {&function, Address::of_gid(function.profile.gids[preferred_index(function)].raw.data())};
}

void CmPorts::describe_path(const CmId &id, ib_user_path_rec &path) const
{
    constexpr std::uint8_t exactly = 2, rate_of_port = 0;
    std::ranges::copy(id.peer_node.gid.gid, path.dgid);
    std::ranges::copy(source_gid(id).gid, path.sgid);
    path.dlid = htobe16(lid_of(id.peer_node.function));
    path.slid = htobe16(lid_of(id.function));
    path.pkey = htobe16(default_partition);
    path.reversible = 1;
    path.mtu = id.function->profile.active_mtu;
    path.hop_limit = hop_limit;
    path.traffic_class = id.traffic_class;
    path.numb_path = 1;
    path.mtu_selector = path.rate_selector = path.packet_life_time_selector = exactly;
    path.rate = rate_of_port;
    path.packet_life_time = packet_life_time;
}

void CmPorts::describe_address_handle(const CmId &id, ib_uverbs_ah_attr &attributes) const
{
    attributes = {};
    attributes.port_num = port_number;
    attributes.dlid = lid_of(id.peer_node.function);
    attributes.is_global = card_.profile.is_ethernet ? 1 : 0;
    std::ranges::copy(id.peer_node.gid.gid, attributes.grh.dgid);
    attributes.grh.sgid_index = static_cast<std::uint8_t>(source_index(id));
    attributes.grh.hop_limit = hop_limit;
    attributes.grh.traffic_class = id.traffic_class;
}

} // namespace opendoca::card
