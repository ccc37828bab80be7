// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "devlink.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include <linux/devlink.h>

#include "netlink.hpp"
#include "representor.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint16_t devlink_family = 0x15; // the kernel assigns family numbers dynamically, so any value is valid
constexpr std::uint32_t config_group = 5; // number of a multicast group, also assigned dynamically; it has no messages
constexpr char bus_name[] = "pci";

/// A generic netlink request, split into its parts. `attributes` refers to the datagram that was received, and is valid
/// while the request is handled.
struct DevlinkRequest {
    nlmsghdr header;
    genlmsghdr generic;
    std::span<const std::uint8_t> attributes;
    [[nodiscard]] bool is_dump() const { return (header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP; }
    [[nodiscard]] std::uint16_t flags() const { return is_dump() ? NLM_F_MULTI : 0; }
};

/// Builds the reply to CTRL_CMD_GETFAMILY.
Datagram describe_family(const DevlinkRequest &request)
{
    NetlinkMessage message(GENL_ID_CTRL, CTRL_CMD_NEWFAMILY, request.header, request.flags());
    message.add_text(CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME);
    message.add_number(CTRL_ATTR_FAMILY_ID, devlink_family);
    message.add_number(CTRL_ATTR_VERSION, std::uint32_t{DEVLINK_GENL_VERSION});
    message.add_number(CTRL_ATTR_HDRSIZE, std::uint32_t{0});
    message.add_number(CTRL_ATTR_MAXATTR, std::uint32_t{DEVLINK_ATTR_MAX});
    const std::size_t groups = message.begin_nest(CTRL_ATTR_MCAST_GROUPS), group = message.begin_nest(1);
    message.add_number(CTRL_ATTR_MCAST_GRP_ID, config_group);
    message.add_text(CTRL_ATTR_MCAST_GRP_NAME, DEVLINK_GENL_MCGRP_CONFIG_NAME);
    message.end_nest(group);
    message.end_nest(groups);
    return message.take();
}

/// Builds the description of the e-switch's devlink device.
Datagram describe_device(const DevlinkRequest &request, const Function &manager)
{
    NetlinkMessage message(devlink_family, DEVLINK_CMD_NEW, request.header, request.flags());
    message.add_text(DEVLINK_ATTR_BUS_NAME, bus_name);
    message.add_text(DEVLINK_ATTR_DEV_NAME, manager.profile.pci_address);
    message.add_number(DEVLINK_ATTR_RELOAD_FAILED, std::uint8_t{0});
    return message.take();
}

/// Adds the attributes of the function behind a port.
void describe_function(NetlinkMessage &message, const Representor &port)
{
    const Function *function = port.function;
    const auto flavour = [&](devlink_port_flavour value) {
        message.add_number(DEVLINK_ATTR_PORT_FLAVOUR, static_cast<std::uint16_t>(value));
    };
    if (function == nullptr) {
        flavour(DEVLINK_PORT_FLAVOUR_PHYSICAL);
        message.add_number(DEVLINK_ATTR_PORT_NUMBER, std::uint32_t{0});
        return;
    }
    // Functions of the host belong to controller 1 (the external one), the DPU's own to controller 0.
    message.add_number(DEVLINK_ATTR_PORT_CONTROLLER_NUMBER, std::uint32_t{port.is_external});
    message.add_number(DEVLINK_ATTR_PORT_PCI_PF_NUMBER, std::uint16_t{0});
    message.add_number(DEVLINK_ATTR_PORT_EXTERNAL, std::uint8_t{port.is_external});
    switch (function->profile.kind) {
    case FunctionKind::virtual_function:
        flavour(DEVLINK_PORT_FLAVOUR_PCI_VF);
        message.add_number(DEVLINK_ATTR_PORT_PCI_VF_NUMBER, port.virtual_function);
        break;
    case FunctionKind::subfunction:
        flavour(DEVLINK_PORT_FLAVOUR_PCI_SF);
        message.add_number(DEVLINK_ATTR_PORT_PCI_SF_NUMBER, function->profile.subfunction);
        break;
    default:
        flavour(DEVLINK_PORT_FLAVOUR_PCI_PF);
        break;
    }
    const std::size_t nest = message.begin_nest(DEVLINK_ATTR_PORT_FUNCTION);
    message.add(DEVLINK_PORT_FUNCTION_ATTR_HW_ADDR, port.address.data(), port.address.size());
    if (function->profile.kind == FunctionKind::subfunction) {
        message.add_number(DEVLINK_PORT_FN_ATTR_STATE, std::uint8_t{DEVLINK_PORT_FN_STATE_ACTIVE});
        message.add_number(DEVLINK_PORT_FN_ATTR_OPSTATE, std::uint8_t{DEVLINK_PORT_FN_OPSTATE_ATTACHED});
    }
    message.end_nest(nest);
}

/// Builds the description of one e-switch port.
Datagram describe_port(const DevlinkRequest &request, const Function &manager, const Representor &port)
{
    NetlinkMessage message(devlink_family, DEVLINK_CMD_PORT_NEW, request.header, request.flags());
    message.add_text(DEVLINK_ATTR_BUS_NAME, bus_name);
    message.add_text(DEVLINK_ATTR_DEV_NAME, manager.profile.pci_address);
    message.add_number(DEVLINK_ATTR_PORT_INDEX, port.port_index);
    message.add_number(DEVLINK_ATTR_PORT_TYPE, std::uint16_t{DEVLINK_PORT_TYPE_ETH});
    message.add_number(DEVLINK_ATTR_PORT_NETDEV_IFINDEX, port.interface_index);
    message.add_text(DEVLINK_ATTR_PORT_NETDEV_NAME, port.name);
    describe_function(message, port);
    return message.take();
}

/// Returns whether the request's attribute is absent or has this value.
bool matches(const DevlinkRequest &request, std::uint16_t type, std::string_view value)
{
    const auto attribute = netlink_attribute(request.attributes, type);
    return !attribute || netlink_text(*attribute) == value;
}

/// Appends the requested datagrams. Returns an errno, or 0.
int build_replies(const Card &card, const DevlinkRequest &request, std::vector<Datagram> &replies)
{
    if (request.header.nlmsg_type == GENL_ID_CTRL) {
        if (request.generic.cmd != CTRL_CMD_GETFAMILY)
            return EOPNOTSUPP;
        // The card has no other family than devlink.
        if (!matches(request, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME))
            return ENOENT;
        replies.push_back(describe_family(request));
        return 0;
    }
    const Function *manager = eswitch_manager(card);
    if (request.header.nlmsg_type != devlink_family || manager == nullptr)
        return ENOENT;
    const bool is_manager = matches(request, DEVLINK_ATTR_BUS_NAME, bus_name) &&
                            matches(request, DEVLINK_ATTR_DEV_NAME, manager->profile.pci_address);
    if (!is_manager)
        return ENODEV;
    if (request.generic.cmd == DEVLINK_CMD_GET) {
        replies.push_back(describe_device(request, *manager));
        return 0;
    }
    if (request.generic.cmd != DEVLINK_CMD_PORT_GET)
        return EOPNOTSUPP;
    // A request without an index (a dump) gets all ports.
    const auto index = netlink_attribute(request.attributes, DEVLINK_ATTR_PORT_INDEX);
    std::uint32_t wanted = 0;
    if (index && index->size() == sizeof(wanted))
        std::memcpy(&wanted, index->data(), sizeof(wanted));
    for (const Representor &port : representors_of(card)) {
        if (!index || port.port_index == wanted)
            replies.push_back(describe_port(request, *manager, port));
    }
    return replies.empty() ? ENODEV : 0;
}

} // namespace

std::vector<Datagram> handle_netlink(const Card &card, std::span<const std::uint8_t> bytes)
{
    std::vector<Datagram> replies;
    DevlinkRequest request{};
    constexpr std::size_t headers = sizeof(request.header) + sizeof(request.generic);
    if (bytes.size() < headers)
        return replies;
    std::memcpy(&request.header, bytes.data(), sizeof(request.header));
    std::memcpy(&request.generic, bytes.data() + sizeof(request.header), sizeof(request.generic));
    // A malformed message gets no reply.
    if (request.header.nlmsg_len < headers || request.header.nlmsg_len > bytes.size())
        return replies;
    request.attributes = bytes.subspan(headers, request.header.nlmsg_len - headers);
    const int error = build_replies(card, request, replies);
    // A dump ends with NLMSG_DONE. Other requests get an acknowledgement on demand.
    if (error == 0 && request.is_dump())
        replies.push_back(netlink_done(request.header));
    else if (error != 0 || (request.header.nlmsg_flags & NLM_F_ACK) != 0)
        replies.push_back(netlink_error(request.header, error));
    return replies;
}

} // namespace opendoca::card
