// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../../tools/doca_bench/dma_options.hpp"
#include "../../tools/doca_bench/latency.hpp"
#include "../../tools/doca_bench/machine.hpp"
#include "../../tools/doca_bench/measure.hpp"
#include "../../tools/doca_bench/openssl_speed.hpp"
#include "../../tools/doca_bench/plain_copy.hpp"
#include "../../tools/doca_bench/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace opendoca::tools;

TEST(Statistics, TheMedianIsTheMiddle)
{
    const Summary odd = summarize({5, 1, 3});
    EXPECT_EQ(odd.median, 3);
    EXPECT_EQ(odd.min, 1);
    EXPECT_EQ(odd.max, 5);
    EXPECT_EQ(odd.count, 3U);
    EXPECT_EQ(summarize({4, 1, 3, 2}).median, 2.5);
    EXPECT_EQ(summarize({}).count, 0U);
}

TEST(Statistics, PairsAreCombinedRoundByRound)
{
    const std::vector<double> job = {10, 20, 40}, plain = {5, 5, 40};
    EXPECT_EQ(summarize_pairs(job, plain, [](double a, double b) { return b / a; }).median, 0.5);
}

TEST(OpensslSpeed, OnlyTheLineOfTheDigestCounts)
{
    const std::string output = "+DT:sha256:1:1048576\n+R:926:sha256:0.83\n+F:25:sha256:1169857079.52\n";
    EXPECT_EQ(parse_openssl_speed(output, "sha256"), 1169857079.52);
    EXPECT_EQ(parse_openssl_speed(output, "sha1"), std::nullopt);
    for (const char *const other : {"", "\n\n", "+F:", "+F:25:sha256:", "+F:25:sha256:x", "+F:25:sha256:1 2",
                                    "+F:25:sha256:0", "F:25:sha256:1", "+F:25:xsha256:1"})
        EXPECT_EQ(parse_openssl_speed(other, "sha256"), std::nullopt) << other;
}

TEST(LatencyHistogram, PercentilesAreWithinAHundredthOfTheSamples)
{
    LatencyHistogram histogram;
    EXPECT_EQ(histogram.percentile(50), 0);
    std::vector<std::uint64_t> samples;
    for (std::uint64_t i = 0; i < 100000; ++i)
        samples.push_back(1 + (i * i * 7919) % 50000000);
    for (const std::uint64_t sample : samples)
        histogram.record(sample);
    std::ranges::sort(samples);
    for (const double percent : {1.0, 50.0, 90.0, 99.0, 99.9, 100.0}) {
        const auto exact = static_cast<double>(samples[static_cast<std::size_t>(percent / 100 * 100000) - 1]);
        EXPECT_NEAR(histogram.percentile(percent), exact, exact / 100) << percent;
    }
    EXPECT_EQ(histogram.count(), 100000U);
}

TEST(LatencyHistogram, SmallTimesAreExactAndLongOnesAreKept)
{
    for (const std::uint64_t time : {0U, 1U, 127U, 128U, 255U}) {
        LatencyHistogram histogram;
        histogram.record(time);
        EXPECT_EQ(histogram.percentile(50), static_cast<double>(time));
    }
    LatencyHistogram longest;
    longest.record(UINT64_MAX);
    EXPECT_NEAR(longest.percentile(50), 0x1p40, 0x1p33);
}

TEST(LatencyHistogram, OneOfAThousandIsSeenByTheLastPercentileAlone)
{
    LatencyHistogram histogram, other;
    for (int i = 0; i < 499; ++i)
        histogram.record(100);
    for (int i = 0; i < 499; ++i)
        other.record(100);
    other.record(5000);
    other.record(5000);
    histogram.add(other);
    const Percentiles trip = percentiles_of(histogram);
    EXPECT_EQ(trip.p50, 100);
    EXPECT_EQ(trip.p99, 100);
    EXPECT_NEAR(trip.p999, 5000, 50);
    EXPECT_EQ(trip.samples, 1000U);
    EXPECT_EQ(percentiles_of(histogram, 2).p50, 50);
}

TEST(Csv, NestedMembersHavePathsAndCellsAreQuoted)
{
    Json first = Json::object(), second = Json::object(), inner = Json::object(), list = Json::array(),
         rows = Json::array(), all = Json::object(), named = Json::object();
    inner.set("median", 1.5).set("none", Json());
    named.set("name", "memcpy").set("ns", 7);
    list.add(std::move(named)).add("x");
    first.set("text", "a \"b\", c\nd").set("ns", std::move(inner)).set("of", std::move(list)).set("ok", true);
    second.set("later", "z").set("ok", false);
    rows.add(std::move(first)).add(std::move(second));
    all.set("rows", std::move(rows));
    EXPECT_EQ(all.csv("rows"), "text,ns_median,of_memcpy_name,of_memcpy_ns,of_1,ok,later\n"
                               "\"a \"\"b\"\", c\nd\",1.5,memcpy,7,x,true,\n"
                               ",,,,,false,z\n");
    EXPECT_EQ(all.csv("others"), "\n");
}

TEST(Measure, EveryVariantTakesEachPlaceEquallyOften)
{
    constexpr std::size_t count = 3;
    std::map<std::pair<std::size_t, std::size_t>, int> times; // of a variant at a place
    std::set<std::vector<std::size_t>> orders;
    for (std::size_t round = 0; round < 2 * count; ++round) {
        const auto order = order_of_round(round, count);
        ASSERT_EQ(std::set(order.begin(), order.end()).size(), count);
        orders.insert(order);
        for (std::size_t place = 0; place < count; ++place)
            ++times[{order[place], place}];
    }
    for (const auto &[where, number] : times)
        EXPECT_EQ(number, 2);
    EXPECT_EQ(orders.size(), 2 * count);
}

class Counter final : public Variant {
public:
    void run(std::size_t count) override
    {
        for (std::size_t i = 0; i < count; ++i)
            __asm__ volatile("" ::: "memory");
        total += count;
        step = step == 0 ? count : std::min(step, count);
    }
    std::size_t total = 0;
    std::size_t step = 0;
};

TEST(Measure, TakesRoundsOfAllVariantsInWholeSteps)
{
    Counter first, second;
    Variant *const variants[] = {&first, &second};
    MeasureOptions options;
    options.seconds = 0;
    options.min_rounds = 5;
    options.step = 32;
    const Measurement m = measure(variants, options);
    ASSERT_EQ(m.nanoseconds.size(), 2U);
    EXPECT_GE(m.nanoseconds[0].size(), 5U);
    EXPECT_EQ(m.nanoseconds[0].size(), m.nanoseconds[1].size());
    EXPECT_EQ(m.repetitions % 32, 0U);
    EXPECT_EQ(first.total % 32, 0U);
    EXPECT_EQ(second.step, 32U);
    EXPECT_GE(second.total, 5 * (m.repetitions + 32));
}

TEST(Walk, VisitsEveryPlaceAndIsFarFromTheOneBefore)
{
    Walk walk(64, 1024);
    std::set<std::size_t> offsets;
    std::size_t before = walk.next();
    offsets.insert(before);
    for (int i = 1; i < 1024; ++i) {
        const std::size_t next = walk.next();
        EXPECT_EQ(next % 64, 0U);
        EXPECT_LT(next, 64U * 1024);
        EXPECT_GE(std::max(next, before) - std::min(next, before), 4096U);
        offsets.insert(next);
        before = next;
    }
    EXPECT_EQ(offsets.size(), 1024U);
}

template <typename Copy>
void check_copy(Copy copy)
{
    std::vector<std::byte> src(5000), expected, dst;
    for (std::size_t i = 0; i < src.size(); ++i)
        src[i] = static_cast<std::byte>(i * 7 + 1);
    constexpr std::size_t sizes[] = {0, 1, 31, 32, 33, 63, 64, 127, 128, 129, 255, 1000, 4096};
    constexpr std::size_t leads[] = {0, 1, 13, 31, 32, 63};
    for (const std::size_t size : sizes) {
        for (const std::size_t lead : leads) {
            dst.assign(src.size(), std::byte{0});
            expected = dst;
            std::memcpy(expected.data() + lead, src.data() + 5, size);
            copy(dst.data() + lead, src.data() + 5, size);
            ASSERT_EQ(dst, expected) << size << " bytes at " << lead;
        }
    }
}

TEST(PlainCopy, CopiesTheRequestedBytesAndNoOthers)
{
    check_copy(LibcCopy());
    if (has_non_temporal_copy())
        check_copy(NonTemporalCopy());
    if (has_string_copy())
        check_copy(StringCopy());
    check_copy(ProcessRead{getpid()});
    check_copy(ProcessWrite{getpid()});
}

TEST(Machine, HasCachesAndCpus)
{
    const CacheSizes caches = cache_sizes();
    EXPECT_GE(caches.l1d, 8U << 10);
    EXPECT_GE(caches.l3, caches.l1d);
    EXPECT_FALSE(allowed_cpus().empty());
}

TEST(DmaOptions, SizesHaveUnits)
{
    EXPECT_EQ(parse_size("64"), 64U);
    EXPECT_EQ(parse_size("4K"), 4096U);
    EXPECT_EQ(parse_size("64M"), std::size_t{64} << 20);
    for (const char *const text : {"", "0", "K", "-1", "4k", "1.5M", "99999999999999999999", "99999999999G"})
        EXPECT_EQ(parse_size(text), std::nullopt) << text;
}

TEST(DmaOptions, EveryCombinationIsACase)
{
    DmaOptions options;
    options.sizes = {64, 4096};
    options.depths = {1, 32};
    options.places = {Where::local, Where::shared};
    options.directions = {Direction::read, Direction::write};
    options.in_cache = {true, false};
    EXPECT_EQ(dma_cases(options).size(), 2U * 2 * 2 * (1 + 2));
    options.sizes = {std::size_t{1} << 30}; // no cache has room for it
    options.in_cache = {true};
    EXPECT_TRUE(dma_cases(options).empty());
}

TEST(DmaOptions, TheBarsAreMeasuredWhenTheyAreAskedFor)
{
    DmaOptions options;
    options.judges_bars = true;
    const auto cases = dma_cases(options);
    for (const Bar &bar : dma_bars())
        EXPECT_EQ(std::ranges::count(cases, bar.what), 1) << bar.name;
}

TEST(Bars, AreJudgedByTheMedian)
{
    DmaResult result;
    result.ratio.median = 0.95;
    result.difference.median = 8.5;
    EXPECT_TRUE(is_met({"ratio", {}, Bar::Kind::ratio_at_least, 0.95}, result));
    EXPECT_FALSE(is_met({"ratio", {}, Bar::Kind::ratio_at_least, 0.96}, result));
    EXPECT_FALSE(is_met({"ns", {}, Bar::Kind::nanoseconds_above_at_most, 8}, result));
    EXPECT_TRUE(is_met({"ns", {}, Bar::Kind::nanoseconds_above_at_most, 9}, result));
}

} // namespace
