// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Rate limiting.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "log_sink.hpp"

DOCA_LOG_REGISTER(TEST_LOG_RATE);

namespace {

class LogRateTest : public LogTest {
protected:
    void SetUp() override
    {
        LogTest::SetUp();
        ASSERT_EQ(doca_log_rate_bucket_register(source, &bucket), DOCA_SUCCESS);
    }

    doca_error_t log(std::uint32_t level = DOCA_LOG_LEVEL_INFO) const
    {
        return doca_log_rate_limit(level, source, 1, bucket, "limited");
    }

    int bucket = 0;
};

} // namespace

TEST_F(LogRateTest, settings_have_defaults_and_can_be_changed)
{
    EXPECT_EQ(doca_log_get_bucket_time(), 60);
    EXPECT_EQ(doca_log_get_quantity(), 20);
    for (const std::uint16_t value : {std::uint16_t{0}, std::uint16_t{1}, std::uint16_t{65535}}) {
        doca_log_set_bucket_time(value);
        doca_log_set_quantity(static_cast<std::uint16_t>(65535 - value));
        EXPECT_EQ(doca_log_get_bucket_time(), value);
        EXPECT_EQ(doca_log_get_quantity(), 65535 - value);
    }
}

TEST_F(LogRateTest, bucket_lets_the_quantity_through_and_drops_the_rest)
{
    const LogSink sink;
    doca_log_set_quantity(3);
    for (int i = 0; i < 10; i++)
        EXPECT_EQ(log(), DOCA_SUCCESS);
    EXPECT_EQ(sink.count(), 3u);
    doca_log_set_quantity(5); // counts at once
    for (int i = 0; i < 10; i++)
        EXPECT_EQ(log(), DOCA_SUCCESS);
    EXPECT_EQ(sink.count(), 5u);
}

TEST_F(LogRateTest, buckets_count_apart)
{
    const LogSink sink;
    int other = 0;
    ASSERT_EQ(doca_log_rate_bucket_register(source, &other), DOCA_SUCCESS);
    EXPECT_NE(bucket, other);
    doca_log_set_quantity(2);
    for (int i = 0; i < 4; i++) {
        log();
        doca_log_rate_limit(DOCA_LOG_LEVEL_INFO, source, 1, other, "other");
    }
    EXPECT_EQ(sink.count(), 4u);
}

TEST_F(LogRateTest, new_period_lets_messages_through_again)
{
    const LogSink sink;
    doca_log_set_bucket_time(1);
    doca_log_set_quantity(2);
    for (int i = 0; i < 4; i++)
        log();
    const std::size_t before = sink.count();
    EXPECT_GE(before, 2u);
    const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    while (sink.count() == before && std::chrono::steady_clock::now() < limit) // until the period is over
        log();
    EXPECT_EQ(sink.count(), before + 1);
}

TEST_F(LogRateTest, period_of_zero_limits_nothing)
{
    const LogSink sink;
    doca_log_set_bucket_time(0);
    doca_log_set_quantity(1);
    for (int i = 0; i < 10; i++)
        log();
    EXPECT_EQ(sink.count(), 10u);
}

TEST_F(LogRateTest, quantity_of_zero_lets_nothing_through)
{
    const LogSink sink;
    doca_log_set_quantity(0);
    EXPECT_EQ(log(), DOCA_SUCCESS);
    EXPECT_EQ(sink.count(), 0u);
}

TEST_F(LogRateTest, messages_that_nobody_shows_are_not_counted)
{
    const LogSink sink;
    doca_log_set_quantity(1);
    for (int i = 0; i < 5; i++)
        EXPECT_EQ(log(DOCA_LOG_LEVEL_DEBUG), DOCA_SUCCESS);
    log();
    EXPECT_EQ(sink.count(), 1u);
}

TEST_F(LogRateTest, invalid_arguments_are_refused_and_not_counted)
{
    const LogSink sink;
    doca_log_set_quantity(1);
    constexpr int max = std::numeric_limits<int>::max();
    for (const int none : {0, -1, 8191, 8192, max, -max - 1})
        EXPECT_EQ(doca_log_rate_limit(DOCA_LOG_LEVEL_INFO, source, 1, none, "x"), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(log(45), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_rate_limit(DOCA_LOG_LEVEL_INFO, -1, 1, bucket, "x"), DOCA_ERROR_INVALID_VALUE);
    const char *no_format = nullptr;
    EXPECT_EQ(doca_log_rate_limit(DOCA_LOG_LEVEL_INFO, source, 1, bucket, no_format, 0), DOCA_ERROR_INVALID_VALUE);
    log();
    EXPECT_EQ(sink.count(), 1u);
}

TEST_F(LogRateTest, bucket_errors)
{
    int untouched = 77;
    EXPECT_EQ(doca_log_rate_bucket_register(source, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_rate_bucket_register(0, &untouched), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_rate_bucket_register(-1, &untouched), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_rate_bucket_register(4096, &untouched), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(untouched, 77);
}

TEST_F(LogRateTest, buckets_run_out_and_go_with_their_source)
{
    int greedy = 0;
    int last = 0;
    ASSERT_EQ(doca_log_source_register("GREEDY", &greedy), DOCA_SUCCESS);
    int count = 0;
    doca_error_t status = DOCA_SUCCESS;
    while ((status = doca_log_rate_bucket_register(greedy, &last)) == DOCA_SUCCESS)
        count++;
    EXPECT_EQ(status, DOCA_ERROR_FULL);
    EXPECT_GT(count, 8000);
    EXPECT_EQ(doca_log_source_destroy(greedy), DOCA_SUCCESS);
    EXPECT_EQ(doca_log_rate_limit(DOCA_LOG_LEVEL_INFO, source, 1, last, "x"), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_log_rate_bucket_register(source, &last), DOCA_SUCCESS);
}

TEST_F(LogRateTest, each_use_of_the_macro_has_its_bucket)
{
    doca_log_global_level_set(DOCA_LOG_LEVEL_DEBUG);
    const LogSink sink;
    doca_log_set_quantity(2);
    for (int i = 0; i < 5; i++) {
        DOCA_LOG_RATE_LIMIT(INFO, "plain");
        DOCA_LOG_RATE_LIMIT_CRIT("%d", i);
        DOCA_LOG_RATE_LIMIT_ERR("%d %d", i, i);
        DOCA_LOG_RATE_LIMIT_WARN("warn");
        DOCA_LOG_RATE_LIMIT_INFO("info");
        DOCA_LOG_RATE_LIMIT_DBG("dbg");
    }
    EXPECT_EQ(sink.count(), 12u);
}

TEST_F(LogRateTest, bucket_counts_for_all_threads)
{
    const LogSink sink;
    doca_log_set_quantity(50);
    {
        std::vector<std::jthread> threads;
        for (int t = 0; t < 4; t++) {
            threads.emplace_back([] {
                for (int i = 0; i < 100; i++)
                    DOCA_LOG_RATE_LIMIT_INFO("from a thread");
            });
        }
    }
    EXPECT_EQ(sink.count(), 50u);
}
