// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// argp of DOCA 3.0: what it has beyond that of 2.2, whose parser it is.
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include <doca_argp.h>
#include <doca_log.h>

namespace {

using Calls = std::vector<std::string>;

/// The program_config of the tests: who was called, in order, and who is to fail.
struct Config {
    Calls calls;
    std::string failing;
};

doca_error_t record(void *config, const std::string &call)
{
    auto *own = static_cast<Config *>(config);
    own->calls.push_back(call);
    return call == own->failing ? DOCA_ERROR_TIME_OUT : DOCA_SUCCESS;
}

template <char Tag>
doca_error_t on_text(void *value, void *config)
{
    return record(config, std::string(1, Tag) + "=" + static_cast<char *>(value));
}

template <char Tag>
doca_error_t on_flag(void *value, void *config)
{
    EXPECT_TRUE(*static_cast<bool *>(value));
    return record(config, std::string(1, Tag));
}

template <char Tag>
doca_error_t on_command(void *config)
{
    return record(config, std::string("command ") + Tag);
}

struct Flag {
    const char *short_name;
    const char *long_name;
    doca_argp_param_cb_t callback;
    doca_argp_type type = DOCA_ARGP_TYPE_BOOLEAN;
    std::vector<void (*)(doca_argp_param *)> properties = {};
};

doca_argp_param *make(const Flag &flag)
{
    doca_argp_param *param = nullptr;
    EXPECT_EQ(doca_argp_param_create(&param), DOCA_SUCCESS);
    doca_argp_param_set_short_name(param, flag.short_name);
    doca_argp_param_set_long_name(param, flag.long_name);
    doca_argp_param_set_description(param, "a flag");
    doca_argp_param_set_callback(param, flag.callback);
    doca_argp_param_set_type(param, flag.type);
    for (auto *set : flag.properties)
        set(param);
    return param;
}

doca_argp_cmd *make_command(const char *name, doca_argp_cmd_cb_t callback = nullptr, const char *text = "a command")
{
    doca_argp_cmd *command = nullptr;
    EXPECT_EQ(doca_argp_cmd_create(&command), DOCA_SUCCESS);
    doca_argp_cmd_set_name(command, name);
    doca_argp_cmd_set_description(command, text);
    doca_argp_cmd_set_callback(command, callback);
    return command;
}

/// For what prints to stdout and ends the process: death tests look at stderr.
void start_on_stderr(std::vector<std::string> words)
{
    dup2(STDERR_FILENO, STDOUT_FILENO);
    std::vector<char *> argv;
    for (std::string &word : words)
        argv.push_back(word.data());
    (void)doca_argp_start(static_cast<int>(argv.size()), argv.data());
}

class Argp : public testing::Test {
protected:
    void SetUp() override { ASSERT_EQ(doca_argp_init("prog", &config), DOCA_SUCCESS); }
    void TearDown() override { EXPECT_EQ(doca_argp_destroy(), DOCA_SUCCESS); }

    [[nodiscard]] doca_error_t add(const Flag &flag) { return doca_argp_register_param(make(flag)); }

    doca_error_t start(std::vector<std::string> words)
    {
        config.calls.clear();
        words.insert(words.begin(), "/usr/bin/prog");
        std::vector<char *> argv;
        for (std::string &word : words)
            argv.push_back(word.data());
        argv.push_back(nullptr);
        testing::internal::CaptureStderr(); // the usage text
        const doca_error_t result = doca_argp_start(static_cast<int>(words.size()), argv.data());
        errors = testing::internal::GetCapturedStderr();
        return result;
    }
    Config config;
    std::string errors;
};

// Life

TEST(ArgpLife, calls_out_of_place_are_a_bad_state)
{
    EXPECT_EQ(doca_argp_destroy(), DOCA_ERROR_BAD_STATE);
    char name[] = "prog";
    char *argv[] = {name, nullptr};
    EXPECT_EQ(doca_argp_start(1, argv), DOCA_ERROR_BAD_STATE);
    // What can't be registered is freed all the same: the leak sanitizer looks.
    EXPECT_EQ(doca_argp_register_param(make({"t", "text", on_text<'t'>})), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_register_cmd(make_command("c")), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_register_version_callback(on_text<'v'>), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_register_validation_callback(on_command<'v'>), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_register_logger_callback([](doca_log_level, const char *, va_list) { return DOCA_SUCCESS; }),
              DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_disable_logger_callback(), DOCA_ERROR_BAD_STATE);
    int level = -1;
    EXPECT_EQ(doca_argp_get_log_level(&level), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_get_sdk_log_level(&level), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(level, -1);
    ASSERT_EQ(doca_argp_init("prog", nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_init("prog", nullptr), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_destroy(), DOCA_SUCCESS);
}

TEST(ArgpLife, a_name_that_was_not_given_is_that_of_the_program)
{
    Config config;
    EXPECT_EQ(doca_argp_init("", &config), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_argp_init(nullptr, &config), DOCA_SUCCESS);
    EXPECT_EXIT(start_on_stderr({"/opt/bin/my_program", "-h"}), testing::ExitedWithCode(0),
                "Usage: my_program \\[DOCA Flags\\]");
    EXPECT_EQ(doca_argp_destroy(), DOCA_SUCCESS);
}

TEST_F(Argp, what_is_registered_is_not_registered_again_nor_destroyed)
{
    doca_argp_param *const param = make({"t", "text", on_text<'t'>, DOCA_ARGP_TYPE_STRING});
    doca_argp_cmd *const command = make_command("c");
    ASSERT_EQ(doca_argp_register_param(param), DOCA_SUCCESS);
    ASSERT_EQ(doca_argp_register_cmd(command), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_register_param(param), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_param_destroy(param), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_register_cmd(command), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_cmd_destroy(command), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_cmd_register_param(command, make({"x", "", on_flag<'x'>})), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_cmd_register_cmd(command, make_command("d")), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(start({"-t", "x", "c"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"t=x"});
}

TEST_F(Argp, what_lacks_something_is_refused)
{
    EXPECT_EQ(doca_argp_register_param(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_register_cmd(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_register_cmd(make_command("")), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(doca_argp_register_cmd(make_command("c", nullptr, "")), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(doca_argp_register_cmd(make_command("-c")), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_register_cmd(make_command("two words")), DOCA_ERROR_INVALID_VALUE);
    ASSERT_EQ(doca_argp_register_cmd(make_command("c")), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_register_cmd(make_command("c")), DOCA_ERROR_INVALID_VALUE);
    doca_argp_cmd *const own = make_command("own");
    EXPECT_EQ(doca_argp_cmd_register_cmd(own, own), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_cmd_register_param(own, make({"", "", on_flag<'x'>})), DOCA_ERROR_INITIALIZATION);
    EXPECT_EQ(doca_argp_cmd_destroy(own), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_cmd_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_argp_cmd_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    doca_argp_cmd_set_name(nullptr, "x"); // logged, and no more
    doca_argp_param_set_singular(nullptr);
}

TEST_F(Argp, a_command_that_was_not_registered_is_destroyed_with_what_is_in_it)
{
    doca_argp_cmd *const outer = make_command("outer");
    doca_argp_cmd *const inner = make_command("inner");
    ASSERT_EQ(doca_argp_cmd_register_param(inner, make({"x", "", on_flag<'x'>})), DOCA_SUCCESS);
    ASSERT_EQ(doca_argp_cmd_register_cmd(outer, inner), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_cmd_destroy(inner), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_argp_cmd_destroy(outer), DOCA_SUCCESS);
}

// Flags

TEST_F(Argp, short_names_may_have_several_letters)
{
    ASSERT_EQ(add({"ld", "lib-dir", on_text<'l'>, DOCA_ARGP_TYPE_STRING}), DOCA_SUCCESS);
    ASSERT_EQ(add({"sat", "", on_flag<'s'>}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-ld", "x", "-sat", "--lib-dir=y"}), DOCA_ERROR_INVALID_VALUE); // given twice
    EXPECT_EQ(start({"-sat", "-ld", "x"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"s", "l=x"}));
    EXPECT_EQ(start({"-s"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(Argp, a_singular_flag_stands_alone)
{
    ASSERT_EQ(add({"i", "info", on_flag<'i'>, DOCA_ARGP_TYPE_BOOLEAN, {doca_argp_param_set_singular}}), DOCA_SUCCESS);
    ASSERT_EQ(add({"m", "must", on_flag<'m'>, DOCA_ARGP_TYPE_BOOLEAN, {doca_argp_param_set_mandatory}}), DOCA_SUCCESS);
    EXPECT_EQ(start({"-i"}), DOCA_SUCCESS) << "no mandatory flag is missed";
    EXPECT_EQ(config.calls, Calls{"i"});
    EXPECT_EQ(start({"-i", "-l", "50"}), DOCA_SUCCESS) << "DOCA's own flags may be there";
    EXPECT_EQ(start({"-i", "-m"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(start({"-m", "-i"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(config.calls, Calls{});
    EXPECT_EQ(start({"-m"}), DOCA_SUCCESS);
    EXPECT_EQ(start({}), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(Argp, hidden_parts_work_and_are_not_shown)
{
    ASSERT_EQ(add({"s", "secret", on_flag<'s'>, DOCA_ARGP_TYPE_BOOLEAN, {doca_argp_param_set_hidden}}), DOCA_SUCCESS);
    ASSERT_EQ(add({"p", "public", on_flag<'p'>}), DOCA_SUCCESS);
    doca_argp_cmd *const command = make_command("backdoor", on_command<'b'>);
    doca_argp_cmd_set_hidden(command);
    ASSERT_EQ(doca_argp_register_cmd(command), DOCA_SUCCESS);
    EXPECT_EQ(start({"--secret", "backdoor"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"s", "command b"}));
    EXPECT_EQ(start({"--bogus"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_NE(errors.find("--public"), errors.npos);
    EXPECT_EQ(errors.find("secret"), errors.npos);
    EXPECT_EQ(errors.find("backdoor"), errors.npos);
}

// Commands

class ArgpCommands : public Argp {
protected:
    /// prog [-g] [-i] send [-x] [-i] (now [-n] | later)
    void SetUp() override
    {
        Argp::SetUp();
        ASSERT_EQ(add({"g", "global", on_flag<'g'>}), DOCA_SUCCESS);
        ASSERT_EQ(add({"i",
                       "inherited",
                       on_flag<'i'>,
                       DOCA_ARGP_TYPE_BOOLEAN,
                       {doca_argp_param_set_inherited, doca_argp_param_set_multiplicity}}),
                  DOCA_SUCCESS);
        doca_argp_cmd *const send = make_command("send", on_command<'s'>, "sends something");
        doca_argp_cmd *const now = make_command("now", on_command<'n'>);
        ASSERT_EQ(doca_argp_cmd_register_param(send, make({"x", "extra", on_text<'x'>, DOCA_ARGP_TYPE_STRING})),
                  DOCA_SUCCESS);
        ASSERT_EQ(doca_argp_cmd_register_param(
                      now, make({"n", "need", on_text<'n'>, DOCA_ARGP_TYPE_STRING, {doca_argp_param_set_mandatory}})),
                  DOCA_SUCCESS);
        ASSERT_EQ(doca_argp_cmd_register_cmd(send, now), DOCA_SUCCESS);
        ASSERT_EQ(doca_argp_cmd_register_cmd(send, make_command("later")), DOCA_SUCCESS);
        ASSERT_EQ(doca_argp_register_cmd(send), DOCA_SUCCESS);
    }
};

TEST_F(ArgpCommands, are_called_back_in_the_order_of_the_command_line)
{
    EXPECT_EQ(start({"-g", "send", "-x", "1", "-i", "now", "-n", "2"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"g", "command s", "x=1", "i", "command n", "n=2"}));
    EXPECT_EQ(start({"send", "later"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, Calls{"command s"});
    EXPECT_EQ(start({"-g"}), DOCA_SUCCESS) << "no command is needed";
    EXPECT_EQ(config.calls, Calls{"g"});
}

TEST_F(ArgpCommands, have_flags_of_their_own_and_inherited_ones)
{
    EXPECT_EQ(start({"send", "-g"}), DOCA_ERROR_NOT_SUPPORTED) << "it is not inherited";
    EXPECT_EQ(start({"-x", "1", "send"}), DOCA_ERROR_NOT_SUPPORTED) << "it is the command's";
    EXPECT_EQ(start({"send", "now", "-x", "1", "-n", "2"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"-i", "send", "-i", "now", "-i", "-n", "2"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"i", "command s", "i", "command n", "i", "n=2"}));
}

TEST_F(ArgpCommands, need_their_mandatory_flags_when_they_are_given)
{
    EXPECT_EQ(start({"send", "now"}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(config.calls, Calls{});
    EXPECT_EQ(start({"send"}), DOCA_SUCCESS);
}

TEST_F(ArgpCommands, that_are_not_known_are_refused)
{
    EXPECT_EQ(start({"receive"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"send", "later", "now"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(start({"send", "--", "now"}), DOCA_ERROR_NOT_SUPPORTED);
}

TEST_F(ArgpCommands, whose_callback_fails_end_the_start)
{
    config.failing = "command s";
    EXPECT_EQ(start({"-g", "send", "-x", "1"}), DOCA_ERROR_TIME_OUT);
    EXPECT_EQ(config.calls, (Calls{"g", "command s"}));
}

TEST_F(ArgpCommands, have_a_usage_text_each)
{
    EXPECT_EQ(start({"--bogus"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_NE(errors.find("Usage: prog [DOCA Flags] [Program Flags] [Command]\n"), errors.npos) << errors;
    EXPECT_NE(errors.find("\nCommands:\n  send"), errors.npos) << errors;
    EXPECT_NE(errors.find("sends something"), errors.npos);
    EXPECT_NE(errors.find("--global"), errors.npos);
    EXPECT_EQ(start({"send", "--bogus"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_NE(errors.find("Usage: prog send [DOCA Flags] [Command Flags] [Command]\n"), errors.npos) << errors;
    EXPECT_NE(errors.find("--extra"), errors.npos);
    EXPECT_NE(errors.find("--inherited"), errors.npos);
    EXPECT_EQ(errors.find("--global"), errors.npos);
    EXPECT_EXIT(start_on_stderr({"prog", "send", "now", "--help"}), testing::ExitedWithCode(0),
                "Usage: prog send now \\[DOCA Flags\\] \\[Command Flags\\]\n");
}

TEST_F(ArgpCommands, find_their_flags_in_a_json_file)
{
    const std::string path = testing::TempDir() + "argp_v3_" + std::to_string(getpid()) + ".json";
    std::ofstream(path) << R"({"doca_general_flags": {"log-level": 60, "sdk-log-level": 20},
                               "doca_program_flags": {"global": true, "extra": "file"}})";
    EXPECT_EQ(start({"-j", path, "send"}), DOCA_SUCCESS);
    EXPECT_EQ(config.calls, (Calls{"command s", "g", "x=file"}));
    int level = 0;
    EXPECT_EQ(doca_argp_get_log_level(&level), DOCA_SUCCESS);
    EXPECT_EQ(level, 60);
    EXPECT_EQ(doca_argp_get_sdk_log_level(&level), DOCA_SUCCESS);
    EXPECT_EQ(level, 20);
    EXPECT_EQ(start({"-j", path}), DOCA_ERROR_NOT_SUPPORTED) << "extra is that of a command that was not given";
    EXPECT_EQ(remove(path.c_str()), 0);
}

// Log

TEST_F(Argp, sets_the_levels_of_both_logs)
{
    const std::uint32_t own = doca_log_level_get_global_lower_limit();
    const std::uint32_t sdk = doca_log_level_get_global_sdk_limit();
    int level = 0;
    EXPECT_EQ(start({}), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_get_log_level(&level), DOCA_SUCCESS);
    EXPECT_EQ(level, static_cast<int>(own));
    EXPECT_EQ(doca_argp_get_sdk_log_level(&level), DOCA_SUCCESS);
    EXPECT_EQ(level, static_cast<int>(sdk));
    EXPECT_EQ(start({"-l", "70", "--sdk-log-level", "10"}), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_level_get_global_lower_limit(), std::uint32_t{DOCA_LOG_LEVEL_TRACE});
    EXPECT_EQ(doca_log_level_get_global_sdk_limit(), std::uint32_t{DOCA_LOG_LEVEL_DISABLE});
    EXPECT_EQ(doca_argp_get_log_level(&level), DOCA_SUCCESS);
    EXPECT_EQ(level, 70);
    for (const char *wrong : {"0", "55", "info", ""})
        EXPECT_EQ(start({"--sdk-log-level", wrong}), DOCA_ERROR_INVALID_VALUE) << wrong;
    EXPECT_EQ(doca_log_level_set_global_lower_limit(own), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_level_set_global_sdk_limit(sdk), DOCA_SUCCESS);
}

std::vector<std::string> heard; ///< by the logger callback

doca_error_t on_message(doca_log_level level, const char *format, va_list arguments)
{
    char text[512];
    (void)std::vsnprintf(text, sizeof(text), format, arguments);
    heard.push_back(std::to_string(level) + " " + text);
    return DOCA_SUCCESS;
}

TEST_F(Argp, tells_the_programs_logger_in_place_of_the_log)
{
    heard.clear();
    ASSERT_EQ(doca_argp_register_logger_callback(on_message), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_register_logger_callback(nullptr), DOCA_ERROR_INVALID_VALUE);
    heard.clear();
    EXPECT_EQ(doca_argp_register_logger_callback(on_message), DOCA_ERROR_ALREADY_EXIST);
    EXPECT_EQ(heard.size(), 1u);
    heard.clear();
    EXPECT_EQ(start({"--what%s"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(heard, Calls{"30 flag '--what%s' is not known"});
    ASSERT_EQ(doca_argp_disable_logger_callback(), DOCA_SUCCESS);
    EXPECT_EQ(doca_argp_disable_logger_callback(), DOCA_SUCCESS);
    EXPECT_EQ(start({"--what"}), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_EQ(heard.size(), 1u);
    EXPECT_EQ(doca_argp_register_logger_callback(on_message), DOCA_SUCCESS) << "there is none any more";
}

} // namespace
