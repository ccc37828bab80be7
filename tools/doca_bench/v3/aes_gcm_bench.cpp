// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// doca_bench aes_gcm: encryptions and decryptions by tasks, in turns with a loop of OpenSSL's functions that uses a
// prepared context.
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

#include <doca_aes_gcm.h>
#include <doca_version.h>
#include <openssl/evp.h>

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

constexpr std::size_t max_gcm_text = std::size_t{64} << 20;
constexpr std::size_t gcm_bar_sizes[] = {std::size_t{4} << 10, std::size_t{64} << 10, std::size_t{1} << 20};
// Next to the loop of OpenSSL's functions: of short texts the time counts that a task adds, of others the ratio.
constexpr std::size_t gcm_short_text = std::size_t{4} << 10;
constexpr double gcm_bar_added = 150; ///< nanoseconds
constexpr double gcm_bar_ratio = 0.97;
constexpr std::size_t gcm_tag = 16;
constexpr std::uint8_t gcm_iv[12] = {1, 2, 3};
constexpr std::uint8_t gcm_raw_key[32] = {4, 5, 6};

struct GcmOptions {
    bool as_json = false;
    bool as_csv = false;
    bool judges_bars = false;
    std::string ibdev;
    std::vector<std::size_t> sizes = {64, 4 << 10, 64 << 10, 1 << 20};
    double seconds = 0.3;
    double patience = 0;
    int cpu = -1; ///< -1 for no pinning
};

struct GcmCase {
    const char *name;
    std::size_t key_size; ///< bytes
    bool encrypts;
};

constexpr GcmCase gcm_cases[] = {{"encrypt, 128 bits", 16, true},
                                 {"decrypt, 128 bits", 16, false},
                                 {"encrypt, 256 bits", 32, true},
                                 {"decrypt, 256 bits", 32, false}};

struct GcmResult {
    const GcmCase *which;
    std::size_t size;
    Summary task;        ///< nanoseconds
    Percentiles latency; ///< of single tasks
    Summary loop;        ///< nanoseconds with OpenSSL's functions
    Summary ratio;       ///< the loop's time divided by the task's, in the same round
    Summary added;       ///< nanoseconds of the task less those of the loop, in the same round
    bool was_disturbed = false;
};

/// A device with AES-GCM, mapped memory, and a running context.
class GcmSession {
public:
    GcmSession(const std::string &ibdev, std::size_t largest);
    GcmSession(const GcmSession &) = delete;
    GcmSession &operator=(const GcmSession &) = delete;
    ~GcmSession()
    {
        std::vector<doca_task *> none; // loops have freed their tasks already
        engine_.stop(none);
    }

    [[nodiscard]] const std::string &ibdev() const noexcept { return ibdev_; }
    [[nodiscard]] doca_aes_gcm *gcm() const noexcept { return gcm_.get(); }
    [[nodiscard]] TaskEngine &engine() noexcept { return engine_; }
    [[nodiscard]] std::span<std::byte> source() noexcept { return source_; }
    [[nodiscard]] std::span<std::byte> result() noexcept { return result_; }
    [[nodiscard]] doca_buf *buffer(bool of_source, std::size_t size, std::size_t data);

private:
    std::string ibdev_;
    std::vector<std::byte> source_;
    std::vector<std::byte> result_;
    DeviceHandle dev_;
    MmapHandle source_map_;
    MmapHandle result_map_;
    InventoryHandle inventory_;
    TaskEngine engine_;
    Handle<doca_aes_gcm, doca_aes_gcm_destroy> gcm_; // destroyed before its engine
};

void encrypted(doca_aes_gcm_task_encrypt *, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::ended(task_data, ctx_data);
}

void not_encrypted(doca_aes_gcm_task_encrypt *task, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::failed(doca_aes_gcm_task_encrypt_as_task(task), task_data, ctx_data);
}

void decrypted(doca_aes_gcm_task_decrypt *, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::ended(task_data, ctx_data);
}

void not_decrypted(doca_aes_gcm_task_decrypt *task, doca_data task_data, doca_data ctx_data)
{
    TaskEngine::failed(doca_aes_gcm_task_decrypt_as_task(task), task_data, ctx_data);
}

doca_devinfo &choose_for_gcm(const DeviceList &devices, const std::string &ibdev)
{
    std::string found;
    for (doca_devinfo *const info : devices.infos()) {
        if (doca_aes_gcm_cap_task_encrypt_is_supported(info) != DOCA_SUCCESS)
            continue;
        if (ibdev.empty() || ibdev_of(*info) == ibdev)
            return *info;
        found += ' ' + ibdev_of(*info);
    }
    throw std::runtime_error(found.empty() ? "no device here supports AES-GCM"
                                           : "no device '" + ibdev + "' supports AES-GCM here; these do:" + found);
}

GcmSession::GcmSession(const std::string &ibdev, std::size_t largest)
    : source_(largest + gcm_tag),
      result_(largest + gcm_tag)
{
    {
        const DeviceList devices;
        doca_devinfo &info = choose_for_gcm(devices, ibdev);
        ibdev_ = ibdev_of(info);
        dev_ = open_device(info);
    }
    source_map_ = start_map(dev_.get(), source_, api::local_rights);
    result_map_ = start_map(dev_.get(), result_, api::local_rights);
    inventory_ = start_inventory(2);
    doca_aes_gcm *gcm = nullptr;
    must(doca_aes_gcm_create(dev_.get(), &gcm), "creating an AES-GCM object");
    gcm_.reset(gcm);
    must(doca_aes_gcm_task_encrypt_set_conf(gcm, encrypted, not_encrypted, 1), "configuring encryption");
    must(doca_aes_gcm_task_decrypt_set_conf(gcm, decrypted, not_decrypted, 1), "configuring decryption");
    engine_.start(doca_aes_gcm_as_ctx(gcm), 1);
}

doca_buf *GcmSession::buffer(bool of_source, std::size_t size, std::size_t data)
{
    doca_buf *buf = nullptr;
    std::byte *const at = of_source ? source_.data() : result_.data();
    must(doca_buf_inventory_buf_get_by_args(inventory_.get(), of_source ? source_map_.get() : result_map_.get(), at,
                                            size, at, data, &buf),
         "taking a buffer");
    return buf;
}

/// Encrypts or decrypts by tasks, one after the other.
class GcmTaskLoop final : public Variant {
public:
    GcmTaskLoop(GcmSession &session, const GcmCase &which, std::size_t size) : engine_(session.engine())
    {
        const std::size_t from = which.encrypts ? size : size + gcm_tag;
        const std::size_t to = which.encrypts ? size + gcm_tag : size;
        source_ = session.buffer(true, from, from);
        result_ = session.buffer(false, to, 0);
        doca_aes_gcm_key *key = nullptr;
        must(doca_aes_gcm_key_create(session.gcm(), gcm_raw_key,
                                     which.key_size == 16 ? DOCA_AES_GCM_KEY_128 : DOCA_AES_GCM_KEY_256, &key),
             "creating a key");
        key_.reset(key);
        if (which.encrypts) {
            doca_aes_gcm_task_encrypt *task = nullptr;
            must(doca_aes_gcm_task_encrypt_alloc_init(session.gcm(), source_, result_, key, gcm_iv, sizeof(gcm_iv),
                                                      gcm_tag, 0, doca_data{}, &task),
                 "allocating a task");
            task_ = doca_aes_gcm_task_encrypt_as_task(task);
        } else {
            doca_aes_gcm_task_decrypt *task = nullptr;
            must(doca_aes_gcm_task_decrypt_alloc_init(session.gcm(), source_, result_, key, gcm_iv, sizeof(gcm_iv),
                                                      gcm_tag, 0, doca_data{}, &task),
                 "allocating a task");
            task_ = doca_aes_gcm_task_decrypt_as_task(task);
        }
    }
    ~GcmTaskLoop() override
    {
        doca_task_free(task_);
        (void)doca_buf_dec_refcount(source_, nullptr);
        (void)doca_buf_dec_refcount(result_, nullptr);
    }

    void run(std::size_t count) override
    {
        for (; count != 0; --count) {
            must(doca_buf_reset_data_len(result_), "resetting the destination");
            must(doca_task_submit(task_), "submitting a task");
            (void)engine_.retrieve([] {});
        }
    }

private:
    TaskEngine &engine_;
    Handle<doca_aes_gcm_key, doca_aes_gcm_key_destroy> key_;
    doca_buf *source_ = nullptr;
    doca_buf *result_ = nullptr;
    doca_task *task_ = nullptr;
};

/// Does the same with OpenSSL's functions, on the same memory.
class GcmEvpLoop final : public Variant {
public:
    GcmEvpLoop(GcmSession &session, const GcmCase &which, std::size_t size)
        : source_(reinterpret_cast<unsigned char *>(session.source().data())),
          result_(reinterpret_cast<unsigned char *>(session.result().data())),
          size_(static_cast<int>(size)),
          encrypts_(which.encrypts),
          context_(EVP_CIPHER_CTX_new())
    {
        const EVP_CIPHER *const cipher = which.key_size == 16 ? EVP_aes_128_gcm() : EVP_aes_256_gcm();
        check(EVP_CipherInit_ex2(context_.get(), cipher, gcm_raw_key, nullptr, encrypts_ ? 1 : 0, nullptr));
    }

    void run(std::size_t count) override
    {
        unsigned char nothing[gcm_tag];
        int length = 0;
        for (; count != 0; --count) {
            check(EVP_CipherInit_ex2(context_.get(), nullptr, nullptr, gcm_iv, encrypts_ ? 1 : 0, nullptr));
            check(EVP_CipherUpdate(context_.get(), result_, &length, source_, size_));
            if (!encrypts_)
                check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_SET_TAG, gcm_tag, source_ + size_));
            check(EVP_CipherFinal_ex(context_.get(), nothing, &length));
            if (encrypts_)
                check(EVP_CIPHER_CTX_ctrl(context_.get(), EVP_CTRL_AEAD_GET_TAG, gcm_tag, result_ + size_));
        }
    }

private:
    struct Free {
        void operator()(EVP_CIPHER_CTX *context) const noexcept { EVP_CIPHER_CTX_free(context); }
    };
    static void check(int status)
    {
        if (status != 1)
            throw std::runtime_error("OpenSSL has failed");
    }

    unsigned char *source_;
    unsigned char *result_;
    int size_;
    bool encrypts_;
    std::unique_ptr<EVP_CIPHER_CTX, Free> context_;
};

std::optional<int> parse(std::span<char *const> arguments, GcmOptions &options)
{
    const std::vector<int> allowed = allowed_cpus();
    options.cpu = allowed.empty() ? -1 : allowed.front();
    OptionParser parser("doca_bench aes_gcm", "Times AES-GCM from submit to the end, in turns with OpenSSL.");
    parser.add_flag(0, "json", "print JSON", options.as_json);
    parser.add_flag(0, "csv", "print comma-separated values, a line for each row", options.as_csv);
    parser.add_flag(0, "bars", "measure what the project's performance bar asks for, and judge; status 3 if it fails",
                    options.judges_bars);
    parser.add_value(0, "device", "IBDEV", "device that encrypts (see doca_caps)", text_into(options.ibdev));
    parser.add_value(0, "sizes", "LIST", "bytes of a text; default 64,4K,64K,1M",
                     sizes_into(options.sizes, max_gcm_text));
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
        options.sizes.assign(std::begin(gcm_bar_sizes), std::end(gcm_bar_sizes));
    return status;
}

/// Prepares the source: any text for an encryption, and what OpenSSL makes of it for a decryption.
void fill_source(GcmSession &session, const GcmCase &which, std::size_t size)
{
    for (std::size_t i = 0; i < size; ++i)
        session.source()[i] = static_cast<std::byte>((i * 131 + (i >> 8) * 29) & 0xff);
    if (which.encrypts)
        return;
    GcmEvpLoop(session, {which.name, which.key_size, true}, size).run(1);
    std::ranges::copy(session.result().first(size + gcm_tag), session.source().begin());
}

GcmResult run_case(const GcmOptions &options, GcmSession &session, const GcmCase &which, std::size_t size)
{
    fill_source(session, which, size);
    GcmTaskLoop tasks(session, which, size);
    GcmEvpLoop loop(session, which, size);
    loop.run(1);
    const std::vector<std::byte> expected(session.result().begin(), session.result().end());
    std::ranges::fill(session.result().first(size), std::byte{0});
    tasks.run(1);
    if (!std::ranges::equal(expected, session.result()))
        throw std::runtime_error(std::string(which.name) + ": the result is not OpenSSL's");
    Variant *const variants[] = {&tasks, &loop};
    const Measurement m = measure(variants, {.seconds = options.seconds, .patience = options.patience});
    GcmResult result{
        &which,
        size,
        summarize(m.nanoseconds[0]),
        {},
        summarize(m.nanoseconds[1]),
        summarize_pairs(m.nanoseconds[0], m.nanoseconds[1], [](double task, double plain) { return plain / task; }),
        summarize_pairs(m.nanoseconds[0], m.nanoseconds[1], [](double task, double plain) { return task - plain; }),
        m.was_disturbed};
    LatencyHistogram histogram;
    time_each(histogram, num_latency_samples(result.task.median, options.seconds), [&] { tasks.run(1); });
    result.latency = percentiles_of(histogram);
    return result;
}

double gigabytes_per_second(const GcmResult &result)
{
    return static_cast<double>(result.size) / result.task.median;
}

bool meets_gcm_bar(const GcmResult &result)
{
    return result.size <= gcm_short_text ? result.added.median <= gcm_bar_added : result.ratio.median >= gcm_bar_ratio;
}

std::string to_text(const std::vector<GcmResult> &results, bool judges)
{
    Table table({{"task"},
                 {"size", Align::right},
                 {"ns", Align::right},
                 {"p50", Align::right},
                 {"p99", Align::right},
                 {"p99.9", Align::right},
                 {"GB/s", Align::right},
                 {"EVP loop ns", Align::right},
                 {"added ns", Align::right},
                 {"ratio", Align::right},
                 {""},
                 {"notes"}});
    for (const GcmResult &result : results) {
        table.add({result.which->name, size_text(result.size), decimal(result.task.median, 0),
                   nanoseconds_text(result.latency.p50), nanoseconds_text(result.latency.p99),
                   nanoseconds_text(result.latency.p999), decimal(gigabytes_per_second(result), 3),
                   decimal(result.loop.median, 0), decimal(result.added.median, 0), decimal(result.ratio.median, 3),
                   !judges                 ? ""
                   : meets_gcm_bar(result) ? "PASS"
                                           : "FAIL",
                   result.was_disturbed ? "disturbed by other processes" : ""});
    }
    return table.text();
}

Json to_json(const GcmResult &result, bool judges)
{
    const auto json_of = [](const Summary &summary) {
        Json json = Json::object();
        json.set("median", summary.median).set("min", summary.min).set("max", summary.max);
        return json;
    };
    Json json = Json::object();
    json.set("task", result.which->encrypts ? "encrypt" : "decrypt")
        .set("key_bits", 8 * result.which->key_size)
        .set("bytes", result.size)
        .set("job_ns", json_of(result.task))
        .set("latency_ns", to_json(result.latency))
        .set("gigabytes_per_second", gigabytes_per_second(result))
        .set("evp_loop_ns", json_of(result.loop))
        .set("evp_loop_ratio", json_of(result.ratio))
        .set("added_ns", json_of(result.added))
        .set("disturbed", result.was_disturbed);
    if (judges) {
        if (result.size <= gcm_short_text)
            json.set("limit_ns", gcm_bar_added);
        else
            json.set("limit", gcm_bar_ratio);
        json.set("passed", meets_gcm_bar(result));
    }
    return json;
}

} // namespace

int run_aes_gcm_benchmark(std::span<char *const> arguments)
{
    GcmOptions options;
    if (const auto status = parse(arguments, options))
        return *status;
    if (options.cpu != -1)
        pin_to(options.cpu);
    GcmSession session(options.ibdev, std::ranges::max(options.sizes));
    std::vector<GcmResult> results;
    for (const GcmCase &which : gcm_cases) {
        for (const std::size_t size : options.sizes) {
            results.push_back(run_case(options, session, which, size));
            std::cerr << '[' << results.size() << '/' << std::size(gcm_cases) * options.sizes.size() << "] "
                      << which.name << ' ' << size_text(size) << ": " << results.back().task.median << " ns\n";
        }
    }
    if (options.as_json || options.as_csv) {
        Json rows = Json::array();
        for (const GcmResult &result : results)
            rows.add(to_json(result, options.judges_bars));
        Json json = Json::object();
        json.set("benchmark", "aes_gcm")
            .set("version", doca_version_runtime())
            .set("device", session.ibdev())
            .set("rows", std::move(rows))
            .set("machine", describe_machine());
        std::cout << (options.as_csv ? json.csv("rows") : json.text());
    } else {
        std::cout << "opendoca " << doca_version_runtime() << ", device " << session.ibdev() << ", "
                  << describe_machine_briefly() << "\n\n"
                  << to_text(results, options.judges_bars);
    }
    std::cout.flush();
    if (!std::cout.good())
        return benchmark_failed;
    return !options.judges_bars || std::ranges::all_of(results, meets_gcm_bar) ? 0 : bar_missed;
}

} // namespace opendoca::tools
