// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_netlink.hpp"

#include <cerrno>
#include <cstring>

#include <rdma/rdma_netlink.h>

#include "netlink.hpp"

namespace opendoca::card {

namespace {

constexpr std::uint16_t get_settings = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_SYS_GET);

/// Builds the settings: network namespaces share devices, and fork copies pinned pages.
Datagram describe_settings(const nlmsghdr &request)
{
    constexpr std::uint8_t shared_name_spaces = 1, copies_on_fork = 1;
    NetlinkMessage message(get_settings, request, 0);
    message.add_number(RDMA_NLDEV_SYS_ATTR_NETNS_MODE, shared_name_spaces);
    message.add_number(RDMA_NLDEV_SYS_ATTR_COPY_ON_FORK, copies_on_fork);
    return message.take();
}

} // namespace

std::vector<Datagram> handle_rdma_netlink(std::span<const std::uint8_t> bytes)
{
    std::vector<Datagram> replies;
    nlmsghdr request{};
    if (bytes.size() < sizeof(request))
        return replies;
    std::memcpy(&request, bytes.data(), sizeof(request));
    // A malformed message gets no reply.
    if (request.nlmsg_len < sizeof(request) || request.nlmsg_len > bytes.size())
        return replies;
    const int error = request.nlmsg_type == get_settings ? 0 : EOPNOTSUPP;
    if (error == 0)
        replies.push_back(describe_settings(request));
    if (error != 0 || (request.nlmsg_flags & NLM_F_ACK) != 0)
        replies.push_back(netlink_error(request, error));
    return replies;
}

} // namespace opendoca::card
