// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "pair_bench.hpp"

#include <algorithm>
#include <ctime>
#include <exception>
#include <iostream>
#include <optional>

#include "machine.hpp"
#include "measure.hpp"

namespace opendoca::tools {

namespace {

constexpr double sample_seconds_at_least = 1e-3;              ///< shortest sample worth timing
constexpr std::size_t max_repetitions = std::size_t{1} << 24; ///< bound for jobs that take less than expected
/// Ratio of the latencies before and after a round from which on the placement of the CPUs has changed.
constexpr double latency_change = 1.5;
constexpr std::size_t patience_in_rounds = 4; ///< limit of the rounds, in units of the requested ones

/// Returns the nanoseconds of one job: of all threads together in rate tests, of each thread in others.
double nanoseconds_of(const CasePair &pair, const PairCase &what, double seconds, std::size_t count)
{
    const std::size_t at_once = what.test == PairTest::rate ? pair.at_once() : 1;
    return seconds * 1e9 / static_cast<double>(count * at_once);
}

} // namespace

CasePair::~CasePair() = default;

/// One round: a sample of ours, a run of the other benchmark, and the latencies of a cache line before and after both.
struct PairBenchmark::Round {
    double job;
    std::optional<double> rival;
    std::optional<double> before;
    std::optional<double> after;
    bool is_clean;
};

std::optional<double> PairBenchmark::line_latency()
{
    if (line_peer_ == nullptr || options_.cpus.empty() || options_.cpus[0] == options_.cpus[1])
        return std::nullopt;
    return line_peer_->one_way_latency();
}

void PairBenchmark::wait_for_quiet() const
{
    // 15 % of a tenth of a second, as in measure().
    for (const double end = seconds_now() + options_.patience; seconds_now() < end;) {
        const OtherCpuTime watch;
        const timespec pause = {0, 100000000};
        nanosleep(&pause, nullptr);
        if (watch.seconds_of_others() < 0.015)
            return;
    }
}

/// Returns a number of repetitions with which a sample takes its share of the time for the row. A multiple of whole
/// batches.
std::size_t PairBenchmark::choose_repetitions(CasePair &pair, const PairCase &what) const
{
    const std::size_t step = std::size_t{what.depth} * what.connections;
    std::size_t count = step;
    double taken = pair.run(count);
    while (taken < sample_seconds_at_least / 4 && count < max_repetitions) {
        count *= 2;
        taken = pair.run(count);
    }
    const double wanted =
        std::max(options_.seconds / static_cast<double>(options_.min_rounds), sample_seconds_at_least / 4);
    const double ideal = static_cast<double>(count) * wanted / taken;
    return std::max<std::size_t>(std::min(static_cast<std::size_t>(ideal), max_repetitions) / step, 1) * step;
}

PairBenchmark::Round PairBenchmark::run_round(CasePair &pair, const std::optional<RivalTest> &test,
                                              const PairCase &what, std::size_t repetitions)
{
    wait_for_quiet();
    Round round{};
    round.before = line_latency();
    // Warm-up: one batch that does not count.
    (void)pair.run(std::size_t{what.depth} * what.connections);
    const long switches = involuntary_switches();
    round.job = nanoseconds_of(pair, what, pair.run(repetitions), repetitions);
    // One preemption is tolerated: samples are longer than those of measure().
    round.is_clean = involuntary_switches() <= switches + 1;
    if (test)
        round.rival = rival_->run(*test, what, rival_->iterations(round.job, repetitions));
    round.after = line_latency();
    // A virtual machine may have moved a CPU to another core in between.
    if (round.before && round.after)
        round.is_clean = round.is_clean && *round.before < latency_change * *round.after &&
                         *round.after < latency_change * *round.before;
    return round;
}

void PairBenchmark::run(PairResult &result)
{
    const PairCase &what = result.what;
    const std::unique_ptr<CasePair> connected = connect_(what);
    CasePair &pair = *connected;
    pair.verify();
    const std::optional<RivalTest> test = rival_ ? rival_->test_of(what) : std::nullopt;
    result.repetitions = choose_repetitions(pair, what);
    std::vector<Round> clean, all;
    while (clean.size() < options_.min_rounds && all.size() < patience_in_rounds * options_.min_rounds) {
        all.push_back(run_round(pair, test, what, result.repetitions));
        if (all.back().is_clean)
            clean.push_back(all.back());
    }
    // All rounds count if too few are clean; the row is marked as disturbed.
    result.was_disturbed = clean.size() < options_.min_rounds;
    result.discarded = result.was_disturbed ? 0 : all.size() - clean.size();
    summarize_into(result, result.was_disturbed ? all : clean);
    result.rival_test = test ? test->name : "";
    if (what.test != PairTest::rate)
        result.latency = pair.measure_latency(num_latency_samples(result.job.median, options_.seconds));
}

void PairBenchmark::summarize_into(PairResult &result, const std::vector<Round> &rounds)
{
    std::vector<double> jobs, rival, ratios, before, after;
    for (const Round &round : rounds) {
        jobs.push_back(round.job);
        if (round.rival) {
            rival.push_back(*round.rival);
            ratios.push_back(*round.rival / round.job);
        }
        if (round.before && round.after) {
            before.push_back(*round.before);
            after.push_back(*round.after);
        }
    }
    result.job = summarize(std::move(jobs));
    if (!rival.empty()) {
        result.rival = summarize(std::move(rival));
        result.ratio = summarize(std::move(ratios));
    }
    if (!before.empty()) {
        result.latency_before = summarize(std::move(before));
        result.latency_after = summarize(std::move(after));
    }
}

std::vector<PairResult> PairBenchmark::run(std::span<const PairCase> cases,
                                           const std::function<RivalKind(const PairCase &)> &rival_kind)
{
    std::vector<PairResult> results;
    for (const PairCase &what : cases) {
        std::cerr << '[' << results.size() + 1 << '/' << cases.size() << "] " << text_of(what) << std::flush;
        PairResult &result = results.emplace_back();
        result.what = what;
        result.rival_kind = rival_kind(what);
        try {
            run(result);
        } catch (const std::exception &error) {
            result.failure = error.what();
            std::cerr << '\n' << text_of(what) << ": failed: " << result.failure << '\n';
            continue;
        }
        std::cerr << ": " << result.job.median << " ns";
        if (result.rival)
            std::cerr << ", " << result.rival_test << ' ' << result.rival->median << " ns, ratio "
                      << result.ratio->median;
        if (result.latency_before)
            std::cerr << ", c2c " << result.latency_before->median << '/' << result.latency_after->median;
        std::cerr << (result.was_disturbed ? ", disturbed" : "") << '\n';
    }
    return results;
}

} // namespace opendoca::tools
