// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// argp: life cycle, parameters and the command line.
#include "argp_program.hpp"

#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace argp_test;

constexpr doca_argp_type string_type = DOCA_ARGP_TYPE_STRING;
constexpr doca_argp_type number = DOCA_ARGP_TYPE_INT;
constexpr doca_argp_type boolean = DOCA_ARGP_TYPE_BOOLEAN;

TEST(ArgpWithoutInit, IsRefused)
{
    EXPECT_EQ(doca_argp_destroy(), DOCA_ERROR_INVALID_VALUE);
    char name[] = "prog";
    char *argv[] = {name, nullptr};
    EXPECT_EQ(doca_argp_start(1, argv), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(doca_argp_register_param(make({"t", "text"})), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(doca_argp_register_validation_callback(on_validate), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_register_version_callback(on_text<'v'>), DOCA_ERROR_INVALID_VALUE);
    const char *address = nullptr;
    int level = 0;
    EXPECT_EQ(doca_argp_get_grpc_addr(&address), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_get_log_level(&level), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(level, 0);
    doca_argp_set_grpc_program();
    doca_argp_set_dpdk_program([](int, char **) { return DOCA_SUCCESS; });
}

TEST(ArgpInit, RefusesAMissingNameAndASecondInit)
{
    EXPECT_EQ(doca_argp_init(nullptr, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_init("", nullptr), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_argp_init("prog", nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_init("prog", nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_destroy(), DOCA_SUCCESS);
    ASSERT_EQ(doca_argp_init("prog", nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_destroy(), DOCA_SUCCESS);
}

TEST_F(ArgpTest, DestroyForgetsTheFlagsAlsoAfterAFailedStart)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    ASSERT_EQ(start({"--bogus"}), DOCA_ERROR_NOT_SUPPORTED);
    ASSERT_EQ(doca_argp_destroy(), DOCA_SUCCESS);
    ASSERT_EQ(doca_argp_init("prog", &config), DOCA_SUCCESS);
    EXPECT_EQ(start({"-t", "x"}), DOCA_ERROR_NOT_SUPPORTED);
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-t", "x"}), DOCA_SUCCESS);
}

TEST_F(ArgpTest, RefusesNull)
{
    EXPECT_EQ(doca_argp_param_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_param_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_register_param(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_register_version_callback(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_register_validation_callback(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_get_grpc_addr(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_get_log_level(nullptr), DOCA_ERROR_INVALID_VALUE);
    doca_argp_param_set_short_name(nullptr, "x");
    doca_argp_param_set_long_name(nullptr, "x");
    doca_argp_param_set_arguments(nullptr, "x");
    doca_argp_param_set_description(nullptr, "x");
    doca_argp_param_set_callback(nullptr, on_text<'t'>);
    doca_argp_param_set_type(nullptr, string_type);
    doca_argp_param_set_mandatory(nullptr);
    doca_argp_param_set_cli_only(nullptr);
    doca_argp_param_set_multiplicity(nullptr);
    doca_argp_set_dpdk_program(nullptr);

    char name[] = "prog";
    char *argv[] = {name, nullptr};
    EXPECT_EQ(doca_argp_start(1, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_start(0, argv), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_start(-1, argv), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_start(2, argv), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_start(1, argv), DOCA_SUCCESS);
}

TEST_F(ArgpTest, AnUnregisteredParameterCanBeDestroyed)
{
    EXPECT_EQ(doca_argp_param_destroy(make({"t", "text"})), DOCA_SUCCESS);
    doca_argp_param *param = make({"t", "text"});
    ASSERT_EQ(doca_argp_register_param(param), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_param_destroy(param), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_register_param(param), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"-t", "x"}), DOCA_SUCCESS);
}

// The sanitizers find the parameter if it is not freed.
TEST_F(ArgpTest, RegisterRefusesAnIncompleteParameterAndFreesIt)
{
    EXPECT_EQ(add({.short_name = "t", .description = nullptr}), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(add({.short_name = "t", .description = ""}), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(add({.short_name = "t", .callback = nullptr}), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(add({.short_name = "t", .type = DOCA_ARGP_TYPE_UNKNOWN}), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(add({}), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(add({.short_name = "t"}), DOCA_SUCCESS);
    EXPECT_EQ(add({.long_name = "text"}), DOCA_SUCCESS);
}

TEST_F(ArgpTest, RegisterRefusesNamesThatCannotBeWritten)
{
    for (const char *name : {"-t", "a\n", "a\tb", "\x7f", "--text"}) {
        EXPECT_EQ(add({.short_name = name}), DOCA_ERROR_INVALID_VALUE) << name;
        EXPECT_EQ(add({.long_name = name}), DOCA_ERROR_INVALID_VALUE) << name;
    }
    EXPECT_EQ(add({"t", "text", static_cast<doca_argp_type>(7)}), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(ArgpTest, ALongNameMayHaveSpacesAndWhateverCanBePrinted)
{
    ASSERT_EQ(add({"f", "file size", number, on_number<'f'>}), DOCA_SUCCESS);
    ASSERT_EQ(add({nullptr, "a=b", string_type, on_text<'a'>}), DOCA_SUCCESS);
    ASSERT_EQ(add({nullptr, "größe (in %)!", string_type, on_text<'g'>}), DOCA_SUCCESS);
    EXPECT_EQ(start({"--file size", "5", "--a=b", "1", "--größe (in %)!=x=y"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"f=5", "a=1", "g=x=y"}));
    config.calls.clear();
    EXPECT_EQ(start({"--file size=7", "--a=b=c=d"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"f=7", "a=c=d"}));
    config.calls.clear();
    EXPECT_EQ(start_with_json("{\"doca_program_flags\": {\"file size\": 9}}"), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"f=9"});
    EXPECT_EQ(start({"--file", "5"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"--a=c"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(ArgpTest, RegisterRefusesASecondFlagOfTheSameName)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    EXPECT_EQ(add({"t", "other"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(has_logged("-t/--other")) << logged();
    EXPECT_EQ(add({"o", "text"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(add({"text", "t"}), DOCA_SUCCESS);
    EXPECT_EQ(add({"o", "other"}), DOCA_SUCCESS);
}

TEST_F(ArgpTest, TheSettersCopyAndTheLastOneCounts)
{
    doca_argp_param *param = make({"x", "y"});
    {
        std::string name = "text";
        doca_argp_param_set_long_name(param, name.c_str());
        doca_argp_param_set_short_name(param, nullptr);
        name = "gone";
    }
    ASSERT_EQ(doca_argp_register_param(param), DOCA_SUCCESS);
    EXPECT_EQ(start({"--text", "a"}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-x", "a"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(ArgpTest, GivesValuesInEachForm)
{
    ASSERT_EQ(add({"t", "text", string_type, on_text<'t'>}), DOCA_SUCCESS);
    ASSERT_EQ(add({"ld", "local-descriptor", string_type, on_text<'l'>}), DOCA_SUCCESS);
    ASSERT_EQ(add({"n", "number", number, on_number<'n'>}), DOCA_SUCCESS);
    ASSERT_EQ(add({nullptr, "atomic", boolean, on_flag<'a'>}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-n", "5", "--text", "some words", "--atomic", "-ld", "/tmp/x"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"n=5", "t=some words", "a=true", "l=/tmp/x"}));

    config.calls.clear();
    EXPECT_EQ(start({"--number=-7", "--text=a=b", "--local-descriptor="}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"n=-7", "t=a=b", "l="}));
}

TEST_F(ArgpTest, CallsNoCallbackWhenNothingIsGiven)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    ASSERT_EQ(add({nullptr, "atomic", boolean, on_flag<'a'>}), DOCA_SUCCESS);
    EXPECT_EQ(start({}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{});
    EXPECT_EQ(start({"--"}), DOCA_SUCCESS);
}

TEST_F(ArgpTest, AValueMayLookLikeAFlag)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    ASSERT_EQ(add({"n", "number", number, on_number<'n'>}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-t", "--number", "-n", "-3"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"t=--number", "n=-3"}));
}

TEST_F(ArgpTest, AShortFlagAndItsValueAreTwoWords)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-tvalue"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"-t=value"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"-text", "value"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"--t", "value"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(ArgpTest, ReadsNumbersStrictly)
{
    ASSERT_EQ(add({"n", "number", number, on_number<'n'>}), DOCA_SUCCESS);
    const std::vector<std::pair<std::string, std::string>> good = {
        {"0", "0"},
        {"+12", "12"},
        {"007", "7"},
        {"0x10", "16"},
        {"0XfF", "255"},
        {"-0x10", "-16"},
        {"2147483647", "2147483647"},
        {"-2147483648", "-2147483648"},
        {"0x7fffffff", "2147483647"},
    };
    for (const auto &[given, got] : good) {
        config.calls.clear();
        EXPECT_EQ(start({"-n", given}), DOCA_SUCCESS) << given;
        EXPECT_EQ(config.calls, Calls{"n=" + got});
    }
    config.calls.clear();
    for (const char *bad : {"", " 1", "1 ", "12abc", "abc", "1.5", "1e3", "0x", "0xg", "-", "+", "--1", "+-1",
                            "2147483648", "-2147483649", "0xffffffff", "99999999999999999999", "0x-1"}) {
        EXPECT_EQ(start({"-n", bad}), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_TRUE(has_logged("'" + std::string(bad) + "'")) << bad;
    }
    EXPECT_EQ(config.calls, Calls{});
}

TEST_F(ArgpTest, RefusesAMissingAndASuperfluousValue)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    ASSERT_EQ(add({"a", "atomic", boolean, on_flag<'a'>}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-a", "-t"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(has_logged("-t")) << logged();
    EXPECT_EQ(start({"--text"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"--atomic=true"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"--atomic="}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"--help=me"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"-l"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"-j"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(config.calls, Calls{});
}

TEST_F(ArgpTest, NamesWhatItDoesNotKnow)
{
    EXPECT_EQ(start({"--bogus"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_TRUE(has_logged("'--bogus'")) << logged();
    EXPECT_EQ(start({"-q"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_TRUE(has_logged("'-q'")) << logged();
    EXPECT_EQ(start({"--=x"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(ArgpTest, RefusesWhatIsNotAFlag)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-t", "x", "stray"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_TRUE(has_logged("'stray'")) << logged();
    EXPECT_EQ(start({"-"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({""}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"--", "-t", "x"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(config.calls, Calls{});
}

TEST_F(ArgpTest, ShowsTheFlagsAfterAMistakeOfTheUser)
{
    Flag needed = {"t", "text"};
    needed.is_mandatory = true;
    ASSERT_EQ(add(needed), DOCA_SUCCESS);
    const auto printed = [&](const std::vector<std::string> &words) {
        testing::internal::CaptureStderr();
        EXPECT_NE(start(words), DOCA_SUCCESS);
        return testing::internal::GetCapturedStderr();
    };
    const std::string flags = "  -t, --text      <text>   a flag (mandatory)\n";
    for (const std::vector<std::string> &words : std::vector<std::vector<std::string>>{
             {"-t", "x", "--bogus"}, {"-t", "x", "stray"}, {"-t"}, {}, {"-t", "x", "-l", "loud"}}) {
        const std::string shown = printed(words);
        EXPECT_TRUE(shown.starts_with("Usage: prog ")) << shown;
        EXPECT_TRUE(shown.ends_with(flags)) << shown;
    }
    EXPECT_EQ(printed({"-t", "x", "-j", "/does/not/exist"}), "") << "it was written well";
    config.failing = "t=x";
    EXPECT_EQ(printed({"-t", "x"}), "") << "the program has said no";
}

TEST_F(ArgpTest, KeepsControlCharactersOutOfTheLog)
{
    EXPECT_EQ(start({"--bo\x1b[31m\ngus"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_TRUE(has_logged("'--bo?[31m?gus'")) << logged();
    EXPECT_EQ(start({"--" + std::string(100000, 'x')}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LT(logged().size(), 1000U);
}

TEST_F(ArgpTest, OnlyMultiplicityAllowsASecondValue)
{
    ASSERT_EQ(add({"t", "text", string_type, on_text<'t'>}), DOCA_SUCCESS);
    Flag many = {"m", "many", string_type, on_text<'m'>};
    many.has_multiplicity = true;
    ASSERT_EQ(add(many), DOCA_SUCCESS);
    EXPECT_EQ(start({"-m", "1", "-t", "x", "--many", "2", "-m", "1"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"m=1", "t=x", "m=2", "m=1"}));
    config.calls.clear();
    EXPECT_EQ(start({"-m", "1", "-t", "x", "--text", "y"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(has_logged("--text")) << logged();
    EXPECT_EQ(config.calls, Calls{});
    EXPECT_EQ(start({"-l", "50", "-l", "50"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"-j", "/dev/null", "-j", "/dev/null"}), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(ArgpTest, NamesAllMissingMandatoryFlagsBeforeAnyCallback)
{
    ASSERT_EQ(add({.short_name = "o", .long_name = "optional", .callback = on_text<'o'>}), DOCA_SUCCESS);
    ASSERT_EQ(add({.short_name = "p", .long_name = "pci-addr", .is_mandatory = true}), DOCA_SUCCESS);
    ASSERT_EQ(add({.long_name = "file", .is_mandatory = true}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-o", "x"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_TRUE(has_logged("-p/--pci-addr, --file")) << logged();
    EXPECT_EQ(config.calls, Calls{});
    EXPECT_EQ(start({"-o", "x", "-p", "y", "--file", "z"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"o=x", "t=y", "t=z"}));
}

TEST_F(ArgpTest, CallsNoCallbackWhenALaterWordIsWrong)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-t", "x", "--bogus"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(config.calls, Calls{});
}

TEST_F(ArgpTest, ReturnsTheErrorOfACallbackAndStops)
{
    ASSERT_EQ(add({"a", nullptr, string_type, on_text<'a'>}), DOCA_SUCCESS);
    ASSERT_EQ(add({"b", nullptr, string_type, on_text<'b'>}), DOCA_SUCCESS);
    ASSERT_EQ(doca_argp_register_validation_callback(on_validate), DOCA_SUCCESS);
    config.failing = "a=1";
    EXPECT_EQ(start({"-a", "1", "-b", "2"}), DOCA_ERROR_TIME_OUT);
    EXPECT_EQ(config.calls, (Calls{"a=1"}));
}

TEST_F(ArgpTest, NamesTheFlagWhoseCallbackFails)
{
    ASSERT_EQ(add({"p", "pci-addr", string_type, on_text<'p'>}), DOCA_SUCCESS);
    config.failing = "p=x";
    EXPECT_EQ(start({"-p", "x"}), DOCA_ERROR_TIME_OUT);
    EXPECT_TRUE(has_logged("callback for flag -p/--pci-addr failed: DOCA_ERROR_TIME_OUT")) << logged();
}

TEST_F(ArgpTest, ValidatesLast)
{
    ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
    const validation_callback replaced = [](void *) { return DOCA_ERROR_SHUTDOWN; };
    ASSERT_EQ(doca_argp_register_validation_callback(replaced), DOCA_SUCCESS);
    ASSERT_EQ(doca_argp_register_validation_callback(on_validate), DOCA_SUCCESS);
    EXPECT_EQ(start({"-t", "x"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"t=x", "validate"}));
    config.failing = "validate";
    EXPECT_EQ(start({}), DOCA_ERROR_TIME_OUT);
    EXPECT_TRUE(has_logged("the program's validation callback failed: DOCA_ERROR_TIME_OUT")) << logged();
}

TEST_F(ArgpTest, AnExceptionOfACallbackDoesNotGetOut)
{
    ASSERT_EQ(add({"t", "text", string_type, [](void *, void *) -> doca_error_t { throw std::runtime_error("x"); }}),
              DOCA_SUCCESS);
    EXPECT_EQ(start({"-t", "x"}), DOCA_ERROR_UNEXPECTED);
    EXPECT_EQ(doca_argp_destroy(), DOCA_SUCCESS);
}

TEST_F(ArgpTest, ACallbackMayWriteIntoItsText)
{
    std::string word = "a,b";
    ASSERT_EQ(add({"t", "text", string_type,
                   [](void *value, void *own) {
                       static_cast<char *>(value)[1] = '\0';
                       return on_text<'t'>(value, own);
                   }}),
              DOCA_SUCCESS);
    char name[] = "prog";
    char flag[] = "-t";
    char *argv[] = {name, flag, word.data(), nullptr};
    EXPECT_EQ(doca_argp_start(3, argv), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"t=a"});
    EXPECT_EQ(word, "a,b");
}

TEST_F(ArgpTest, ACallbackCannotPullTheGroundFromUnderStart)
{
    ASSERT_EQ(add({"t", "text", string_type,
                   [](void *value, void *own) {
                       char name[] = "prog";
                       char *argv[] = {name, nullptr};
                       EXPECT_EQ(doca_argp_destroy(), DOCA_ERROR_INVALID_VALUE);
                       EXPECT_EQ(doca_argp_start(1, argv), DOCA_ERROR_INVALID_VALUE);
                       EXPECT_EQ(doca_argp_init("other", nullptr), DOCA_ERROR_INVALID_VALUE);
                       EXPECT_EQ(doca_argp_register_param(make({"x", "y"})), DOCA_ERROR_INVALID_VALUE);
                       return on_text<'t'>(value, own);
                   }}),
              DOCA_SUCCESS);
    EXPECT_EQ(start({"-t", "x"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"t=x"});
    EXPECT_EQ(start({"-x", "z"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(ArgpTest, AProgramsFlagTakesOverOnlyTheNameThatItHas)
{
    ASSERT_EQ(add({"l", "loops", number, on_number<'n'>}), DOCA_SUCCESS);
    ASSERT_EQ(add({"jj", "json", string_type, on_text<'j'>}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-l", "7", "--log-level", "60", "--json", "/does/not/exist"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"n=7", "j=/does/not/exist"}));
    EXPECT_EQ(doca_log_global_level_get(), 60U);
    EXPECT_EQ(start({"-j", "/does/not/exist"}), DOCA_ERROR_IO_FAILED);
}

TEST_F(ArgpTest, SetsTheLogLevelBeforeTheCallbacks)
{
    ASSERT_EQ(add({"t", "text", string_type,
                   [](void *value, void *own) {
                       int level = 0;
                       EXPECT_EQ(doca_argp_get_log_level(&level), DOCA_SUCCESS);
                       EXPECT_EQ(level, 30);
                       EXPECT_EQ(doca_log_global_level_get(), 30U);
                       return on_text<'t'>(value, own);
                   }}),
              DOCA_SUCCESS);
    int level = 0;
    EXPECT_EQ(doca_argp_get_log_level(&level), DOCA_SUCCESS);
    EXPECT_EQ(level, 50);
    EXPECT_EQ(start({"-t", "x", "-l", "30"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"t=x"});
    for (const std::string good : {"20", "30", "40", "50", "60"}) {
        EXPECT_EQ(start({"--log-level", good}), DOCA_SUCCESS);
        EXPECT_EQ(std::to_string(doca_log_global_level_get()), good);
    }
    EXPECT_FALSE(has_logged("log level")) << logged();
    for (const std::string high : {"61", "70", "100"}) {
        ASSERT_EQ(doca_log_global_level_set(DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS);
        EXPECT_EQ(start({"-l", high}), DOCA_SUCCESS);
        EXPECT_EQ(doca_log_global_level_get(), 60U);
        EXPECT_TRUE(has_logged("log level " + high + " is above 60")) << logged();
    }
    for (const std::string bad : {"10", "0", "45", "-20", "info", "", "99999999999"})
        EXPECT_EQ(start({"-l", bad}), DOCA_ERROR_INVALID_VALUE) << bad;
    EXPECT_EQ(start({"-l", "20", "--bogus"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(doca_log_global_level_get(), 60U);
}

TEST_F(ArgpTest, AJsonObjectCannotComeFromTheCommandLine)
{
    ASSERT_EQ(add({"o", "object", DOCA_ARGP_TYPE_JSON_OBJ, on_object<'o'>}), DOCA_SUCCESS);
    EXPECT_EQ(start({"--object", "{}"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"--object={}"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(config.calls, Calls{});
}

} // namespace
