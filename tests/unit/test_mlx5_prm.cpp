// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How fields of commands get into their mailboxes. Where they stand is checked in mlx5_prm_rows.hpp.
#include <cstddef>
#include <cstdint>

#include "mlx5_prm_rows.hpp"

#include <gtest/gtest.h>

namespace {

using namespace opendoca::mlx5;

// A field goes into its own bits, most significant first, and no others.

TEST(Mailbox, AFieldAcrossBytesIsBigEndian)
{
    prm::Mailbox<8> mailbox;
    mailbox.set({4, 24}, 0xabcdef);
    const std::uint8_t expected[8] = {0x0a, 0xbc, 0xde, 0xf0};
    for (std::size_t i = 0; i < 8; ++i)
        EXPECT_EQ(mailbox.data()[i], expected[i]) << i;
    EXPECT_EQ(mailbox.get({4, 24}), 0xabcdefu);
    EXPECT_EQ(mailbox.get({8, 16}), 0xbcdeu);
}

TEST(Mailbox, NeighboursStayAsTheyAre)
{
    prm::Mailbox<4> mailbox;
    mailbox.set({0, 32}, 0xffffffff);
    mailbox.set({9, 3}, 2);
    EXPECT_EQ(mailbox.get({0, 32}), 0xffafffffu);
    mailbox.set({9, 3}, 0xfff);
    EXPECT_EQ(mailbox.get({0, 32}), 0xffffffffu) << "bits that the field has no room for are left out";
}

TEST(Mailbox, BytesGoWhereTheirFieldIs)
{
    prm::Mailbox<8> mailbox;
    const std::uint8_t bytes[] = {1, 2, 3, 4, 5};
    mailbox.set_bytes({16, 32}, bytes);
    EXPECT_EQ(mailbox.get({0, 64}), 0x0000010203040000u);
    EXPECT_EQ(mailbox.get_bytes({24, 16})[1], 3);
}

} // namespace
