// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Vital product data of PCI functions, whose bytes are the card's.
#include <cstddef>
#include <string>

#include <gtest/gtest.h>

#include "../../src/core/device/mlx5/vpd.hpp"

namespace {

std::string vuid_in(const std::string &data)
{
    return opendoca::mlx5::vuid_in_vpd({reinterpret_cast<const unsigned char *>(data.data()), data.size()});
}

std::string resource(unsigned char tag, const std::string &content)
{
    return std::string{static_cast<char>(tag), static_cast<char>(content.size() & 0xff),
                       static_cast<char>(content.size() >> 8)} +
           content;
}

std::string field(const std::string &keyword, const std::string &content)
{
    return keyword + static_cast<char>(content.size()) + content;
}

const std::string right = resource(0x82, "a card") +
                          resource(0x90, field("PN", "VU") + field("VU", "MT1MLNXS0D0F0") + field("RV", "x")) + "\x78";

} // namespace

TEST(Mlx5Vpd, TheVuidIsAReadOnlyField)
{
    EXPECT_EQ(vuid_in(right), "MT1MLNXS0D0F0");
    EXPECT_EQ(vuid_in(std::string("\x0a", 1) + "xx" + right), "MT1MLNXS0D0F0") << "behind a small resource";
    EXPECT_EQ(vuid_in(resource(0x91, field("VU", "no"))), "") << "that may be written";
    EXPECT_EQ(vuid_in("\x78" + right), "") << "behind the end";
    EXPECT_EQ(vuid_in(resource(0x90, field("SN", "1"))), "");
    EXPECT_EQ(vuid_in(resource(0x90, field("VU", std::string("MT\0x", 4)))), "MT");
    EXPECT_EQ(vuid_in(resource(0x90, field("VU", std::string(129, 'x')))), "");
    EXPECT_EQ(vuid_in(""), "");
}

TEST(Mlx5Vpd, WhatIsCutOffIsReadNoFurther)
{
    for (std::size_t size = 0; size < right.size(); ++size) {
        const std::string vuid = vuid_in(right.substr(0, size));
        EXPECT_EQ(std::string("MT1MLNXS0D0F0").substr(0, vuid.size()), vuid) << size;
    }
}
