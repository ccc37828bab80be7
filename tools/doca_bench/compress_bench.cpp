// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench compress: jobs or tasks, the codec's function alone, and that function with the checksums that they
// compute, in turns on the same buffers.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doca_version.h>
#include <libdeflate.h>
#include <lz4.h>

#include "../common/options.hpp"
#include "../common/table.hpp"
#include "benchmark.hpp"
#include "compress_session.hpp"
#include "dma_result.hpp"
#include "doca_memory.hpp"
#include "latency.hpp"
#include "machine.hpp"
#include "measure.hpp"
#include "option_values.hpp"
#include "statistics.hpp"

namespace opendoca::tools {

namespace {

constexpr std::size_t max_size = std::size_t{64} << 20;
constexpr double bar_ratio = 0.97; ///< relative to the codec with checksums
constexpr int level = 1;           ///< of libdeflate, as libdoca_compress uses it

struct NamedOperation {
    const char *name;
    CompressOperation id;
};

constexpr NamedOperation operations[] = {{"deflate", CompressOperation::compress_deflate},
                                         {"inflate", CompressOperation::decompress_deflate},
                                         {"lz4", CompressOperation::decompress_lz4}};

struct CompressOptions {
    bool as_json = false;
    bool as_csv = false;
    bool judges_bars = false;
    std::string ibdev;
    std::vector<std::size_t> sizes = {4 << 10, 64 << 10, 1 << 20};
    std::vector<const NamedOperation *> operations;
    double seconds = 0.3;
    double patience = 0;
    int cpu = -1; ///< -1 for no pinning
};

struct CompressResult {
    const NamedOperation *operation;
    std::size_t size;        ///< bytes of content
    Summary task;            ///< nanoseconds
    Percentiles latency;     ///< of single tasks
    Summary codec;           ///< nanoseconds of the codec's function alone
    Summary codec_ratio;     ///< its time divided by the task's, in the same round
    Summary with_sums;       ///< nanoseconds of that function and the checksums
    Summary with_sums_ratio; ///< their time divided by the task's, in the same round
    bool was_disturbed = false;
};

struct FreeCodec {
    void operator()(libdeflate_compressor *codec) const noexcept { libdeflate_free_compressor(codec); }
    void operator()(libdeflate_decompressor *codec) const noexcept { libdeflate_free_decompressor(codec); }
};

/// The source of a case, its content, and room for the result.
struct Case {
    Case(CompressOperation operation, std::size_t size)
        : id(operation),
          content_size(size),
          compressor(libdeflate_alloc_compressor(level)),
          decompressor(libdeflate_alloc_decompressor())
    {
        std::vector<std::byte> content(size);
        std::uint32_t seed = 1;
        // Compresses to about a third, as text does.
        for (std::size_t i = 0; i < size; ++i) {
            seed = seed * 1664525 + 1013904223;
            content[i] = i > 64 && (seed >> 24) < 200 ? content[i - 1 - (seed >> 18) % 3 * 17]
                                                      : static_cast<std::byte>('a' + (seed >> 27) % 26);
        }
        const std::size_t bound = libdeflate_deflate_compress_bound(compressor.get(), size) + 1024;
        result.resize(id == CompressOperation::compress_deflate ? bound : size);
        source.resize(id == CompressOperation::compress_deflate ? size : std::max<std::size_t>(bound, 2 * size));
        if (id == CompressOperation::compress_deflate) {
            source = content;
        } else if (id == CompressOperation::decompress_deflate) {
            source.resize(
                libdeflate_deflate_compress(compressor.get(), content.data(), size, source.data(), source.size()));
        } else {
            source.resize(static_cast<std::size_t>(LZ4_compress_default(
                reinterpret_cast<const char *>(content.data()), reinterpret_cast<char *>(source.data()),
                static_cast<int>(size), static_cast<int>(source.size()))));
        }
    }

    CompressOperation id;
    std::size_t content_size;
    std::unique_ptr<libdeflate_compressor, FreeCodec> compressor;
    std::unique_ptr<libdeflate_decompressor, FreeCodec> decompressor;
    std::vector<std::byte> source;
    std::vector<std::byte> result;
};

/// The codec's function, with or without the checksums.
class Plain final : public Variant {
public:
    Plain(Case &work, bool has_sums) : work_(work), has_sums_(has_sums) {}

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            if (!run_codec())
                throw std::runtime_error("a codec has failed");
            if (has_sums_)
                sum_ = sum_ + checksums();
        }
    }

private:
    [[nodiscard]] bool run_codec()
    {
        const std::vector<std::byte> &in = work_.source;
        std::vector<std::byte> &out = work_.result;
        std::size_t length = 0, consumed = 0;
        switch (work_.id) {
        case CompressOperation::compress_deflate:
            return libdeflate_deflate_compress(work_.compressor.get(), in.data(), in.size(), out.data(), out.size()) !=
                   0;
        case CompressOperation::decompress_deflate:
            return libdeflate_deflate_decompress_ex(work_.decompressor.get(), in.data(), in.size(), out.data(),
                                                    out.size(), &consumed, &length) == LIBDEFLATE_SUCCESS;
        case CompressOperation::decompress_lz4:
            return LZ4_decompress_safe(reinterpret_cast<const char *>(in.data()), reinterpret_cast<char *>(out.data()),
                                       static_cast<int>(in.size()), static_cast<int>(out.size())) > 0;
        }
        return false;
    }
    [[nodiscard]] std::uint32_t checksums() const
    {
        const std::span<const std::byte> content(work_.id == CompressOperation::compress_deflate ? work_.source.data()
                                                                                                 : work_.result.data(),
                                                 work_.content_size);
        const std::uint32_t second = work_.id == CompressOperation::decompress_lz4
                                         ? second_lz4_checksum(content)
                                         : libdeflate_adler32(1, content.data(), content.size());
        return libdeflate_crc32(0, content.data(), content.size()) + second;
    }

    Case &work_;
    const bool has_sums_;
    volatile std::uint32_t sum_ = 0; ///< so that the checksums are computed
};

std::optional<int> parse(std::span<char *const> arguments, CompressOptions &options)
{
    std::vector<std::pair<std::string_view, const NamedOperation *>> choices;
    for (const NamedOperation &operation : operations) {
        choices.emplace_back(operation.name, &operation);
        options.operations.push_back(&operation);
    }
    const std::vector<int> allowed = allowed_cpus();
    options.cpu = allowed.empty() ? -1 : allowed.front();
    OptionParser parser("doca_bench compress", "Times compression from submit to the end, in turns with the codecs.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "bars", "measure what the project's performance bar asks for, and judge; status 3 if it fails",
                    options.judges_bars);
    parser.add_value(0, "device", "IBDEV", "device that compresses (see doca_caps)", text_into(options.ibdev));
    parser.add_value(0, "sizes", "LIST", "bytes of the content; default 4K,64K,1M",
                     sizes_into(options.sizes, max_size));
    parser.add_value(0, "operations", "LIST", "of deflate, inflate, lz4; default all",
                     choose_into(options.operations, std::move(choices)));
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
    return status;
}

doca_devinfo &choose(const DeviceList &devices, const std::string &ibdev)
{
    for (doca_devinfo *const info : devices.infos()) {
        if (can_compress(*info) && (ibdev.empty() || ibdev_of(*info) == ibdev))
            return *info;
    }
    throw std::runtime_error(ibdev.empty() ? "no device here can compress"
                                           : "no device '" + ibdev + "' can compress here");
}

CompressResult run_case(const CompressOptions &options, doca_dev *dev, const NamedOperation &operation,
                        std::size_t size)
{
    Case work(operation.id, size);
    const auto tasks = make_compress_loop(dev, work.id, work.source, work.result);
    Plain codec(work, false), with_sums(work, true);
    Variant *const variants[] = {tasks.get(), &codec, &with_sums};
    const Measurement m = measure(variants, {.seconds = options.seconds, .patience = options.patience});
    const auto ratio = [](double task, double plain) { return plain / task; };
    CompressResult result{&operation,
                          size,
                          summarize(m.nanoseconds[0]),
                          {},
                          summarize(m.nanoseconds[1]),
                          summarize_pairs(m.nanoseconds[0], m.nanoseconds[1], ratio),
                          summarize(m.nanoseconds[2]),
                          summarize_pairs(m.nanoseconds[0], m.nanoseconds[2], ratio),
                          m.was_disturbed};
    LatencyHistogram histogram;
    time_each(histogram, num_latency_samples(result.task.median, options.seconds), [&] { tasks->run(1); });
    result.latency = percentiles_of(histogram);
    return result;
}

double megabytes_per_second(const CompressResult &result)
{
    return static_cast<double>(result.size) * 1e3 / result.task.median;
}

bool meets_bar(const CompressResult &result)
{
    return result.with_sums_ratio.median >= bar_ratio;
}

std::string to_text(const std::vector<CompressResult> &results, bool judges)
{
    Table table({{"operation"},
                 {"size", Align::right},
                 {"ns", Align::right},
                 {"p50", Align::right},
                 {"p99", Align::right},
                 {"p99.9", Align::right},
                 {"MB/s", Align::right},
                 {"codec ns", Align::right},
                 {"ratio", Align::right},
                 {"with checksums ns", Align::right},
                 {"ratio", Align::right},
                 {""},
                 {"notes"}});
    for (const CompressResult &result : results) {
        table.add({result.operation->name, size_text(result.size), decimal(result.task.median, 0),
                   nanoseconds_text(result.latency.p50), nanoseconds_text(result.latency.p99),
                   nanoseconds_text(result.latency.p999), decimal(megabytes_per_second(result), 0),
                   decimal(result.codec.median, 0), decimal(result.codec_ratio.median, 3),
                   decimal(result.with_sums.median, 0), decimal(result.with_sums_ratio.median, 3),
                   !judges             ? ""
                   : meets_bar(result) ? "PASS"
                                       : "FAIL",
                   result.was_disturbed ? "disturbed by other processes" : ""});
    }
    return table.text();
}

Json to_json(const CompressResult &result, bool judges)
{
    Json json = Json::object();
    json.set("operation", result.operation->name)
        .set("bytes", result.size)
        .set("task_ns", to_json(result.task))
        .set("latency_ns", to_json(result.latency))
        .set("megabytes_per_second", megabytes_per_second(result))
        .set("codec_ns", to_json(result.codec))
        .set("codec_ratio", to_json(result.codec_ratio))
        .set("with_checksums_ns", to_json(result.with_sums))
        .set("with_checksums_ratio", to_json(result.with_sums_ratio))
        .set("disturbed", result.was_disturbed);
    if (judges)
        json.set("limit", bar_ratio).set("passed", meets_bar(result));
    return json;
}

} // namespace

int run_compress_benchmark(std::span<char *const> arguments)
{
    CompressOptions options;
    if (const auto status = parse(arguments, options))
        return *status;
    if (options.cpu != -1)
        pin_to(options.cpu);
    const DeviceList devices;
    doca_devinfo &info = choose(devices, options.ibdev);
    const DeviceHandle dev = open_device(info);
    std::vector<CompressResult> results;
    for (const NamedOperation *const operation : options.operations) {
        for (const std::size_t size : options.sizes) {
            results.push_back(run_case(options, dev.get(), *operation, size));
            std::cerr << '[' << results.size() << '/' << options.operations.size() * options.sizes.size() << "] "
                      << operation->name << ' ' << size_text(size) << ": " << results.back().task.median << " ns\n";
        }
    }
    if (options.as_json || options.as_csv) {
        Json rows = Json::array();
        for (const CompressResult &result : results)
            rows.add(to_json(result, options.judges_bars));
        Json json = Json::object();
        json.set("benchmark", "compress")
            .set("version", doca_version_runtime())
            .set("device", ibdev_of(info))
            .set("rows", std::move(rows))
            .set("machine", describe_machine());
        std::cout << (options.as_csv ? json.csv("rows") : json.text());
    } else {
        std::cout << "opendoca " << doca_version_runtime() << ", device " << ibdev_of(info) << ", "
                  << describe_machine_briefly() << "\n\n"
                  << to_text(results, options.judges_bars);
    }
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    return !options.judges_bars || std::ranges::all_of(results, meets_bar) ? 0 : bar_missed;
}

} // namespace opendoca::tools
