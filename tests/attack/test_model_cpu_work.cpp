// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compression and erasure coding of DOCA 2.2 by calls at random: see model.hpp. Short jobs complete within their submit
// and long ones later, in the order of submission. Some are flushed by doca_ctx_workq_rm().
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "../conformance/support/compress_fixture.hpp"
#include "../conformance/support/erasure_coding_fixture.hpp"
#include "model.hpp"
#include "queued_ctx.hpp"

namespace {

using namespace doca_test;

constexpr int job_types[] = {DOCA_COMPRESS_DEFLATE_JOB, DOCA_DECOMPRESS_DEFLATE_JOB, DOCA_DECOMPRESS_LZ4_JOB,
                             DOCA_EC_JOB_CREATE};
constexpr std::size_t num_types = std::size(job_types);
constexpr std::uint32_t depth = 4;
constexpr std::size_t num_blocks = 2; ///< of erasure coding, with one block of redundancy
/// Bytes of plaintext: within one submit, and two that are long for all job types but erasure coding, which takes the
/// middle one at once.
constexpr std::size_t sizes[] = {4096, std::size_t{320} << 10, std::size_t{1280} << 10};
constexpr std::size_t room = sizes[2] + (sizes[2] >> 3), short_room = 64;
constexpr std::size_t num_slots = num_workqs * depth;

struct Ctx : QueuedCtx {
    doca_ctx *ctx = nullptr;
    std::array<bool, num_workqs> is_flushing{}; ///< a removal of the work queue was refused: jobs may be flushed
};

struct Job {
    std::uint64_t number = 0;
    std::size_t type = 0, size = 0; ///< indices of job_types and sizes
    std::size_t slot = 0;           ///< of its result
    bool is_in_order = true;        ///< false for jobs that fail within their submit
    bool may_be_flushed = false;
    doca_error_t wanted = DOCA_SUCCESS; ///< its result, unless it is flushed
    BufHandle src, dst;
};

class CpuWorkModelTest : public DeviceTest, protected Model<doca_get_error_name> {
protected:
    void SetUp() override;

    [[nodiscard]] static bool is_coding(std::size_t type) { return job_types[type] == DOCA_EC_JOB_CREATE; }
    [[nodiscard]] Ctx &ctx_of(std::size_t type) { return ctxs[is_coding(type) ? 1 : 0]; }
    [[nodiscard]] std::byte *room_of(std::size_t slot) { return &results[slot * room]; }
    [[nodiscard]] static Bytes redundancy_of(const Bytes &plain);
    [[nodiscard]] std::size_t free_slot() const;
    void step();
    void do_ctx(Ctx &ctx);
    void submit(std::size_t type, std::size_t q);
    [[nodiscard]] doca_error_t submit_job(const Job &job, std::size_t q);
    void retrieve(std::size_t q);
    void check_result(const Job &job);
    void clean_up();

    Bytes results = Bytes(num_slots * room);
    std::array<std::uint64_t, num_slots> checksums{};
    std::vector<CompressSample> samples; ///< one of each size
    std::array<std::uint64_t, std::size(sizes)> sample_checksums{};
    std::array<std::array<Bytes, std::size(sizes)>, num_types> sources, expected;
    std::vector<LocalMap> source_maps;
    LocalMap result_map{dev, results};
    Inventory inventory{2 * num_slots + 2};
    CompressHandle compress;
    EcHandle ec;
    MatrixHandle matrix;
    std::array<Ctx, 2> ctxs; ///< of compression, and of erasure coding
    std::array<doca_workq *, num_workqs> workqs{};
    std::array<std::vector<Job>, num_workqs> jobs; ///< in flight, in the order of submission
    std::uint64_t num_jobs = 0, num_ends = 0, num_flushed = 0;
};

void CpuWorkModelTest::SetUp()
{
    for (doca_workq *&workq : workqs)
        must(doca_workq_create(depth, &workq));
    must(doca_compress_create(compress.out()));
    must(doca_ec_create(ec.out()));
    ctxs[0].ctx = doca_compress_as_ctx(compress);
    ctxs[1].ctx = doca_ec_as_ctx(ec);
    for (const Ctx &ctx : ctxs)
        must(doca_ctx_dev_add(ctx.ctx, dev));
    must(doca_ec_matrix_create(ec, DOCA_CODING_MATRIX_VANDERMONDE, num_blocks, 1, matrix.out()));
    for (std::size_t i = 0; i != std::size(sizes); ++i) {
        samples.emplace_back(text_of(sizes[i], static_cast<std::uint32_t>(seed)));
        const Bytes &plain = samples[i].plain;
        sample_checksums[i] = checksums_of(plain);
        for (std::size_t type = 0; type != num_types; ++type) {
            sources[type][i] = is_coding(type) ? plain : samples[i].source_of(job_types[type]);
            expected[type][i] = is_coding(type) ? redundancy_of(plain) : plain;
        }
        expected[0][i].clear(); // the first job defines how it is compressed
    }
    source_maps.reserve(num_types * std::size(sizes));
    for (auto &of_type : sources) {
        for (Bytes &source : of_type)
            source_maps.emplace_back(dev, source);
    }
}

Bytes CpuWorkModelTest::redundancy_of(const Bytes &plain)
{
    Blocks blocks(num_blocks, Block(plain.size() / num_blocks));
    for (std::size_t i = 0; i != num_blocks; ++i)
        std::memcpy(blocks[i].data(), &plain[i * blocks[i].size()], blocks[i].size());
    const Block sum = reference_blocks(reference_powers_of_two(num_blocks, 1), blocks)[0];
    Bytes bytes(sum.size());
    std::memcpy(bytes.data(), sum.data(), sum.size());
    return bytes;
}

void CpuWorkModelTest::do_ctx(Ctx &ctx)
{
    const std::size_t q = below(num_workqs);
    switch (below(8)) {
    case 0:
    case 1:
        if (answers("ctx_start", doca_ctx_start(ctx.ctx), unless(ctx.is_started, DOCA_ERROR_BAD_STATE)))
            ctx.is_started = true;
        break;
    case 2:
        if (one_in(4) && answers("ctx_stop", doca_ctx_stop(ctx.ctx), ctx.stop()))
            ctx.is_started = false;
        break;
    case 3:
        if (!one_in(3))
            break;
        if (answers("ctx_workq_rm", doca_ctx_workq_rm(ctx.ctx, workqs[q]), ctx.workq_rm(q))) {
            ctx.is_on[q] = false;
        } else if (ctx.workq_rm(q) == DOCA_ERROR_NOT_PERMITTED) {
            ctx.is_flushing[q] = true;
            for (Job &job : jobs[q])
                job.may_be_flushed |= &ctx_of(job.type) == &ctx;
        }
        break;
    case 4:
        if (ctx.is_started) {
            (void)answers("destroy", &ctx == &ctxs[0] ? doca_compress_destroy(compress) : doca_ec_destroy(ec),
                          DOCA_ERROR_IN_USE);
        }
        break;
    default:
        if (answers("ctx_workq_add", doca_ctx_workq_add(ctx.ctx, workqs[q]), ctx.workq_add(q)))
            ctx.is_on[q] = true;
    }
}

std::size_t CpuWorkModelTest::free_slot() const
{
    std::array<bool, num_slots> is_taken{};
    for (const std::vector<Job> &of_queue : jobs) {
        for (const Job &job : of_queue)
            is_taken[job.slot] = true;
    }
    return static_cast<std::size_t>(std::ranges::find(is_taken, false) - is_taken.begin());
}

doca_error_t CpuWorkModelTest::submit_job(const Job &job, std::size_t q)
{
    doca_job base = {};
    base.type = job_types[job.type];
    base.ctx = ctx_of(job.type).ctx;
    base.user_data.u64 = job.number;
    switch (base.type) {
    case DOCA_DECOMPRESS_LZ4_JOB: {
        const doca_compress_lz4_job lz4 = {base, job.dst, job.src, &checksums[job.slot]};
        return doca_workq_submit(workqs[q], &lz4.base);
    }
    case DOCA_EC_JOB_CREATE: {
        const doca_ec_job_create create = {base, matrix, job.src, job.dst};
        return doca_workq_submit(workqs[q], &create.base);
    }
    default:
        const doca_compress_deflate_job deflate = {base, job.dst, job.src, &checksums[job.slot]};
        return doca_workq_submit(workqs[q], &deflate.base);
    }
}

void CpuWorkModelTest::submit(std::size_t type, std::size_t q)
{
    Ctx &ctx = ctx_of(type);
    Job job;
    job.number = ++num_jobs;
    job.type = type;
    job.size = below(8) < 7 ? 0 : 1 + below(2);
    job.may_be_flushed = ctx.is_flushing[q];
    const bool is_full = jobs[q].size() == depth, has_data = !one_in(32), has_room = !one_in(16);
    // A queue that is full needs no memory for a result: the job is refused.
    job.slot = free_slot() == num_slots ? 0 : free_slot();
    Bytes &source = sources[type][job.size];
    job.src = inventory.with(source_maps[type * std::size(sizes) + job.size], source.data(), source.size(),
                             source.data(), has_data ? source.size() : 0);
    job.dst = inventory.empty(result_map, room_of(job.slot), has_room ? room : short_room);
    if (!has_data || !has_room) {
        job.wanted = DOCA_ERROR_IO_FAILED;
        job.is_in_order = !is_coding(type);
    }
    doca_error_t wanted = unless(!has_data && !is_coding(type), DOCA_ERROR_INVALID_VALUE);
    wanted = unless(wanted != DOCA_SUCCESS, wanted, unless(is_full, DOCA_ERROR_NO_MEMORY));
    const doca_error_t first = ctx.submit(q);
    if (!answers("workq_submit", submit_job(job, q), unless(first != DOCA_SUCCESS, first, wanted)))
        return;
    ++ctx.in_flight[q];
    jobs[q].push_back(std::move(job));
}

void CpuWorkModelTest::retrieve(std::size_t q)
{
    doca_event event = {};
    if (jobs[q].empty()) {
        (void)answers("progress_retrieve", doca_workq_progress_retrieve(workqs[q], &event, 0), DOCA_ERROR_AGAIN);
        return;
    }
    const doca_error_t status = wait_for(workqs[q], event);
    const auto result = static_cast<doca_error_t>(event.result.u64);
    const auto job = std::ranges::find(jobs[q], event.user_data.u64, &Job::number);
    if (job == jobs[q].end() || event.type != job_types[job->type])
        return complain("no such job");
    Ctx &ctx = ctx_of(job->type);
    (void)answers("progress_retrieve", status, unless(result != DOCA_SUCCESS, DOCA_ERROR_IO_FAILED));
    if (job->is_in_order && std::any_of(jobs[q].begin(), job, [&](const Job &earlier) {
            return earlier.is_in_order && &ctx_of(earlier.type) == &ctx;
        }))
        complain("a job has completed before an earlier one of its context");
    if (result == DOCA_ERROR_SHUTDOWN && job->may_be_flushed)
        ++num_flushed;
    else
        (void)answers("the job", result, job->wanted);
    if (result == DOCA_SUCCESS)
        check_result(*job);
    else if (data_len_of(job->dst) != 0)
        complain("a job has failed with a result");
    if (--ctx.in_flight[q] == 0)
        ctx.is_flushing[q] = false;
    ++num_ends;
    jobs[q].erase(job);
}

void CpuWorkModelTest::check_result(const Job &job)
{
    const std::byte *const result = room_of(job.slot);
    const std::size_t length = data_len_of(job.dst);
    Bytes &wanted = expected[job.type][job.size];
    if (wanted.empty()) {
        wanted.assign(result, result + length);
        samples[job.size].check(job_types[job.type], wanted, checksums[job.slot]);
    }
    if (length != wanted.size() || std::memcmp(result, wanted.data(), length) != 0)
        complain("another result");
    if (!is_coding(job.type)) {
        EXPECT_EQ(checksums[job.slot], sample_checksums[job.size]) << where();
    }
}

void CpuWorkModelTest::step()
{
    const std::size_t what = below(10);
    if (what < 2)
        do_ctx(ctxs[below(ctxs.size())]);
    else if (what < 6)
        submit(below(num_types), below(num_workqs));
    else
        retrieve(below(num_workqs));
}

/// In the order that always works.
void CpuWorkModelTest::clean_up()
{
    for (std::size_t q = 0; q != num_workqs; ++q) {
        while (!jobs[q].empty() && !HasFailure())
            retrieve(q);
    }
    EXPECT_EQ(doca_ec_matrix_destroy(matrix.release()), DOCA_SUCCESS);
    for (const Ctx &ctx : ctxs) {
        for (std::size_t q = 0; q != num_workqs; ++q) {
            if (ctx.is_on[q]) {
                EXPECT_EQ(doca_ctx_workq_rm(ctx.ctx, workqs[q]), DOCA_SUCCESS);
            }
        }
        if (ctx.is_started) {
            EXPECT_EQ(doca_ctx_stop(ctx.ctx), DOCA_SUCCESS);
        }
    }
    EXPECT_EQ(doca_compress_destroy(compress.release()), DOCA_SUCCESS);
    EXPECT_EQ(doca_ec_destroy(ec.release()), DOCA_SUCCESS);
    for (doca_workq *const workq : workqs) {
        EXPECT_EQ(doca_workq_destroy(workq), DOCA_SUCCESS);
    }
}

TEST_P(CpuWorkModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    std::printf("%llu jobs flushed\n", static_cast<unsigned long long>(num_flushed));
    tell(num_ends);
}

bool can_compress_and_code(doca_devinfo *info)
{
    return can_compress(info) && can_code(info);
}
INSTANTIATE_FOR_FEW_DEVICES(CpuWorkModelTest, can_compress_and_code);

} // namespace
