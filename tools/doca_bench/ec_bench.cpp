// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench ec: jobs or tasks of erasure coding and bare calls of ISA-L on the same blocks, in turns.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doca_version.h>

#include "../../src/erasure_coding/galois.hpp"
#include "../common/options.hpp"
#include "../common/table.hpp"
#include "benchmark.hpp"
#include "dma_result.hpp"
#include "doca_memory.hpp"
#include "ec_session.hpp"
#include "latency.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "option_values.hpp"
#include "statistics.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t max_data_size = std::size_t{1} << 30;
constexpr double ec_bar_ratio = 0.97; ///< relative to the bare call

/// What is measured: redundancy is created, or as many data blocks are recovered as there is redundancy.
enum class Work : std::uint8_t { create, recover };

const char *name_of(Work work)
{
    return work == Work::create ? "create" : "recover";
}

struct EcOptions {
    bool as_json = false;
    bool as_csv = false;
    bool judges_bars = false;
    std::string ibdev;
    std::vector<std::size_t> sizes = {4 << 10, 64 << 10, 1 << 20};
    std::uint32_t num_data = 4;
    std::uint32_t num_redundancy = 2;
    double seconds = 0.3;
    double patience = 0;
    int cpu = -1; ///< -1 for no pinning
};

struct EcResult {
    Work work;
    std::size_t size; ///< bytes of a block
    Summary task;     ///< nanoseconds
    Percentiles latency;
    Summary bare;  ///< nanoseconds of ISA-L's call
    Summary ratio; ///< the bare call's time divided by the task's, in the same round
    bool was_disturbed = false;
};

std::optional<int> parse(std::span<char *const> arguments, EcOptions &options)
{
    const std::vector<int> allowed = allowed_cpus();
    options.cpu = allowed.empty() ? -1 : allowed.front();
    OptionParser parser("doca_bench ec", "Times erasure coding from submit to the end, in turns with ISA-L.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "bars", "measure what the project's performance bar asks for, and judge; status 3 if it fails",
                    options.judges_bars);
    parser.add_value(0, "device", "IBDEV", "device that computes (see doca_caps)", text_into(options.ibdev));
    parser.add_value(0, "sizes", "LIST", "bytes of a block, multiples of 64; default 4K,64K,1M",
                     sizes_into(options.sizes, max_data_size));
    parser.add_value('k', "data", "COUNT", "data blocks; default 4", count_into(options.num_data, 1U, 128U));
    parser.add_value('m', "redundancy", "COUNT", "redundancy blocks; default 2",
                     count_into(options.num_redundancy, 1U, 32U));
    parser.add_value('t', "time", "SECONDS", "to spend on each row; default 0.3", seconds_into(options.seconds));
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
    if (options.judges_bars)
        options.sizes = {64 << 10, 1 << 20};
    for (const std::size_t size : options.sizes) {
        if (!status && (size % 64 != 0 || size > max_data_size / options.num_data))
            return parser.complain("a block has a multiple of 64 bytes, and all data blocks together at most 1 GiB",
                                   std::cerr);
    }
    return status;
}

/// A bare call of ISA-L's ec_encode_data().
class BareCall final : public Variant {
public:
    explicit BareCall(const EcCase &row) : row_(row)
    {
        for (std::size_t i = 0; i != row.matrix.num_inputs(); ++i)
            inputs_.push_back(&row.source[i * row.size]);
        for (std::size_t j = 0; j != row.matrix.num_outputs(); ++j)
            outputs_.push_back(&row.bare_result[j * row.size]);
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count)
            galois::multiply_blocks(row_.matrix.tables(), inputs_, outputs_, row_.size);
    }

private:
    const EcCase &row_;
    std::vector<std::byte *> inputs_;
    std::vector<std::byte *> outputs_;
};

/// Returns the matrix of the work. A recovery is that of as many data blocks as there is redundancy, or of all.
Matrix matrix_of(Work work, const EcOptions &options)
{
    std::optional<Matrix> matrix = Matrix::cauchy(options.num_data, options.num_redundancy);
    if (matrix && work == Work::recover) {
        std::vector<std::uint32_t> missing;
        for (std::uint32_t i = 0; i != std::min(options.num_data, options.num_redundancy); ++i)
            missing.push_back(i);
        matrix = matrix->for_recovery(missing);
    }
    if (!matrix)
        throw std::runtime_error("there is no such matrix");
    return std::move(*matrix);
}

EcResult run_case(const EcOptions &options, EcSession &session, Work work, std::size_t size)
{
    const EcCase row = session.make_case(matrix_of(work, options), size);
    const auto tasks = session.make_loop(row);
    BareCall bare(row);
    tasks->run(1);
    bare.run(1);
    if (!std::ranges::equal(row.device_result, row.bare_result))
        throw std::runtime_error("the result of the device is not that of ISA-L");
    Variant *const variants[] = {tasks.get(), &bare};
    const Measurement m = measure(variants, {.seconds = options.seconds, .patience = options.patience});
    EcResult result{
        work,
        size,
        summarize(m.nanoseconds[0]),
        {},
        summarize(m.nanoseconds[1]),
        summarize_pairs(m.nanoseconds[0], m.nanoseconds[1], [](double task, double plain) { return plain / task; }),
        m.was_disturbed};
    LatencyHistogram histogram;
    time_each(histogram, num_latency_samples(result.task.median, options.seconds), [&] { tasks->run(1); });
    result.latency = percentiles_of(histogram);
    return result;
}

/// Bytes of the source in a nanosecond.
double gigabytes_per_second(const EcResult &result, const EcOptions &options)
{
    return static_cast<double>(result.size * options.num_data) / result.task.median;
}

bool meets_bar(const EcResult &result)
{
    return result.ratio.median >= ec_bar_ratio;
}

std::string to_text(const std::vector<EcResult> &results, const EcOptions &options)
{
    Table table({{"work"},
                 {"block", Align::right},
                 {"ns", Align::right},
                 {"p50", Align::right},
                 {"p99", Align::right},
                 {"p99.9", Align::right},
                 {"GB/s", Align::right},
                 {"ISA-L ns", Align::right},
                 {"ratio", Align::right},
                 {""},
                 {"notes"}});
    for (const EcResult &result : results)
        table.add({name_of(result.work), size_text(result.size), decimal(result.task.median, 0),
                   nanoseconds_text(result.latency.p50), nanoseconds_text(result.latency.p99),
                   nanoseconds_text(result.latency.p999), decimal(gigabytes_per_second(result, options), 3),
                   decimal(result.bare.median, 0), decimal(result.ratio.median, 3),
                   !options.judges_bars ? ""
                   : meets_bar(result)  ? "PASS"
                                        : "FAIL",
                   result.was_disturbed ? "disturbed by other processes" : ""});
    return table.text();
}

Json to_json(const EcResult &result, const EcOptions &options)
{
    const auto json_of = [](const Summary &summary) {
        Json json = Json::object();
        json.set("median", summary.median).set("min", summary.min).set("max", summary.max);
        return json;
    };
    Json json = Json::object();
    json.set("work", name_of(result.work))
        .set("data_blocks", options.num_data)
        .set("redundancy_blocks", options.num_redundancy)
        .set("block_bytes", result.size)
        .set("task_ns", json_of(result.task))
        .set("latency_ns", to_json(result.latency))
        .set("gigabytes_per_second", gigabytes_per_second(result, options))
        .set("isal_ns", json_of(result.bare))
        .set("isal_ratio", json_of(result.ratio))
        .set("disturbed", result.was_disturbed);
    if (options.judges_bars)
        json.set("limit", ec_bar_ratio).set("passed", meets_bar(result));
    return json;
}

} // namespace

int run_ec_benchmark(std::span<char *const> arguments)
{
    EcOptions options;
    if (const auto status = parse(arguments, options))
        return *status;
    if (options.cpu != -1)
        pin_to(options.cpu);
    const std::size_t largest = std::ranges::max(options.sizes);
    const auto session = make_ec_session(options.ibdev, options.num_data * largest, options.num_redundancy * largest);
    std::vector<EcResult> results;
    for (const Work work : {Work::create, Work::recover}) {
        for (const std::size_t size : options.sizes) {
            results.push_back(run_case(options, *session, work, size));
            std::cerr << '[' << results.size() << '/' << 2 * options.sizes.size() << "] " << name_of(work) << ' '
                      << size_text(size) << ": " << results.back().task.median << " ns\n";
        }
    }
    if (options.as_json || options.as_csv) {
        Json rows = Json::array();
        for (const EcResult &result : results)
            rows.add(to_json(result, options));
        Json json = Json::object();
        json.set("benchmark", "ec")
            .set("version", doca_version_runtime())
            .set("device", session->ibdev())
            .set("rows", std::move(rows))
            .set("machine", describe_machine());
        std::cout << (options.as_csv ? json.csv("rows") : json.text());
    } else {
        std::cout << "opendoca " << doca_version_runtime() << ", device " << session->ibdev() << ", "
                  << options.num_data << " data blocks and " << options.num_redundancy << " redundancy blocks, "
                  << describe_machine_briefly() << "\n\n"
                  << to_text(results, options);
    }
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    return !options.judges_bars || std::ranges::all_of(results, meets_bar) ? 0 : bar_missed;
}

} // namespace opendoca::tools
