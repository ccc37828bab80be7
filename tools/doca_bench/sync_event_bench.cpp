// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench sync_event: the time from a signal to the woken waiter in another process, in turns with a cache line and
// with eventfd and epoll.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <doca_version.h>

#include "../common/doca.hpp"
#include "../common/table.hpp"
#include "benchmark.hpp"
#include "measure.hpp"
#include "option_values.hpp"
#include "statistics.hpp"
#include "sync_event_ways.hpp"

namespace opendoca::tools {

namespace {

constexpr double sample_seconds = 2e-3; ///< seconds of a sample
/// Interval between two readings of the CPU time of others, which the kernel counts in hundredths of a second.
constexpr double block_seconds = 0.1;
constexpr double tolerated_others = 0.15;  ///< share of the time that others may use of one CPU
constexpr double patience_with_others = 4; ///< total time if rounds are disturbed, in units of Options::seconds

/// The command line.
struct Options {
    bool as_json = false;
    bool as_csv = false;
    bool judges_bars = false;
    double seconds = 1;
    std::size_t min_rounds = 7;
    std::vector<int> cpus;
};

/// A way, and the simple one that does the same and that it is compared with.
struct Comparison {
    SignalWay way;
    SignalWay plain;
    double limit; ///< the largest ratio; 0 for no bar
};

constexpr Comparison comparisons[] = {
    {SignalWay::busy, SignalWay::cache_line, 1.5},
    {SignalWay::yield, SignalWay::cache_line, 0},
    {SignalWay::epoll, SignalWay::eventfd, 1.2},
};

/// The samples of all ways in nanoseconds: by way, then by round. Samples of a round have the same index.
struct Rounds {
    std::vector<std::vector<double>> nanoseconds{num_signal_ways};
    std::size_t discarded = 0;
    bool was_disturbed = false;

    [[nodiscard]] const std::vector<double> &of(SignalWay way) const
    {
        return nanoseconds[static_cast<std::size_t>(way)];
    }
    [[nodiscard]] Summary ratio(const Comparison &comparison) const
    {
        return summarize_pairs(of(comparison.way), of(comparison.plain),
                               [](double way, double plain) { return way / plain; });
    }
};

/// Parses the command line. Returns an exit status if the program should end now.
std::optional<int> parse(std::span<char *const> arguments, Options &options)
{
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() >= 2)
        options.cpus = {cpus[0], cpus[1]};
    std::vector<std::size_t> rounds;
    OptionParser parser("doca_bench sync_event",
                        "Times a sync event from its update to the woken waiter, in another process.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "bars", "judge by the project's performance bars; status 3 if one fails", options.judges_bars);
    parser.add_value('t', "time", "SECONDS", "to spend; default 1", seconds_into(options.seconds));
    parser.add_value(0, "rounds", "COUNT", "at least so many samples of each kind; default 7",
                     sizes_into(rounds, 1000000));
    parser.add_value(0, "pin", "A,B", "CPU of this process and of the other one, or none", cpus_into(options.cpus));
    const auto status = parser.parse(arguments, std::cout, std::cerr);
    if (!rounds.empty())
        options.min_rounds = rounds.back();
    return status;
}

/// The devices of both processes, by their names.
struct Devices {
    std::string exporter;
    std::string importer;
};

/// Returns the first device that imports events, and the device of the host that exports to it. Throws if there are
/// none.
Devices find_devices()
{
    const DeviceList devices;
    for (doca_devinfo *const importer : devices.infos()) {
        if (api::can_import_event(importer) != DOCA_SUCCESS)
            continue;
        const DeviceHandle dev = open_device(*importer);
        const RepresentorList representors(*dev, api::rep_net);
        for (const doca_devinfo_rep *const rep : representors.infos()) {
            char address[DOCA_DEVINFO_REP_PCI_ADDR_SIZE] = {};
            must(api::rep_pci_address(rep, address), "asking a representor for its address");
            for (doca_devinfo *const exporter : devices.infos()) {
                std::uint8_t is_equal = 0;
                if (api::can_export_event(exporter) == DOCA_SUCCESS &&
                    api::has_pci_address(exporter, address, &is_equal) == DOCA_SUCCESS && is_equal != 0)
                    return {ibdev_of(*exporter), ibdev_of(*importer)};
            }
        }
    }
    throw std::runtime_error("no two devices that this process sees share sync events");
}

/// Measures all ways in rounds, in changing order, as measure() does for variants of one process. Blocks of a tenth of
/// a second are judged by the CPU time of others, without that of the second process. Used by one thread.
class SignalMeasurement {
public:
    SignalMeasurement(SignalPair &pair, const Options &options) : pair_(pair), options_(options)
    {
        // A short run of each way determines how many round trips fill a sample.
        for (std::uint32_t i = 0; i < num_signal_ways; ++i) {
            const double nanoseconds = pair_.measure(static_cast<SignalWay>(i), 50);
            const double wanted = sample_seconds * 1e9 / (2 * nanoseconds);
            round_trips_.push_back(std::clamp<std::uint64_t>(static_cast<std::uint64_t>(wanted), 20, 20000));
        }
    }

    [[nodiscard]] Rounds run()
    {
        const double start = seconds_now();
        for (double spent = 0;; spent = seconds_now() - start) {
            const bool has_enough = num_clean_ >= options_.min_rounds && spent >= options_.seconds;
            if (has_enough || (all_.size() >= options_.min_rounds && spent >= patience_with_others * options_.seconds))
                break;
            run_block();
        }
        Rounds rounds;
        rounds.was_disturbed = num_clean_ < options_.min_rounds;
        for (const auto &[nanoseconds, is_clean] : all_) {
            if (!is_clean && !rounds.was_disturbed) {
                ++rounds.discarded;
                continue;
            }
            for (std::size_t i = 0; i < num_signal_ways; ++i)
                rounds.nanoseconds[i].push_back(nanoseconds[i]);
        }
        return rounds;
    }

private:
    /// A sample of each way, by its value.
    struct Round {
        std::vector<double> nanoseconds;
        bool is_clean;
    };

    /// Runs rounds for a tenth of a second, and judges them together.
    void run_block()
    {
        const std::size_t first = all_.size();
        const double start = seconds_now();
        const double peer_before = pair_.peer_cpu_seconds();
        const OtherCpuTime others;
        double taken = 0;
        do {
            Round round{std::vector<double>(num_signal_ways), true};
            for (const std::size_t i : order_of_round(all_.size(), num_signal_ways))
                round.nanoseconds[i] = pair_.measure(static_cast<SignalWay>(i), round_trips_[i]);
            all_.push_back(std::move(round));
            taken = seconds_now() - start;
        } while (taken < block_seconds && options_.seconds > 0);
        const double used = others.seconds_of_others() - (pair_.peer_cpu_seconds() - peer_before);
        const bool is_clean = used < tolerated_others * taken + 0.01;
        for (std::size_t i = first; i < all_.size(); ++i)
            all_[i].is_clean = is_clean;
        num_clean_ += is_clean ? all_.size() - first : 0;
    }

    SignalPair &pair_;
    const Options &options_;
    std::vector<std::uint64_t> round_trips_; ///< in a sample, by way
    std::vector<Round> all_;
    std::size_t num_clean_ = 0;
};

/// Returns whether a comparison meets its bar.
bool is_met(const Comparison &comparison, const Rounds &rounds)
{
    return comparison.limit == 0 || rounds.ratio(comparison).median <= comparison.limit;
}

void print_json(const Rounds &rounds, const Options &options, const Devices &devices)
{
    Json rows = Json::array();
    Json bars = Json::array();
    for (const Comparison &comparison : comparisons) {
        Json row = Json::object();
        row.set("way", name_of(comparison.way))
            .set("ns", to_json(summarize(rounds.of(comparison.way))))
            .set("compared_to", name_of(comparison.plain))
            .set("plain_ns", to_json(summarize(rounds.of(comparison.plain))))
            .set("ratio", to_json(rounds.ratio(comparison)));
        rows.add(std::move(row));
        if (comparison.limit == 0)
            continue;
        Json bar = Json::object();
        bar.set("bar", std::string(name_of(comparison.way)) + " / " + name_of(comparison.plain))
            .set("kind", "ratio at most")
            .set("limit", comparison.limit)
            .set("measured", rounds.ratio(comparison).median)
            .set("passed", is_met(comparison, rounds));
        bars.add(std::move(bar));
    }
    Json cpus = Json::array();
    for (const int cpu : options.cpus)
        cpus.add(cpu);
    Json json = Json::object();
    json.set("benchmark", "sync_event")
        .set("version", doca_version_runtime())
        .set("exporter", devices.exporter)
        .set("importer", devices.importer)
        .set("pinned_to", std::move(cpus))
        .set("samples", rounds.of(SignalWay::busy).size())
        .set("discarded", rounds.discarded)
        .set("disturbed", rounds.was_disturbed)
        .set("rows", std::move(rows))
        .set("machine", describe_machine());
    if (options.judges_bars)
        json.set("bars", std::move(bars));
    std::cout << (options.as_csv ? json.csv("rows") : json.text());
}

void print_text(const Rounds &rounds, const Options &options, const Devices &devices)
{
    std::cout << "opendoca " << doca_version_runtime() << ", devices " << devices.exporter << " and "
              << devices.importer << ", " << describe_machine_briefly() << "\n\n";
    Table table({{"way"},
                 {"ns", Align::right},
                 {"min", Align::right},
                 {"max", Align::right},
                 {"plain ns", Align::right},
                 {"of"},
                 {"ratio", Align::right},
                 {"bar", Align::right},
                 {""},
                 {"notes"}});
    for (const Comparison &comparison : comparisons) {
        const Summary own = summarize(rounds.of(comparison.way));
        const bool is_judged = options.judges_bars && comparison.limit != 0;
        table.add({name_of(comparison.way), decimal(own.median, 1), decimal(own.min, 1), decimal(own.max, 1),
                   decimal(summarize(rounds.of(comparison.plain)).median, 1), name_of(comparison.plain),
                   decimal(rounds.ratio(comparison).median, 3), is_judged ? "<= " + decimal(comparison.limit, 1) : "",
                   !is_judged                   ? ""
                   : is_met(comparison, rounds) ? "PASS"
                                                : "FAIL",
                   rounds.was_disturbed ? "disturbed by other processes" : ""});
    }
    std::cout << table.text();
}

} // namespace

int run_sync_event_benchmark(std::span<char *const> arguments)
{
    Options options;
    if (const auto status = parse(arguments, options))
        return *status;
    SignalPair pair(options.cpus.empty() ? -1 : options.cpus[1]);
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);
    const Devices devices = find_devices();
    pair.open(devices.exporter, devices.importer);
    const Rounds rounds = SignalMeasurement(pair, options).run();
    if (options.as_json || options.as_csv)
        print_json(rounds, options, devices);
    else
        print_text(rounds, options, devices);
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    const bool has_missed =
        std::ranges::any_of(comparisons, [&](const Comparison &comparison) { return !is_met(comparison, rounds); });
    return options.judges_bars && has_missed ? bar_missed : 0;
}

} // namespace opendoca::tools
