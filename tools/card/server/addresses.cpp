// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "addresses.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <system_error>

#include "big_endian.hpp"
#include "roce_network.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t first_gid = 2; // behind the link-local ones: RoCE v1, then v2
/// IPv6, UDP, the longest headers of a packet with payload, and the ICRC.
constexpr std::uint32_t all_headers = 40 + 8 + 12 + 16 + 4 + 4;

std::string_view name_of(Side side)
{
    return side == Side::host ? "host" : "dpu";
}

/// Returns the largest path MTU (as ibv_mtu) whose packets an interface can send, with all headers.
std::uint8_t path_mtu_of(std::uint32_t interface_mtu)
{
    std::uint8_t code = 1;
    while (code < 5 && (256u << code) + all_headers <= interface_mtu)
        ++code;
    return code;
}

/// Returns the function that an assignment names, or null.
Function *find(Card &card, const AssignedAddress &wanted)
{
    const auto found = std::ranges::find_if(card.functions, [&](const Function &function) {
        const FunctionProfile &its = function.profile;
        return its.side == wanted.side &&
               (wanted.device.empty() ? its.kind != FunctionKind::embedded : its.device_name == wanted.device);
    });
    return found == card.functions.end() ? nullptr : &*found;
}

bool assign_one(Card &card, const AssignedAddress &wanted)
{
    const std::string text = wanted.address.text();
    Function *const function = find(card, wanted);
    if (function == nullptr || function->profile.kind == FunctionKind::embedded) {
        std::fprintf(stderr, "with_card: the side '%.*s' of a %.*s has no function '%s' that can have an address\n",
                     static_cast<int>(name_of(wanted.side).size()), name_of(wanted.side).data(),
                     static_cast<int>(card.profile.name.size()), card.profile.name.data(), wanted.device.c_str());
        return false;
    }
    if (card.network->endpoint_of(*function) != nullptr) {
        std::fprintf(stderr, "with_card: %s has an address already: it cannot have %s as well\n",
                     function->profile.device_name.c_str(), text.c_str());
        return false;
    }
    // Functions without an address have these, in every card.
    constexpr std::array<std::uint8_t, 15> own_addresses = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0};
    if (std::ranges::equal(own_addresses, std::span(wanted.address.gid).first(own_addresses.size())) &&
        wanted.address.gid.back() < 16) {
        std::fprintf(stderr,
                     "with_card: %s is an address of functions without --address; take one from 127.0.0.16 on\n",
                     text.c_str());
        return false;
    }
    const std::optional<Interface> interface = interface_of(wanted.address);
    if (!interface) {
        std::fprintf(stderr, "with_card: no network interface of this machine has the address %s\n", text.c_str());
        return false;
    }
    constexpr std::uint32_t least_mtu = 256 + all_headers;
    if (interface->mtu < least_mtu) {
        std::fprintf(stderr, "with_card: the MTU of %s is %u; RoCE needs %u\n", interface->name.c_str(), interface->mtu,
                     least_mtu);
        return false;
    }
    try {
        card.network->add(*function, wanted.address);
    } catch (const std::system_error &error) {
        std::fprintf(stderr, "with_card: cannot open UDP port %u of %s: %s\n", unsigned{roce_port}, text.c_str(),
                     error.code().message().c_str());
        return false;
    }
    FunctionProfile &its = function->profile;
    constexpr std::uint8_t roce_v1 = 1, roce_v2 = 2;
    // Without the link-local ones, which the network does not reach: programs would prefer them within one machine.
    its.gids[0] = its.gids[1] = {};
    its.gids[first_gid] = {wanted.address.gid, roce_v1};
    its.gids[first_gid + 1] = {wanted.address.gid, roce_v2};
    its.interface = interface->name;
    its.active_mtu = path_mtu_of(interface->mtu);
    return true;
}

/// Returns the next state of a hash (FNV-1).
std::uint32_t add_to_hash(std::uint32_t hash, std::uint8_t byte)
{
    return (hash ^ byte) * 16777619u;
}

/// Returns the number of a card with this address.
std::uint32_t number_of_address(const Address &address)
{
    std::uint32_t number = 0;
    for (const std::uint8_t byte : address.gid)
        number = address.is_ipv4() ? number << 8 | byte : add_to_hash(number, byte);
    return number;
}

/// Gives a card GUIDs and link-local GIDs of its own: by equal ones, programs take two cards for one.
void distinguish(Card &card, std::uint32_t number)
{
    constexpr std::uint64_t vendor = 0xec0d9a0000000000;
    card.guid = vendor | std::uint64_t{number} << 8;
    for (Function &function : card.functions) {
        for (Gid &gid : function.profile.gids) {
            if (gid.is_set() && gid.raw[0] == 0xfe)
                store_big(&gid.raw[11], number); // behind the vendor's number, in front of the VHCA id
        }
    }
}

} // namespace

std::optional<AssignedAddress> parse_assignment(std::string_view text, Side side, std::string &message)
{
    AssignedAddress assigned{side, {}, {}};
    std::string_view rest = text;
    for (const Side named : {Side::host, Side::dpu}) {
        const std::string prefix = std::string(name_of(named)) + "/";
        if (rest.starts_with(prefix)) {
            assigned.side = named;
            rest.remove_prefix(prefix.size());
        }
    }
    if (const std::size_t equals = rest.find('='); equals != std::string_view::npos) {
        assigned.device = rest.substr(0, equals);
        rest.remove_prefix(equals + 1);
    }
    const std::optional<Address> address = Address::parse(rest);
    if (!address) {
        message.assign(1, '\'').append(text).append("' is not of the form [host/|dpu/][mlx5_N=]ADDRESS");
        return std::nullopt;
    }
    if (!address->is_usable()) {
        message = "a card cannot have the address " + address->text() + ": it is unspecified, multicast or link-local";
        return std::nullopt;
    }
    assigned.address = *address;
    return assigned;
}

void distinguish_linked(Card &card, std::string_view name)
{
    std::uint32_t number = 2166136261u;
    for (const char character : name)
        number = add_to_hash(number, static_cast<std::uint8_t>(character));
    distinguish(card, number);
}

bool assign(Card &card, const std::vector<AssignedAddress> &addresses)
{
    if (addresses.empty())
        return true;
    if (!card.profile.is_ethernet) {
        std::fprintf(stderr, "with_card: the profile %.*s has no Ethernet, and so no RoCE: it cannot have an address\n",
                     static_cast<int>(card.profile.name.size()), card.profile.name.data());
        return false;
    }
    try {
        card.network = std::make_unique<Network>(card);
    } catch (const std::system_error &error) {
        std::fprintf(stderr, "with_card: cannot create a timer: %s\n", error.code().message().c_str());
        return false;
    }
    // The two sides of a card with a link have different addresses, but the same GUIDs.
    if (!card.own_side)
        distinguish(card, number_of_address(addresses.front().address));
    return std::ranges::all_of(addresses, [&](const AssignedAddress &wanted) { return assign_one(card, wanted); });
}

std::string describe_addresses(const Card &card)
{
    std::string all;
    for (const Function &function : card.functions) {
        const Endpoint *const endpoint = card.network != nullptr ? card.network->endpoint_of(function) : nullptr;
        if (endpoint == nullptr)
            continue;
        if (!all.empty())
            all += ',';
        all.append(name_of(function.profile.side)).append("/").append(function.profile.device_name);
        all.append("=").append(endpoint->address().text());
    }
    return all.empty() ? "-" : all;
}

} // namespace opendoca::card
