// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A program with arguments, for the argp tests: its callbacks record what they get.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <json-c/json.h>

#include <doca_argp.h>
#include <doca_log.h>

namespace argp_test {

/// The program_config of the tests.
struct Config {
    std::vector<std::string> calls; ///< "t=text", "n=-1", "b=true", "o={...}" in the order of the calls.
    std::string failing;            ///< The call that is answered by this error:
    doca_error_t error = DOCA_ERROR_TIME_OUT;
};

inline doca_error_t record(void *config, const std::string &call)
{
    auto *own = static_cast<Config *>(config);
    own->calls.push_back(call);
    return call == own->failing ? own->error : DOCA_SUCCESS;
}

template <char Tag>
doca_error_t on_text(void *value, void *config)
{
    return record(config, std::string(1, Tag) + "=" + static_cast<char *>(value));
}

template <char Tag>
doca_error_t on_number(void *value, void *config)
{
    return record(config, std::string(1, Tag) + "=" + std::to_string(*static_cast<int *>(value)));
}

template <char Tag>
doca_error_t on_flag(void *value, void *config)
{
    return record(config, std::string(1, Tag) + "=" + (*static_cast<bool *>(value) ? "true" : "false"));
}

template <char Tag>
doca_error_t on_object(void *value, void *config)
{
    auto *object = static_cast<json_object *>(value);
    return record(config, std::string(1, Tag) + "=" + json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN));
}

inline doca_error_t on_validate(void *config)
{
    return record(config, "validate");
}

/// What a test sets of a parameter.
struct Flag {
    const char *short_name = nullptr;
    const char *long_name = nullptr;
    doca_argp_type type = DOCA_ARGP_TYPE_STRING;
    callback_func callback = on_text<'t'>;
    const char *description = "a flag";
    const char *arguments = nullptr;
    bool is_mandatory = false;
    bool is_cli_only = false;
    bool has_multiplicity = false;
};

inline doca_argp_param *make(const Flag &flag)
{
    doca_argp_param *param = nullptr;
    EXPECT_EQ(doca_argp_param_create(&param), DOCA_SUCCESS);
    doca_argp_param_set_short_name(param, flag.short_name);
    doca_argp_param_set_long_name(param, flag.long_name);
    doca_argp_param_set_type(param, flag.type);
    doca_argp_param_set_callback(param, flag.callback);
    doca_argp_param_set_description(param, flag.description);
    doca_argp_param_set_arguments(param, flag.arguments);
    if (flag.is_mandatory)
        doca_argp_param_set_mandatory(param);
    if (flag.is_cli_only)
        doca_argp_param_set_cli_only(param);
    if (flag.has_multiplicity)
        doca_argp_param_set_multiplicity(param);
    return param;
}

/// A file that goes away with the test.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string &content = "")
    {
        const char *directory = std::getenv("TMPDIR");
        path_ = std::string(directory == nullptr ? "/tmp" : directory) + "/opendoca-argp-XXXXXX";
        const int fd = mkstemp(path_.data());
        EXPECT_GE(fd, 0) << path_;
        EXPECT_EQ(write(fd, content.data(), content.size()), static_cast<ssize_t>(content.size()));
        close(fd);
    }
    ~TemporaryFile() { unlink(path_.c_str()); }
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;

    [[nodiscard]] const char *path() const { return path_.c_str(); }

    [[nodiscard]] std::string content() const
    {
        std::string out;
        std::FILE *file = std::fopen(path(), "r");
        EXPECT_NE(file, nullptr);
        for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file))
            out += static_cast<char>(c);
        (void)std::fclose(file);
        return out;
    }

private:
    std::string path_;
};

/// Between init and destroy, with a log that the test can read.
class ArgpTest : public ::testing::Test {
protected:
    void SetUp() override
    {
        (void)log_file();
        ASSERT_EQ(doca_log_global_level_set(DOCA_LOG_LEVEL_INFO), DOCA_SUCCESS);
        ASSERT_EQ(doca_argp_init("prog", &config), DOCA_SUCCESS);
        log_begin_ = log_size();
    }

    void TearDown() override
    {
        (void)doca_argp_destroy();
        (void)doca_log_global_level_set(DOCA_LOG_LEVEL_INFO);
    }

    doca_error_t add(const Flag &flag) { return doca_argp_register_param(make(flag)); }

    doca_error_t start(std::vector<std::string> words)
    {
        words.insert(words.begin(), "./prog");
        std::vector<char *> argv;
        for (std::string &word : words)
            argv.push_back(word.data());
        return doca_argp_start(static_cast<int>(words.size()), argv.data());
    }

    doca_error_t start_with_json(const std::string &text, std::vector<std::string> words = {})
    {
        const TemporaryFile file(text);
        words.emplace_back("--json");
        words.emplace_back(file.path());
        return start(words);
    }

    /// What was logged since the beginning of the test.
    [[nodiscard]] static std::string logged()
    {
        std::string text(static_cast<std::size_t>(log_size() - log_begin_), '\0');
        EXPECT_EQ(pread(fileno(log_file()), text.data(), text.size(), log_begin_), static_cast<ssize_t>(text.size()));
        return text;
    }

    [[nodiscard]] static bool has_logged(const std::string &part) { return logged().find(part) != std::string::npos; }

    Config config;

private:
    /// One for the process, because a backend of the log stays.
    static std::FILE *log_file()
    {
        static std::FILE *file = [] {
            std::FILE *made = std::tmpfile();
            doca_logger_backend *backend = nullptr;
            EXPECT_EQ(doca_log_create_file_backend(made, &backend), DOCA_SUCCESS);
            return made;
        }();
        return file;
    }

    static off_t log_size()
    {
        (void)std::fflush(log_file());
        struct stat status = {};
        EXPECT_EQ(fstat(fileno(log_file()), &status), 0);
        return status.st_size;
    }

    inline static off_t log_begin_ = 0;
};

using Calls = std::vector<std::string>;

} // namespace argp_test
