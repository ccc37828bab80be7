// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Netlink messages of attributes within attributes; the command line tool would take far longer than most
// tests.
#include "verbs_objects.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <stdexcept>
#include <vector>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <sys/socket.h>
#include <unistd.h>

namespace doca_test {

namespace {

using Bytes = std::span<const char>;
using Visit = std::function<void(int type, Bytes content)>;

void for_each_attribute(Bytes bytes, const Visit &visit)
{
    while (bytes.size() >= sizeof(nlattr)) {
        nlattr attribute;
        std::memcpy(&attribute, bytes.data(), sizeof(attribute));
        if (attribute.nla_len < sizeof(attribute) || attribute.nla_len > bytes.size())
            throw std::runtime_error("a netlink attribute of " + std::to_string(attribute.nla_len) + " bytes");
        visit(attribute.nla_type & NLA_TYPE_MASK,
              bytes.subspan(sizeof(attribute), attribute.nla_len - sizeof(attribute)));
        bytes = bytes.subspan(std::min<std::size_t>(NLA_ALIGN(attribute.nla_len), bytes.size()));
    }
}

std::string text_of(Bytes content)
{
    return {content.data(), strnlen(content.data(), content.size())};
}

/// One device.
void count(Bytes attributes, VerbsObjects &objects)
{
    std::string device;
    for_each_attribute(attributes, [&](int type, Bytes content) {
        if (type == RDMA_NLDEV_ATTR_DEV_NAME)
            device = text_of(content);
        if (type != RDMA_NLDEV_ATTR_RES_SUMMARY)
            return;
        for_each_attribute(content, [&](int, Bytes entry) {
            std::string sort;
            std::uint64_t number = 0;
            for_each_attribute(entry, [&](int field, Bytes value) {
                if (field == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME)
                    sort = text_of(value);
                else if (field == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR && value.size() == sizeof(number))
                    std::memcpy(&number, value.data(), sizeof(number));
            });
            objects[device + " " + sort] = number;
        });
    });
}

struct Socket {
    Socket() : fd(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA)) {}
    Socket(const Socket &) = delete;
    Socket &operator=(const Socket &) = delete;
    ~Socket() { close(fd); }

    const int fd;
};

} // namespace

VerbsObjects count_verbs_objects()
{
    const Socket socket;
    nlmsghdr request = {};
    request.nlmsg_len = sizeof(request);
    request.nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET);
    request.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    if (send(socket.fd, &request, sizeof(request), 0) != sizeof(request))
        throw std::runtime_error(std::string("asking the kernel for RDMA objects: ") + std::strerror(errno));
    VerbsObjects objects;
    std::vector<char> buffer(1 << 16);
    for (;;) {
        const ssize_t size = recv(socket.fd, buffer.data(), buffer.size(), 0);
        if (size < 0)
            throw std::runtime_error(std::string("the kernel's RDMA objects: ") + std::strerror(errno));
        Bytes rest(buffer.data(), static_cast<std::size_t>(size));
        while (rest.size() >= sizeof(nlmsghdr)) {
            nlmsghdr header;
            std::memcpy(&header, rest.data(), sizeof(header));
            if (header.nlmsg_type == NLMSG_DONE)
                return objects;
            if (header.nlmsg_type == NLMSG_ERROR || header.nlmsg_len < sizeof(header) || header.nlmsg_len > rest.size())
                throw std::runtime_error("the kernel does not tell its RDMA objects");
            count(rest.subspan(sizeof(header), header.nlmsg_len - sizeof(header)), objects);
            rest = rest.subspan(std::min<std::size_t>(NLMSG_ALIGN(header.nlmsg_len), rest.size()));
        }
    }
}

std::string describe_left(const VerbsObjects &before, const VerbsObjects &after)
{
    std::string text;
    for (const auto &[sort, number] : after) {
        const auto earlier = before.find(sort);
        const std::uint64_t expected = earlier != before.end() ? earlier->second : 0;
        if (number > expected)
            text +=
                (text.empty() ? "" : ", ") + sort + " " + std::to_string(expected) + " -> " + std::to_string(number);
    }
    return text;
}

} // namespace doca_test
