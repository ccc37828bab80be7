// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../../tools/doca_bench/pair_case.hpp"
#include "../../tools/doca_bench/perftest.hpp"
#include "../../tools/doca_bench/rdma_bars.hpp"
#include "../../tools/doca_bench/rdma_options.hpp"
#include "../../tools/doca_bench/rdma_peer.hpp"
#include "../../tools/doca_bench/ucx.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace opendoca::tools;

constexpr const char *header =
    "iterations,50.0_percentile_lat,avg_lat,overall_lat,avg_bw,overall_bw,avg_mr,overall_mr\n";

TEST(Ucx, TheTimeIsThatOfTheOverallRate)
{
    const std::string output =
        std::string("+---+\n") + header + "200000,0.046,0.107,0.107,71.62,71.62,9387010,10000000";
    EXPECT_EQ(parse_ucx_output(output), 100.0);
    EXPECT_EQ(parse_ucx_output(output + "\n"), 100.0);
}

TEST(Ucx, OtherOutputIsNoTime)
{
    for (const char *const output : {"", "\n", "connect() failed: Connection refused\n", "1,2,3\n", "1,2,3,4,5,6,7,\n",
                                     "1,2,3,4,5,6,7,0\n", "1,2,3,4,5,6,7,8x\n", "1,2,3,4,5,6,7,8,9\n", header})
        EXPECT_EQ(parse_ucx_output(output), std::nullopt) << output;
}

TEST(Ucx, EveryBarHasATest)
{
    for (const PairBar &bar : rdma_bars(RivalKind::ucx))
        EXPECT_TRUE(ucx_test_of(bar.what).has_value()) << bar.name;
}

TEST(Ucx, TestsAreThoseOfTheSameWork)
{
    const auto name = [](PairOp op, PairTest test, MemoryKind memory) {
        const auto found = ucx_test_of({op, test, memory, false, 8, 1});
        return found ? found->name + " " + found->transports : "none";
    };
    EXPECT_EQ(name(PairOp::write, PairTest::latency, MemoryKind::shared), "ucp_put_lat posix,self");
    EXPECT_EQ(name(PairOp::write, PairTest::rate, MemoryKind::shared), "ucp_put_bw posix,self");
    EXPECT_EQ(name(PairOp::read, PairTest::rate, MemoryKind::shared), "ucp_get posix,self");
    EXPECT_EQ(name(PairOp::fetch_add, PairTest::rate, MemoryKind::shared), "ucp_fadd posix,self");
    EXPECT_EQ(name(PairOp::send, PairTest::latency, MemoryKind::shared), "tag_lat posix,self");
    EXPECT_EQ(name(PairOp::send, PairTest::rate, MemoryKind::ordinary), "tag_bw posix,cma,self");
    EXPECT_EQ(name(PairOp::write, PairTest::rate, MemoryKind::ordinary), "cma put_bw cma");
    EXPECT_EQ(name(PairOp::read, PairTest::rate, MemoryKind::ordinary), "cma get cma");
    EXPECT_EQ(name(PairOp::fetch_add, PairTest::rate, MemoryKind::ordinary), "none");
    EXPECT_FALSE(ucx_test_of({PairOp::write, PairTest::rate, MemoryKind::shared, true, 8, 1}));
}

TEST(Perftest, TheNumberIsFoundAmongWarnings)
{
    EXPECT_EQ(parse_perftest_output("42.505902\n"), 42.505902);
    EXPECT_EQ(parse_perftest_output("Device not recognized to implement inline feature. Disabling it\n-----\n39.5\n"),
              39.5);
    EXPECT_EQ(parse_perftest_output("98.084835 \n-----\n"), 98.084835);
    for (const char *const output : {"", "\n", "Couldn't connect to 127.0.0.1:20000\n", "0\n", "-1\n", "1 2\n"})
        EXPECT_EQ(parse_perftest_output(output), std::nullopt) << output;
}

TEST(Perftest, TestsAreThoseOfTheSameWork)
{
    const auto command = [](PairOp op, PairTest test, std::size_t size, std::uint32_t depth) {
        const auto found = perftest_test_of({op, test, MemoryKind::ordinary, false, size, depth});
        std::string text = found ? found->name : "none";
        for (const std::string &argument : found ? found->arguments : std::vector<std::string>())
            text += " " + argument;
        return text;
    };
    EXPECT_EQ(command(PairOp::write, PairTest::rate, 64, 128), "ib_write_bw -s 64 -t 128");
    EXPECT_EQ(command(PairOp::read, PairTest::rate, 1 << 20, 16), "ib_read_bw -s 1048576 -t 16 -Q 1");
    EXPECT_EQ(command(PairOp::send, PairTest::latency, 64, 1), "ib_send_lat -s 64");
    EXPECT_EQ(command(PairOp::send, PairTest::rate, 64, 32), "ib_send_bw -s 64 -t 32 -r 64");
    EXPECT_EQ(command(PairOp::fetch_add, PairTest::rate, 8, 32), "ib_atomic_bw -A FETCH_AND_ADD -t 32");
    EXPECT_FALSE(perftest_test_of({PairOp::write, PairTest::rate, MemoryKind::ordinary, true, 8, 1}));
    for (const PairBar &bar : rdma_bars(RivalKind::perftest))
        EXPECT_TRUE(perftest_test_of(bar.what).has_value()) << bar.name;
}

TEST(RdmaOptions, TheDefaultIsEverything)
{
    RdmaOptions options;
    EXPECT_EQ(parse_rdma_options({}, options), std::nullopt);
    const auto cases = rdma_cases(options, {});
    EXPECT_EQ(cases.size(), 2U * 2 * 2 * (3 * 8 + 1));
    for (const PairCase &what : cases) {
        EXPECT_EQ(std::ranges::count(cases, what), 1) << text_of(what);
        EXPECT_EQ(what.test == PairTest::latency, what.depth == 1) << text_of(what);
    }
}

TEST(RdmaBars, AreMeasuredWhenTheyAreAskedFor)
{
    RdmaOptions options;
    char bars[] = "--bars";
    char *const arguments[] = {bars};
    EXPECT_EQ(parse_rdma_options(arguments, options), std::nullopt);
    EXPECT_TRUE(options.compares);
    for (const RivalKind rival : {RivalKind::ucx, RivalKind::perftest}) {
        const auto cases = rdma_cases(options, rdma_bars(rival));
        for (const PairBar &bar : rdma_bars(rival))
            EXPECT_EQ(std::ranges::count(cases, bar.what), 1) << bar.name;
        EXPECT_EQ(cases.size(), rdma_bars(rival).size());
    }
}

TEST(RdmaBars, AreJudgedByTheMedianOfTheRatios)
{
    PairResult result;
    const PairBar time = {"time", {}, PairBar::Kind::time_at_most, 2};
    const PairBar speed = {"speed", {}, PairBar::Kind::speed_at_least, 0.95};
    EXPECT_FALSE(is_met(time, result)); // there was nothing to compare with
    result.ratio = Summary{0.5, 0.1, 9, 3};
    EXPECT_TRUE(is_met(time, result));
    EXPECT_FALSE(is_met(speed, result));
    result.ratio->median = 0.49;
    EXPECT_FALSE(is_met(time, result));
    result.ratio->median = 0.95;
    EXPECT_TRUE(is_met(speed, result));
}

TEST(RdmaPattern, DistinguishesSeedsAndPlaces)
{
    std::vector<std::byte> bytes(1000);
    fill_pattern(bytes, 3);
    EXPECT_TRUE(is_pattern(bytes, 3));
    EXPECT_FALSE(is_pattern(bytes, 4));
    bytes[999] ^= std::byte{1};
    EXPECT_FALSE(is_pattern(bytes, 3));
    std::vector<std::byte> nothing(64);
    EXPECT_FALSE(is_pattern(nothing, 1));
}

} // namespace
