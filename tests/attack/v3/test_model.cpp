// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Calls of DOCA 3.0 at random, in any order, against a model of the states of engines, contexts and tasks: each call
// answers what the model says, callbacks come for what is in flight and for nothing else, and memory holds what the
// model's does.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "../../conformance/v3/objects.hpp"
#include "../model.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_engines = 2, num_ctxs = 3, num_slots = 4;
constexpr std::size_t slot_size = 512;

class ModelTest;

/// A task, with bytes to copy of its own.
struct Slot {
    ModelTest *test = nullptr;
    std::size_t ctx = 0, index = 0;
    doca_dma_task_memcpy *task = nullptr;
    doca_buf *src = nullptr, *dst = nullptr;
    std::size_t length = 0;
    bool is_in_flight = false;
    bool will_fail = false; ///< the destination has no room

    [[nodiscard]] doca_task *as_task() const { return doca_dma_task_memcpy_as_task(task); }
};

struct Ctx {
    ModelTest *test = nullptr;
    doca_dma *dma = nullptr;
    int engine = -1;         ///< that it is connected to
    std::uint32_t count = 0; ///< of its tasks
    doca_ctx_states state = DOCA_CTX_STATE_IDLE;
    std::array<Slot, num_slots> slots;

    [[nodiscard]] doca_ctx *base() const { return doca_dma_as_ctx(dma); }
    [[nodiscard]] std::uint32_t num_allocated() const
    {
        return static_cast<std::uint32_t>(
            std::ranges::count_if(slots, [](const Slot &s) { return s.task != nullptr; }));
    }
    [[nodiscard]] std::size_t num_in_flight() const
    {
        return static_cast<std::size_t>(std::ranges::count_if(slots, [](const Slot &s) { return s.is_in_flight; }));
    }
};

class ModelTest : public testing::TestWithParam<std::string>, protected Model<doca_error_get_name> {
protected:
    void SetUp() override
    {
        for (std::size_t c = 0; c != num_ctxs; ++c) {
            ctxs[c].test = this;
            for (std::size_t i = 0; i != num_slots; ++i) {
                ctxs[c].slots[i].test = this;
                ctxs[c].slots[i].ctx = c;
                ctxs[c].slots[i].index = i;
            }
        }
        for (std::byte &each : from)
            each = static_cast<std::byte>(random());
        expected = to;
    }

    void step();
    void do_engine(std::size_t e);
    void do_ctx(Ctx &ctx);
    void stop(Ctx &ctx);
    void do_slot(Ctx &ctx, Slot &slot);
    void alloc(Ctx &ctx, Slot &slot);
    void free(Slot &slot);
    void progress(std::size_t e);
    void compare();
    void clean_up();

    template <bool Succeeded>
    static void ended(doca_dma_task_memcpy *, doca_data task_data, doca_data)
    {
        auto &slot = *static_cast<Slot *>(task_data.ptr);
        slot.test->end(slot, Succeeded);
    }
    void end(Slot &slot, bool has_succeeded);
    static void changed(const doca_data data, doca_ctx *, doca_ctx_states before, doca_ctx_states next)
    {
        auto &ctx = *static_cast<Ctx *>(data.ptr);
        ctx.test->change(ctx, before, next);
    }
    void change(Ctx &ctx, doca_ctx_states before, doca_ctx_states next);

    std::uint64_t num_ends = 0;
    bool is_in_progress = false, has_task_failed = false;
    int num_callbacks = 0;
    std::vector<std::byte> from = std::vector<std::byte>(num_ctxs * num_slots * slot_size);
    std::vector<std::byte> to = std::vector<std::byte>(from.size());
    std::vector<std::byte> expected;
    DevHandle dev = open_device(GetParam());
    MmapHandle from_map = map_of(dev, from), to_map = map_of(dev, to);
    InventoryHandle inventory = inventory_of(2 * num_ctxs * num_slots);
    std::array<doca_pe *, num_engines> engines{};
    std::array<Ctx, num_ctxs> ctxs;
};

void ModelTest::end(Slot &slot, bool has_succeeded)
{
    ++num_callbacks;
    ++num_ends;
    if (!is_in_progress || !slot.is_in_flight)
        complain("a callback of a task that is not in flight, or outside of doca_pe_progress()");
    slot.is_in_flight = false;
    const doca_ctx_states state = ctxs[slot.ctx].state;
    if (has_succeeded != (doca_task_get_status(slot.as_task()) == DOCA_SUCCESS) || (has_succeeded && slot.will_fail) ||
        (!has_succeeded && !slot.will_fail && state != DOCA_CTX_STATE_STOPPING))
        complain("a task has ended otherwise than it had to");
    has_task_failed = has_task_failed || !has_succeeded;
    EXPECT_EQ(data_len_of(slot.dst), has_succeeded ? slot.length : 0);
    if (has_succeeded) {
        const auto at = static_cast<std::ptrdiff_t>((slot.ctx * num_slots + slot.index) * slot_size);
        std::copy_n(from.begin() + at, slot.length, expected.begin() + at);
    }
}

void ModelTest::change(Ctx &ctx, doca_ctx_states before, doca_ctx_states next)
{
    ++num_callbacks;
    if (before != ctx.state || state_of(ctx.base()) != next)
        complain("a context changes from a state that it does not have");
    if (next == DOCA_CTX_STATE_IDLE && (ctx.num_allocated() != 0 || ctx.num_in_flight() != 0))
        complain("a context is idle that has tasks");
    ctx.state = next;
}

void ModelTest::do_engine(std::size_t e)
{
    if (engines[e] == nullptr) {
        (void)answers("pe_create", doca_pe_create(&engines[e]), DOCA_SUCCESS);
        return;
    }
    const bool is_used = std::ranges::any_of(
        ctxs, [&](const Ctx &ctx) { return ctx.dma != nullptr && ctx.engine == static_cast<int>(e); });
    if (below(4) == 0 && answers("pe_destroy", doca_pe_destroy(engines[e]), unless(is_used, DOCA_ERROR_IN_USE)))
        engines[e] = nullptr;
}

void ModelTest::do_ctx(Ctx &ctx)
{
    if (ctx.dma == nullptr) {
        if (answers("dma_create", doca_dma_create(dev, &ctx.dma), DOCA_SUCCESS)) {
            ctx.engine = -1;
            ctx.count = 0;
            ctx.state = DOCA_CTX_STATE_IDLE;
            must(doca_ctx_set_user_data(ctx.base(), {.ptr = &ctx}));
            must(doca_ctx_set_state_changed_cb(ctx.base(), changed));
        }
        return;
    }
    const bool is_idle = ctx.state == DOCA_CTX_STATE_IDLE;
    switch (below(8)) {
    case 0: {
        const auto count = static_cast<std::uint32_t>(1 + below(num_slots));
        if (answers("set_conf", doca_dma_task_memcpy_set_conf(ctx.dma, ended<true>, ended<false>, count),
                    unless(!is_idle, DOCA_ERROR_BAD_STATE)))
            ctx.count = count;
        break;
    }
    case 1: {
        const std::size_t e = below(num_engines);
        if (engines[e] != nullptr && answers("pe_connect_ctx", doca_pe_connect_ctx(engines[e], ctx.base()),
                                             unless(ctx.engine >= 0, DOCA_ERROR_NOT_PERMITTED)))
            ctx.engine = static_cast<int>(e);
        break;
    }
    case 2:
    case 3:
        if (ctx.count == 0 && is_idle)
            break; // there would be no task
        if (answers("ctx_start", doca_ctx_start(ctx.base()),
                    unless(!is_idle, DOCA_ERROR_BAD_STATE, unless(ctx.engine < 0, DOCA_ERROR_NOT_CONNECTED)))) {
            EXPECT_EQ(ctx.state, DOCA_CTX_STATE_RUNNING);
        }
        break;
    case 4:
        if (below(4) == 0)
            stop(ctx);
        break;
    case 5: {
        std::size_t count = 99;
        if (answers("get_num_inflight", doca_ctx_get_num_inflight_tasks(ctx.base(), &count), DOCA_SUCCESS)) {
            EXPECT_EQ(count, ctx.num_in_flight()) << where();
        }
        break;
    }
    case 6:
        EXPECT_EQ(state_of(ctx.base()), ctx.state) << where();
        break;
    default:
        if (below(6) == 0 && answers("dma_destroy", doca_dma_destroy(ctx.dma), unless(!is_idle, DOCA_ERROR_IN_USE)))
            ctx.dma = nullptr;
    }
}

void ModelTest::stop(Ctx &ctx)
{
    const bool is_idle = ctx.state == DOCA_CTX_STATE_IDLE;
    const bool has_tasks = ctx.num_allocated() != 0 || ctx.state == DOCA_CTX_STATE_STOPPING;
    (void)answers(
        "ctx_stop", doca_ctx_stop(ctx.base()),
        unless(ctx.engine < 0, DOCA_ERROR_NOT_CONNECTED, unless(!is_idle && has_tasks, DOCA_ERROR_IN_PROGRESS)));
    if (ctx.engine >= 0 && !is_idle) {
        EXPECT_EQ(ctx.state, has_tasks ? DOCA_CTX_STATE_STOPPING : DOCA_CTX_STATE_IDLE);
    }
}

void ModelTest::alloc(Ctx &ctx, Slot &slot)
{
    const std::size_t offset = (slot.ctx * num_slots + slot.index) * slot_size;
    slot.length = 1 + below(slot_size);
    slot.will_fail = below(200) == 0;
    must(doca_buf_inventory_buf_get_by_data(inventory, from_map, &from[offset], slot.length, &slot.src));
    must(doca_buf_inventory_buf_get_by_addr(inventory, to_map, &to[offset],
                                            slot.will_fail ? slot.length - 1 : slot.length, &slot.dst));
    slot.will_fail = slot.will_fail && slot.length > 1;
    if (answers("alloc_init", doca_dma_task_memcpy_alloc_init(ctx.dma, slot.src, slot.dst, {.ptr = &slot}, &slot.task),
                unless(ctx.state != DOCA_CTX_STATE_RUNNING, DOCA_ERROR_BAD_STATE,
                       unless(ctx.num_allocated() == ctx.count, DOCA_ERROR_NO_MEMORY))))
        return;
    EXPECT_EQ(slot.task, nullptr) << "the output of a failed call";
    must(doca_buf_dec_refcount(slot.src, nullptr));
    must(doca_buf_dec_refcount(slot.dst, nullptr));
}

void ModelTest::free(Slot &slot)
{
    doca_task_free(slot.as_task());
    slot.task = nullptr;
    must(doca_buf_dec_refcount(slot.src, nullptr));
    must(doca_buf_dec_refcount(slot.dst, nullptr));
}

void ModelTest::do_slot(Ctx &ctx, Slot &slot)
{
    if (ctx.dma == nullptr || slot.is_in_flight)
        return;
    if (slot.task == nullptr)
        return alloc(ctx, slot);
    if (below(4) == 0)
        return free(slot);
    must(doca_buf_reset_data_len(slot.dst));
    if (answers("task_submit", doca_task_submit(slot.as_task()),
                unless(ctx.state != DOCA_CTX_STATE_RUNNING, DOCA_ERROR_BAD_STATE)))
        slot.is_in_flight = true;
}

/// Of a software device what is in flight ends at once; of others some time.
void ModelTest::progress(std::size_t e)
{
    if (engines[e] == nullptr)
        return;
    std::size_t in_flight = 0, may_end = 0;
    std::array<doca_ctx_states, num_ctxs> before{};
    for (std::size_t c = 0; c != num_ctxs; ++c) {
        before[c] = ctxs[c].state;
        if (ctxs[c].dma == nullptr || ctxs[c].engine != static_cast<int>(e))
            continue;
        in_flight += ctxs[c].num_in_flight();
        may_end += ctxs[c].state == DOCA_CTX_STATE_STOPPING && ctxs[c].num_allocated() == 0;
    }
    std::size_t told = 99;
    if (answers("pe_get_num_inflight", doca_pe_get_num_inflight_tasks(engines[e], &told), DOCA_SUCCESS)) {
        EXPECT_EQ(told, in_flight) << where();
    }
    num_callbacks = 0;
    has_task_failed = false;
    is_in_progress = true;
    const bool has_progressed = doca_pe_progress(engines[e]) != 0;
    is_in_progress = false;
    if (num_callbacks != 0 ? !has_progressed : has_progressed && is_soft(GetParam()))
        complain("progress is what callbacks tell of");
    if (!has_progressed && (may_end != 0 || (in_flight != 0 && is_soft(GetParam()))))
        complain("there was something to do");
    for (std::size_t c = 0; c != num_ctxs; ++c) {
        if (before[c] == DOCA_CTX_STATE_RUNNING && ctxs[c].state != before[c] && !has_task_failed)
            complain("a context that nothing has failed of stops by itself");
    }
}

void ModelTest::step()
{
    Ctx &ctx = ctxs[below(num_ctxs)];
    switch (below(12)) {
    case 0:
        return do_engine(below(num_engines));
    case 1:
    case 2:
        return do_ctx(ctx);
    case 3:
    case 4:
    case 5:
        return progress(below(num_engines));
    default:
        return do_slot(ctx, ctx.slots[below(num_slots)]);
    }
}

void ModelTest::compare()
{
    ASSERT_TRUE(to == expected) << where();
}

/// In the order that always works.
void ModelTest::clean_up()
{
    for (Ctx &ctx : ctxs) {
        while (ctx.dma != nullptr && ctx.num_in_flight() != 0 && !HasFatalFailure())
            progress(static_cast<std::size_t>(ctx.engine));
        for (Slot &slot : ctx.slots) {
            if (slot.task != nullptr)
                free(slot);
        }
        if (ctx.dma == nullptr)
            continue;
        if (ctx.state == DOCA_CTX_STATE_RUNNING)
            stop(ctx);
        while (ctx.state != DOCA_CTX_STATE_IDLE && !HasFailure())
            progress(static_cast<std::size_t>(ctx.engine));
        EXPECT_EQ(doca_dma_destroy(ctx.dma), DOCA_SUCCESS);
    }
    for (doca_pe *const engine : engines) {
        if (engine != nullptr) {
            EXPECT_EQ(doca_pe_destroy(engine), DOCA_SUCCESS);
        }
    }
}

TEST_P(ModelTest, CallsAndResultsMatchTheModel)
{
    run([&] {
        step();
        if (std::ranges::all_of(ctxs, [](const Ctx &ctx) { return ctx.num_in_flight() == 0; }))
            compare();
    });
    clean_up();
    tell(num_ends);
}
INSTANTIATE_FOR_COPYING_DEVICES(ModelTest);

} // namespace
