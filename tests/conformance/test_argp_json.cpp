// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// argp: the JSON file.
#include "argp_program.hpp"

#include <cstring>
#include <string>
#include <vector>

namespace {

using namespace argp_test;

/// A program with one flag of each kind.
class ArgpJsonTest : public ArgpTest {
protected:
    void SetUp() override
    {
        ArgpTest::SetUp();
        ASSERT_EQ(add({"t", "text", DOCA_ARGP_TYPE_STRING, on_text<'t'>}), DOCA_SUCCESS);
        ASSERT_EQ(add({"n", "number", DOCA_ARGP_TYPE_INT, on_number<'n'>}), DOCA_SUCCESS);
        ASSERT_EQ(add({nullptr, "atomic", DOCA_ARGP_TYPE_BOOLEAN, on_flag<'a'>}), DOCA_SUCCESS);
        ASSERT_EQ(add({nullptr, "object", DOCA_ARGP_TYPE_JSON_OBJ, on_object<'o'>}), DOCA_SUCCESS);
        ASSERT_EQ(add({.long_name = "many",
                       .type = DOCA_ARGP_TYPE_INT,
                       .callback = on_number<'m'>,
                       .has_multiplicity = true}),
                  DOCA_SUCCESS);
        ASSERT_EQ(add({.long_name = "secret", .callback = on_text<'s'>, .is_cli_only = true}), DOCA_SUCCESS);
        ASSERT_EQ(add({.short_name = "q", .callback = on_text<'q'>}), DOCA_SUCCESS);
    }

    doca_error_t start_with_flags(const std::string &members, std::vector<std::string> words = {})
    {
        return start_with_json("{\"doca_program_flags\": {" + members + "}}", std::move(words));
    }
};

TEST_F(ArgpJsonTest, GivesValuesOfEachTypeInTheOrderOfTheFile)
{
    EXPECT_EQ(start_with_json(R"({
        "doca_general_flags": {"log-level": 60},
        "doca_program_flags": {
            "number": -64, "text": "03:00.0", "object": {"a": [1, {"b": null}]}, "atomic": true,
            "many": [3, 2]
        }
    })"),
              DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"n=-64", "t=03:00.0", "o={\"a\":[1,{\"b\":null}]}", "a=true", "m=3", "m=2"}));
    int level = 0;
    EXPECT_EQ(doca_argp_get_log_level(&level), DOCA_SUCCESS);
    EXPECT_EQ(level, 60);
    EXPECT_EQ(doca_log_global_level_get(), 60U);
}

TEST_F(ArgpJsonTest, FalseIsAsIfAbsent)
{
    EXPECT_EQ(start_with_flags("\"atomic\": false"), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{});
}

TEST_F(ArgpJsonTest, FalseAnswersAMandatoryFlag)
{
    ASSERT_EQ(
        add({.long_name = "must", .type = DOCA_ARGP_TYPE_BOOLEAN, .callback = on_flag<'x'>, .is_mandatory = true}),
        DOCA_SUCCESS);
    EXPECT_EQ(start({}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start_with_flags("\"must\": false"), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{});
}

TEST_F(ArgpJsonTest, ToleratesCommentsTrailingCommasAndAByteOrderMark)
{
    EXPECT_EQ(start_with_json("\xef\xbb\xbf// first, \"line\n"
                              "{ /* a , } */\n"
                              "  \"doca_program_flags\": { // { [\n"
                              "    \"text\": \"// not /* a */ comment \\\", ] ,}\", /**/\n"
                              "    \"many\": [1, 2 , /* , */ ], // ,\n"
                              "  },\n"
                              "} // end"),
              DOCA_SUCCESS)
        << logged();
    EXPECT_EQ(config.calls, (Calls{"t=// not /* a */ comment \", ] ,}", "m=1", "m=2"}));
}

TEST_F(ArgpJsonTest, TakesAnEmptyObjectAndBlanksAroundIt)
{
    EXPECT_EQ(start_with_json("{}"), DOCA_SUCCESS);
    EXPECT_EQ(start_with_json("\r\n\t {} \n\n"), DOCA_SUCCESS);
    EXPECT_EQ(start_with_json("{\"doca_program_flags\": {}, \"doca_general_flags\": {},}"), DOCA_SUCCESS);
}

TEST_F(ArgpJsonTest, NamesTheLineOfAMistake)
{
    const std::vector<std::pair<std::string, int>> mistakes = {
        {"", 1},
        {"{\n\n  \"a\" 1\n}", 3},
        {"/* 1\n2 */\n{\"doca_program_flags\":\n {\"text\": x}}", 4},
        {"{\n\"doca_program_flags\": {\n\"text\": \"a\"\n", 3},
        {"{}\n/* never ends\n\n", 2},
        {"{\n} x", 2},
        {"{,}", 1},
        {"{\"doca_program_flags\": {\"many\": [,]}}", 1},
        {"{\"doca_program_flags\": {\"many\": [1,,]}}", 1},
        {"{\"doca_program_flags\": {\"text\": 'single'}}", 1},
        {"{\"doca_program_flags\": {\"text\": \"cut", 1},
        {"{\"doca_program_flags\": {\"text\": \"cut\\", 1},
        {std::string("{\n\0}", 4), 2},
        {"{} /", 1},
        {"/", 1},
    };
    for (const auto &[text, line] : mistakes) {
        const std::size_t before = logged().size();
        EXPECT_EQ(start_with_json(text), DOCA_ERROR_IO_FAILED) << text;
        const std::string message = logged().substr(before);
        EXPECT_NE(message.find("line " + std::to_string(line) + ":"), std::string::npos) << text << message;
    }
    EXPECT_EQ(config.calls, Calls{});
}

TEST_F(ArgpJsonTest, RefusesAFileThatIsNoObject)
{
    for (const char *text : {"[]", "1", "\"x\"", "null", "true"})
        EXPECT_EQ(start_with_json(text), DOCA_ERROR_INVALID_VALUE) << text;
    for (const char *name : {"doca_program_flags", "doca_general_flags", "doca_dpdk_flags"}) {
        for (const char *value : {"null", "[]", "1"}) {
            const std::string text = std::string("{\"") + name + "\": " + value + "}";
            EXPECT_EQ(start_with_json(text), DOCA_ERROR_INVALID_VALUE) << text;
        }
    }
}

TEST_F(ArgpJsonTest, NamesWhatItDoesNotKnow)
{
    EXPECT_EQ(start_with_json("{\"doca_flags\": {}}"), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_TRUE(has_logged("'doca_flags'")) << logged();
    EXPECT_EQ(start_with_flags("\"bogus\": 1"), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_TRUE(has_logged("'bogus'")) << logged();
    EXPECT_EQ(start_with_flags("\"t\": \"short names are no keys\""), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start_with_flags("\"q\": \"no long name\""), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start_with_flags("\"\": \"no name\""), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start_with_flags("\"log-level\": 60"), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start_with_json("{\"doca_general_flags\": {\"level\": 60}}"), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start_with_json("{\"doca_general_flags\": {\"grpc-address\": \"a\"}}"), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start_with_json("{\"doca_dpdk_flags\": {\"devices\": []}}"), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(config.calls, Calls{});
}

TEST_F(ArgpJsonTest, RefusesValuesOfTheWrongType)
{
    for (const char *members : {
             "\"text\": 1",
             "\"text\": null",
             "\"text\": [\"a\"]",
             "\"text\": \"a\\u0000b\"",
             "\"number\": \"64\"",
             "\"number\": 64.0",
             "\"number\": 2147483648",
             "\"number\": -2147483649",
             "\"number\": 99999999999999999999",
             "\"number\": -99999999999999999999",
             "\"number\": null",
             "\"number\": [1]",
             "\"number\": true",
             "\"atomic\": 1",
             "\"atomic\": \"true\"",
             "\"atomic\": null",
             "\"object\": 1",
             "\"object\": null",
             "\"object\": \"{}\"",
             "\"many\": [1, \"2\"]",
             "\"many\": null",
             "\"many\": [[1]]",
         }) {
        EXPECT_EQ(start_with_flags(members), DOCA_ERROR_INVALID_VALUE) << members;
    }
    for (const char *level : {"10", "45", "\"50\"", "50.0", "null", "true", "4294967346"}) {
        EXPECT_EQ(start_with_json(std::string("{\"doca_general_flags\": {\"log-level\": ") + level + "}}"),
                  DOCA_ERROR_INVALID_VALUE)
            << level;
    }
    EXPECT_EQ(config.calls, Calls{});
    EXPECT_EQ(start_with_json("{\"doca_general_flags\": {\"log-level\": 70}}"), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_global_level_get(), 60U);
    EXPECT_TRUE(has_logged("log level 70 is above 60")) << logged();
}

TEST_F(ArgpJsonTest, ASingleValueAndAnEmptyArrayAreFineWithMultiplicity)
{
    EXPECT_EQ(start_with_flags("\"many\": 4"), DOCA_SUCCESS);
    EXPECT_EQ(start_with_flags("\"many\": []"), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"m=4"});
}

TEST_F(ArgpJsonTest, AnArrayIsOneObjectWithoutMultiplicityAndSeveralWith)
{
    ASSERT_EQ(add({.long_name = "objects",
                   .type = DOCA_ARGP_TYPE_JSON_OBJ,
                   .callback = on_object<'p'>,
                   .has_multiplicity = true}),
              DOCA_SUCCESS);
    EXPECT_EQ(start_with_flags("\"object\": [{\"a\":1}, 2], \"objects\": [{\"b\":1}, {\"c\":2}]"), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"o=[{\"a\":1},2]", "p={\"b\":1}", "p={\"c\":2}"}));
}

TEST_F(ArgpJsonTest, RefusesACommandLineOnlyFlag)
{
    EXPECT_EQ(start_with_flags("\"secret\": \"x\""), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(has_logged("--secret")) << logged();
    EXPECT_EQ(start({"--secret", "x"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"s=x"});
}

TEST_F(ArgpJsonTest, TheCommandLineWins)
{
    EXPECT_EQ(start_with_json(R"({"doca_general_flags": {"log-level": 60},
                                  "doca_program_flags": {"number": 1, "many": [1, 2], "text": "json"}})",
                              {"--many", "9", "-l", "40", "-n", "8"}),
              DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"m=9", "n=8", "t=json"}));
    EXPECT_EQ(doca_log_global_level_get(), 40U);
}

TEST_F(ArgpJsonTest, AnswersMandatoryFlags)
{
    ASSERT_EQ(add({.long_name = "must", .callback = on_text<'x'>, .is_mandatory = true}), DOCA_SUCCESS);
    EXPECT_EQ(start_with_flags("\"text\": \"a\""), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(config.calls, Calls{});
    EXPECT_EQ(start_with_flags("\"must\": \"a\""), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"x=a"});
}

TEST_F(ArgpJsonTest, CallsNoCallbackWhenTheFileIsWrong)
{
    EXPECT_EQ(start_with_flags("\"text\": \"a\", \"bogus\": 1", {"-n", "1"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(config.calls, Calls{});
    EXPECT_EQ(doca_log_global_level_get(), 50U);
}

TEST_F(ArgpJsonTest, ReportsWhyAFileCannotBeRead)
{
    EXPECT_EQ(start({"-j", "/does/not/exist.json"}), DOCA_ERROR_IO_FAILED);
    EXPECT_TRUE(has_logged("/does/not/exist.json")) << logged();
    EXPECT_TRUE(has_logged(std::strerror(ENOENT))) << logged();
    EXPECT_EQ(start({"-j", "/"}), DOCA_ERROR_IO_FAILED);
    EXPECT_TRUE(has_logged(std::strerror(EISDIR))) << logged();
    EXPECT_EQ(start({"--json="}), DOCA_ERROR_IO_FAILED);
}

TEST_F(ArgpJsonTest, LimitsSizeValuesAndDepth)
{
    const std::size_t limit = std::size_t{16} << 20;
    EXPECT_EQ(start_with_json("{}" + std::string(limit - 2, ' ')), DOCA_SUCCESS);
    EXPECT_EQ(start_with_json("{}" + std::string(limit - 1, ' ')), DOCA_ERROR_IO_FAILED);
    EXPECT_TRUE(has_logged("16777216")) << logged();
    EXPECT_EQ(start({"-j", "/dev/zero"}), DOCA_ERROR_IO_FAILED);

    std::string many = "\"many\": [0";
    for (int i = 0; i < 262144; ++i)
        many += ",0";
    EXPECT_EQ(start_with_flags(many + "]"), DOCA_ERROR_IO_FAILED);
    EXPECT_TRUE(has_logged("262144 values")) << logged();

    const auto nested = [](std::size_t depth) {
        return "\"object\": " + std::string(depth, '[') + std::string(depth, ']');
    };
    EXPECT_EQ(start_with_flags(nested(20)), DOCA_SUCCESS);
    EXPECT_EQ(start_with_flags(nested(40)), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(start_with_flags(nested(100000)), DOCA_ERROR_IO_FAILED);
}

TEST_F(ArgpJsonTest, ACallbackMayKeepAReferenceToItsObject)
{
    static json_object *kept;
    ASSERT_EQ(add({.long_name = "kept",
                   .type = DOCA_ARGP_TYPE_JSON_OBJ,
                   .callback =
                       [](void *value, void *) {
                           kept = json_object_get(static_cast<json_object *>(value));
                           return DOCA_SUCCESS;
                       }}),
              DOCA_SUCCESS);
    ASSERT_EQ(start_with_flags("\"kept\": {\"a\": 1}"), DOCA_SUCCESS);
    ASSERT_EQ(doca_argp_destroy(), DOCA_SUCCESS);
    EXPECT_STREQ(json_object_to_json_string_ext(kept, JSON_C_TO_STRING_PLAIN), "{\"a\":1}");
    EXPECT_EQ(json_object_put(kept), 1);
}

} // namespace
