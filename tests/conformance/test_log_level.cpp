// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Which messages a backend shows.
#include <cstddef>
#include <cstdint>
#include <string>

#include "log_sink.hpp"

namespace {

/// The levels that a sink has seen, by the last character but one of "level 20" to "level 60".
std::string levels_of(const LogSink &sink)
{
    std::string levels;
    for (const std::string &line : sink.lines())
        levels += line.at(line.size() - 2);
    return levels;
}

constexpr std::uint32_t bad_limits[] = {0, 10, 19, 25, 45, 61, 70, 0xffffffff};

} // namespace

TEST_F(LogTest, new_backend_shows_info_and_what_is_more_severe)
{
    EXPECT_EQ(doca_log_global_level_get(), DOCA_LOG_LEVEL_INFO);
    const LogSink sink;
    log_all_levels();
    EXPECT_EQ(levels_of(sink), "2345");
}

TEST_F(LogTest, lower_limit_of_a_backend)
{
    const std::string shown[] = {"2", "23", "234", "2345", "23456"};
    for (std::size_t i = 0; i < 5; i++) {
        const LogSink sink;
        EXPECT_EQ(doca_log_backend_level_set(sink.backend(), all_log_levels[i]), DOCA_SUCCESS);
        log_all_levels();
        EXPECT_EQ(levels_of(sink), shown[i]);
    }
}

TEST_F(LogTest, upper_limit_of_a_backend)
{
    const std::string shown[] = {"2345", "345", "45", "5", ""};
    for (std::size_t i = 0; i < 5; i++) {
        const LogSink sink;
        EXPECT_EQ(doca_log_backend_set_upper_level_limit(sink.backend(), all_log_levels[i]), DOCA_SUCCESS);
        log_all_levels();
        EXPECT_EQ(levels_of(sink), shown[i]);
    }
}

TEST_F(LogTest, backends_have_limits_of_their_own)
{
    const LogSink quiet;
    const LogSink verbose;
    EXPECT_EQ(doca_log_backend_level_set(quiet.backend(), DOCA_LOG_LEVEL_CRIT), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_level_set(verbose.backend(), DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
    log_all_levels();
    EXPECT_EQ(levels_of(quiet), "2");
    EXPECT_EQ(levels_of(verbose), "23456");
}

TEST_F(LogTest, global_limits_are_taken_by_new_backends)
{
    EXPECT_EQ(doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_global_set_upper_level_limit(DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_global_level_get(), DOCA_LOG_LEVEL_DEBUG);
    const LogSink sink;
    log_all_levels();
    EXPECT_EQ(levels_of(sink), "456");
}

TEST_F(LogTest, global_limits_are_set_in_backends_that_exist)
{
    const LogSink sink;
    EXPECT_EQ(doca_log_backend_level_set(sink.backend(), DOCA_LOG_LEVEL_CRIT), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_global_set_upper_level_limit(DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
    log_all_levels();
    EXPECT_EQ(levels_of(sink), "3456");
}

TEST_F(LogTest, immutable_lower_limit_stays)
{
    const LogSink sink;
    EXPECT_EQ(doca_log_backend_level_set(sink.backend(), DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_lower_level_immutable(sink.backend()), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_lower_level_immutable(sink.backend()), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
    log_all_levels();
    EXPECT_EQ(levels_of(sink), "23");
}

TEST_F(LogTest, immutable_upper_limit_stays)
{
    const LogSink sink;
    EXPECT_EQ(doca_log_backend_set_upper_level_limit(sink.backend(), DOCA_LOG_LEVEL_WARNING), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_upper_level_immutable(sink.backend()), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_upper_level_immutable(sink.backend()), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_global_set_upper_level_limit(DOCA_LOG_LEVEL_CRIT), DOCA_SUCCESS);
    log_all_levels();
    EXPECT_EQ(levels_of(sink), "45");
}

TEST_F(LogTest, immutable_limits_are_not_permitted_to_change)
{
    const LogSink sink;
    EXPECT_EQ(doca_log_backend_set_lower_level_immutable(sink.backend()), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_level_set(sink.backend(), DOCA_LOG_LEVEL_CRIT), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_log_backend_set_upper_level_limit(sink.backend(), DOCA_LOG_LEVEL_ERROR), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_backend_set_upper_level_immutable(sink.backend()), DOCA_SUCCESS);
    const LogSink other;
    EXPECT_EQ(doca_log_backend_set_upper_level_limit(sink.backend(), DOCA_LOG_LEVEL_CRIT), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_NE(other.text().find("level 20: this limit of the log backend was fixed"), std::string::npos)
        << other.text();
}

TEST_F(LogTest, limits_that_are_no_levels_are_refused)
{
    const LogSink sink;
    for (const std::uint32_t bad : bad_limits) {
        EXPECT_EQ(doca_log_global_level_set(bad), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(doca_log_global_set_upper_level_limit(bad), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(doca_log_backend_level_set(sink.backend(), bad), DOCA_ERROR_INVALID_VALUE) << bad;
        EXPECT_EQ(doca_log_backend_set_upper_level_limit(sink.backend(), bad), DOCA_ERROR_INVALID_VALUE);
    }
    EXPECT_EQ(doca_log_global_level_get(), DOCA_LOG_LEVEL_INFO);
    const LogSink later;
    log_all_levels();
    EXPECT_EQ(levels_of(later), "2345");
}

TEST_F(LogTest, limits_need_a_backend)
{
    EXPECT_EQ(doca_log_backend_level_set(nullptr, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_set_upper_level_limit(nullptr, DOCA_LOG_LEVEL_INFO), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_set_lower_level_immutable(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_backend_set_upper_level_immutable(nullptr), DOCA_ERROR_INVALID_VALUE);
}
