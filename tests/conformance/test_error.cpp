// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <array>
#include <set>
#include <string>

#include <doca_error.h>
#include <gtest/gtest.h>

namespace {

struct Code {
    doca_error_t value;
    const char *name;
};

#define CODE(name)                                                                                                     \
    Code                                                                                                               \
    {                                                                                                                  \
        name, #name                                                                                                    \
    }
constexpr std::array codes{
    CODE(DOCA_SUCCESS),
    CODE(DOCA_ERROR_UNKNOWN),
    CODE(DOCA_ERROR_NOT_PERMITTED),
    CODE(DOCA_ERROR_IN_USE),
    CODE(DOCA_ERROR_NOT_SUPPORTED),
    CODE(DOCA_ERROR_AGAIN),
    CODE(DOCA_ERROR_INVALID_VALUE),
    CODE(DOCA_ERROR_NO_MEMORY),
    CODE(DOCA_ERROR_INITIALIZATION),
    CODE(DOCA_ERROR_TIME_OUT),
    CODE(DOCA_ERROR_SHUTDOWN),
    CODE(DOCA_ERROR_CONNECTION_RESET),
    CODE(DOCA_ERROR_CONNECTION_ABORTED),
    CODE(DOCA_ERROR_CONNECTION_INPROGRESS),
    CODE(DOCA_ERROR_NOT_CONNECTED),
    CODE(DOCA_ERROR_NO_LOCK),
    CODE(DOCA_ERROR_NOT_FOUND),
    CODE(DOCA_ERROR_IO_FAILED),
    CODE(DOCA_ERROR_BAD_STATE),
    CODE(DOCA_ERROR_UNSUPPORTED_VERSION),
    CODE(DOCA_ERROR_OPERATING_SYSTEM),
    CODE(DOCA_ERROR_DRIVER),
    CODE(DOCA_ERROR_UNEXPECTED),
    CODE(DOCA_ERROR_ALREADY_EXIST),
    CODE(DOCA_ERROR_FULL),
    CODE(DOCA_ERROR_EMPTY),
    CODE(DOCA_ERROR_IN_PROGRESS),
};
#undef CODE

} // namespace

TEST(Error, every_code_has_its_value_and_its_name)
{
    unsigned value = 0;
    for (const Code &code : codes) {
        EXPECT_EQ(static_cast<unsigned>(code.value), value) << code.name;
        EXPECT_STREQ(doca_get_error_name(code.value), code.name);
        value++;
    }
    EXPECT_EQ(value, 27u);
}

TEST(Error, every_code_has_a_description_of_its_own)
{
    std::set<std::string> texts;
    for (const Code &code : codes) {
        const std::string text = doca_get_error_string(code.value);
        EXPECT_FALSE(text.empty()) << code.name;
        EXPECT_NE(text, code.name);
        EXPECT_NE(text, "unrecognized error code");
        EXPECT_TRUE(texts.insert(text).second) << text << " stands for two codes";
    }
}

TEST(Error, any_other_number_is_unrecognized)
{
    for (const unsigned number : {27u, 28u, 31u, 32u, 1000u, 0x7fffffffu, 0x80000000u, 0xffffffffu}) {
        const char *name = doca_get_error_name(static_cast<doca_error_t>(number));
        const char *text = doca_get_error_string(static_cast<doca_error_t>(number));
        EXPECT_STREQ(name, "unrecognized error code") << number;
        EXPECT_STREQ(text, "unrecognized error code") << number;
    }
}

TEST(Error, texts_are_static)
{
    EXPECT_EQ(doca_get_error_name(DOCA_ERROR_AGAIN), doca_get_error_name(DOCA_ERROR_AGAIN));
    EXPECT_EQ(doca_get_error_string(DOCA_ERROR_AGAIN), doca_get_error_string(DOCA_ERROR_AGAIN));
}

TEST(Error, is_error_is_one_for_anything_but_success)
{
    for (const Code &code : codes)
        EXPECT_EQ(DOCA_IS_ERROR(code.value), code.value == DOCA_SUCCESS ? 0 : 1) << code.name;
}

TEST(Error, propagate_keeps_the_first_failure)
{
    doca_error_t result = DOCA_SUCCESS;
    DOCA_ERROR_PROPAGATE(result, DOCA_SUCCESS);
    EXPECT_EQ(result, DOCA_SUCCESS);
    DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_FULL);
    EXPECT_EQ(result, DOCA_ERROR_FULL);
    DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_EMPTY);
    EXPECT_EQ(result, DOCA_ERROR_FULL);
    DOCA_ERROR_PROPAGATE(result, DOCA_SUCCESS);
    EXPECT_EQ(result, DOCA_ERROR_FULL);
}

TEST(Error, propagate_is_a_single_statement)
{
    doca_error_t result = DOCA_ERROR_FULL;
    bool took_else = false;
    if (result == DOCA_SUCCESS)
        DOCA_ERROR_PROPAGATE(result, DOCA_ERROR_EMPTY);
    else
        took_else = true;
    EXPECT_TRUE(took_else);
}
