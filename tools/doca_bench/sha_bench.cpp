// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench sha: jobs or tasks, a loop of OpenSSL's functions, and the program `openssl speed`, measured in turns.
#include <algorithm>
#include <cstddef>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doca_version.h>

#include "../common/options.hpp"
#include "../common/table.hpp"
#include "benchmark.hpp"
#include "dma_result.hpp"
#include "latency.hpp"
#include "machine.hpp"
#include "openssl_speed.hpp"
#include "option_values.hpp"
#include "sha_session.hpp"
#include "statistics.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t max_size = std::size_t{1} << 30;
constexpr std::size_t bar_size = std::size_t{1} << 20; ///< message size of the bar
constexpr double bar_ratio = 0.97;                     ///< least speed relative to `openssl speed`

/// The command line.
struct ShaOptions {
    bool as_json = false;
    bool as_csv = false;
    bool judges_bars = false;
    std::string ibdev;
    std::vector<std::size_t> sizes = {64, 1 << 10, 16 << 10, 1 << 20};
    std::vector<const ShaAlgorithm *> algorithms;
    double seconds = 0.3;
    unsigned speed_rounds = 3;
    double patience = 0;
    int cpu = -1; ///< -1 for no pinning
};

/// The result of one row.
struct ShaResult {
    const ShaAlgorithm *algorithm;
    std::size_t size;
    Summary job;         ///< nanoseconds
    Percentiles latency; ///< of single jobs
    Summary loop;        ///< nanoseconds with OpenSSL's functions
    Summary loop_ratio;  ///< the loop's time divided by the job's, in the same round
    Summary speed;       ///< bytes a second of `openssl speed`; empty if it is not available
    Summary speed_ratio; ///< a job's bytes a second divided by those of `openssl speed`, in the same round
    bool was_disturbed = false;
};

/// Parses the command line. Returns an exit status if the program should end now.
std::optional<int> parse(std::span<char *const> arguments, ShaOptions &options)
{
    std::vector<std::pair<std::string_view, const ShaAlgorithm *>> choices;
    for (const ShaAlgorithm &algorithm : sha_algorithms()) {
        choices.emplace_back(algorithm.name, &algorithm);
        options.algorithms.push_back(&algorithm);
    }
    const std::vector<int> allowed = allowed_cpus();
    options.cpu = allowed.empty() ? -1 : allowed.front();
    OptionParser parser("doca_bench sha", "Times SHA from submit to the end, in turns with OpenSSL.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "bars", "measure what the project's performance bar asks for, and judge; status 3 if it fails",
                    options.judges_bars);
    parser.add_value(0, "device", "IBDEV", "device that hashes (see doca_caps)", text_into(options.ibdev));
    parser.add_value(0, "sizes", "LIST", "bytes of a message; default 64,1K,16K,1M",
                     sizes_into(options.sizes, max_size));
    parser.add_value(0, "algorithms", "LIST", "of sha1, sha256, sha512; default all",
                     choose_into(options.algorithms, std::move(choices)));
    parser.add_value('t', "time", "SECONDS", "to spend on each row beside openssl speed; default 0.3",
                     seconds_into(options.seconds));
    parser.add_value(0, "speed", "COUNT", "runs of openssl speed for each row, of a second each; default 3",
                     count_into(options.speed_rounds, 0U, 100U));
    parser.add_value('w', "wait", "SECONDS", "to wait at most until no other process runs",
                     seconds_into(options.patience));
    parser.add_value(0, "pin", "CPU", "to run on, or none", [&](std::string_view text) -> Complaint {
        const auto cpu = text == "none" ? std::optional(-1) : parse_number<int>(text);
        if (!cpu || (*cpu != -1 && !std::ranges::binary_search(allowed, *cpu)))
            return std::string(text) + " is not a CPU that this process may use, nor the word none";
        options.cpu = *cpu;
        return std::nullopt;
    });
    const auto status = parser.parse(arguments, std::cout, std::cerr);
    // The bar is about one size; --sizes does not apply.
    if (options.judges_bars)
        options.sizes = {bar_size};
    return status;
}

/// Runs `openssl speed`, with jobs for 0.3 seconds before and after each run, so that the ratio is of neighbouring
/// times.
void compare_with_speed(const ShaOptions &options, ShaLoop &jobs, ShaResult &result)
{
    std::vector<double> speeds, ratios;
    const auto count = static_cast<std::size_t>(0.3e9 / result.job.median) + 1;
    const auto rate_of_jobs = [&] {
        const double start = seconds_now();
        jobs.run(count);
        return static_cast<double>(count * result.size) / (seconds_now() - start);
    };
    for (unsigned i = 0; i < options.speed_rounds; ++i) {
        const double before = rate_of_jobs();
        const std::optional<double> speed = openssl_speed(result.algorithm->name, result.size, 1);
        if (!speed)
            break;
        speeds.push_back(*speed);
        ratios.push_back((before + rate_of_jobs()) / 2 / *speed);
    }
    result.speed = summarize(speeds);
    result.speed_ratio = summarize(ratios);
}

/// Measures one row, after comparing the digests of both sides.
ShaResult run_case(const ShaOptions &options, ShaSession &session, const ShaAlgorithm &algorithm, std::size_t size)
{
    const std::unique_ptr<ShaLoop> jobs_owner = session.make_loop(algorithm, size);
    ShaLoop &jobs = *jobs_owner;
    EvpLoop loop(algorithm, session.message().first(size));
    jobs.run(1);
    loop.run(1);
    if (jobs.digest() != loop.digest())
        throw std::runtime_error(std::string(algorithm.name) + ": the digest is not OpenSSL's");
    Variant *const variants[] = {&jobs, &loop};
    const Measurement m = measure(variants, {.seconds = options.seconds, .patience = options.patience});
    ShaResult result{
        &algorithm,
        size,
        summarize(m.nanoseconds[0]),
        {},
        summarize(m.nanoseconds[1]),
        summarize_pairs(m.nanoseconds[0], m.nanoseconds[1], [](double job, double plain) { return plain / job; }),
        {},
        {},
        m.was_disturbed};
    LatencyHistogram histogram;
    time_each(histogram, num_latency_samples(result.job.median, options.seconds), [&] { jobs.run(1); });
    result.latency = percentiles_of(histogram);
    compare_with_speed(options, jobs, result);
    return result;
}

/// Bytes per nanosecond are gigabytes (10^9 bytes) per second.
double gigabytes_per_second(const ShaResult &result)
{
    return static_cast<double>(result.size) / result.job.median;
}

/// Returns whether a row meets the bar; without `openssl speed` it does not.
bool meets_bar(const ShaResult &result)
{
    return result.speed_ratio.count != 0 && result.speed_ratio.median >= bar_ratio;
}

std::string to_text(const std::vector<ShaResult> &results, bool judges)
{
    Table table({{"digest"},
                 {"size", Align::right},
                 {"ns", Align::right},
                 {"p50", Align::right},
                 {"p99", Align::right},
                 {"p99.9", Align::right},
                 {"GB/s", Align::right},
                 {"EVP loop ns", Align::right},
                 {"ratio", Align::right},
                 {"openssl speed GB/s", Align::right},
                 {"ratio", Align::right},
                 {""},
                 {"notes"}});
    for (const ShaResult &result : results) {
        const bool has_speed = result.speed.count != 0;
        table.add({result.algorithm->name, size_text(result.size), decimal(result.job.median, 0),
                   nanoseconds_text(result.latency.p50), nanoseconds_text(result.latency.p99),
                   nanoseconds_text(result.latency.p999), decimal(gigabytes_per_second(result), 3),
                   decimal(result.loop.median, 0), decimal(result.loop_ratio.median, 3),
                   has_speed ? decimal(result.speed.median / 1e9, 3) : "-",
                   has_speed ? decimal(result.speed_ratio.median, 3) : "-",
                   !judges             ? ""
                   : meets_bar(result) ? "PASS"
                   : has_speed         ? "FAIL"
                                       : "not measured",
                   result.was_disturbed ? "disturbed by other processes" : ""});
    }
    return table.text();
}

Json to_json(const ShaResult &result, bool judges)
{
    const auto json_of = [](const Summary &summary) {
        if (summary.count == 0)
            return Json();
        Json json = Json::object();
        json.set("median", summary.median).set("min", summary.min).set("max", summary.max);
        return json;
    };
    Json json = Json::object();
    json.set("digest", result.algorithm->name)
        .set("bytes", result.size)
        .set("job_ns", json_of(result.job))
        .set("latency_ns", to_json(result.latency))
        .set("gigabytes_per_second", gigabytes_per_second(result))
        .set("evp_loop_ns", json_of(result.loop))
        .set("evp_loop_ratio", json_of(result.loop_ratio))
        .set("openssl_speed_bytes_per_second", json_of(result.speed))
        .set("openssl_speed_ratio", json_of(result.speed_ratio))
        .set("disturbed", result.was_disturbed);
    if (judges)
        json.set("limit", bar_ratio).set("passed", meets_bar(result));
    return json;
}

} // namespace

int run_sha_benchmark(std::span<char *const> arguments)
{
    ShaOptions options;
    if (const auto status = parse(arguments, options))
        return *status;
    if (options.cpu != -1)
        pin_to(options.cpu);
    const std::unique_ptr<ShaSession> session = make_sha_session(options.ibdev, std::ranges::max(options.sizes));
    std::vector<ShaResult> results;
    for (const ShaAlgorithm *const algorithm : options.algorithms) {
        for (const std::size_t size : options.sizes) {
            results.push_back(run_case(options, *session, *algorithm, size));
            std::cerr << '[' << results.size() << '/' << options.algorithms.size() * options.sizes.size() << "] "
                      << algorithm->name << ' ' << size_text(size) << ": " << results.back().job.median << " ns\n";
        }
    }
    if (options.as_json || options.as_csv) {
        Json rows = Json::array();
        for (const ShaResult &result : results)
            rows.add(to_json(result, options.judges_bars));
        Json json = Json::object();
        json.set("benchmark", "sha")
            .set("version", doca_version_runtime())
            .set("device", session->ibdev())
            .set("hardware", session->is_hardware())
            .set("rows", std::move(rows))
            .set("machine", describe_machine());
        std::cout << (options.as_csv ? json.csv("rows") : json.text());
    } else {
        std::cout << "opendoca " << doca_version_runtime() << ", device " << session->ibdev() << ", "
                  << describe_machine_briefly() << "\n\n"
                  << to_text(results, options.judges_bars);
    }
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    return !options.judges_bars || std::ranges::all_of(results, meets_bar) ? 0 : bar_missed;
}

} // namespace opendoca::tools
