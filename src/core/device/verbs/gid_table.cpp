// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "gid_table.hpp"

#include <algorithm>
#include <cstring>

namespace opendoca::verbs {

namespace {

constexpr std::uint32_t largest_gid_index = UINT8_MAX; ///< the path of a queue pair has 8 bits for the index

bool is_zero(const ibv_gid &gid) noexcept
{
    return gid.global.subnet_prefix == 0 && gid.global.interface_id == 0;
}

/// Returns whether @p gid is an IPv4-mapped IPv6 address (::ffff:a.b.c.d), as which RoCE v2 encodes IPv4 addresses.
bool is_ipv4(const ibv_gid &gid) noexcept
{
    constexpr std::uint8_t mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
    return std::memcmp(gid.raw, mapped, sizeof(mapped)) == 0;
}

} // namespace

bool is_link_local(const ibv_gid &gid) noexcept
{
    // fe80::/10
    return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
}

int rank_of(const ibv_gid_entry &entry) noexcept
{
    // The ranks of version 2 are 0 to 2, and those of version 1 are 3 to 5. Each rank thus denotes a version and a kind
    // of address, and ports reach each other only within a rank.
    constexpr int version_2 = 0, version_1 = 3;
    const int version = entry.gid_type == IBV_GID_TYPE_ROCE_V1 ? version_1 : version_2;
    if (is_ipv4(entry.gid))
        return version;
    return version + (is_link_local(entry.gid) ? 2 : 1);
}

std::vector<ibv_gid_entry> gids_of(ibv_context &context, std::uint32_t port)
{
    ibv_device_attr device{};
    if (ibv_query_device(&context, &device) != 0)
        return {};
    // ibv_query_gid_table() returns the entries of all ports, so the array must be large enough for all of them.
    std::size_t size = 0;
    for (std::uint32_t number = 1; number <= device.phys_port_cnt; ++number) {
        ibv_port_attr attributes{};
        if (ibv_query_port(&context, static_cast<std::uint8_t>(number), &attributes) == 0)
            size += static_cast<std::size_t>(std::max(attributes.gid_tbl_len, 0));
    }
    std::vector<ibv_gid_entry> entries(size);
    const ssize_t count = entries.empty() ? 0 : ibv_query_gid_table(&context, entries.data(), entries.size(), 0);
    entries.resize(static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    std::erase_if(entries, [&](const ibv_gid_entry &entry) {
        return entry.port_num != port || is_zero(entry.gid) || entry.gid_index > largest_gid_index;
    });
    // Stable: GIDs of equal rank stay in the order of their indices.
    std::ranges::stable_sort(entries, {}, rank_of);
    return entries;
}

} // namespace opendoca::verbs
