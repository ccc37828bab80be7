// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_netlink.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include <net/if.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_netlink.h>
#include <sys/sysmacros.h>

#include "../wire.hpp"
#include "limits.hpp"
#include "netlink.hpp"

namespace opendoca::card {

namespace {

constexpr std::size_t max_dump_bytes = 128 * 1024; ///< of all datagrams of a dump: they have to fit into the socket
constexpr std::size_t max_table_bytes = 8 * 1024;  ///< of one datagram of a dump; programs have room for 16 KiB or more

/// An RDMA netlink request, split into its parts. `attributes` refers to the datagram that was received, and is valid
/// while the request is handled.
struct RdmaRequest {
    const Card &card;
    Side side;
    nlmsghdr header;
    std::span<const std::uint8_t> attributes;

    [[nodiscard]] unsigned command() const { return RDMA_NL_GET_OP(header.nlmsg_type); }
    [[nodiscard]] bool is_dump() const { return (header.nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP; }

    /// Returns the number in an attribute of 32 bits, if there is one.
    [[nodiscard]] std::optional<std::uint32_t> number(std::uint16_t type) const
    {
        const auto value = netlink_attribute(attributes, type);
        std::uint32_t result = 0;
        if (!value || value->size() != sizeof(result))
            return {};
        std::memcpy(&result, value->data(), sizeof(result));
        return result;
    }
    /// Returns the function that the request names by its index, or null.
    [[nodiscard]] const Function *function() const
    {
        const auto index = number(RDMA_NLDEV_ATTR_DEV_INDEX);
        for (const Function &candidate : card.functions) {
            if (index && candidate.profile.side == side && candidate.number == *index)
                return &candidate;
        }
        return nullptr;
    }
    /// Begins a reply.
    [[nodiscard]] NetlinkMessage reply() const
    {
        return {header.nlmsg_type, header, static_cast<std::uint16_t>(is_dump() ? NLM_F_MULTI : 0)};
    }
};

/// Adds what names a function in every reply.
void add_handle(NetlinkMessage &message, const Function &function)
{
    message.add_number(RDMA_NLDEV_ATTR_DEV_INDEX, function.number);
    message.add_text(RDMA_NLDEV_ATTR_DEV_NAME, function.profile.device_name);
}

/// Builds the settings: network namespaces share devices, and fork copies pinned pages.
Datagram describe_settings(const RdmaRequest &request)
{
    constexpr std::uint8_t shared_name_spaces = 1, copies_on_fork = 1;
    NetlinkMessage message = request.reply();
    message.add_number(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, shared_name_spaces);
    message.add_number(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, copies_on_fork);
    return message.take();
}

/// Builds the description of a device.
Datagram describe_device(const RdmaRequest &request, const Function &function)
{
    constexpr std::uint8_t channel_adapter = 1, without_moderation = 0;
    const Profile &profile = request.card.profile;
    char firmware[32];
    std::snprintf(firmware, sizeof(firmware), "%u.%u.%04u", profile.firmware_major, profile.firmware_minor,
                  profile.firmware_patch);
    NetlinkMessage message = request.reply();
    add_handle(message, function);
    message.add_number(RDMA_NLDEV_ATTR_PORT_INDEX, port_number); // of a device, the number of its ports
    message.add_number(RDMA_NLDEV_ATTR_CAP_FLAGS, std::uint64_t{device_capability_flags});
    message.add_text(RDMA_NLDEV_ATTR_FW_VERSION, firmware);
    message.add_number(RDMA_NLDEV_ATTR_NODE_GUID, request.card.guid_of(function.profile));
    message.add_number(RDMA_NLDEV_ATTR_SYS_IMAGE_GUID, request.card.guid);
    message.add_number(RDMA_NLDEV_ATTR_DEV_NODE_TYPE, channel_adapter);
    message.add_number(RDMA_NLDEV_ATTR_DEV_DIM, without_moderation);
    message.add_text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, profile.is_ethernet ? "roce" : "ib");
    return message.take();
}

/// Builds the description of a function's only port.
Datagram describe_port(const RdmaRequest &request, const Function &function)
{
    const Profile &profile = request.card.profile;
    const PortState state = port_state(function.is_port_up);
    NetlinkMessage message = request.reply();
    add_handle(message, function);
    message.add_number(RDMA_NLDEV_ATTR_PORT_INDEX, port_number);
    if (!profile.is_ethernet) {
        message.add_number(RDMA_NLDEV_ATTR_CAP_FLAGS, std::uint64_t{port_capability_flags(false)});
        message.add_number(RDMA_NLDEV_ATTR_SUBNET_PREFIX, std::uint64_t{0xfe80000000000000});
        message.add_number(RDMA_NLDEV_ATTR_LID, std::uint32_t{function.profile.lid});
        message.add_number(RDMA_NLDEV_ATTR_SM_LID, std::uint32_t{1});
        message.add_number(RDMA_NLDEV_ATTR_LMC, std::uint8_t{0});
    }
    message.add_number(RDMA_NLDEV_ATTR_PORT_STATE, state.logical);
    message.add_number(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, state.physical);
    if (profile.is_ethernet && function.profile.kind != FunctionKind::embedded) {
        message.add_number(RDMA_NLDEV_ATTR_NDEV_INDEX, if_nametoindex(function.profile.interface.c_str()));
        message.add_text(RDMA_NLDEV_ATTR_NDEV_NAME, function.profile.interface);
    }
    return message.take();
}

/// Builds the description of a node in /dev/infiniband. Devices have one for their commands.
int describe_node(const RdmaRequest &request, std::vector<Datagram> &replies)
{
    const auto type = netlink_attribute(request.attributes, RDMA_NLDEV_ATTR_CHARDEV_TYPE);
    const Function *function = request.function();
    if (!type)
        return EINVAL;
    if (netlink_text(*type) != "uverbs" || function == nullptr)
        return ENOENT;
    NetlinkMessage message = request.reply();
    message.add_number(RDMA_NLDEV_ATTR_CHARDEV, std::uint64_t{makedev(uverbs_major, uverbs_minor + function->number)});
    message.add_number(RDMA_NLDEV_ATTR_CHARDEV_ABI, std::uint64_t{1});
    message.add_text(RDMA_NLDEV_ATTR_CHARDEV_NAME, "uverbs" + std::to_string(function->number));
    message.add_number(RDMA_NLDEV_ATTR_UVERBS_DRIVER_ID, std::uint32_t{RDMA_DRIVER_MLX5});
    replies.push_back(message.take());
    return 0;
}

/// Returns a process that uses the file of an object.
std::uint32_t owner_of(const Object &object)
{
    const auto &processes = object.file.processes;
    return processes.empty() ? 0 : static_cast<std::uint32_t>(processes.front()->pid());
}

// Each adds the attributes of one object, the number by which a request can name it first.

std::uint32_t add_object(NetlinkMessage &message, const QueuePair &qp)
{
    message.add_number(RDMA_NLDEV_ATTR_RES_LQPN, qp.number());
    message.add_number(RDMA_NLDEV_ATTR_PORT_INDEX, port_number);
    if (qp.type != QpType::ud) {
        message.add_number(RDMA_NLDEV_ATTR_RES_RQPN, qp.attributes.destination);
        message.add_number(RDMA_NLDEV_ATTR_RES_RQ_PSN, qp.attributes.receive_psn);
    }
    message.add_number(RDMA_NLDEV_ATTR_RES_SQ_PSN, qp.attributes.send_psn);
    if (qp.type == QpType::rc)
        message.add_number(RDMA_NLDEV_ATTR_RES_PATH_MIG_STATE, qp.attributes.path_migration);
    message.add_number(RDMA_NLDEV_ATTR_RES_TYPE, static_cast<std::uint8_t>(qp.type));
    message.add_number(RDMA_NLDEV_ATTR_RES_STATE, static_cast<std::uint8_t>(qp.state));
    message.add_number(RDMA_NLDEV_ATTR_RES_PDN, qp.pd ? qp.pd->number() : 0);
    return qp.number();
}

std::uint32_t add_object(NetlinkMessage &message, const CompletionQueue &cq)
{
    constexpr std::uint8_t no_poll_context = 0;
    message.add_number(RDMA_NLDEV_ATTR_RES_CQE, cq.entries - 1);
    message.add_number(RDMA_NLDEV_ATTR_RES_USECNT, std::uint64_t{cq.users});
    message.add_number(RDMA_NLDEV_ATTR_RES_POLL_CTX, no_poll_context);
    message.add_number(RDMA_NLDEV_ATTR_RES_CQN, cq.number());
    return cq.number();
}

/// The keys of a memory region are shown to nobody but the program that has them.
std::uint32_t add_object(NetlinkMessage &message, const MemoryKey &key)
{
    const std::uint32_t number = key.key >> 8;
    message.add_number(RDMA_NLDEV_ATTR_RES_MRLEN, key.length);
    message.add_number(RDMA_NLDEV_ATTR_RES_MRN, number);
    message.add_number(RDMA_NLDEV_ATTR_RES_PDN, key.pd_number);
    return number;
}

std::uint32_t add_object(NetlinkMessage &message, const ProtectionDomain &pd)
{
    message.add_number(RDMA_NLDEV_ATTR_RES_USECNT, std::uint64_t{pd.users});
    message.add_number(RDMA_NLDEV_ATTR_RES_PDN, pd.number());
    return pd.number();
}

std::uint32_t add_object(NetlinkMessage &message, const SharedReceiveQueue &srq)
{
    constexpr std::uint8_t basic = 0, xrc = 1;
    message.add_number(RDMA_NLDEV_ATTR_RES_SRQN, srq.number());
    message.add_number(RDMA_NLDEV_ATTR_RES_TYPE, srq.domain ? xrc : basic);
    message.add_number(RDMA_NLDEV_ATTR_RES_PDN, srq.pd ? srq.pd->number() : 0);
    return srq.number();
}

/// The attributes of a command that lists objects of one type.
struct ObjectTableAttributes {
    std::uint16_t table, entry; ///< nested attributes of the list, and of each object
    std::uint16_t number;       ///< names one object in a request
};

/// Appends the objects of one type of a device: all of them in a dump, otherwise the one that the request names.
template <typename T>
int list_objects(const RdmaRequest &request, const ObjectTableAttributes &attributes, std::vector<Datagram> &replies)
{
    const Function *const function = request.function();
    const auto wanted = request.number(attributes.number);
    if (function == nullptr)
        return ENODEV;
    if (!request.is_dump() && !wanted)
        return EINVAL;
    std::size_t bytes = 0;
    std::vector<const T *> found;
    request.card.objects.for_each<T>([&](const T &object) {
        if (&object.file.function == function)
            found.push_back(&object);
    });
    if (!request.is_dump()) {
        for (const T *object : found) {
            NetlinkMessage message = request.reply();
            add_handle(message, *function);
            if (add_object(message, *object) != *wanted)
                continue;
            message.add_number(RDMA_NLDEV_ATTR_RES_PID, owner_of(*object));
            replies.push_back(message.take());
            return 0;
        }
        return ENOENT;
    }
    // As many datagrams as it takes, each with a table of its own.
    for (auto next = found.begin(); next != found.end() && bytes < max_dump_bytes;) {
        NetlinkMessage message = request.reply();
        add_handle(message, *function);
        const std::size_t table = message.begin_nest(attributes.table);
        for (; next != found.end() && message.size() < max_table_bytes; ++next) {
            const std::size_t entry = message.begin_nest(attributes.entry);
            add_object(message, **next);
            message.add_number(RDMA_NLDEV_ATTR_RES_PID, owner_of(**next));
            message.end_nest(entry);
        }
        message.end_nest(table);
        bytes += message.size();
        replies.push_back(message.take());
    }
    return 0;
}

/// Returns the number of objects of one type that the programs of a function have.
template <typename T>
std::uint64_t count_of(const RdmaRequest &request, const Function &function)
{
    std::uint64_t count = 0;
    request.card.objects.for_each<T>([&](const T &object) { count += &object.file.function == &function ? 1 : 0; });
    return count;
}

/// Builds the numbers of objects of a device.
Datagram summarise(const RdmaRequest &request, const Function &function)
{
    const std::pair<const char *, std::uint64_t> counts[] = {
        {"pd", count_of<ProtectionDomain>(request, function)},
        {"cq", count_of<CompletionQueue>(request, function)},
        {"qp", count_of<QueuePair>(request, function)},
        {"cm_id", 0},
        {"mr", count_of<MemoryKey>(request, function)},
        {"ctx", static_cast<std::uint64_t>(std::ranges::count_if(
                    request.card.files, [&](const OpenFile &file) { return &file.function == &function; }))},
        {"srq", count_of<SharedReceiveQueue>(request, function)},
    };
    NetlinkMessage message = request.reply();
    add_handle(message, function);
    const std::size_t table = message.begin_nest(RDMA_NLDEV_ATTR_RES_SUMMARY);
    for (const auto &[name, count] : counts) {
        const std::size_t entry = message.begin_nest(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY);
        message.add_text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, name);
        message.add_number(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
        message.end_nest(entry);
    }
    message.end_nest(table);
    return message.take();
}

/// Appends what @p describe builds for every device of the side in a dump, otherwise for the one that the request
/// names.
template <typename Describe>
int for_devices(const RdmaRequest &request, Describe &&describe, std::vector<Datagram> &replies)
{
    if (!request.is_dump()) {
        const Function *const function = request.function();
        if (function == nullptr)
            return ENODEV;
        replies.push_back(describe(request, *function));
        return 0;
    }
    for (const Function &function : request.card.functions) {
        if (function.profile.side == request.side)
            replies.push_back(describe(request, function));
    }
    return 0;
}

/// Appends the port that the request names, or all ports of a device.
int list_ports(const RdmaRequest &request, std::vector<Datagram> &replies)
{
    const Function *const function = request.function();
    if (function == nullptr)
        return ENODEV;
    if (!request.is_dump() && request.number(RDMA_NLDEV_ATTR_PORT_INDEX) != port_number)
        return EINVAL;
    replies.push_back(describe_port(request, *function));
    return 0;
}

/// Appends the requested datagrams. Returns an errno, or 0.
int build_replies(const RdmaRequest &request, std::vector<Datagram> &replies)
{
    if (RDMA_NL_GET_CLIENT(request.header.nlmsg_type) != RDMA_NL_NLDEV)
        return EOPNOTSUPP;
    switch (request.command()) {
    case RDMA_NLDEV_CMD_SYS_GET:
        replies.push_back(describe_settings(request));
        return 0;
    case RDMA_NLDEV_CMD_GET:
        return for_devices(request, describe_device, replies);
    case RDMA_NLDEV_CMD_PORT_GET:
        return list_ports(request, replies);
    case RDMA_NLDEV_CMD_GET_CHARDEV:
        return describe_node(request, replies);
    case RDMA_NLDEV_CMD_RES_GET:
        return for_devices(request, summarise, replies);
    case RDMA_NLDEV_CMD_RES_QP_GET:
        return list_objects<QueuePair>(
            request, {RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY, RDMA_NLDEV_ATTR_RES_LQPN}, replies);
    case RDMA_NLDEV_CMD_RES_CQ_GET:
        return list_objects<CompletionQueue>(
            request, {RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY, RDMA_NLDEV_ATTR_RES_CQN}, replies);
    case RDMA_NLDEV_CMD_RES_MR_GET:
        return list_objects<MemoryKey>(
            request, {RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY, RDMA_NLDEV_ATTR_RES_MRN}, replies);
    case RDMA_NLDEV_CMD_RES_PD_GET:
        return list_objects<ProtectionDomain>(
            request, {RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY, RDMA_NLDEV_ATTR_RES_PDN}, replies);
    case RDMA_NLDEV_CMD_RES_SRQ_GET:
        return list_objects<SharedReceiveQueue>(
            request, {RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY, RDMA_NLDEV_ATTR_RES_SRQN}, replies);
    case RDMA_NLDEV_CMD_RES_CM_ID_GET:
        return request.function() == nullptr ? ENODEV : request.is_dump() ? 0 : ENOENT; // there are none
    default:
        return EOPNOTSUPP;
    }
}

} // namespace

std::vector<Datagram> handle_rdma_netlink(const Card &card, Side side, std::span<const std::uint8_t> bytes)
{
    std::vector<Datagram> replies;
    RdmaRequest request{card, side, {}, {}};
    if (bytes.size() < sizeof(request.header))
        return replies;
    std::memcpy(&request.header, bytes.data(), sizeof(request.header));
    // A malformed message gets no reply.
    if (request.header.nlmsg_len < sizeof(request.header) || request.header.nlmsg_len > bytes.size())
        return replies;
    request.attributes = bytes.subspan(sizeof(request.header), request.header.nlmsg_len - sizeof(request.header));
    const int error = build_replies(request, replies);
    // A dump ends with NLMSG_DONE. Other requests get an acknowledgement on demand.
    if (error == 0 && request.is_dump())
        replies.push_back(netlink_done(request.header));
    else if (error != 0 || (request.header.nlmsg_flags & NLM_F_ACK) != 0)
        replies.push_back(netlink_error(request.header, error));
    return replies;
}

} // namespace opendoca::card
