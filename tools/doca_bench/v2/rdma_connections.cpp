// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench connections: the cost of polling, jobs and set-up, and memory, with one pair of connected instances and
// with many, measured in turns in one run.
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <malloc.h>
#include <sys/resource.h>

#include <doca_version.h>

#include "../../common/json.hpp"
#include "../../common/table.hpp"
#include "../benchmark.hpp"
#include "../machine.hpp"
#include "../option_values.hpp"
#include "../rdma_session.hpp"
#include "../statistics.hpp"
#include "rdma_crowd.hpp"

namespace opendoca::tools {

namespace {

/// The command line.
struct ConnectionsOptions {
    bool as_json = false;
    bool as_csv = false;
    bool judges_bars = false;
    std::size_t count = 10000;
    std::string ibdev; ///< empty for the first suitable device
    std::vector<int> cpus;
};

constexpr std::size_t max_connections = 100000;
constexpr std::size_t num_rounds = 41; ///< samples of each comparison; odd, so that the median is one of them
constexpr double sample_seconds = 1e-3;
/// Number of pairs in the measured set-ups, around the 100th connection and at the end. The shortest time counts.
constexpr std::size_t window = 41;

/// One row of the report.
struct Row {
    std::string what;
    std::string unit;
    double measured;
    double base;                 ///< with one pair, or 0 if there is nothing to compare with
    double judged;               ///< the ratio of both in the same round, or the measured value
    std::optional<double> limit; ///< the limit of judged

    [[nodiscard]] bool is_met() const { return !limit || judged <= *limit; }
};

/// Returns the number of open descriptors of this process.
std::size_t num_descriptors()
{
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// Returns the proportional set size of this process in KiB: private memory, and shared memory divided by the number of
/// processes that map it.
double proportional_kib()
{
    // Free memory of the allocator is no part of the connections' cost.
    malloc_trim(0);
    std::ifstream rollup("/proc/self/smaps_rollup");
    for (std::string name; rollup >> name;) {
        double value = 0;
        if (name == "Pss:" && rollup >> value)
            return value;
    }
    throw std::runtime_error("/proc/self/smaps_rollup does not tell the memory of this process");
}

/// Raises the limit of descriptors to the hard limit: each connection may need some.
void raise_descriptor_limit()
{
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/// Measures the rows one after the other with two crowds: one of a single pair, and one that grows. Owned by the
/// benchmark's function and used by its only thread.
class ConnectionsBenchmark {
public:
    ConnectionsBenchmark(std::string ibdev, std::size_t num_connections)
        : ibdev_(std::move(ibdev)),
          num_pairs_(std::max<std::size_t>(num_connections / 2, 1)),
          few_(ibdev_, 1, 0)
    {
        (void)few_.add_pair();
        few_.write(0, 100);
    }

    std::vector<Row> run()
    {
        measure_short_queues();
        Crowd many(ibdev_, num_pairs_, 0);
        const double before = proportional_kib();
        // The first comparison is at 1000 connections, or at all of them if there are fewer.
        const std::size_t first_stop = std::min<std::size_t>(500, num_pairs_);
        add_up_to(many, first_stop / 2);
        const std::size_t descriptors = num_descriptors();
        add_up_to(many, first_stop);
        compare_retrieves(many, text_of(2 * first_stop) + " connections: empty retrieve");
        if (first_stop != num_pairs_) {
            add_up_to(many, num_pairs_);
            compare_retrieves(many, text_of(2 * num_pairs_) + " connections: empty retrieve");
        }
        const auto pairs = static_cast<double>(num_pairs_);
        const double kib = (proportional_kib() - before) / pairs;
        const double fds = static_cast<double>(num_descriptors() - descriptors) /
                           static_cast<double>(2 * (num_pairs_ - first_stop / 2));
        compare("WRITE of 8 B on one of them", many, 1.5,
                [&](Crowd &crowd, std::size_t count) { crowd.write(crowd.num_pairs() / 2, count); });
        few_.post_receives();
        many.post_receives();
        compare_retrieves(many, "empty retrieve, a receive is posted on each");
        compare("empty SEND on one of them, to the receiver's retrieve", many, std::nullopt,
                [&](Crowd &crowd, std::size_t count) { crowd.send(crowd.num_pairs() / 2, count); });
        judge_setup();
        add({"descriptors of one more connection", "", fds, 0, fds, 1});
        add({"memory of an idle pair, default queues", "KiB", kib, 0, kib, 32});
        add({"memory of an idle pair, queues of 64", "KiB", short_queues_kib_, 0, short_queues_kib_, 16});
        return std::move(rows_);
    }

private:
    static std::string text_of(std::size_t number) { return std::to_string(number); }

    /// Adds a row, and prints it on stderr as progress.
    void add(Row row)
    {
        std::cerr << row.what << ": " << row.measured << ' ' << row.unit;
        if (row.base != 0)
            std::cerr << ", ratio " << row.judged;
        std::cerr << '\n';
        rows_.push_back(std::move(row));
    }

    /// Grows a crowd, and records the time of each set-up.
    void add_up_to(Crowd &crowd, std::size_t count)
    {
        while (crowd.num_pairs() < count)
            setup_.push_back(crowd.add_pair() * 1e6 / 2);
    }

    /// Measures the memory of pairs with short queues, in a crowd of its own.
    void measure_short_queues()
    {
        const std::size_t count = std::min<std::size_t>(1000, num_pairs_);
        Crowd crowd(ibdev_, count, 64);
        const double before = proportional_kib();
        while (crowd.num_pairs() < count)
            (void)crowd.add_pair();
        short_queues_kib_ = (proportional_kib() - before) / static_cast<double>(count);
    }

    /// Compares the set-up of the last connections with that around the 100th.
    void judge_setup()
    {
        const std::span<const double> all(setup_);
        const std::size_t size = std::min(window, all.size());
        const std::size_t hundredth = std::min<std::size_t>(50 - window / 2, all.size() - size);
        const double last = std::ranges::min(all.last(size)), early = std::ranges::min(all.subspan(hundredth, size));
        add({"setting up the last connection, to the 100th", "us", last, early, last / early, 1.3});
    }

    /// Compares polls that find nothing.
    void compare_retrieves(Crowd &many, const std::string &what)
    {
        compare(what, many, 3, [](Crowd &crowd, std::size_t count) { crowd.retrieve_nothing(count); });
    }

    /// Measures @p action in turns with one pair and with @p many, and adds the row. @p limit is that of the ratio.
    void compare(const std::string &what, Crowd &many, std::optional<double> limit,
                 const std::function<void(Crowd &, std::size_t)> &action)
    {
        const auto seconds = [&](Crowd &crowd, std::size_t count) {
            const double start = seconds_now();
            action(crowd, count);
            return seconds_now() - start;
        };
        // Enough repetitions for a sample: found by doubling.
        const auto enough = [&](Crowd &crowd) {
            std::size_t count = 1;
            while (seconds(crowd, count) < sample_seconds)
                count *= 2;
            return count;
        };
        const std::size_t few_count = enough(few_), many_count = enough(many);
        std::vector<double> with_one, with_many, ratios;
        for (std::size_t i = 0; i < num_rounds; ++i) {
            with_one.push_back(seconds(few_, few_count) * 1e9 / static_cast<double>(few_count));
            with_many.push_back(seconds(many, many_count) * 1e9 / static_cast<double>(many_count));
            ratios.push_back(with_many.back() / with_one.back());
        }
        add({what, "ns", summarize(with_many).median, summarize(with_one).median, summarize(ratios).median, limit});
    }

    std::string ibdev_;
    std::size_t num_pairs_;
    Crowd few_;                 ///< one pair
    std::vector<double> setup_; ///< microseconds for each connection, in their order
    double short_queues_kib_ = 0;
    std::vector<Row> rows_;
};

/// Formats with two digits after the decimal point.
std::string number(double value)
{
    char text[32];
    std::snprintf(text, sizeof(text), "%.2f", value);
    return text;
}

void print_json(const std::vector<Row> &all, const std::string &ibdev, const ConnectionsOptions &options)
{
    Json rows = Json::array();
    Json bars = Json::array();
    for (const Row &row : all) {
        Json json = Json::object();
        json.set("what", row.what).set("unit", row.unit).set("measured", row.measured);
        if (row.base != 0)
            json.set("with_one_pair", row.base).set("ratio", row.judged);
        rows.add(std::move(json));
        if (!row.limit)
            continue;
        Json bar = Json::object();
        bar.set("bar", row.what)
            .set("kind", row.base != 0 ? "ratio at most" : "at most")
            .set("limit", *row.limit)
            .set("measured", row.judged)
            .set("passed", row.is_met());
        bars.add(std::move(bar));
    }
    Json json = Json::object();
    json.set("benchmark", "rdma")
        .set("version", doca_version_runtime())
        .set("device", ibdev)
        .set("connections", options.count)
        .set("rows", std::move(rows))
        .set("machine", describe_machine());
    if (options.judges_bars)
        json.set("bars", std::move(bars));
    std::cout << (options.as_csv ? json.csv("rows") : json.text());
}

void print_text(const std::vector<Row> &rows, const std::string &ibdev, const ConnectionsOptions &options)
{
    std::cout << "opendoca " << doca_version_runtime() << ", device " << ibdev << ", " << options.count
              << " connections on two work queues, " << describe_machine_briefly() << "\n\n";
    Table table({{""},
                 {"measured", Align::right},
                 {""},
                 {"one pair, or 100th", Align::right},
                 {"ratio", Align::right},
                 {"bar", Align::right},
                 {""}});
    for (const Row &row : rows) {
        const bool has_base = row.base != 0;
        const bool is_judged = options.judges_bars && row.limit;
        table.add({row.what, number(row.measured), row.unit, has_base ? number(row.base) : "",
                   has_base ? number(row.judged) : "", is_judged ? "<= " + number(*row.limit) : "",
                   !is_judged     ? ""
                   : row.is_met() ? "PASS"
                                  : "FAIL"});
    }
    std::cout << table.text();
}

/// Parses the command line. Returns an exit status if the program should end now.
std::optional<int> parse_options(std::span<char *const> arguments, ConnectionsOptions &options)
{
    const std::vector<int> cpus = allowed_cpus();
    if (cpus.size() >= 2)
        options.cpus = {cpus[0], cpus[1]};
    OptionParser parser("doca_bench connections",
                        "Measures what many RDMA connections on one work queue cost, within this process.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "bars", "judge by the project's performance bars; status 3 if one fails", options.judges_bars);
    parser.add_value(0, "count", "COUNT", "connections, two of which are a pair; default 10000",
                     count_into<std::size_t>(options.count, 1, max_connections));
    parser.add_value(0, "device", "IBDEV", "device (see doca_caps)", text_into(options.ibdev));
    parser.add_value(0, "pin", "A,B", "the first is this process's CPU; or none", cpus_into(options.cpus));
    return parser.parse(arguments, std::cout, std::cerr);
}

} // namespace

int run_connections_benchmark(std::span<char *const> arguments)
{
    ConnectionsOptions options;
    if (const auto status = parse_options(arguments, options))
        return *status;
    if (!options.cpus.empty())
        pin_to(options.cpus[0]);
    raise_descriptor_limit();
    const std::string ibdev = find_rdma_device(options.ibdev);
    const std::vector<Row> rows = ConnectionsBenchmark(ibdev, options.count).run();
    if (options.as_json || options.as_csv)
        print_json(rows, ibdev, options);
    else
        print_text(rows, ibdev, options);
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    return options.judges_bars && !std::ranges::all_of(rows, &Row::is_met) ? bar_missed : 0;
}

} // namespace opendoca::tools
