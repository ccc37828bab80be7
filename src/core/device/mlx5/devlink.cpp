// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "devlink.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "../../base/unique_fd.hpp"

namespace opendoca::mlx5 {

namespace {

using Bytes = std::span<const std::byte>;

/// One second: the kernel replies at once, unless it has dropped the reply for lack of memory.
constexpr timeval reply_timeout = {1, 0};
constexpr auto type_mask = static_cast<std::uint16_t>(NLA_TYPE_MASK & 0xffff);

/// Returns the value of the first attribute of @p type, or an empty range.
Bytes attribute(Bytes attributes, std::uint16_t type)
{
    while (attributes.size() >= NLA_HDRLEN) {
        nlattr header;
        std::memcpy(&header, attributes.data(), sizeof(header));
        // Malformed: the length would lead outside of the range, or to an endless loop.
        if (header.nla_len < NLA_HDRLEN || header.nla_len > attributes.size())
            break;
        if ((header.nla_type & type_mask) == type)
            return attributes.first(header.nla_len).subspan(NLA_HDRLEN);
        attributes = attributes.subspan(std::min<std::size_t>(NLA_ALIGN(header.nla_len), attributes.size()));
    }
    return {};
}

/// Reads a numeric attribute into @p value. Returns false if it is missing or has another size.
template <typename T>
bool number(Bytes attributes, std::uint16_t type, T &value)
{
    const Bytes bytes = attribute(attributes, type);
    if (bytes.size() == sizeof(value))
        std::memcpy(&value, bytes.data(), sizeof(value));
    return bytes.size() == sizeof(value);
}

/// A socket for requests to families of generic netlink. One request at a time; used by one thread.
class Netlink {
public:
    Netlink() : socket_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC))
    {
        (void)setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &reply_timeout, sizeof(reply_timeout));
    }

    /// Sends a request, and calls @p take with the attributes of each reply. Returns errno's value, or 0.
    template <typename Take>
    [[nodiscard]] int query(std::uint16_t family, std::uint8_t command, std::uint16_t flags, std::uint16_t type,
                            const char *text, Take take)
    {
        struct {
            nlmsghdr header;
            genlmsghdr generic;
            nlattr attribute;
            char text[32];
        } request{};
        request.header.nlmsg_type = family;
        request.header.nlmsg_flags = static_cast<std::uint16_t>(NLM_F_REQUEST | flags);
        request.header.nlmsg_len = offsetof(decltype(request), attribute);
        request.generic.cmd = command;
        request.generic.version = 1;
        if (text != nullptr) {
            request.attribute.nla_type = type;
            request.attribute.nla_len = static_cast<std::uint16_t>(NLA_HDRLEN + std::strlen(text) + 1);
            std::strncpy(request.text, text, sizeof(request.text) - 1);
            request.header.nlmsg_len += NLA_ALIGN(request.attribute.nla_len);
        }
        if (send(socket_.get(), &request, request.header.nlmsg_len, 0) < 0)
            return errno;
        // A reply may consist of several messages in several datagrams. A dump ends with NLMSG_DONE, any other reply
        // with its first message.
        for (;;) {
            const ssize_t size = recv(socket_.get(), answer_.data(), answer_.size(), 0);
            if (size < 0 && errno == EINTR)
                continue;
            if (size <= 0)
                return size < 0 ? errno : ENODATA;
            Bytes left = std::span(answer_).first(static_cast<std::size_t>(size));
            while (left.size() >= sizeof(nlmsghdr)) {
                nlmsghdr header;
                std::memcpy(&header, left.data(), sizeof(header));
                if (header.nlmsg_len < sizeof(header) || header.nlmsg_len > left.size())
                    return EPROTO;
                const Bytes message = left.first(header.nlmsg_len).subspan(NLMSG_HDRLEN);
                if (header.nlmsg_type == NLMSG_DONE)
                    return 0;
                // The kernel reports errno's value as a negative number.
                if (header.nlmsg_type == NLMSG_ERROR) {
                    int error = -EPROTO;
                    if (message.size() >= sizeof(error))
                        std::memcpy(&error, message.data(), sizeof(error));
                    return -error;
                }
                if (message.size() >= GENL_HDRLEN)
                    take(message.subspan(GENL_HDRLEN));
                // A reply of a single message.
                if ((header.nlmsg_flags & NLM_F_MULTI) == 0)
                    return 0;
                left = left.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), left.size()));
            }
        }
    }

private:
    UniqueFd socket_;
    std::array<std::byte, 32768> answer_; ///< one datagram of the kernel, which sends at most 32 KiB
};

} // namespace

std::map<std::string, std::uint32_t> list_devlink_ports(std::string &reason)
{
    std::map<std::string, std::uint32_t> ports;
    Netlink netlink;
    std::uint16_t family = 0;
    // The numbers of generic netlink families are assigned at run time, so that of devlink is queried by its name.
    int error = netlink.query(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, CTRL_ATTR_FAMILY_NAME, DEVLINK_GENL_NAME,
                              [&](Bytes answer) { (void)number(answer, CTRL_ATTR_FAMILY_ID, family); });
    if (error == 0)
        error = netlink.query(family, DEVLINK_CMD_PORT_GET, NLM_F_DUMP, 0, nullptr, [&](Bytes answer) {
            const Bytes name = attribute(answer, DEVLINK_ATTR_PORT_NETDEV_NAME);
            std::uint32_t index = 0;
            // Ports without a network interface have no name, and no representor. The name ends with a NUL.
            if (!name.empty() && number(answer, DEVLINK_ATTR_PORT_INDEX, index))
                ports[std::string(reinterpret_cast<const char *>(name.data()), name.size() - 1)] = index;
        });
    if (error != 0)
        reason = std::strerror(error);
    return ports;
}

} // namespace opendoca::mlx5
