// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <optional>
#include <string_view>

#include <gtest/gtest.h>

#include "../../src/core/base/pci_address.hpp"

namespace {

using opendoca::normalize_pci_address;

TEST(PciAddress, LongFormIsKept)
{
    EXPECT_EQ(normalize_pci_address("0000:03:00.0"), "0000:03:00.0");
    EXPECT_EQ(normalize_pci_address("1234:ab:1f.7"), "1234:ab:1f.7");
    EXPECT_EQ(normalize_pci_address("ffff:ff:1f.7"), "ffff:ff:1f.7");
}

TEST(PciAddress, ShortFormIsOfDomainZero)
{
    EXPECT_EQ(normalize_pci_address("03:00.1"), "0000:03:00.1");
    EXPECT_EQ(normalize_pci_address("ff:1f.7"), "0000:ff:1f.7");
}

TEST(PciAddress, UpperCaseBecomesLower)
{
    EXPECT_EQ(normalize_pci_address("ABCD:EF:1A.0"), "abcd:ef:1a.0");
    EXPECT_EQ(normalize_pci_address("0B:00.0"), "0000:0b:00.0");
}

TEST(PciAddress, OtherTextIsNone)
{
    for (const char *const text : {"",
                                   "0",
                                   "3:00.0",
                                   "03:0.0",
                                   "03:00",
                                   "03:00.",
                                   "03:00.00",
                                   "003:00.0",
                                   "000:03:00.0",
                                   "00000:03:00.0",
                                   "0000-03:00.0",
                                   "0000:03-00.0",
                                   "0000:03:00:0",
                                   "0000.03.00.0",
                                   "g000:03:00.0",
                                   "0000:0g:00.0",
                                   "0000:03:g0.0",
                                   "0000:03:0g.0",
                                   "0000:03:00.0 ",
                                   " 000:03:00.0",
                                   "0000:03:00.0\n",
                                   "soft_p0",
                                   "@:03:00.0",
                                   "0000:`3:00.0",
                                   "0000:/3:00.0",
                                   "-001:03:00.0",
                                   "0x00:03:00.0"})
        EXPECT_EQ(normalize_pci_address(text), std::nullopt) << '"' << text << '"';
    EXPECT_EQ(normalize_pci_address(std::string_view("0000:03:0\0.0", 12)), std::nullopt);
}

/// A bus has 32 devices of 8 functions.
TEST(PciAddress, NumbersThatNoBusHasAreNone)
{
    EXPECT_EQ(normalize_pci_address("0000:03:20.0"), std::nullopt);
    EXPECT_EQ(normalize_pci_address("0000:03:ff.0"), std::nullopt);
    EXPECT_EQ(normalize_pci_address("03:20.0"), std::nullopt);
    EXPECT_EQ(normalize_pci_address("0000:03:00.8"), std::nullopt);
    EXPECT_EQ(normalize_pci_address("0000:03:00.a"), std::nullopt);
}

TEST(PciAddress, TextNeedNotEndInZero)
{
    constexpr std::string_view text = "0000:03:00.0tail";
    EXPECT_EQ(normalize_pci_address(text.substr(0, 12)), "0000:03:00.0");
    EXPECT_EQ(normalize_pci_address(text.substr(5, 7)), "0000:03:00.0");
}

} // namespace
