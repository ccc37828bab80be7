// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench rdma: jobs between two processes, in turns with another benchmark if that is asked for.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include <sys/resource.h>

#include "benchmark.hpp"
#include "machine.hpp"
#include "peer.hpp"
#include "perftest.hpp"
#include "rdma_case.hpp"
#include "rdma_connections.hpp"
#include "rdma_options.hpp"
#include "rdma_peer.hpp"
#include "rdma_session.hpp"
#include "report.hpp"
#include "ucx.hpp"

namespace opendoca::tools {

namespace {

constexpr double sample_seconds_at_least = 1e-3;
constexpr std::size_t max_repetitions = std::size_t{1} << 24;
constexpr double latency_change = 1.5; ///< between before and after, that means another placement
constexpr std::size_t patience_in_rounds = 4;

/// A connected pair of sessions, and the loops over them.
class Pair {
public:
    Pair(const std::string &ibdev, const RdmaCase &what, RdmaPeer &peer)
        : what_(what),
          peer_(peer),
          session_(std::make_unique<RdmaSession>(ibdev, what))
    {
        session_->connect(peer_.begin(ibdev, what, session_->details()));
        session_->post_receives();
    }
    Pair(const Pair &) = delete;
    Pair &operator=(const Pair &) = delete;
    ~Pair()
    {
        session_.reset();
        try {
            peer_.end();
        } catch (const std::exception &) {
            // The peer has gone: whoever asks next is told.
        }
    }

    /// Seconds that @p count jobs take, or half of as many ping-pongs.
    double run(std::size_t count)
    {
        const bool is_ping_pong =
            what_.test == RdmaTest::latency && (what_.op == RdmaOp::write || what_.op == RdmaOp::send);
        const bool needs_peer = is_ping_pong || what_.op == RdmaOp::send;
        if (needs_peer)
            peer_.serve(count);
        const double start = seconds_now();
        if (is_ping_pong && what_.op == RdmaOp::write)
            session_->ping_by_write(count);
        else if (is_ping_pong)
            session_->ping_by_send(count);
        else
            session_->run(count);
        const double taken = seconds_now() - start;
        if (needs_peer)
            peer_.finish_serving();
        return is_ping_pong ? taken / 2 : taken;
    }

    /// Looks at the bytes that a job brings.
    void verify()
    {
        const auto expect = [&](bool holds) {
            if (!holds)
                throw std::runtime_error(text_of(what_) + ": what has arrived differs from what was sent");
        };
        const std::uint32_t seed = ++seed_;
        switch (what_.op) {
        case RdmaOp::write:
            if (what_.test == RdmaTest::latency)
                return; // each byte's arrival is waited for
            fill_pattern({session_->source(), what_.size}, seed);
            (void)run(what_.depth);
            return expect(peer_.holds(RdmaPeer::Place::exposed, seed));
        case RdmaOp::read:
            peer_.fill(seed);
            (void)run(what_.depth);
            return expect(is_pattern({session_->destination(), what_.size}, seed));
        case RdmaOp::send:
            fill_pattern({session_->source(), what_.size}, seed);
            (void)run(what_.depth);
            return expect(peer_.holds(RdmaPeer::Place::received, seed));
        case RdmaOp::fetch_add: {
            const std::uint64_t before = peer_.word();
            (void)run(3 * what_.depth);
            return expect(peer_.word() - before == 3 * what_.depth);
        }
        }
    }

private:
    const RdmaCase &what_;
    RdmaPeer &peer_;
    std::unique_ptr<RdmaSession> session_;
    static inline std::uint32_t seed_ = 0;
};

long involuntary_switches()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

struct Round {
    double job;
    std::optional<double> rival;
    std::optional<double> before;
    std::optional<double> after;
    bool is_clean;
};

class RdmaBenchmark {
public:
    RdmaBenchmark(const RdmaOptions &options, Peer &line_peer, RdmaPeer &peer)
        : options_(options),
          line_peer_(line_peer),
          peer_(peer),
          ibdev_(find_rdma_device(options.ibdev))
    {
        if (!options.compares)
            return;
        if (rival_kind() == RivalKind::ucx)
            rival_ = std::make_unique<Ucx>(options.ucx, options.cpus);
        else
            rival_ = std::make_unique<Perftest>(ibdev_, options.perftest, options.cpus);
    }

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    [[nodiscard]] RivalKind rival_kind() const
    {
        return is_verbs_device(ibdev_) ? RivalKind::perftest : RivalKind::ucx;
    }

    [[nodiscard]] std::vector<RdmaResult> run(std::span<const RdmaCase> cases)
    {
        std::vector<RdmaResult> results;
        for (const RdmaCase &what : cases) {
            std::cerr << '[' << results.size() + 1 << '/' << cases.size() << "] " << text_of(what)
                      << std::flush;
            results.push_back(run(what));
            const RdmaResult &result = results.back();
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

private:
    [[nodiscard]] std::optional<double> line_latency()
    {
        if (options_.cpus.empty() || options_.cpus[0] == options_.cpus[1])
            return std::nullopt;
        return line_peer_.one_way_latency();
    }

    void wait_for_quiet() const
    {
        for (const double end = seconds_now() + options_.patience; seconds_now() < end;) {
            const OthersWatch watch;
            const timespec pause = {0, 100000000};
            nanosleep(&pause, nullptr);
            if (watch.seconds_of_others() < 0.015)
                return;
        }
    }

    /// So many that a sample takes its part of the time for the row.
    [[nodiscard]] std::size_t choose_repetitions(Pair &pair, const RdmaCase &what) const
    {
        std::size_t count = what.depth;
        double taken = pair.run(count);
        while (taken < sample_seconds_at_least / 4 && count < max_repetitions) {
            count *= 2;
            taken = pair.run(count);
        }
        const double wanted = std::max(options_.seconds / static_cast<double>(options_.min_rounds),
                                       sample_seconds_at_least / 4);
        const double ideal = static_cast<double>(count) * wanted / taken;
        return std::clamp<std::size_t>(static_cast<std::size_t>(ideal) / what.depth, 1, max_repetitions) *
               what.depth;
    }

    [[nodiscard]] Round run_round(Pair &pair, const std::optional<RivalTest> &test, const RdmaCase &what,
                                  std::size_t repetitions)
    {
        wait_for_quiet();
        Round round{};
        round.before = line_latency();
        (void)pair.run(what.depth);
        const long switches = involuntary_switches();
        round.job = pair.run(repetitions) * 1e9 / static_cast<double>(repetitions);
        round.is_clean = involuntary_switches() <= switches + 1;
        if (test)
            round.rival = rival_->run(*test, what, rival_->iterations(round.job, repetitions));
        round.after = line_latency();
        if (round.before && round.after)
            round.is_clean = round.is_clean && *round.before < latency_change * *round.after &&
                             *round.after < latency_change * *round.before;
        return round;
    }

    [[nodiscard]] RdmaResult run(const RdmaCase &what)
    {
        Pair pair(ibdev_, what, peer_);
        pair.verify();
        const std::optional<RivalTest> test = rival_ ? rival_->test_of(what) : std::nullopt;
        RdmaResult result;
        result.what = what;
        result.rival_kind = rival_kind();
        result.repetitions = choose_repetitions(pair, what);
        std::vector<Round> clean, all;
        while (clean.size() < options_.min_rounds && all.size() < patience_in_rounds * options_.min_rounds) {
            all.push_back(run_round(pair, test, what, result.repetitions));
            if (all.back().is_clean)
                clean.push_back(all.back());
        }
        result.was_disturbed = clean.size() < options_.min_rounds;
        result.discarded = result.was_disturbed ? 0 : all.size() - clean.size();
        summarize_into(result, result.was_disturbed ? all : clean);
        result.rival_test = test ? test->name : "";
        return result;
    }

    static void summarize_into(RdmaResult &result, const std::vector<Round> &rounds)
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

    const RdmaOptions &options_;
    Peer &line_peer_;
    RdmaPeer &peer_;
    std::string ibdev_;
    std::unique_ptr<RdmaRival> rival_; ///< null when there is nothing to compare with
};

} // namespace

int run_rdma_benchmark(std::span<char *const> arguments)
{
    RdmaOptions options;
    if (const auto status = parse_rdma_options(arguments, options))
        return *status;
    if (options.measures_connections) {
        if (!options.cpus.empty())
            pin_to(options.cpus[0]);
        return run_connections_benchmark(options);
    }
    const int other_cpu = options.cpus.empty() ? -1 : options.cpus[1];
    Peer line_peer(other_cpu);
    RdmaPeer peer(other_cpu);
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);

    RdmaBenchmark benchmark(options, line_peer, peer);
    const std::span<const RdmaBar> bars =
        options.judges_bars ? rdma_bars(benchmark.rival_kind()) : std::span<const RdmaBar>();
    const std::vector<RdmaResult> results = benchmark.run(rdma_cases(options, bars));
    return report("rdma", benchmark.ibdev(), options, std::span<const RdmaResult>(results), bars);
}

} // namespace opendoca::tools
