// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Calls at random, in any order, against a model of the states of maps, buffers, work queues and DMA contexts: each
// call answers what the model says, and memory holds what the model's does.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../conformance/support/dma_fixture.hpp"
#include "model.hpp"
#include "queued_ctx.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_maps = 3, num_bufs = 8, num_ctxs = 2;
constexpr std::size_t size = 2048;
constexpr std::uint32_t depth = 3, num_elements = 6;

struct Map {
    doca_mmap *mmap = nullptr;
    bool has_range = false, has_device = false, is_started = false;
    std::uint32_t num_bufs = 0;
    std::vector<std::byte> memory = std::vector<std::byte>(size);
    std::vector<std::byte> expected = std::vector<std::byte>(size);
};

struct Buf {
    doca_buf *buf = nullptr;
    std::size_t map = 0, head = 0, len = 0, data = 0, data_len = 0;
    bool is_in_flight = false;

    [[nodiscard]] std::size_t tailroom() const { return head + len - data - data_len; }
};

struct Ctx : QueuedCtx {
    doca_dma *dma = nullptr;
    bool has_device = false;
};

struct Job {
    std::size_t ctx, dst, src;
    std::uint64_t number;
};

class ModelTest : public DeviceTest, protected Model<doca_get_error_name> {
protected:
    void SetUp() override
    {
        must(doca_buf_inventory_create(nullptr, num_elements, DOCA_BUF_EXTENSION_NONE, &inventory));
        for (doca_workq *&workq : workqs)
            must(doca_workq_create(depth, &workq));
    }

    void step();
    void do_map(Map &map);
    void do_buf(Buf &buf);
    void take(Buf &buf);
    void do_ctx(Ctx &ctx);
    void do_workq(std::size_t q);
    void submit(std::size_t q);
    void retrieve(std::size_t q);
    void compare();
    void clean_up();

    bool inventory_is_started = false;
    doca_buf_inventory *inventory = nullptr;
    std::array<Map, num_maps> maps;
    std::array<Buf, num_bufs> bufs;
    std::array<Ctx, num_ctxs> ctxs;
    std::array<doca_workq *, num_workqs> workqs{};
    std::array<std::vector<Job>, num_workqs> jobs;
    std::uint64_t num_jobs = 0;
};

void ModelTest::do_map(Map &map)
{
    if (map.mmap == nullptr) {
        if (answers("mmap_create", doca_mmap_create(nullptr, &map.mmap), DOCA_SUCCESS))
            map.has_range = map.has_device = map.is_started = false;
        return;
    }
    switch (below(7)) {
    case 0:
        if (answers("mmap_dev_add", doca_mmap_dev_add(map.mmap, dev),
                    unless(map.is_started, DOCA_ERROR_NOT_PERMITTED, unless(map.has_device, DOCA_ERROR_IN_USE))))
            map.has_device = true;
        break;
    case 1:
        if (below(4) == 0 && answers("mmap_dev_rm", doca_mmap_dev_rm(map.mmap, dev),
                                     unless(map.is_started, DOCA_ERROR_NOT_PERMITTED,
                                            unless(!map.has_device, DOCA_ERROR_INVALID_VALUE))))
            map.has_device = false;
        break;
    case 2:
        if (answers("mmap_set_memrange", doca_mmap_set_memrange(map.mmap, map.memory.data(), size),
                    unless(map.is_started, DOCA_ERROR_BAD_STATE, unless(map.has_range, DOCA_ERROR_NOT_PERMITTED))))
            map.has_range = true;
        break;
    case 3:
        (void)answers("mmap_set_permissions", doca_mmap_set_permissions(map.mmap, DOCA_ACCESS_LOCAL_READ_WRITE),
                      unless(map.is_started, DOCA_ERROR_BAD_STATE));
        break;
    case 4: {
        const bool was_started = map.is_started;
        if (answers("mmap_start", doca_mmap_start(map.mmap),
                    unless(was_started, DOCA_ERROR_BAD_STATE, unless(!map.has_range, DOCA_ERROR_INVALID_VALUE))))
            map.is_started = true;
        break;
    }
    case 5:
        if (below(3) == 0 &&
            answers("mmap_stop", doca_mmap_stop(map.mmap),
                    unless(!map.is_started, DOCA_ERROR_BAD_STATE, unless(map.num_bufs != 0, DOCA_ERROR_NOT_PERMITTED))))
            map.is_started = false;
        break;
    default:
        if (below(4) == 0 &&
            answers("mmap_destroy", doca_mmap_destroy(map.mmap), unless(map.num_bufs != 0, DOCA_ERROR_NOT_PERMITTED)))
            map.mmap = nullptr;
    }
}

void ModelTest::take(Buf &buf)
{
    const std::size_t m = below(num_maps);
    Map &map = maps[m];
    if (map.mmap == nullptr)
        return;
    const std::size_t head = below(size), len = below(size), data = head + below(len + 1);
    const std::size_t data_len = below(4) == 0 ? below(size) : below(head + len - data + 1);
    std::uint32_t taken = 0;
    for (const Buf &each : bufs)
        taken += each.buf != nullptr;
    const bool is_outside = head + len > size || data + data_len > head + len;
    std::byte *const base = map.memory.data();
    if (answers("buf_by_args",
                doca_buf_inventory_buf_by_args(inventory, map.mmap, base + head, len, base + data, data_len, &buf.buf),
                unless(!inventory_is_started || !map.is_started, DOCA_ERROR_NOT_PERMITTED,
                       unless(is_outside, DOCA_ERROR_INVALID_VALUE,
                              unless(taken == num_elements, DOCA_ERROR_NO_MEMORY))))) {
        buf = {buf.buf, m, head, len, data, data_len, false};
        ++map.num_bufs;
    } else {
        EXPECT_EQ(buf.buf, nullptr) << "the output of a failed call";
    }
}

void ModelTest::do_buf(Buf &buf)
{
    if (buf.buf == nullptr)
        return take(buf);
    if (buf.is_in_flight)
        return;
    switch (below(3)) {
    case 0: {
        const std::size_t data = buf.head + below(buf.len + 1), data_len = below(buf.head + buf.len - data + 1);
        if (answers("buf_set_data", doca_buf_set_data(buf.buf, maps[buf.map].memory.data() + data, data_len),
                    DOCA_SUCCESS)) {
            buf.data = data;
            buf.data_len = data_len;
        }
        break;
    }
    case 1:
        if (answers("buf_reset_data_len", doca_buf_reset_data_len(buf.buf), DOCA_SUCCESS))
            buf.data_len = 0;
        break;
    default:
        EXPECT_EQ(data_len_of(buf.buf), buf.data_len) << where();
        if (answers("buf_refcount_rm", doca_buf_refcount_rm(buf.buf, nullptr), DOCA_SUCCESS)) {
            --maps[buf.map].num_bufs;
            buf.buf = nullptr;
        }
    }
}

void ModelTest::do_ctx(Ctx &ctx)
{
    if (ctx.dma == nullptr) {
        if (answers("dma_create", doca_dma_create(&ctx.dma), DOCA_SUCCESS))
            ctx = {{}, ctx.dma, false};
        return;
    }
    doca_ctx *const base = doca_dma_as_ctx(ctx.dma);
    switch (below(6)) {
    case 0:
        if (answers("ctx_dev_add", doca_ctx_dev_add(base, dev),
                    unless(ctx.is_started, DOCA_ERROR_BAD_STATE, unless(ctx.has_device, DOCA_ERROR_IN_USE))))
            ctx.has_device = true;
        break;
    case 1:
        if (below(4) == 0 &&
            answers("ctx_dev_rm", doca_ctx_dev_rm(base, dev),
                    unless(ctx.is_started, DOCA_ERROR_BAD_STATE, unless(!ctx.has_device, DOCA_ERROR_NOT_FOUND))))
            ctx.has_device = false;
        break;
    case 2:
    case 3:
        if (answers("ctx_start", doca_ctx_start(base),
                    unless(ctx.is_started, DOCA_ERROR_BAD_STATE, unless(!ctx.has_device, DOCA_ERROR_INVALID_VALUE))))
            ctx.is_started = true;
        break;
    case 4:
        if (below(4) == 0 && answers("ctx_stop", doca_ctx_stop(base), ctx.stop()))
            ctx.is_started = false;
        break;
    default:
        if (below(8) == 0 && !ctx.is_started && answers("dma_destroy", doca_dma_destroy(ctx.dma), DOCA_SUCCESS))
            ctx.dma = nullptr;
    }
}

void ModelTest::do_workq(std::size_t q)
{
    Ctx &ctx = ctxs[below(num_ctxs)];
    if (ctx.dma == nullptr)
        return;
    doca_ctx *const base = doca_dma_as_ctx(ctx.dma);
    if (below(3) != 0) {
        if (answers("ctx_workq_add", doca_ctx_workq_add(base, workqs[q]), ctx.workq_add(q)))
            ctx.is_on[q] = true;
    } else if (answers("ctx_workq_rm", doca_ctx_workq_rm(base, workqs[q]), ctx.workq_rm(q))) {
        ctx.is_on[q] = false;
    }
}

void ModelTest::submit(std::size_t q)
{
    const std::size_t c = below(num_ctxs), d = below(num_bufs), s = below(num_bufs);
    Ctx &ctx = ctxs[c];
    Buf &dst = bufs[d], &src = bufs[s];
    if (ctx.dma == nullptr || dst.buf == nullptr || src.buf == nullptr || dst.map == src.map)
        return;
    for (const Buf &each : bufs) { // what is in flight is not touched by another job
        if (each.is_in_flight && (each.map == dst.map || each.map == src.map))
            return;
    }
    const bool overwrites = dst.tailroom() == 0;
    const std::size_t room = overwrites ? dst.data_len : dst.tailroom();
    const doca_dma_job_memcpy job = memcpy_job(doca_dma_as_ctx(ctx.dma), dst.buf, src.buf, ++num_jobs);
    const bool lacks_device = !maps[src.map].has_device || !maps[dst.map].has_device;
    if (!answers("workq_submit", doca_workq_submit(workqs[q], &job.base),
                 unless(ctx.submit(q) != DOCA_SUCCESS, ctx.submit(q),
                        unless(lacks_device || src.data_len > room, DOCA_ERROR_INVALID_VALUE,
                               unless(jobs[q].size() == depth, DOCA_ERROR_NO_MEMORY)))))
        return;
    const std::size_t at = dst.data + (overwrites ? 0 : dst.data_len);
    const auto from = maps[src.map].expected.begin() + static_cast<std::ptrdiff_t>(src.data);
    std::copy(from, from + static_cast<std::ptrdiff_t>(src.data_len),
              maps[dst.map].expected.begin() + static_cast<std::ptrdiff_t>(at));
    dst.data_len = overwrites ? src.data_len : dst.data_len + src.data_len;
    dst.is_in_flight = src.is_in_flight = true;
    ++ctx.in_flight[q];
    jobs[q].push_back({c, d, s, num_jobs});
}

void ModelTest::retrieve(std::size_t q)
{
    doca_event event = {};
    if (jobs[q].empty()) {
        (void)answers("progress_retrieve", doca_workq_progress_retrieve(workqs[q], &event, 0), DOCA_ERROR_AGAIN);
        return;
    }
    if (!answers("progress_retrieve", wait_for(workqs[q], event), DOCA_SUCCESS))
        return;
    const auto job = std::ranges::find(jobs[q], event.user_data.u64, &Job::number);
    ASSERT_NE(job, jobs[q].end()) << where();
    EXPECT_EQ(event.result.u64, std::uint64_t{DOCA_SUCCESS});
    bufs[job->dst].is_in_flight = bufs[job->src].is_in_flight = false;
    --ctxs[job->ctx].in_flight[q];
    jobs[q].erase(job);
}

void ModelTest::step()
{
    switch (below(15)) {
    case 0:
    case 1:
    case 2:
        return do_map(maps[below(num_maps)]);
    case 3:
    case 4:
    case 5:
        return do_buf(bufs[below(num_bufs)]);
    case 6:
    case 7:
        return do_ctx(ctxs[below(num_ctxs)]);
    case 8:
        return do_workq(below(num_workqs));
    case 9:
        inventory_is_started = below(4) != 0;
        (void)answers("inventory_start or _stop",
                      inventory_is_started ? doca_buf_inventory_start(inventory) : doca_buf_inventory_stop(inventory),
                      DOCA_SUCCESS);
        return;
    case 10:
    case 11:
        return retrieve(below(num_workqs));
    default:
        return submit(below(num_workqs));
    }
}

void ModelTest::compare()
{
    for (const Map &map : maps)
        ASSERT_TRUE(map.memory == map.expected) << where();
}

/// In the order that always works.
void ModelTest::clean_up()
{
    for (std::size_t q = 0; q < num_workqs; ++q) {
        while (!jobs[q].empty() && !HasFatalFailure())
            retrieve(q);
    }
    const auto expect_success = [](doca_error_t status) { EXPECT_EQ(status, DOCA_SUCCESS); };
    for (Ctx &ctx : ctxs) {
        if (ctx.dma == nullptr)
            continue;
        for (std::size_t q = 0; q < num_workqs; ++q) {
            if (ctx.is_on[q])
                expect_success(doca_ctx_workq_rm(doca_dma_as_ctx(ctx.dma), workqs[q]));
        }
        if (ctx.is_started)
            expect_success(doca_ctx_stop(doca_dma_as_ctx(ctx.dma)));
        expect_success(doca_dma_destroy(ctx.dma));
    }
    for (doca_workq *const workq : workqs)
        expect_success(doca_workq_destroy(workq));
    for (const Buf &buf : bufs) {
        if (buf.buf != nullptr)
            expect_success(doca_buf_refcount_rm(buf.buf, nullptr));
    }
    for (const Map &map : maps) {
        if (map.mmap != nullptr)
            expect_success(doca_mmap_destroy(map.mmap));
    }
    expect_success(doca_buf_inventory_destroy(inventory));
}

TEST_P(ModelTest, CallsAndResultsMatchTheModel)
{
    for (Map &map : maps) {
        for (std::size_t i = 0; i < size; ++i)
            map.memory[i] = map.expected[i] = static_cast<std::byte>(random());
    }
    run([&] {
        step();
        if (jobs[0].empty() && jobs[1].empty())
            compare();
    });
    clean_up();
    tell(num_jobs);
}
INSTANTIATE_FOR_DEVICES(ModelTest, can_copy);

} // namespace
