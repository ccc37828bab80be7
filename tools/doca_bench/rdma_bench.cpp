// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench rdma: jobs between two processes, here or on two machines, in turns with another benchmark if that is
// asked for.
#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include <sys/resource.h>

#include "benchmark.hpp"
#include "machine.hpp"
#include "parallel.hpp"
#include "peer.hpp"
#include "perftest.hpp"
#include "rdma_case.hpp"
#include "rdma_options.hpp"
#include "rdma_peer.hpp"
#include "rdma_session.hpp"
#include "rdma_wire.hpp"
#include "remote.hpp"
#include "report.hpp"
#include "ucx.hpp"

namespace opendoca::tools {

namespace {

constexpr double sample_seconds_at_least = 1e-3;
constexpr std::size_t max_repetitions = std::size_t{1} << 24;
constexpr double latency_change = 1.5; ///< between before and after, that means another placement
constexpr std::size_t patience_in_rounds = 4;

/// Connected pairs of sessions, one for each thread, and the loops over them.
class Pairs {
public:
    Pairs(const std::string &ibdev, const RdmaCase &what, RdmaPeer &peer) : what_(what), peer_(peer)
    {
        std::vector<RdmaDetails> own;
        for (std::uint32_t i = 0; i < what.threads; ++i)
            own.push_back(sessions_.emplace_back(make_rdma_session(ibdev, what))->details());
        const std::vector<RdmaDetails> theirs = peer_.begin(ibdev, what, own);
        for (std::uint32_t i = 0; i < what.threads; ++i) {
            sessions_[i]->connect(theirs[i]);
            sessions_[i]->post_receives();
        }
    }
    Pairs(const Pairs &) = delete;
    Pairs &operator=(const Pairs &) = delete;
    ~Pairs()
    {
        sessions_.clear();
        try {
            peer_.end();
        } catch (const std::exception &) {
            // The peer has gone: whoever asks next is told.
        }
    }

    /// Seconds that each thread takes for @p count jobs, or half of as many ping-pongs.
    double run(std::size_t count)
    {
        // The first one waits until the peer has begun, and so does not count.
        const std::size_t first = needs_peer() ? 1 : 0;
        const double taken = with_peer(count + first, [&] {
            return run_in_threads(
                sessions_.size(), [&](std::size_t i) { run_one(*sessions_[i], count); },
                [&](std::size_t i) { run_one(*sessions_[i], first); });
        });
        return is_ping_pong() ? taken / 2 : taken;
    }

    /// Nanoseconds of one job: of all threads together in rate tests, of each in latency tests.
    [[nodiscard]] double nanoseconds(double seconds, std::size_t count) const
    {
        const std::size_t at_once = what_.test == RdmaTest::rate ? sessions_.size() : 1;
        return seconds * 1e9 / static_cast<double>(count * at_once);
    }

    /// Times @p count jobs or ping-pongs of each thread, each alone.
    Percentiles measure_latency(std::size_t count)
    {
        std::vector<LatencyHistogram> histograms(sessions_.size());
        with_peer(calls_of_time_each(count), [&] {
            return run_in_threads(sessions_.size(), [&](std::size_t i) {
                time_each(histograms[i], count, [&] { run_one(*sessions_[i], 1); });
            });
        });
        for (std::size_t i = 1; i < histograms.size(); ++i)
            histograms[0].add(histograms[i]);
        return percentiles_of(histograms[0], is_ping_pong() ? 2 : 1);
    }

    /// Looks at the bytes that a job brings.
    void verify()
    {
        const auto expect = [&](bool holds) {
            if (!holds)
                throw std::runtime_error(text_of(what_) + ": what has arrived differs from what was sent");
        };
        const std::uint32_t seed = ++seed_;
        const std::size_t jobs = std::size_t{what_.depth} * what_.connections;
        switch (what_.op) {
        case RdmaOp::write:
            if (what_.test == RdmaTest::latency)
                return; // each byte's arrival is waited for
            fill(seed);
            (void)run(jobs);
            return expect(peer_.holds(RdmaPeer::Place::exposed, seed));
        case RdmaOp::read:
            peer_.fill(seed);
            (void)run(jobs);
            return expect(std::ranges::all_of(sessions_, [&](const auto &session) {
                return is_pattern({session->destination(), what_.size}, seed);
            }));
        case RdmaOp::send:
            fill(seed);
            (void)run(jobs);
            return expect(peer_.holds(RdmaPeer::Place::received, seed));
        case RdmaOp::fetch_add: {
            const std::uint64_t before = peer_.word();
            (void)run(3 * jobs);
            return expect(peer_.word() - before == 3 * jobs * what_.threads);
        }
        }
    }

private:
    [[nodiscard]] bool is_ping_pong() const
    {
        return what_.test == RdmaTest::latency && (what_.op == RdmaOp::write || what_.op == RdmaOp::send);
    }

    [[nodiscard]] bool needs_peer() const { return is_ping_pong() || what_.op == RdmaOp::send; }

    void run_one(RdmaSession &session, std::size_t count) const
    {
        if (is_ping_pong() && what_.op == RdmaOp::write)
            session.ping_by_write(count);
        else if (is_ping_pong())
            session.ping_by_send(count);
        else
            session.run(count);
    }

    /// What @p work gives, while the peer does its part of @p count jobs or ping-pongs of each thread if it has one.
    template <typename Work>
    double with_peer(std::size_t count, Work work)
    {
        if (!needs_peer())
            return work();
        peer_.serve(count);
        double taken = 0;
        try {
            taken = work();
        } catch (...) {
            // Its answer would be taken for that to the next request.
            try {
                peer_.finish_serving();
            } catch (const std::exception &) { // the first problem is the one to tell
            }
            throw;
        }
        peer_.finish_serving();
        return taken;
    }

    void fill(std::uint32_t seed)
    {
        for (const auto &session : sessions_)
            fill_pattern({session->source(), what_.size}, seed);
    }

    const RdmaCase &what_;
    RdmaPeer &peer_;
    std::vector<std::unique_ptr<RdmaSession>> sessions_;
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
    /// @p line_peer is null when the peer is on another machine.
    RdmaBenchmark(const RdmaOptions &options, Peer *line_peer, RdmaPeer &peer)
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
            RdmaResult &result = results.emplace_back();
            result.what = what;
            result.rival_kind = rival_kind();
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

private:
    [[nodiscard]] std::optional<double> line_latency()
    {
        if (line_peer_ == nullptr || options_.cpus.empty() || options_.cpus[0] == options_.cpus[1])
            return std::nullopt;
        return line_peer_->one_way_latency();
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
    [[nodiscard]] std::size_t choose_repetitions(Pairs &pairs, const RdmaCase &what) const
    {
        const std::size_t step = std::size_t{what.depth} * what.connections;
        std::size_t count = step;
        double taken = pairs.run(count);
        while (taken < sample_seconds_at_least / 4 && count < max_repetitions) {
            count *= 2;
            taken = pairs.run(count);
        }
        const double wanted = std::max(options_.seconds / static_cast<double>(options_.min_rounds),
                                       sample_seconds_at_least / 4);
        const double ideal = static_cast<double>(count) * wanted / taken;
        return std::max<std::size_t>(std::min(static_cast<std::size_t>(ideal), max_repetitions) / step, 1) * step;
    }

    [[nodiscard]] Round run_round(Pairs &pairs, const std::optional<RivalTest> &test, const RdmaCase &what,
                                  std::size_t repetitions)
    {
        wait_for_quiet();
        Round round{};
        round.before = line_latency();
        (void)pairs.run(std::size_t{what.depth} * what.connections);
        const long switches = involuntary_switches();
        round.job = pairs.nanoseconds(pairs.run(repetitions), repetitions);
        round.is_clean = involuntary_switches() <= switches + 1;
        if (test)
            round.rival = rival_->run(*test, what, rival_->iterations(round.job, repetitions));
        round.after = line_latency();
        if (round.before && round.after)
            round.is_clean = round.is_clean && *round.before < latency_change * *round.after &&
                             *round.after < latency_change * *round.before;
        return round;
    }

    void run(RdmaResult &result)
    {
        const RdmaCase &what = result.what;
        Pairs pairs(ibdev_, what, peer_);
        pairs.verify();
        const std::optional<RivalTest> test = rival_ ? rival_->test_of(what) : std::nullopt;
        result.repetitions = choose_repetitions(pairs, what);
        std::vector<Round> clean, all;
        while (clean.size() < options_.min_rounds && all.size() < patience_in_rounds * options_.min_rounds) {
            all.push_back(run_round(pairs, test, what, result.repetitions));
            if (all.back().is_clean)
                clean.push_back(all.back());
        }
        result.was_disturbed = clean.size() < options_.min_rounds;
        result.discarded = result.was_disturbed ? 0 : all.size() - clean.size();
        summarize_into(result, result.was_disturbed ? all : clean);
        result.rival_test = test ? test->name : "";
        if (what.test == RdmaTest::latency)
            result.latency = pairs.measure_latency(num_latency_samples(result.job.median, options_.seconds));
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
    Peer *line_peer_;
    RdmaPeer &peer_;
    std::string ibdev_;
    std::unique_ptr<RdmaRival> rival_; ///< null when there is nothing to compare with
};

/// Serves those who connect, one after the other.
int run_server(const RdmaOptions &options)
{
    if (!options.cpus.empty())
        pin_to(options.cpus[1]);
    const std::string ibdev = find_rdma_device(options.ibdev);
    const UniqueFd listener = listen_at(options.bind, options.port);
    std::cout << "device " << ibdev << ", listening on port " << port_of(listener) << std::endl;
    do {
        std::string name;
        const UniqueFd client = accept_from(listener, name);
        std::cerr << name << " has connected\n";
        try {
            serve_rdma(client.get(), ibdev);
            std::cerr << name << " has gone\n";
        } catch (const std::exception &error) {
            std::cerr << name << ": " << error.what() << '\n';
        }
    } while (!options.serves_once);
    return 0;
}

int run_and_report(const RdmaOptions &options, Peer *line_peer, RdmaPeer &peer)
{
    RdmaBenchmark benchmark(options, line_peer, peer);
    const std::span<const RdmaBar> bars =
        options.judges_bars ? rdma_bars(benchmark.rival_kind()) : std::span<const RdmaBar>();
    const std::vector<RdmaResult> results = benchmark.run(rdma_cases(options, bars));
    return report("rdma", benchmark.ibdev(), options, std::span<const RdmaResult>(results), bars);
}

} // namespace

int run_rdma_benchmark(std::span<char *const> arguments)
{
    RdmaOptions options;
    if (const auto status = parse_rdma_options(arguments, options))
        return *status;
    if (options.is_server)
        return run_server(options);
    if (!options.plot.empty())
        require_plot(options.plot);
    if (!options.connect_to.empty()) {
        if (!options.cpus.empty())
            pin_to(options.cpus[0]);
        const UniqueFd socket = connect_to(options.connect_to, options.port);
        RdmaPeer peer(socket.get(), "the server");
        std::cerr << "connected to " << options.connect_to << ", device " << peer.greet() << '\n';
        return run_and_report(options, nullptr, peer);
    }
    const int other_cpu = options.cpus.empty() ? -1 : options.cpus[1];
    Peer line_peer(other_cpu);
    RdmaPeerProcess process(other_cpu);
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);
    return run_and_report(options, &line_peer, process.peer());
}

} // namespace opendoca::tools
