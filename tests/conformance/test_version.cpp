// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>

#include <doca_version.h>
#include <gtest/gtest.h>

namespace {

struct Versioned {
    DOCA_STRUCT_START;
    int payload;
};

} // namespace

TEST(Version, is_that_of_the_abi)
{
    EXPECT_STREQ(doca_version(), "2.2.0080");
    EXPECT_STREQ(DOCA_VER_STRING, "2.2.0080");
    EXPECT_STREQ(doca_version_runtime(), "2.2.0080");
}

TEST(Version, text_has_the_parts_with_a_patch_of_four_digits)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%d.%d.%04d", DOCA_VER_MAJOR, DOCA_VER_MINOR, DOCA_VER_PATCH);
    EXPECT_STREQ(doca_version(), text);
}

TEST(Version, number_orders_versions)
{
    static_assert(std::is_same_v<decltype(DOCA_VERSION_NUM(1, 2, 3)), std::size_t>);
    EXPECT_EQ(DOCA_VERSION_NUM(1, 2, 3), 0x01020003u);
    EXPECT_EQ(DOCA_CURRENT_VERSION_NUM, 0x02020050u);
    EXPECT_LT(DOCA_VERSION_NUM(2, 1, 9999), DOCA_VERSION_NUM(2, 2, 0));
    EXPECT_LT(DOCA_VERSION_NUM(1, 255, 0), DOCA_VERSION_NUM(2, 0, 0));
}

TEST(Version, compares_with_the_current_one)
{
    EXPECT_TRUE(DOCA_VERSION_EQ_CURRENT(2, 2, 80));
    EXPECT_FALSE(DOCA_VERSION_EQ_CURRENT(2, 2, 79));
    EXPECT_TRUE(DOCA_VERSION_LTE_CURRENT(2, 2, 80));
    EXPECT_TRUE(DOCA_VERSION_LTE_CURRENT(1, 5, 55));
    EXPECT_FALSE(DOCA_VERSION_LTE_CURRENT(2, 2, 81));
    EXPECT_FALSE(DOCA_VERSION_LTE_CURRENT(2, 5, 0));
}

TEST(Version, structures_carry_the_version_they_were_made_with)
{
    Versioned object{};
    object.payload = 7;
    EXPECT_EQ(DOCA_STRUCT_GET_VERSION(&object), 0u);
    DOCA_STRUCT_CTOR(object);
    EXPECT_EQ(DOCA_STRUCT_GET_VERSION(&object), DOCA_CURRENT_VERSION_NUM);
    EXPECT_EQ(object.payload, 7);
    DOCA_STRUCT_MEMSET_CTOR(object);
    EXPECT_EQ(DOCA_STRUCT_GET_VERSION(&object), DOCA_CURRENT_VERSION_NUM);
    EXPECT_EQ(object.payload, 0);
}

TEST(Version, structures_are_versioned_through_a_pointer_or_an_initialiser)
{
    Versioned object{};
    object.payload = 7;
    Versioned *pointer = &object;
    DOCA_STRUCT_PTR_CTOR(pointer);
    EXPECT_EQ(DOCA_STRUCT_GET_VERSION(pointer), DOCA_CURRENT_VERSION_NUM);
    EXPECT_EQ(object.payload, 7);
    object.__doca_api_version = 1;
    DOCA_STRUCT_PTR_MEMSET_CTOR(pointer);
    EXPECT_EQ(DOCA_STRUCT_GET_VERSION(pointer), DOCA_CURRENT_VERSION_NUM);
    EXPECT_EQ(object.payload, 0);
    const Versioned made{DOCA_STRUCT_CTOR_LIST_START, .payload = 3};
    EXPECT_EQ(made.__doca_api_version, DOCA_CURRENT_VERSION_NUM);
    EXPECT_EQ(made.payload, 3);
}
