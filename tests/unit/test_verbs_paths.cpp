// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Which GIDs two ends choose, each for itself: they must choose the same.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include "../../src/core/device/verbs/connection_details.hpp"
#include "../../src/core/device/verbs/gid_table.hpp"

using namespace opendoca::verbs;

namespace {

struct Gid {
    const char *address; ///< IPv6, or IPv4 as ::ffff:1.2.3.4
    ibv_gid_type type = IBV_GID_TYPE_ROCE_V2;
};

LocalEnd end_with(std::initializer_list<Gid> gids, std::uint32_t machine)
{
    LocalEnd end{};
    end.details.link_layer = IBV_LINK_LAYER_ETHERNET;
    end.details.mtu = IBV_MTU_1024;
    end.details.machine = machine;
    for (const Gid &gid : gids) {
        const std::uint8_t number = end.details.num_gids++;
        ibv_gid_entry entry{};
        entry.gid_type = gid.type;
        EXPECT_EQ(inet_pton(AF_INET6, gid.address, entry.gid.raw), 1) << gid.address;
        end.details.gids[number] = entry.gid;
        end.details.ranks[number] = static_cast<std::uint8_t>(rank_of(entry));
        end.gid_indices[number] = number;
    }
    return end;
}

opendoca::QueuePairSettings with_grh()
{
    opendoca::QueuePairSettings settings{};
    settings.has_grh = true;
    return settings;
}

std::string text_of(const ibv_gid &gid)
{
    char text[INET6_ADDRSTRLEN] = "";
    inet_ntop(AF_INET6, gid.raw, text, sizeof(text));
    return text;
}

/// The pairs of addresses as this end tries them, its own first.
std::vector<std::pair<std::string, std::string>> pairs(const LocalEnd &own, const LocalEnd &peer)
{
    std::vector<std::pair<std::string, std::string>> found;
    for (const ReliableConnection::Path &path : find_paths(own, peer.details, with_grh()))
        found.emplace_back(text_of(own.details.gids[path.gid_index]), text_of(path.gid));
    return found;
}

void expect_agreement(const LocalEnd &a, const LocalEnd &b)
{
    auto theirs = pairs(b, a);
    for (auto &[own, other] : theirs)
        std::swap(own, other);
    EXPECT_EQ(pairs(a, b), theirs);
}

constexpr std::uint32_t here = 7, there = 8, unknown = 0;

TEST(VerbsPaths, TheBestAddressesComeFirst)
{
    const LocalEnd a = end_with({{"::ffff:10.0.0.1"}, {"fe80::1"}}, here);
    const LocalEnd b = end_with({{"::ffff:10.0.0.2"}, {"fe80::2"}}, there);
    const std::vector<std::pair<std::string, std::string>> expected = {{"::ffff:10.0.0.1", "::ffff:10.0.0.2"},
                                                                       {"fe80::1", "fe80::2"}};
    EXPECT_EQ(pairs(a, b), expected);
    expect_agreement(a, b);
}

TEST(VerbsPaths, TwoPortsOfAMachineUseAddressesOfTheLink)
{
    const LocalEnd a = end_with({{"::ffff:10.0.0.1"}, {"fe80::1"}}, here);
    const LocalEnd b = end_with({{"::ffff:10.0.0.2"}, {"fe80::2"}}, here);
    ASSERT_EQ(pairs(a, b).size(), 2U);
    EXPECT_EQ(pairs(a, b).front().first, "fe80::1");
    expect_agreement(a, b);
}

TEST(VerbsPaths, APortToItselfUsesItsIpAddress)
{
    const LocalEnd a = end_with({{"::ffff:10.0.0.1"}, {"fe80::1"}}, here);
    ASSERT_FALSE(pairs(a, a).empty());
    EXPECT_EQ(pairs(a, a).front(), std::pair(std::string("::ffff:10.0.0.1"), std::string("::ffff:10.0.0.1")));
}

TEST(VerbsPaths, MachinesThatDoNotKnowThemselvesAreTwo)
{
    const LocalEnd a = end_with({{"::ffff:10.0.0.1"}, {"fe80::1"}}, unknown);
    const LocalEnd b = end_with({{"::ffff:10.0.0.2"}, {"fe80::2"}}, unknown);
    ASSERT_FALSE(pairs(a, b).empty());
    EXPECT_EQ(pairs(a, b).front().first, "::ffff:10.0.0.1");
}

TEST(VerbsPaths, BothEndsTrySeveralAddressesInOneOrder)
{
    const LocalEnd a = end_with({{"::ffff:10.0.0.1"}, {"::ffff:10.1.0.1"}, {"2001:db8::1"}, {"fe80::1"}}, here);
    const LocalEnd b =
        end_with({{"::ffff:10.1.0.2"}, {"::ffff:10.0.0.2"}, {"2001:db8::2"}, {"2001:db8::3"}, {"fe80::2"}}, there);
    expect_agreement(a, b);
    LocalEnd c = b;
    c.details.machine = here;
    expect_agreement(a, c);
}

TEST(VerbsPaths, EntriesOfDifferentKindsAreTriedWhereThereAreNoOthers)
{
    const LocalEnd a = end_with({{"::ffff:10.0.0.1"}}, here);
    const LocalEnd b = end_with({{"fe80::2"}, {"fe80::2", IBV_GID_TYPE_ROCE_V1}}, there);
    EXPECT_EQ(pairs(a, b).size(), 2U);
    expect_agreement(a, b);
}

} // namespace
