// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench comch: messages of Comch's control path, in turns with bare socket pairs, and data from producer to
// consumer, in turns with UCX if requested.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "../benchmark.hpp"
#include "../machine.hpp"
#include "../option_values.hpp"
#include "../pair_bench.hpp"
#include "../perftest.hpp"
#include "../report.hpp"
#include "../ucx.hpp"
#include "comch_peer.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t message_sizes[] = {8, 64, 512, max_message};
constexpr std::size_t send_sizes[] = {8, 64, 512, 4 << 10, 32 << 10, 256 << 10, 1 << 20};
constexpr std::size_t max_send_size = std::size_t{64} << 20;
constexpr std::size_t max_depth = 1024;
constexpr std::size_t MiB = 1 << 20;

/// The limits. docs/benchmarks.md explains each.
constexpr PairBar bars_against_ucx[] = {
    time_at_most(1.2, "8 B, one way / tag_lat", {PairOp::send, PairTest::latency, MemoryKind::shared, false, 8, 1}),
    speed_at_least(0.95, "1 MiB / tag_bw", {PairOp::send, PairTest::rate, MemoryKind::shared, false, MiB, 4}),
};

/// What is measured: messages of the control path, or sends from producer to consumer.
enum class Job : std::uint8_t { message, send };

/// The command line. Filled by parse() and constant from then on.
struct ComchOptions : PairOptions {
    std::vector<Job> jobs = {Job::message, Job::send};
};

/// The benchmark to compare with: a socket pair for messages, and UCX for sends. Owned by the benchmark's function; the
/// peer must outlive it.
class ComchRival final : public Rival {
public:
    ComchRival(ComchPeer &peer, const ComchOptions &options) : peer_(peer)
    {
        if (options.compares)
            ucx_.emplace(options.ucx, options.cpus);
    }

    [[nodiscard]] std::optional<RivalTest> test_of(const PairCase &what) const override
    {
        if (what.test != PairTest::round_trip)
            return ucx_ ? ucx_->test_of(what) : std::nullopt;
        return RivalTest{what.waits_for_events ? "socket pair, asleep" : "socket pair", {}, {}};
    }
    [[nodiscard]] double run(const RivalTest &test, const PairCase &what, std::size_t iterations) const override
    {
        if (what.test != PairTest::round_trip)
            return ucx_->run(test, what, iterations);
        const auto wait = what.waits_for_events ? SocketTrips::Wait::block : SocketTrips::Wait::poll;
        return peer_.trips_by_socket(wait, what.size, iterations) * 1e9 / static_cast<double>(iterations);
    }
    [[nodiscard]] std::size_t iterations(double nanoseconds, std::size_t repetitions) const override
    {
        return ucx_ ? ucx_->iterations(nanoseconds, repetitions) : repetitions;
    }

private:
    ComchPeer &peer_;
    std::optional<Ucx> ucx_; ///< empty unless a comparison was requested
};

/// Returns the cases that the options select, or those of @p bars if there are any.
std::vector<PairCase> cases_of(const ComchOptions &options, std::span<const PairBar> bars)
{
    std::vector<PairCase> cases;
    for (const PairBar &bar : bars)
        cases.push_back(bar.what);
    if (!cases.empty())
        return cases;
    const auto has = [&](Job job) { return std::ranges::find(options.jobs, job) != options.jobs.end(); };
    const auto sizes_of = [&](std::span<const std::size_t> sizes) {
        return options.sizes.empty() ? sizes : std::span<const std::size_t>(options.sizes);
    };
    for (const bool waits_for_events : options.waits_for_events) {
        for (const std::size_t size : sizes_of(message_sizes)) {
            // The control path has a limit that producers do not have.
            if (has(Job::message) && size <= max_message)
                cases.push_back({PairOp::send, PairTest::round_trip, MemoryKind::ordinary, waits_for_events, size, 1});
        }
    }
    for (const MemoryKind memory : options.memories) {
        for (const PairTest test : options.tests) {
            for (const bool waits_for_events : options.waits_for_events) {
                for (const std::size_t size : sizes_of(send_sizes)) {
                    if (has(Job::send))
                        cases.push_back(
                            {PairOp::send, test, memory, waits_for_events, size, depth_of(options, test, size)});
                }
            }
        }
    }
    return cases;
}

/// Parses the command line. Returns an exit status if the program should end now.
std::optional<int> parse(std::span<char *const> arguments, ComchOptions &options)
{
    OptionParser parser(
        "doca_bench comch",
        "Times Comch between a host function and a port of its DPU in two processes: messages and socket "
        "pairs, and data from producer to consumer, and UCX next to it.");
    add_output_options(parser, options);
    parser.add_flag(0, "compare", "run ucx_perftest's matching tests (package ucx-utils) in turns with sends",
                    options.compares);
    parser.add_value(0, "device", "IBDEV", "the host function (see doca_caps)", text_into(options.ibdev));
    parser.add_value(0, "jobs", "LIST", "of message (there and back by the control path), send (producer to consumer)",
                     choose_into<Job>(options.jobs, {{"message", Job::message}, {"send", Job::send}}));
    add_case_options(parser, options,
                     "bytes of a job: 8,4K,1M; messages take up to 4080; default 8 to 4080, and 8 to 1M", max_send_size,
                     max_depth);
    if (const auto status = parser.parse(arguments, std::cout, std::cerr))
        return status;
    options.compares = options.compares || options.judges_bars;
    if (options.as_json && options.as_csv)
        return parser.complain("--json and --csv: one of them", std::cerr);
    if (cases_of(options, {}).empty())
        return parser.complain("messages take up to " + std::to_string(max_message) + " bytes", std::cerr);
    const std::vector<int> cpus = allowed_cpus();
    if (!options.is_pinned && cpus.size() >= 2)
        options.cpus = {cpus[0], cpus[1]};
    return std::nullopt;
}

} // namespace

int run_comch_benchmark(std::span<char *const> arguments)
{
    ComchOptions options;
    if (const auto status = parse(arguments, options))
        return *status;
    if (!options.plot.empty())
        require_plot(options.plot);
    // Both children are forked before this process has DOCA objects or threads.
    const int other_cpu = options.cpus.empty() ? -1 : options.cpus[1];
    Peer line_peer(other_cpu);
    ComchPeer peer(other_cpu, options.ibdev);
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);
    peer.find();
    if (options.compares && is_verbs_device(ibdev_of(*doca_dev_as_devinfo(peer.functions().host.get()))))
        throw std::runtime_error("--compare and --bars are for software devices: UCX goes over shared memory");
    ComchRival rival(peer, options);
    const std::span<const PairBar> bars =
        options.judges_bars ? std::span<const PairBar>(bars_against_ucx) : std::span<const PairBar>();
    const std::vector<PairResult> results =
        PairBenchmark(
            options, [&](const PairCase &what) { return peer.connect(what); }, &line_peer, &rival)
            .run(cases_of(options, bars), [](const PairCase &what) {
                return what.test == PairTest::round_trip ? RivalKind::socket : RivalKind::ucx;
            });
    return report("comch", peer.functions().description, options, std::span<const PairResult>(results), bars);
}

} // namespace opendoca::tools
