// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Netlink messages: parsing of requests, which may be arbitrary bytes, and composition of replies.
#pragma once

#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <linux/genetlink.h>
#include <linux/netlink.h>

namespace opendoca::card {

/// Returns the value of the first attribute of this type, within `attributes`. Stops at the first malformed attribute.
std::optional<std::span<const std::uint8_t>> netlink_attribute(std::span<const std::uint8_t> attributes,
                                                               std::uint16_t type);
/// Returns the value of a text attribute, without its terminator.
std::string_view netlink_text(std::span<const std::uint8_t> value);

/// A message under construction, on the stack of the function that composes a reply. Used once: take() leaves it empty.
/// Invariant: the length of the bytes is a multiple of netlink's alignment of 4.
class NetlinkMessage {
public:
    /// Begins a message of a generic netlink family.
    NetlinkMessage(std::uint16_t family, std::uint8_t command, const nlmsghdr &request, std::uint16_t flags);
    /// Begins a message of a netlink protocol of its own, such as RDMA netlink.
    NetlinkMessage(std::uint16_t type, const nlmsghdr &request, std::uint16_t flags);

    /// Appends an attribute, padded to the alignment of netlink.
    void add(std::uint16_t type, const void *value, std::size_t size);
    template <typename T>
    void add_number(std::uint16_t type, T value)
    {
        add(type, &value, sizeof(value));
    }
    void add_text(std::uint16_t type, const std::string &value) { add(type, value.c_str(), value.size() + 1); }
    /// Begins a nested attribute, which contains what is added until end_nest() is called with the result.
    [[nodiscard]] std::size_t begin_nest(std::uint16_t type);
    /// Sets the length of the nested attribute.
    void end_nest(std::size_t nest);
    /// Returns the number of bytes so far.
    [[nodiscard]] std::size_t size() const { return bytes_.size(); }
    /// Sets the length of the message and returns its bytes.
    [[nodiscard]] std::vector<std::uint8_t> take();

private:
    std::vector<std::uint8_t> bytes_;
};

/// Returns the message that ends a dump.
std::vector<std::uint8_t> netlink_done(const nlmsghdr &request);
/// Returns an error message; `error` 0 makes it an acknowledgement.
std::vector<std::uint8_t> netlink_error(const nlmsghdr &request, int error);

} // namespace opendoca::card
