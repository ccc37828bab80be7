// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench ec: tasks of erasure coding and bare calls of ISA-L on the same blocks, in turns.
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

#include <doca_erasure_coding.h>
#include <doca_version.h>

#include "../../../src/erasure_coding/galois.hpp"
#include "../../../src/erasure_coding/matrix.hpp"
#include "../../common/options.hpp"
#include "../../common/table.hpp"
#include "../benchmark.hpp"
#include "../dma_result.hpp"
#include "../doca_memory.hpp"
#include "../latency.hpp"
#include "../machine.hpp"
#include "../measure.hpp"
#include "../option_values.hpp"
#include "../statistics.hpp"
#include "task_engine.hpp"

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

doca_devinfo &choose_coding_device(const DeviceList &devices, const std::string &ibdev)
{
    std::string known;
    for (doca_devinfo *const info : devices.infos()) {
        if (doca_ec_cap_task_create_is_supported(info) != DOCA_SUCCESS)
            continue;
        if (ibdev.empty() || ibdev_of(*info) == ibdev)
            return *info;
        known += ' ' + ibdev_of(*info);
    }
    throw std::runtime_error(known.empty()
                                 ? "no device here can do erasure coding"
                                 : "no device '" + ibdev + "' can do erasure coding here; these can:" + known);
}

/// The matrices and blocks of one row, for both ways.
struct EcCase {
    Matrix matrix; ///< the arithmetic is that of the library, so both ways have the same tables
    std::span<std::byte> source;
    std::span<std::byte> task_result;
    std::span<std::byte> bare_result;
    std::size_t size; ///< bytes of a block
};

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

/// A device that does erasure coding, and a running context.
class EcSession {
public:
    EcSession(const std::string &ibdev, std::size_t source_size, std::size_t result_size)
        : source_(source_size),
          task_result_(result_size),
          bare_result_(result_size)
    {
        for (std::size_t i = 0; i != source_size; ++i)
            source_[i] = static_cast<std::byte>((i * 131 + (i >> 8) * 29) & 0xff);
        {
            const DeviceList devices;
            doca_devinfo &info = choose_coding_device(devices, ibdev);
            ibdev_ = ibdev_of(info);
            dev_ = open_device(info);
        }
        source_map_ = start_map(dev_.get(), source_, api::local_rights);
        result_map_ = start_map(dev_.get(), task_result_, api::local_rights);
        inventory_ = start_inventory(2);
        doca_ec *ec = nullptr;
        must(doca_ec_create(dev_.get(), &ec), "creating an erasure coding object");
        ec_.reset(ec);
        must(doca_ec_task_galois_mul_set_conf(ec, multiplied, not_multiplied, 1), "configuring erasure coding");
        engine_.start(doca_ec_as_ctx(ec), 1);
    }
    EcSession(const EcSession &) = delete;
    EcSession &operator=(const EcSession &) = delete;
    ~EcSession()
    {
        std::vector<doca_task *> none; // loops have freed their tasks already
        engine_.stop(none);
    }

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    [[nodiscard]] EcCase make_case(Matrix matrix, std::size_t size)
    {
        const std::size_t source_size = matrix.num_inputs() * size, result_size = matrix.num_outputs() * size;
        return {std::move(matrix), std::span(source_).first(source_size), std::span(task_result_).first(result_size),
                std::span(bare_result_).first(result_size), size};
    }

private:
    friend class EcTaskLoop;

    static void multiplied(doca_ec_task_galois_mul *, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::ended(task_data, ctx_data);
    }
    static void not_multiplied(doca_ec_task_galois_mul *task, doca_data task_data, doca_data ctx_data)
    {
        TaskEngine::failed(doca_ec_task_galois_mul_as_task(task), task_data, ctx_data);
    }

    std::string ibdev_;
    std::vector<std::byte> source_, task_result_, bare_result_;
    DeviceHandle dev_;
    MmapHandle source_map_, result_map_;
    InventoryHandle inventory_;
    TaskEngine engine_;
    Handle<doca_ec, doca_ec_destroy> ec_; // destroyed before its engine
};

/// The same by a task that is submitted again and again.
class EcTaskLoop final : public Variant {
public:
    EcTaskLoop(EcSession &session, const EcCase &row) : engine_(session.engine_)
    {
        // The library's matrix has the coefficients of the first input first.
        const std::size_t k = row.matrix.num_inputs(), m = row.matrix.num_outputs();
        std::vector<std::uint8_t> raw(k * m);
        for (std::size_t j = 0; j != m; ++j) {
            for (std::size_t i = 0; i != k; ++i)
                raw[i * m + j] = row.matrix.row(j)[i];
        }
        must(doca_ec_matrix_create_from_raw(session.ec_.get(), raw.data(), k, m, &matrix_), "creating a matrix");
        must(api::take_buf(session.inventory_.get(), session.source_map_.get(), row.source.data(), row.source.size(),
                           row.source.size(), &source_),
             "taking a buffer");
        must(api::take_buf(session.inventory_.get(), session.result_map_.get(), row.task_result.data(),
                           row.task_result.size(), 0, &destination_),
             "taking a buffer");
        doca_ec_task_galois_mul *task = nullptr;
        must(doca_ec_task_galois_mul_allocate_init(session.ec_.get(), matrix_, source_, destination_, doca_data{},
                                                   &task),
             "allocating a task");
        task_ = doca_ec_task_galois_mul_as_task(task);
    }
    ~EcTaskLoop() override
    {
        doca_task_free(task_);
        (void)api::drop_buf(source_, nullptr);
        (void)api::drop_buf(destination_, nullptr);
        (void)doca_ec_matrix_destroy(matrix_);
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            must(doca_buf_reset_data_len(destination_), "resetting the destination");
            must(doca_task_submit(task_), "submitting a task");
            (void)engine_.retrieve([] {});
        }
    }

private:
    TaskEngine &engine_;
    doca_ec_matrix *matrix_ = nullptr;
    doca_buf *source_ = nullptr;
    doca_buf *destination_ = nullptr;
    doca_task *task_ = nullptr;
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
    EcTaskLoop tasks(session, row);
    BareCall bare(row);
    tasks.run(1);
    bare.run(1);
    if (!std::ranges::equal(row.task_result, row.bare_result))
        throw std::runtime_error("the result of a task is not that of ISA-L");
    Variant *const variants[] = {&tasks, &bare};
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
    time_each(histogram, num_latency_samples(result.task.median, options.seconds), [&] { tasks.run(1); });
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
    EcSession session(options.ibdev, options.num_data * largest, options.num_redundancy * largest);
    std::vector<EcResult> results;
    for (const Work work : {Work::create, Work::recover}) {
        for (const std::size_t size : options.sizes) {
            results.push_back(run_case(options, session, work, size));
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
            .set("device", session.ibdev())
            .set("rows", std::move(rows))
            .set("machine", describe_machine());
        std::cout << (options.as_csv ? json.csv("rows") : json.text());
    } else {
        std::cout << "opendoca " << doca_version_runtime() << ", device " << session.ibdev() << ", " << options.num_data
                  << " data blocks and " << options.num_redundancy << " redundancy blocks, "
                  << describe_machine_briefly() << "\n\n"
                  << to_text(results, options);
    }
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    return !options.judges_bars || std::ranges::all_of(results, meets_bar) ? 0 : bar_missed;
}

} // namespace opendoca::tools
