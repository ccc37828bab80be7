// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Netlink messages: reading those of programs, which may be anything, and writing answers.
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

/// The value of the first attribute of that type; nothing without one.
std::optional<std::span<const std::uint8_t>> netlink_attribute(std::span<const std::uint8_t> attributes,
                                                               std::uint16_t type);
/// Of an attribute that is text.
std::string_view netlink_text(std::span<const std::uint8_t> value);

/// One message.
class NetlinkMessage {
public:
    /// Of a generic family.
    NetlinkMessage(std::uint16_t family, std::uint8_t command, const nlmsghdr &request, std::uint16_t flags);
    /// Of a protocol of its own.
    NetlinkMessage(std::uint16_t type, const nlmsghdr &request, std::uint16_t flags);

    void add(std::uint16_t type, const void *value, std::size_t size);
    template <typename T>
    void add_number(std::uint16_t type, T value)
    {
        add(type, &value, sizeof(value));
    }
    void add_text(std::uint16_t type, const std::string &value)
    {
        add(type, value.c_str(), value.size() + 1);
    }
    /// What is added until end_nest() is inside.
    [[nodiscard]] std::size_t begin_nest(std::uint16_t type);
    void end_nest(std::size_t nest);
    /// The message, with its length.
    [[nodiscard]] std::vector<std::uint8_t> take();

private:
    std::vector<std::uint8_t> bytes_;
};

/// The end of a dump.
std::vector<std::uint8_t> netlink_done(const nlmsghdr &request);
/// An error, or with 0 an acknowledgement.
std::vector<std::uint8_t> netlink_error(const nlmsghdr &request, int error);

} // namespace opendoca::card
