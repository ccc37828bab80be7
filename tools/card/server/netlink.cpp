// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "netlink.hpp"

#include <algorithm>

namespace opendoca::card {

namespace {

/// Returns a size rounded up to the alignment of attributes.
constexpr std::size_t padded(std::size_t size)
{
    return (size + NLA_ALIGNTO - 1) / NLA_ALIGNTO * NLA_ALIGNTO;
}

/// Composes a control message of netlink (NLMSG_DONE, NLMSG_ERROR).
std::vector<std::uint8_t> control(const nlmsghdr &request, std::uint16_t type, std::uint16_t flags, const void *body,
                                  std::size_t size)
{
    nlmsghdr header{};
    header.nlmsg_len = static_cast<std::uint32_t>(sizeof(header) + size);
    header.nlmsg_type = type;
    header.nlmsg_flags = flags;
    // Sequence and port number are the request's: libraries match replies with requests by them.
    header.nlmsg_seq = request.nlmsg_seq;
    header.nlmsg_pid = request.nlmsg_pid;
    std::vector<std::uint8_t> bytes(header.nlmsg_len);
    std::memcpy(bytes.data(), &header, sizeof(header));
    std::memcpy(bytes.data() + sizeof(header), body, size);
    return bytes;
}

} // namespace

std::optional<std::span<const std::uint8_t>> netlink_attribute(std::span<const std::uint8_t> attributes,
                                                               std::uint16_t type)
{
    while (attributes.size() >= sizeof(nlattr)) {
        nlattr header;
        std::memcpy(&header, attributes.data(), sizeof(header));
        // A shorter length would keep the loop at the same attribute for ever.
        if (header.nla_len < sizeof(header) || header.nla_len > attributes.size())
            break;
        if ((header.nla_type & NLA_TYPE_MASK) == type)
            return attributes.subspan(sizeof(header), header.nla_len - sizeof(header));
        // The length excludes the padding, which may be missing behind the last attribute.
        attributes = attributes.subspan(std::min(padded(header.nla_len), attributes.size()));
    }
    return std::nullopt;
}

std::string_view netlink_text(std::span<const std::uint8_t> value)
{
    const std::string_view text(reinterpret_cast<const char *>(value.data()), value.size());
    return text.substr(0, text.find('\0'));
}

NetlinkMessage::NetlinkMessage(std::uint16_t family, std::uint8_t command, const nlmsghdr &request, std::uint16_t flags)
    : bytes_(sizeof(nlmsghdr) + sizeof(genlmsghdr))
{
    nlmsghdr header{};
    header.nlmsg_type = family;
    header.nlmsg_flags = flags;
    header.nlmsg_seq = request.nlmsg_seq;
    header.nlmsg_pid = request.nlmsg_pid;
    genlmsghdr generic{};
    generic.cmd = command;
    generic.version = 1;
    std::memcpy(bytes_.data(), &header, sizeof(header));
    std::memcpy(bytes_.data() + sizeof(header), &generic, sizeof(generic));
}

NetlinkMessage::NetlinkMessage(std::uint16_t type, const nlmsghdr &request, std::uint16_t flags)
    : bytes_(sizeof(nlmsghdr))
{
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = flags;
    header.nlmsg_seq = request.nlmsg_seq;
    header.nlmsg_pid = request.nlmsg_pid;
    std::memcpy(bytes_.data(), &header, sizeof(header));
}

void NetlinkMessage::add(std::uint16_t type, const void *value, std::size_t size)
{
    const nlattr header{static_cast<std::uint16_t>(sizeof(nlattr) + size), type};
    const std::size_t at = bytes_.size();
    bytes_.resize(at + padded(sizeof(header) + size)); // the padding is zero
    std::memcpy(&bytes_[at], &header, sizeof(header));
    if (size != 0)
        std::memcpy(&bytes_[at + sizeof(header)], value, size);
}

std::size_t NetlinkMessage::begin_nest(std::uint16_t type)
{
    const std::size_t nest = bytes_.size();
    add(type | NLA_F_NESTED, nullptr, 0);
    return nest;
}

void NetlinkMessage::end_nest(std::size_t nest)
{
    // The length of a nested attribute includes its header.
    const auto size = static_cast<std::uint16_t>(bytes_.size() - nest);
    std::memcpy(&bytes_[nest], &size, sizeof(size));
}

std::vector<std::uint8_t> NetlinkMessage::take()
{
    // The length is the first member of the header.
    const auto size = static_cast<std::uint32_t>(bytes_.size());
    std::memcpy(bytes_.data(), &size, sizeof(size));
    return std::move(bytes_);
}

std::vector<std::uint8_t> netlink_done(const nlmsghdr &request)
{
    const int error = 0;
    return control(request, NLMSG_DONE, NLM_F_MULTI, &error, sizeof(error));
}

std::vector<std::uint8_t> netlink_error(const nlmsghdr &request, int error)
{
    nlmsgerr body{};
    body.error = -error; // negative on the wire, as from the kernel
    body.msg = request;
    return control(request, NLMSG_ERROR, 0, &body, sizeof(body));
}

} // namespace opendoca::card
