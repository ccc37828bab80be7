// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// argp: usage and version, which end the process; DPDK and gRPC programs.
#include "argp_program.hpp"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>

#include <doca_version.h>

namespace {

using namespace argp_test;
using ::testing::ExitedWithCode;

constexpr const char *log_level_description =
    "Log up to this level: 20 critical, 30 error, 40 warning, 50 info, 60 debug\n";

class ArgpProgramTest : public ArgpTest {
protected:
    /// What @p body, which is to end the process with @p status, prints on standard output.
    static std::string output_of_exit(int status, const std::function<void()> &body)
    {
        const TemporaryFile out;
        EXPECT_EXIT(
            {
                if (std::freopen(out.path(), "w", stdout) == nullptr)
                    std::abort();
                body();
            },
            ExitedWithCode(status), "");
        return out.content();
    }
};
using ArgpProgramDeathTest = ArgpProgramTest;

TEST_F(ArgpProgramDeathTest, HelpShowsAlignedColumnsAndExits)
{
    ASSERT_EQ(add({.short_name = "p",
                   .long_name = "pci-addr",
                   .description = "PCI address",
                   .arguments = "<address>",
                   .is_mandatory = true}),
              DOCA_SUCCESS);
    ASSERT_EQ(add({.short_name = "ld", .long_name = "local", .description = "two\nlines"}), DOCA_SUCCESS);
    ASSERT_EQ(add({.long_name = "atomic", .type = DOCA_ARGP_TYPE_BOOLEAN, .callback = on_flag<'a'>}), DOCA_SUCCESS);
    ASSERT_EQ(
        add({.short_name = "n", .type = DOCA_ARGP_TYPE_INT, .callback = on_number<'n'>, .has_multiplicity = true}),
        DOCA_SUCCESS);
    ASSERT_EQ(add({.long_name = "obj", .type = DOCA_ARGP_TYPE_JSON_OBJ, .callback = on_object<'o'>}), DOCA_SUCCESS);
    const std::string expected = "Usage: prog [DOCA Flags] [Program Flags]\n"
                                 "\n"
                                 "DOCA Flags:\n"
                                 "  -h,  --help                 Print this text and exit\n"
                                 "  -v,  --version              Print the version and exit\n"
                                 "  -l,  --log-level <level>    " +
                                 std::string(log_level_description) +
                                 "  -j,  --json      <file>     Read flags from a JSON file; the command line wins\n"
                                 "\n"
                                 "Program Flags:\n"
                                 "  -p,  --pci-addr  <address>  PCI address (mandatory)\n"
                                 "  -ld, --local     <text>     two\n"
                                 "                              lines\n"
                                 "       --atomic               a flag\n"
                                 "  -n               <number>   a flag (may be repeated)\n"
                                 "       --obj                  a flag (JSON file only)\n";
    EXPECT_EQ(output_of_exit(0, [&] { (void)start({"--help"}); }), expected);
    EXPECT_EQ(output_of_exit(0, [&] { (void)start({"-n", "5", "-h", "--bogus"}); }), expected);
    EXPECT_EQ(output_of_exit(0, [] { doca_argp_usage(); }), expected);
    EXPECT_EQ(start({"--bogus", "--help"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(ArgpProgramDeathTest, HelpShowsWhatTheProgramLeavesOfTheDocaFlags)
{
    ASSERT_EQ(add({.short_name = "l", .long_name = "loops"}), DOCA_SUCCESS);
    ASSERT_EQ(add({.short_name = "v", .long_name = "version"}), DOCA_SUCCESS);
    EXPECT_EQ(output_of_exit(0, [&] { (void)start({"-h"}); }),
              "Usage: prog [DOCA Flags] [Program Flags]\n"
              "\n"
              "DOCA Flags:\n"
              "  -h, --help               Print this text and exit\n"
              "      --log-level <level>  " +
                  std::string(log_level_description) +
                  "  -j, --json      <file>   Read flags from a JSON file; the command line wins\n"
                  "\n"
                  "Program Flags:\n"
                  "  -l, --loops     <text>   a flag\n"
                  "  -v, --version   <text>   a flag\n");
}

TEST_F(ArgpProgramTest, AProgramMayHaveHelpAndVersionOfItsOwn)
{
    ASSERT_EQ(add({.short_name = "h", .long_name = "help"}), DOCA_SUCCESS);
    ASSERT_EQ(add({.short_name = "v", .long_name = "version"}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-h", "host", "--version", "2"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"t=host", "t=2"}));
}

TEST_F(ArgpProgramDeathTest, UsageWorksWithoutInit)
{
    ASSERT_EQ(doca_argp_destroy(), DOCA_SUCCESS);
    const std::string text = output_of_exit(0, [] { doca_argp_usage(); });
    EXPECT_NE(text.find("DOCA Flags:\n"), std::string::npos) << text;
    EXPECT_EQ(text.find("Program Flags:\n"), std::string::npos) << text;
}

TEST_F(ArgpProgramDeathTest, VersionPrintsBothVersionsAndExits)
{
    const std::string text = output_of_exit(0, [&] { (void)start({"-v"}); });
    EXPECT_EQ(text, std::string("DOCA version: ") + doca_version() +
                        "\nDOCA runtime version: " + doca_version_runtime() + "\n");
}

TEST_F(ArgpProgramDeathTest, VersionRunsTheCallbackAndExits)
{
    static doca_error_t answer;
    ASSERT_EQ(add({.short_name = "p", .is_mandatory = true}), DOCA_SUCCESS);
    ASSERT_EQ(doca_argp_register_version_callback([](void *value, void *own) {
                  std::printf("%s %d\n", value == nullptr ? "none" : "some",
                              static_cast<int>(static_cast<Config *>(own)->calls.size()));
                  return answer;
              }),
              DOCA_SUCCESS);
    answer = DOCA_SUCCESS;
    EXPECT_EQ(output_of_exit(0, [&] { (void)start({"--version"}); }), "none 0\n");
    answer = DOCA_ERROR_UNKNOWN;
    EXPECT_EQ(output_of_exit(1, [&] { (void)start({"--version"}); }), "none 0\n");
}

TEST_F(ArgpProgramDeathTest, AnExitHandlerMayDestroyWhileACallbackExits)
{
    ASSERT_EQ(add({.short_name = "t", .callback = [](void *, void *) -> doca_error_t { std::exit(3); }}), DOCA_SUCCESS);
    EXPECT_EXIT(
        {
            (void)std::atexit([] { (void)doca_argp_destroy(); });
            (void)start({"-t", "x"});
        },
        ExitedWithCode(3), "");
}

TEST_F(ArgpProgramTest, GrpcAddressExistsOnlyInGrpcPrograms)
{
    const char *address = nullptr;
    EXPECT_EQ(start({"-g", "10.0.0.1"}), DOCA_ERROR_NOT_SUPPORTED);
    doca_argp_set_grpc_program();
    doca_argp_set_grpc_program();
    EXPECT_EQ(doca_argp_get_grpc_addr(&address), DOCA_SUCCESS);
    EXPECT_STREQ(address, "");
    EXPECT_EQ(start({"-g", "10.0.0.1:50051"}), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_get_grpc_addr(&address), DOCA_SUCCESS);
    EXPECT_STREQ(address, "10.0.0.1:50051");
    const std::string json = "{\"doca_general_flags\": {\"grpc-address\": \"192.168.0.1\"}}";
    EXPECT_EQ(start_with_json(json), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_get_grpc_addr(&address), DOCA_SUCCESS);
    EXPECT_STREQ(address, "192.168.0.1");
    EXPECT_EQ(start_with_json(json, {"--grpc-address=::1"}), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_get_grpc_addr(&address), DOCA_SUCCESS);
    EXPECT_STREQ(address, "::1");
    EXPECT_EQ(start_with_json("{\"doca_general_flags\": {\"grpc-address\": 7}}"), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(ArgpProgramTest, AProgramsOwnGidIndexWinsOverTheGrpcAddress)
{
    ASSERT_EQ(add({"g", "gid-index", DOCA_ARGP_TYPE_INT, on_number<'g'>}), DOCA_SUCCESS);
    doca_argp_set_grpc_program();
    EXPECT_EQ(start({"-g", "3", "--grpc-address", "a"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"g=3"});
}

/// A DPDK program; the DPDK callback has no program_config.
class ArgpDpdkTest : public ArgpTest {
protected:
    void SetUp() override
    {
        ArgpTest::SetUp();
        eal_config() = &config;
        doca_argp_set_dpdk_program(on_eal);
        ASSERT_EQ(add({"t", "text"}), DOCA_SUCCESS);
        ASSERT_EQ(doca_argp_register_validation_callback(on_validate), DOCA_SUCCESS);
    }

    static Config *&eal_config()
    {
        static Config *own;
        return own;
    }

    static doca_error_t on_eal(int argc, char **argv)
    {
        std::string all;
        for (int i = 0; i < argc; ++i)
            all += (i == 0 ? "" : "|") + std::string(argv[i]);
        EXPECT_EQ(argv[argc], nullptr);
        latest_argv() = argv;
        return record(eal_config(), "eal " + all);
    }

    static char **&latest_argv()
    {
        static char **argv;
        return argv;
    }
};

TEST_F(ArgpDpdkTest, WhatIsBeforeTheDashesGoesToDpdk)
{
    EXPECT_EQ(start({"-a", "03:00.0", "-l", "0-3", "--", "-t", "x", "-l", "40"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"t=x", "eal prog|-a|03:00.0|-l|0-3", "validate"}));
    EXPECT_EQ(doca_log_global_level_get(), 40U);
}

TEST_F(ArgpDpdkTest, WithoutDashesThereIsNothingForDpdk)
{
    EXPECT_EQ(start({"-t", "x"}), DOCA_SUCCESS);
    EXPECT_EQ(start({"--"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"t=x", "eal prog", "validate", "eal prog", "validate"}));
    EXPECT_EQ(start({"-a", "03:00.0"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"--", "--", "-t"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(ArgpDpdkTest, TheArgumentsLiveUntilDestroy)
{
    ASSERT_EQ(start({"--first", "--"}), DOCA_SUCCESS);
    char **first = latest_argv();
    ASSERT_EQ(start({"--second", "--"}), DOCA_SUCCESS);
    EXPECT_STREQ(first[1], "--first");
    EXPECT_STREQ(latest_argv()[1], "--second");
}

TEST_F(ArgpDpdkTest, ReturnsTheErrorOfTheCallback)
{
    config.failing = "eal prog";
    EXPECT_EQ(start({"-t", "x"}), DOCA_ERROR_TIME_OUT);
    EXPECT_EQ(config.calls, (Calls{"t=x", "eal prog"}));
}

TEST_F(ArgpDpdkTest, ReadsTheJsonSection)
{
    const std::string json = R"({"doca_dpdk_flags": {
        // devices
        "devices": [
            {"device": "pf", "id": "03:00.0"},
            {"device": "vf", "id": "03:00.2", "dv_flow_en": 2, "representor": "[0-1]"},
            {"device": "sf", "id": "4", "x": true},
            "net_null0",
        ],
        "core-mask": "0xff", "core-list": "0-3", "flags": " --foo  -b 7 ",
        "in-memory": true, "no-pci": false, "n": 4, "vdev": ["a", "b"],
    }})";
    EXPECT_EQ(start_with_json(json), DOCA_SUCCESS) << logged();
    EXPECT_EQ(config.calls.front(), "eal prog|-a|03:00.0|-a|03:00.2,dv_flow_en=2,representor=[0-1]"
                                    "|-a|auxiliary:mlx5_core.sf.4,x=1|-a|net_null0|-c|0xff|-l|0-3|--foo|-b|7"
                                    "|--in-memory|-n|4|--vdev|a|--vdev|b");
    config.calls.clear();
    EXPECT_EQ(start_with_json(json, {"-n", "2", "--"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls.front(), "eal prog|-n|2");
    EXPECT_TRUE(has_logged("DPDK")) << logged();
}

TEST_F(ArgpDpdkTest, RefusesAWrongJsonSection)
{
    for (const char *members : {
             "\"devices\": 1",
             "\"devices\": [null]",
             "\"devices\": [\"\"]",
             "\"devices\": [{}]",
             "\"devices\": [{\"device\": \"pf\"}]",
             "\"devices\": [{\"id\": \"1\"}]",
             "\"devices\": [{\"device\": \"xf\", \"id\": \"1\"}]",
             "\"devices\": [{\"device\": \"pf\", \"id\": \"1\", \"x\": []}]",
             "\"flags\": 1",
             "\"n\": null",
             "\"n\": {}",
             "\"n\": 1.5",
             "\"n\": \"a\\u0000b\"",
         }) {
        EXPECT_EQ(start_with_json(std::string("{\"doca_dpdk_flags\": {") + members + "}}"), DOCA_ERROR_INVALID_VALUE)
            << members;
    }
    EXPECT_EQ(config.calls, Calls{});
}

} // namespace
