// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Messages and their sources.
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#define DOCA_LOGGING_ALLOW_DLOG
#include "log_sink.hpp"

DOCA_LOG_REGISTER(TEST::LOG);

namespace {

constexpr const char *outside_main = "OPENDOCA_TEST_LOG_OUTSIDE_MAIN";

struct LogsOutsideMain {
    LogsOutsideMain() { log("before main"); }
    ~LogsOutsideMain() { log("after main"); }

    static void log(const char *when)
    {
        if (std::getenv(outside_main) != nullptr)
            DOCA_LOG_INFO("%s", when);
    }
};
const LogsOutsideMain logs_outside_main;

} // namespace

TEST_F(LogTest, line_has_time_level_source_line_and_message)
{
    const LogSink sink;
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, 42, "%d bytes of %s", 7, "data"), DOCA_SUCCESS);
    std::string text = sink.text();
    for (std::size_t i = 0; i < sizeof("[HH:MM:SS:uuuuuu]") && i < text.size(); i++)
        text[i] = std::isdigit(static_cast<unsigned char>(text[i])) != 0 ? 'd' : text[i];
    EXPECT_EQ(text, "[dd:dd:dd:dddddd][DOCA][INF][TEST:42]: 7 bytes of data\n");
}

TEST_F(LogTest, time_is_the_local_time)
{
    setenv("TZ", "IST-05:30", 1); // far from UTC
    tzset();
    const LogSink sink;
    std::string expected[2];
    do { // again if the second changes meanwhile
        for (std::string &time : expected) {
            timespec now{}; // std::time may be a tick behind the clock that the log reads
            clock_gettime(CLOCK_REALTIME, &now);
            char text[16] = "";
            std::strftime(text, sizeof(text), "[%H:%M:%S:", std::localtime(&now.tv_sec));
            time = text;
            if (&time == &expected[0])
                doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "x");
        }
    } while (expected[0] != expected[1]);
    EXPECT_TRUE(sink.last().starts_with(expected[0])) << sink.last();
    unsetenv("TZ");
    tzset();
}

TEST_F(LogTest, each_level_has_a_tag)
{
    doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG);
    const LogSink sink;
    log_all_levels();
    const std::vector<std::string> lines = sink.lines();
    const char *tags[] = {"[CRT]", "[ERR]", "[WRN]", "[INF]", "[DBG]"};
    ASSERT_EQ(lines.size(), std::size(tags));
    for (std::size_t i = 0; i < lines.size(); i++)
        EXPECT_NE(lines[i].find(tags[i]), std::string::npos) << lines[i];
}

TEST_F(LogTest, message_may_end_in_newlines)
{
    const LogSink sink;
    doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "one\n");
    doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "two\n\n");
    doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "inner\nline");
    doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "%s", "");
    const std::vector<std::string> lines = sink.lines();
    ASSERT_EQ(lines.size(), 5u);
    EXPECT_TRUE(lines[0].ends_with("]: one"));
    EXPECT_TRUE(lines[1].ends_with("]: two"));
    EXPECT_TRUE(lines[2].ends_with("]: inner"));
    EXPECT_EQ(lines[3], "line");
    EXPECT_TRUE(lines[4].ends_with("]: "));
}

TEST_F(LogTest, long_messages_are_whole)
{
    const LogSink sink;
    for (const std::size_t size : {900u, 985u, 1000u, 1023u, 1024u, 1025u, 100000u}) {
        const std::string message(size, 'x');
        EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "%s", message.c_str()), DOCA_SUCCESS);
        EXPECT_TRUE(sink.last().ends_with("]: " + message)) << size;
    }
    // Around the end of what is held on the stack, byte by byte.
    const std::size_t before = sink.count();
    for (std::size_t size = 960; size < 1040; size++)
        doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "%s\n", std::string(size, 'y').c_str());
    const std::vector<std::string> lines = sink.lines();
    ASSERT_EQ(lines.size(), before + 80);
    for (std::size_t i = before; i < lines.size(); i++)
        EXPECT_TRUE(lines[i].ends_with("]: " + std::string(960 + i - before, 'y'))) << lines[i];
}

TEST_F(LogTest, invalid_arguments_are_refused)
{
    const LogSink sink;
    for (const std::uint32_t level : {0u, 10u, 19u, 21u, 45u, 61u, 70u, 0xffffffffu})
        EXPECT_EQ(doca_log(level, source, 1, "x"), DOCA_ERROR_INVALID_VALUE) << level;
    const char *no_format = nullptr;
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, 1, no_format, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, -1, 1, "x"), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, 4096, 1, "x"), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_developer(45, source, 1, "x"), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(sink.text(), "");
}

TEST_F(LogTest, errno_is_left_alone)
{
    const LogSink sink;
    const MemoryFile closed;
    doca_logger_backend *broken = nullptr;
    ASSERT_EQ(doca_log_create_fd_backend(closed.fd(), &broken), DOCA_SUCCESS);
    close(closed.fd());
    errno = ENOTDIR;
    const doca_error_t status = doca_log(DOCA_LOG_LEVEL_INFO, source, 1, "x");
    EXPECT_EQ(errno, ENOTDIR);
    EXPECT_EQ(status, DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(sink.count(), 1u);
    LogSink::silence(broken);
}

TEST_F(LogTest, macros_log_with_the_source_and_line_of_the_file)
{
    doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG);
    const LogSink sink;
    const int line = __LINE__;
    EXPECT_EQ(DOCA_LOG(INFO, "plain"), DOCA_SUCCESS); // line + 1
    DOCA_LOG_CRIT("crit %d", 1);
    DOCA_LOG_ERR("err");
    DOCA_LOG_WARN("warn %s %s", "a", "b");
    DOCA_LOG_INFO("info");
    DOCA_LOG_DBG("dbg");
    DOCA_DLOG(INFO, "developer");
    DOCA_DLOG_CRIT("dcrit %d", 2);
    DOCA_DLOG_ERR("derr");
    DOCA_DLOG_WARN("dwarn");
    DOCA_DLOG_INFO("dinfo");
    DOCA_DLOG_DBG("ddbg");
    const char *expected[] = {"INF|plain",     "CRT|crit 1",  "ERR|err",  "WRN|warn a b", "INF|info",  "DBG|dbg",
                              "INF|developer", "CRT|dcrit 2", "ERR|derr", "WRN|dwarn",    "INF|dinfo", "DBG|ddbg"};
    const std::vector<std::string> lines = sink.lines();
    ASSERT_EQ(lines.size(), std::size(expected));
    for (std::size_t i = 0; i < lines.size(); i++) {
        const std::string tag{expected[i], 3};
        const std::string number = std::to_string(line + 1 + static_cast<int>(i));
        const std::string end = "[" + tag + "][TEST::LOG:" + number + "]: " + (expected[i] + 4);
        EXPECT_TRUE(lines[i].ends_with(end)) << lines[i] << " should end in " << end;
    }
}

TEST_F(LogTest, sources_have_numbers_of_their_own)
{
    int first = 0;
    int second = 0;
    ASSERT_EQ(doca_log_source_register("SAME", &first), DOCA_SUCCESS);
    ASSERT_EQ(doca_log_source_register("SAME", &second), DOCA_SUCCESS);
    EXPECT_GT(first, 0);
    EXPECT_GT(second, 0);
    EXPECT_NE(first, second);
    EXPECT_EQ(doca_log_source_destroy(first), DOCA_SUCCESS);
    const LogSink sink;
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, first, 1, "gone"), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, second, 1, "there"), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_source_destroy(second), DOCA_SUCCESS);
    EXPECT_EQ(sink.count(), 1u);
}

TEST_F(LogTest, source_errors)
{
    int untouched = 77;
    EXPECT_EQ(doca_log_source_register(nullptr, &untouched), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_source_register("X", nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(untouched, 77);
    constexpr int max = std::numeric_limits<int>::max();
    for (const int none : {0, -1, 4095, 4096, max, -max - 1})
        EXPECT_EQ(doca_log_source_destroy(none), DOCA_ERROR_INVALID_VALUE) << none;
    int twice = 0;
    ASSERT_EQ(doca_log_source_register("X", &twice), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_source_destroy(twice), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_source_destroy(twice), DOCA_ERROR_INVALID_VALUE);
}

TEST_F(LogTest, source_name_is_copied_and_shown_without_quotes)
{
    const LogSink sink;
    char name[] = "\"A::B\"";
    int quoted = 0;
    ASSERT_EQ(doca_log_source_register(name, &quoted), DOCA_SUCCESS);
    name[1] = '!';
    doca_log(DOCA_LOG_LEVEL_INFO, quoted, 3, "x");
    EXPECT_NE(sink.text().find("[A::B:3]"), std::string::npos) << sink.text();
    EXPECT_EQ(doca_log_source_destroy(quoted), DOCA_SUCCESS);
}

TEST_F(LogTest, message_without_a_source_is_from_unknown)
{
    const LogSink sink;
    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, 0, 3, "x"), DOCA_SUCCESS);
    EXPECT_NE(sink.text().find("[UNKNOWN:3]"), std::string::npos) << sink.text();
}

TEST_F(LogTest, sources_run_out_and_come_back)
{
    std::vector<int> sources;
    int number = 0;
    doca_error_t status = DOCA_SUCCESS;
    while ((status = doca_log_source_register("MANY", &number)) == DOCA_SUCCESS)
        sources.push_back(number);
    EXPECT_EQ(status, DOCA_ERROR_FULL);
    EXPECT_GT(sources.size(), 4000u);
    EXPECT_EQ(std::set<int>(sources.begin(), sources.end()).size(), sources.size());
    EXPECT_EQ(doca_log_source_destroy(sources.back()), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_source_register("MANY", &sources.back()), DOCA_SUCCESS);
    for (const int each : sources)
        EXPECT_EQ(doca_log_source_destroy(each), DOCA_SUCCESS);
}

TEST_F(LogTest, lines_of_threads_do_not_mix)
{
    constexpr int threads = 4;
    constexpr int messages = 200;
    const LogSink sink;
    {
        std::vector<std::jthread> writers;
        for (int t = 0; t < threads; t++) {
            writers.emplace_back([this, t] {
                const auto size = static_cast<std::size_t>(200 * (t + 1));
                const std::string message(size, static_cast<char>('a' + t));
                for (int i = 0; i < messages; i++)
                    EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_INFO, source, t, "%s", message.c_str()), DOCA_SUCCESS);
            });
        }
    }
    std::vector<int> counts(threads, 0);
    for (const std::string &line : sink.lines()) {
        const auto t = static_cast<std::size_t>(line.back() - 'a');
        ASSERT_LT(t, counts.size()) << line;
        EXPECT_TRUE(line.ends_with("]: " + std::string(200 * (t + 1), line.back()))) << line;
        counts[t]++;
    }
    EXPECT_EQ(counts, std::vector<int>(threads, messages));
}

TEST_F(LogTest, sources_backends_and_limits_change_while_threads_log)
{
    const LogSink sink;
    std::vector<std::jthread> threads;
    for (int t = 0; t < 3; t++) {
        threads.emplace_back([] {
            for (int i = 0; i < 200; i++) {
                int own = 0;
                EXPECT_EQ(doca_log_source_register("THREAD", &own), DOCA_SUCCESS);
                EXPECT_EQ(doca_log(DOCA_LOG_LEVEL_CRIT, own, i, "message"), DOCA_SUCCESS);
                EXPECT_EQ(doca_log_source_destroy(own), DOCA_SUCCESS);
            }
        });
    }
    for (int i = 0; i < 10; i++) {
        EXPECT_EQ(doca_log_global_level_set(all_log_levels[i % 5]), DOCA_SUCCESS);
        const LogSink another;
    }
    threads.clear();
    EXPECT_EQ(sink.count(), 600u);
}

TEST(LogOutsideMain, constructors_and_destructors_of_static_objects_log)
{
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    setenv(outside_main, "1", 1);
    EXPECT_EXIT(std::exit(0), testing::ExitedWithCode(0), "TEST::LOG:.*before main(.|\n)*TEST::LOG:.*after main");
    unsetenv(outside_main);
}
