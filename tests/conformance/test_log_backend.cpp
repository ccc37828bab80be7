// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Where messages go. Backends last as long as the process, so the first ones are created in child processes.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <syslog.h>

#include "log_sink.hpp"
#include "support/syslog_capture.hpp"

DOCA_LOG_REGISTER(TEST_LOG_BACKEND);

using doca_test::syslog_messages;
using doca_test::syslog_name;

namespace {

/// Buffers and what their handler was given, for as long as the process lasts.
std::vector<std::string> handed_over;
void hand_over(char *buffer)
{
    handed_over.emplace_back(buffer);
}

class LogBufferTest : public LogTest {
protected:
    void SetUp() override
    {
        LogTest::SetUp();
        handed_over.clear();
    }

    void TearDown() override
    {
        LogSink::silence(backend);
        LogTest::TearDown();
    }

    doca_error_t create(std::size_t capacity, log_flush_callback handler = hand_over)
    {
        buffer = new char[capacity]; // the backend keeps it
        return doca_log_create_buffer_backend(buffer, capacity, handler, &backend);
    }

    doca_error_t log(const std::string &text) const
    {
        return doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "%s", text.c_str());
    }

    char *buffer = nullptr;
    doca_logger_backend *backend = nullptr;
};

constexpr std::size_t line_overhead = sizeof("[00:00:00:000000][DOCA][INF][TEST:1]: \n") - 1;

/// What a process wrote to its standard streams.
struct Streams {
    std::string out;
    std::string err;
};

template <typename Body>
Streams streams_of(Body &&body)
{
    const MemoryFile out;
    const MemoryFile err;
    const int real_err = dup(STDERR_FILENO);
    dup2(out.fd(), STDOUT_FILENO);
    dup2(err.fd(), STDERR_FILENO);
    body();
    dup2(real_err, STDERR_FILENO);
    return {out.text(), err.text()};
}

void log_each_level_by_name()
{
    DOCA_LOG_CRIT("crit");
    DOCA_LOG_ERR("err");
    DOCA_LOG_WARN("warn");
    DOCA_LOG_INFO("info");
    DOCA_LOG_DBG("dbg");
}

/// The messages alone, separated by spaces.
std::string words(const std::string &text)
{
    std::string words;
    for (std::size_t at = 0; (at = text.find("]: ", at)) != std::string::npos;) {
        const std::size_t end = text.find('\n', at);
        words += (words.empty() ? "" : " ") + text.substr(at + 3, end - at - 3);
        at = end;
    }
    return words;
}

/// Ends the child process; its status says whether it saw what it should.
[[noreturn]] void exit_if(const Streams &seen, const char *out, const char *err)
{
    const bool is_as_expected = words(seen.out) == out && words(seen.err) == err;
    if (!is_as_expected)
        std::fprintf(stderr, "stdout:\n%sstderr:\n%s", seen.out.c_str(), seen.err.c_str());
    std::exit(is_as_expected ? 0 : 1);
}

class LogProcessTest : public testing::Test {
protected:
    void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

} // namespace

TEST_F(LogProcessTest, messages_go_to_stderr_until_there_is_a_backend)
{
    EXPECT_EXIT(exit_if(streams_of(log_each_level_by_name), "", "crit err warn info"), testing::ExitedWithCode(0), "");
}

TEST_F(LogProcessTest, global_limits_hold_while_there_is_no_backend)
{
    EXPECT_EXIT(exit_if(streams_of([] {
                            doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG);
                            doca_log_global_set_upper_level_limit(DOCA_LOG_LEVEL_WARNING);
                            log_each_level_by_name();
                        }),
                        "", "warn info dbg"),
                testing::ExitedWithCode(0), "");
}

TEST_F(LogProcessTest, stderr_is_left_alone_once_there_is_a_backend)
{
    EXPECT_EXIT(exit_if(streams_of([] {
                            doca_logger_backend *backend = nullptr;
                            doca_log_create_file_backend(stdout, &backend);
                            log_each_level_by_name();
                        }),
                        "crit err warn info", ""),
                testing::ExitedWithCode(0), "");
}

TEST_F(LogProcessTest, standard_backend_has_stdout_for_info_and_stderr_for_the_rest)
{
    EXPECT_EXIT(exit_if(streams_of([] {
                            EXPECT_EQ(doca_log_create_standard_backend(), DOCA_SUCCESS);
                            log_each_level_by_name();
                        }),
                        "info", "crit err warn"),
                testing::ExitedWithCode(0), "");
}

TEST_F(LogProcessTest, standard_backend_on_stdout_follows_the_global_level)
{
    EXPECT_EXIT(exit_if(streams_of([] {
                            doca_log_create_standard_backend();
                            doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG);
                            log_each_level_by_name();
                        }),
                        "info dbg", "crit err warn"),
                testing::ExitedWithCode(0), "");
}

TEST_F(LogProcessTest, standard_backend_takes_the_global_level_of_before)
{
    EXPECT_EXIT(exit_if(streams_of([] {
                            doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG);
                            doca_log_create_standard_backend();
                            log_each_level_by_name();
                        }),
                        "info dbg", "crit err warn"),
                testing::ExitedWithCode(0), "");
}

TEST_F(LogProcessTest, standard_backend_on_stderr_is_fixed)
{
    EXPECT_EXIT(exit_if(streams_of([] {
                            doca_log_create_standard_backend();
                            doca_log_global_level_set(DOCA_LOG_LEVEL_CRIT);
                            doca_log_global_set_upper_level_limit(DOCA_LOG_LEVEL_ERROR);
                            log_each_level_by_name();
                        }),
                        "", "crit err warn"),
                testing::ExitedWithCode(0), "");
}

TEST_F(LogProcessTest, standard_backend_is_created_once)
{
    EXPECT_EXIT(exit_if(streams_of([] {
                            EXPECT_EQ(doca_log_create_standard_backend(), DOCA_SUCCESS);
                            EXPECT_EQ(doca_log_create_standard_backend(), DOCA_SUCCESS);
                            log_each_level_by_name();
                        }),
                        "info", "crit err warn"),
                testing::ExitedWithCode(0), "");
}

TEST_F(LogTest, file_backend_flushes_each_line)
{
    std::array<int, 2> ends{};
    ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), 0);
    FILE *file = fdopen(ends[1], "w");
    doca_logger_backend *backend = nullptr;
    ASSERT_EQ(doca_log_create_file_backend(file, &backend), DOCA_SUCCESS);
    doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "through a stream");
    std::array<char, 256> text{};
    EXPECT_GT(read(ends[0], text.data(), text.size() - 1), 0);
    EXPECT_TRUE(std::string{text.data()}.ends_with("[TEST:1]: through a stream\n")) << text.data();
    LogSink::silence(backend);
}

TEST_F(LogTest, file_backend_keeps_the_order_of_the_program_s_own_output)
{
    const MemoryFile memory;
    FILE *file = fdopen(memory.fd(), "w");
    doca_logger_backend *backend = nullptr;
    ASSERT_EQ(doca_log_create_file_backend(file, &backend), DOCA_SUCCESS);
    std::fputs("before\n", file);
    doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "between");
    std::fputs("after\n", file);
    std::fflush(file);
    const std::vector<std::string> lines = memory.lines();
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(lines[0], "before");
    EXPECT_EQ(lines[2], "after");
    LogSink::silence(backend);
}

TEST_F(LogTest, failed_write_is_reported_and_the_other_backends_have_the_message)
{
    const LogSink before;
    const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
    ASSERT_GE(full, 0);
    doca_logger_backend *to_fd = nullptr;
    doca_logger_backend *to_file = nullptr;
    ASSERT_EQ(doca_log_create_fd_backend(full, &to_fd), DOCA_SUCCESS);
    const LogSink after;
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "x"), DOCA_ERROR_IO_FAILED);
    LogSink::silence(to_fd);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "x"), DOCA_SUCCESS);
    ASSERT_EQ(doca_log_create_file_backend(fdopen(full, "w"), &to_file), DOCA_SUCCESS);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "x"), DOCA_ERROR_IO_FAILED);
    LogSink::silence(to_file);
    EXPECT_EQ(before.count(), 3u);
    EXPECT_EQ(after.count(), 3u);
}

TEST_F(LogTest, backend_errors)
{
    char text[8];
    doca_logger_backend *backend = nullptr;
    EXPECT_EQ(doca_log_create_file_backend(nullptr, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_file_backend(stderr, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_fd_backend(-1, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_fd_backend(1 << 20, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_fd_backend(STDERR_FILENO, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_buffer_backend(nullptr, 8, hand_over, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_buffer_backend(text, 0, hand_over, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_buffer_backend(text, 1, hand_over, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_buffer_backend(text, 8, nullptr, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_buffer_backend(text, 8, hand_over, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_syslog_backend(nullptr, &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_syslog_backend("", &backend), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_create_syslog_backend("name", nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(backend, nullptr);
}

TEST_F(LogBufferTest, lines_collect_until_the_next_one_does_not_fit)
{
    ASSERT_EQ(create(2 * line_overhead + 7), DOCA_SUCCESS);
    EXPECT_STREQ(buffer, "");
    log("one");
    EXPECT_EQ(words(buffer), "one");
    log("two");
    EXPECT_EQ(words(buffer), "one two");
    EXPECT_TRUE(handed_over.empty());
    log("three");
    ASSERT_EQ(handed_over.size(), 1u);
    EXPECT_EQ(words(handed_over[0]), "one two");
    EXPECT_EQ(words(buffer), "three");
}

TEST_F(LogBufferTest, line_that_fills_the_buffer_to_the_last_byte_fits)
{
    ASSERT_EQ(create(line_overhead + 4), DOCA_SUCCESS);
    log("abc");
    EXPECT_EQ(std::strlen(buffer), line_overhead + 3);
    EXPECT_TRUE(handed_over.empty());
}

TEST_F(LogBufferTest, line_longer_than_the_buffer_comes_in_pieces)
{
    for (const std::size_t capacity : {2u, 3u, 17u, 40u}) {
        handed_over.clear();
        ASSERT_EQ(create(capacity), DOCA_SUCCESS);
        const std::string message(100, 'x');
        EXPECT_EQ(log(message), DOCA_SUCCESS);
        std::string all;
        for (const std::string &piece : handed_over) {
            EXPECT_EQ(piece.size(), capacity - 1);
            all += piece;
        }
        all += buffer;
        EXPECT_EQ(words(all), message);
        EXPECT_EQ(all.size(), line_overhead + 100);
        LogSink::silence(backend);
    }
}

TEST_F(LogBufferTest, handler_may_log)
{
    const LogSink sink;
    ASSERT_EQ(create(line_overhead + 10,
                     [](char *text) {
                         hand_over(text);
                         DOCA_LOG_INFO("from the handler");
                         doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG);
                     }),
              DOCA_SUCCESS);
    log("one");
    log("two two");
    EXPECT_EQ(words(sink.text()), "one two two from the handler");
    EXPECT_EQ(words(handed_over.at(0)), "one");
}

TEST_F(LogBufferTest, exception_of_a_handler_is_a_failed_write)
{
    ASSERT_EQ(create(line_overhead + 4, [](char *) { throw std::runtime_error{"full"}; }), DOCA_SUCCESS);
    EXPECT_EQ(log("one"), DOCA_SUCCESS);
    EXPECT_EQ(log("two"), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(words(buffer), "two");
}

TEST_F(LogBufferTest, threads_share_a_buffer)
{
    ASSERT_EQ(create(500), DOCA_SUCCESS);
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; t++) {
            threads.emplace_back([this] {
                for (int i = 0; i < 100; i++)
                    log("word");
            });
        }
    }
    std::string all;
    for (const std::string &text : handed_over)
        all += text;
    all += buffer;
    EXPECT_EQ(all.size(), 400 * (line_overhead + 4));
    EXPECT_EQ(words(all).size(), 400 * sizeof("word") - 1);
}

TEST_F(LogTest, syslog_backend_hands_over_priority_and_text_without_time)
{
    doca_logger_backend *backend = nullptr;
    char name[] = "my_program";
    ASSERT_EQ(doca_log_create_syslog_backend(name, &backend), DOCA_SUCCESS);
    EXPECT_EQ(syslog_name, "my_program");
    EXPECT_EQ(doca_log_backend_level_set(backend, DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
    syslog_messages.clear();
    log_all_levels();
    LogSink::silence(backend);
    log_all_levels();
    const std::vector<std::pair<int, std::string>> expected{
        {LOG_CRIT, "[DOCA][CRT][TEST:1]: level 20"},    {LOG_ERR, "[DOCA][ERR][TEST:1]: level 30"},
        {LOG_WARNING, "[DOCA][WRN][TEST:1]: level 40"}, {LOG_INFO, "[DOCA][INF][TEST:1]: level 50"},
        {LOG_DEBUG, "[DOCA][DBG][TEST:1]: level 60"},
    };
    EXPECT_EQ(syslog_messages, expected);
}
