// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs over a context that does what the test says: full, slow, failing, or with a structure as its result.
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include <poll.h>

#include <doca_graph.h>

#include <gtest/gtest.h>

#include "../../src/core/v2/ctx.hpp"
#include "../../src/core/v2/workq.hpp"

namespace {

using opendoca::CompletionQueue;
using opendoca::Operation;
using opendoca::v2::JobQueue;

constexpr int job_type = 4711;

/// Where a job's result goes, if its event points there.
struct Result {
    int answer;
    doca_error_t error;
};

class FakeQueue final : public JobQueue, public opendoca::Source {
public:
    explicit FakeQueue(doca_workq &workq) : completions_(workq.completions) {}

    doca_error_t submit(const doca_job &job) noexcept override { return submit_tagged(job, opendoca::v2::tag_of(job)); }
    doca_error_t submit_tagged(const doca_job &, opendoca::Tag tag) noexcept override
    {
        ++num_submits;
        if (refusal != DOCA_SUCCESS)
            return refusal;
        if (ends_at_once) {
            if (completions_.is_full())
                return DOCA_ERROR_NO_MEMORY;
            completions_.done(tag, *this, result);
            return DOCA_SUCCESS;
        }
        if (completions_.num_outstanding(*this) == room || completions_.is_full())
            return DOCA_ERROR_NO_MEMORY;
        pending.push_back(&completions_.begin(tag, *this));
        return DOCA_SUCCESS;
    }
    opendoca::Source &source() noexcept override { return *this; }
    void write_result(int type, doca_error_t status, const opendoca::Result &details,
                      doca_event &event) const noexcept override
    {
        if (!has_structures)
            JobQueue::write_result(type, status, details, event);
        else if (event.result.ptr != nullptr)
            *static_cast<Result *>(event.result.ptr) = {42, status};
    }

    void end_one(doca_error_t how = DOCA_SUCCESS)
    {
        completions_.done(*pending.front(), how);
        pending.pop_front();
    }

    std::uint32_t room = 1;
    bool ends_at_once = false;
    bool has_structures = false;
    doca_error_t refusal = DOCA_SUCCESS;
    doca_error_t result = DOCA_SUCCESS;
    int num_submits = 0;
    std::deque<Operation *> pending;

private:
    CompletionQueue &completions_;
};

struct FakeCtx final : doca_ctx {
    ~FakeCtx() override = default;
    FakeQueue *queue = nullptr;

protected:
    doca_error_t check_device(const doca_dev &, const std::vector<doca_dev *> &) const override { return DOCA_SUCCESS; }
    doca_error_t on_start(const std::vector<doca_dev *> &) override { return DOCA_SUCCESS; }
    bool can_be_event_driven(const std::vector<doca_dev *> &) const override { return true; }
    doca_error_t create_queue(const std::vector<doca_dev *> &, doca_workq &workq,
                              std::unique_ptr<JobQueue> &made) override
    {
        auto fake = std::make_unique<FakeQueue>(workq);
        queue = fake.get();
        made = std::move(fake);
        return DOCA_SUCCESS;
    }
};

doca_error_t count_call(void *cookie, doca_event *)
{
    ++*static_cast<int *>(cookie);
    return DOCA_SUCCESS;
}

class GraphContexts : public testing::Test {
protected:
    void SetUp() override
    {
        ASSERT_EQ(ctx.start(), DOCA_SUCCESS);
        ASSERT_EQ(ctx.workq_add(workq), DOCA_SUCCESS);
        ASSERT_EQ(doca_graph_create(&graph), DOCA_SUCCESS);
        ASSERT_EQ(doca_graph_create(&inner), DOCA_SUCCESS);
    }
    void TearDown() override
    {
        for (doca_graph_instance *const instance : instances)
            EXPECT_EQ(doca_graph_instance_destroy(instance), DOCA_SUCCESS);
        EXPECT_EQ(doca_graph_workq_rm(graph, &workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_graph_stop(graph), DOCA_SUCCESS);
        EXPECT_EQ(doca_graph_destroy(graph), DOCA_SUCCESS);
        (void)doca_graph_stop(inner);
        EXPECT_EQ(doca_graph_destroy(inner), DOCA_SUCCESS);
        EXPECT_EQ(ctx.workq_rm(workq), DOCA_SUCCESS);
        EXPECT_EQ(ctx.stop(), DOCA_SUCCESS);
    }

    doca_graph_node *add_job(doca_graph *to)
    {
        doca_graph_node *node = nullptr;
        EXPECT_EQ(doca_graph_ctx_node_create(to, job_type, &ctx, &node), DOCA_SUCCESS);
        return node;
    }
    doca_graph_node *add_user(doca_graph *to)
    {
        doca_graph_node *node = nullptr;
        EXPECT_EQ(doca_graph_user_node_create(to, count_call, &node), DOCA_SUCCESS);
        return node;
    }
    void start()
    {
        ASSERT_EQ(doca_graph_start(graph), DOCA_SUCCESS);
        ASSERT_EQ(doca_graph_workq_add(graph, &workq), DOCA_SUCCESS);
    }
    doca_graph_instance *instance_of(doca_graph *of, const std::vector<doca_graph_node *> &nodes,
                                     doca_event *copies = nullptr)
    {
        doca_graph_instance *instance = nullptr;
        EXPECT_EQ(doca_graph_instance_create(of, &instance), DOCA_SUCCESS);
        for (doca_graph_node *const node : nodes) {
            if (doca_graph_instance_set_ctx_node_data(instance, node, &job, copies) != DOCA_SUCCESS) {
                EXPECT_EQ(doca_graph_instance_set_user_node_data(instance, node, &num_calls, nullptr), DOCA_SUCCESS);
            }
        }
        instances.insert(instances.begin(), instance);
        return instance;
    }
    doca_error_t submit(doca_graph_instance *instance) { return doca_workq_graph_submit(&workq, instance, {.u64 = 7}); }
    /// What retrieve says. AGAIN leaves the event alone.
    doca_error_t retrieve()
    {
        event = {.type = 1, .user_data = {}, .result = {}};
        const doca_error_t status = doca_workq_progress_retrieve(&workq, &event, 0);
        EXPECT_EQ(event.type == 1, status == DOCA_ERROR_AGAIN);
        return status;
    }
    std::uint64_t result_of(doca_graph_instance *instance, doca_graph_node *node)
    {
        doca_data result = {};
        EXPECT_EQ(doca_graph_instance_node_get_result(instance, node, &result), DOCA_SUCCESS);
        return result.u64;
    }
    doca_graph_instance_node_state state_of(doca_graph_instance *instance, doca_graph_node *node)
    {
        doca_graph_instance_node_state state = DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED;
        EXPECT_EQ(doca_graph_instance_node_get_state(instance, node, &state), DOCA_SUCCESS);
        return state;
    }
    FakeQueue &queue() { return *ctx.queue; }

    FakeCtx ctx;
    doca_workq workq{16};
    doca_graph *graph = nullptr;
    doca_graph *inner = nullptr;
    doca_job job{job_type, 0, &ctx, {.u64 = 99}};
    std::vector<doca_graph_instance *> instances; ///< the latest first
    doca_event event{};
    int num_calls = 0;
};

TEST_F(GraphContexts, ThatAreFullOnlyDelay)
{
    std::vector<doca_graph_node *> nodes;
    for (int i = 0; i < 4; ++i)
        nodes.push_back(add_job(graph));
    nodes.push_back(add_user(graph));
    for (int i = 0; i < 4; ++i)
        ASSERT_EQ(doca_graph_add_dependency(graph, nodes[i], nodes[4]), DOCA_SUCCESS);
    start();
    doca_graph_instance *const a = instance_of(graph, nodes), *const b = instance_of(graph, nodes);
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(submit(a), DOCA_SUCCESS);
        ASSERT_EQ(submit(b), DOCA_SUCCESS);
        int num_ended = 0, num_events = 0;
        while (num_events != 2) {
            ASSERT_LE(queue().pending.size(), 1u);
            const doca_error_t status = retrieve();
            num_events += status == DOCA_SUCCESS;
            if (status == DOCA_ERROR_AGAIN && num_events != 2) {
                ASSERT_EQ(queue().pending.size(), 1u) << "nobody uses the room";
                queue().end_one();
                ++num_ended;
            }
        }
        EXPECT_EQ(num_ended, 8);
        EXPECT_EQ(num_calls, 2 * (round + 1));
        EXPECT_EQ(retrieve(), DOCA_ERROR_AGAIN);
    }
}

TEST_F(GraphContexts, FilledByOthersMakeTheGraphWaitForThem)
{
    const std::vector nodes = {add_job(graph)};
    start();
    doca_graph_instance *const instance = instance_of(graph, nodes);
    ASSERT_EQ(doca_workq_submit(&workq, &job), DOCA_SUCCESS);
    ASSERT_EQ(submit(instance), DOCA_SUCCESS);
    for (int i = 0; i < 10; ++i)
        ASSERT_EQ(retrieve(), DOCA_ERROR_AGAIN);
    queue().end_one();
    ASSERT_EQ(retrieve(), DOCA_SUCCESS);
    EXPECT_EQ(event.type, job_type);
    ASSERT_EQ(retrieve(), DOCA_ERROR_AGAIN);
    ASSERT_EQ(queue().pending.size(), 1u);
    queue().end_one();
    ASSERT_EQ(retrieve(), DOCA_SUCCESS);
    EXPECT_EQ(event.type, DOCA_GRAPH_JOB);
}

TEST_F(GraphContexts, WithoutAnyJobThatAreFullNeverHaveRoom)
{
    const std::vector nodes = {add_job(graph)};
    start();
    doca_graph_instance *const instance = instance_of(graph, nodes);
    queue().room = 0;
    EXPECT_EQ(submit(instance), DOCA_ERROR_NO_MEMORY);
    EXPECT_EQ(retrieve(), DOCA_ERROR_AGAIN);
}

TEST_F(GraphContexts, FailureOfANodeDropsThoseThatWaitForRoom)
{
    const std::vector nodes = {add_job(graph), add_job(graph), add_job(graph)};
    start();
    doca_graph_instance *const instance = instance_of(graph, nodes);
    ASSERT_EQ(submit(instance), DOCA_SUCCESS);
    ASSERT_EQ(retrieve(), DOCA_ERROR_AGAIN);
    queue().end_one(DOCA_ERROR_CONNECTION_RESET);
    ASSERT_EQ(retrieve(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(event.type, DOCA_GRAPH_JOB);
    EXPECT_EQ(event.user_data.u64, 7u);
    EXPECT_EQ(event.result.u64, DOCA_ERROR_CONNECTION_RESET);
    EXPECT_EQ(state_of(instance, nodes[1]), DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED);
    EXPECT_EQ(retrieve(), DOCA_ERROR_AGAIN);
    EXPECT_TRUE(queue().pending.empty());

    queue().room = 8; // nothing is left behind
    ASSERT_EQ(submit(instance), DOCA_SUCCESS);
    EXPECT_EQ(queue().pending.size(), 3u);
    for (int i = 0; i < 3; ++i)
        queue().end_one();
    EXPECT_EQ(retrieve(), DOCA_SUCCESS);
    EXPECT_EQ(retrieve(), DOCA_ERROR_AGAIN);
}

TEST_F(GraphContexts, ThatAreFullDelaySubGraphsToo)
{
    const std::vector in_nodes = {add_job(inner), add_job(inner)};
    ASSERT_EQ(doca_graph_start(inner), DOCA_SUCCESS);
    std::vector<doca_graph_node *> subs(3);
    for (doca_graph_node *&sub : subs)
        ASSERT_EQ(doca_graph_sub_graph_node_create(graph, inner, &sub), DOCA_SUCCESS);
    start();
    std::vector<doca_graph_instance *> used;
    for (int i = 0; i < 3; ++i)
        used.push_back(instance_of(inner, in_nodes));
    doca_graph_instance *const instance = instance_of(graph, {});
    for (std::size_t i = 0; i < 3; ++i)
        ASSERT_EQ(doca_graph_instance_set_sub_graph_node_data(instance, subs[i], used[i], nullptr), DOCA_SUCCESS);
    for (int round = 0; round < 3; ++round) {
        ASSERT_EQ(submit(instance), DOCA_SUCCESS);
        for (int i = 0; i < 6; ++i) {
            ASSERT_EQ(retrieve(), DOCA_ERROR_AGAIN);
            ASSERT_EQ(queue().pending.size(), 1u);
            // The last one fails in one of the rounds.
            queue().end_one(round == 1 && i == 5 ? DOCA_ERROR_FULL : DOCA_SUCCESS);
        }
        ASSERT_EQ(retrieve(), round == 1 ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS);
        EXPECT_EQ(event.result.u64, round == 1 ? DOCA_ERROR_FULL : DOCA_SUCCESS);
        EXPECT_EQ(retrieve(), DOCA_ERROR_AGAIN);
    }
}

TEST_F(GraphContexts, JobThatFailsInFlightFailsItsNode)
{
    const std::vector nodes = {add_job(graph), add_job(graph), add_user(graph)};
    ASSERT_EQ(doca_graph_add_dependency(graph, nodes[0], nodes[2]), DOCA_SUCCESS);
    start();
    doca_event copies{};
    doca_graph_instance *const instance = instance_of(graph, nodes, &copies);
    queue().room = 8;
    ASSERT_EQ(submit(instance), DOCA_SUCCESS);
    queue().end_one(DOCA_ERROR_CONNECTION_RESET);
    ASSERT_EQ(retrieve(), DOCA_ERROR_AGAIN);
    EXPECT_EQ(state_of(instance, nodes[1]), DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED);
    EXPECT_EQ(copies.type, job_type);
    EXPECT_EQ(copies.user_data.u64, 99u);
    EXPECT_EQ(copies.result.u64, DOCA_ERROR_CONNECTION_RESET);
    queue().end_one(DOCA_ERROR_TIME_OUT);
    ASSERT_EQ(retrieve(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(event.result.u64, DOCA_ERROR_CONNECTION_RESET); // the first
    EXPECT_EQ(result_of(instance, nodes[1]), DOCA_ERROR_TIME_OUT);
    std::uint32_t num_failed = 0;
    EXPECT_EQ(doca_graph_instance_get_num_failed_nodes(instance, &num_failed), DOCA_SUCCESS);
    EXPECT_EQ(num_failed, 2u);
    EXPECT_EQ(num_calls, 0);
}

TEST_F(GraphContexts, JobThatFailsInSubmitFailsItsNode)
{
    const std::vector nodes = {add_job(graph), add_user(graph)};
    ASSERT_EQ(doca_graph_add_dependency(graph, nodes[0], nodes[1]), DOCA_SUCCESS);
    start();
    doca_event copies{};
    doca_graph_instance *const instance = instance_of(graph, nodes, &copies);
    queue().ends_at_once = true;
    queue().result = DOCA_ERROR_DRIVER;
    ASSERT_EQ(submit(instance), DOCA_SUCCESS);
    ASSERT_EQ(retrieve(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(event.result.u64, DOCA_ERROR_DRIVER);
    EXPECT_EQ(copies.result.u64, DOCA_ERROR_DRIVER);
    EXPECT_EQ(num_calls, 0);
}

TEST_F(GraphContexts, StructuresAsResultsGoWhereTheEventPoints)
{
    const std::vector nodes = {add_job(graph)};
    start();
    Result result{};
    doca_event copies{.type = 0, .user_data = {}, .result = {.ptr = &result}};
    doca_graph_instance *const with_event = instance_of(graph, nodes, &copies);
    doca_graph_instance *const without = instance_of(graph, nodes);
    queue().has_structures = true;
    queue().room = 8;
    ASSERT_EQ(submit(with_event), DOCA_SUCCESS);
    ASSERT_EQ(submit(without), DOCA_SUCCESS);
    queue().end_one(DOCA_ERROR_AGAIN); // any error
    queue().end_one(DOCA_ERROR_FULL);
    ASSERT_EQ(retrieve(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(event.result.u64, DOCA_ERROR_AGAIN);
    ASSERT_EQ(retrieve(), DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(event.result.u64, DOCA_ERROR_FULL);
    EXPECT_EQ(result.answer, 42);
    EXPECT_EQ(result.error, DOCA_ERROR_AGAIN);
    EXPECT_EQ(copies.type, job_type);
    EXPECT_EQ(copies.user_data.u64, 99u);
    EXPECT_EQ(result_of(with_event, nodes[0]), reinterpret_cast<std::uintptr_t>(&result));
    EXPECT_EQ(result_of(without, nodes[0]), DOCA_ERROR_FULL);
}

/// Room that one instance's job has made is used by another, also if the program sleeps in between.
TEST_F(GraphContexts, ThatHaveRoomAgainWakeAnArmedQueue)
{
    ASSERT_EQ(ctx.workq_rm(workq), DOCA_SUCCESS);
    ASSERT_EQ(workq.set_event_driven(true), DOCA_SUCCESS);
    ASSERT_EQ(ctx.workq_add(workq), DOCA_SUCCESS);
    const std::vector nodes = {add_job(graph)};
    start();
    for (int i = 0; i < 4; ++i)
        ASSERT_EQ(submit(instance_of(graph, nodes)), DOCA_SUCCESS);
    for (int num_events = 0; num_events != 4;) {
        doca_error_t status;
        while ((status = retrieve()) == DOCA_SUCCESS)
            ++num_events;
        ASSERT_EQ(status, DOCA_ERROR_AGAIN);
        ASSERT_EQ(doca_workq_event_handle_arm(&workq), DOCA_SUCCESS);
        pollfd handle{.fd = workq.completions.event_handle(), .events = POLLIN, .revents = 0};
        if (poll(&handle, 1, 0) == 0 && num_events != 4) {
            ASSERT_EQ(queue().pending.size(), 1u) << "nobody will wake the program";
            queue().end_one();
            ASSERT_EQ(poll(&handle, 1, 0), 1);
        }
        ASSERT_EQ(workq.completions.clear(), DOCA_SUCCESS);
    }
}

/// A retrieve that gives out a job's end does not poll. So the node that the job's end has made room for is tried
/// again when the queue is armed.
TEST_F(GraphContexts, ThatHaveRoomAgainAreUsedWhenTheQueueIsArmed)
{
    ASSERT_EQ(ctx.workq_rm(workq), DOCA_SUCCESS);
    ASSERT_EQ(workq.set_event_driven(true), DOCA_SUCCESS);
    ASSERT_EQ(ctx.workq_add(workq), DOCA_SUCCESS);
    const std::vector nodes = {add_job(graph)};
    start();
    ASSERT_EQ(doca_workq_submit(&workq, &job), DOCA_SUCCESS);
    ASSERT_EQ(submit(instance_of(graph, nodes)), DOCA_SUCCESS);
    ASSERT_EQ(queue().pending.size(), 1u);
    queue().end_one();
    ASSERT_EQ(retrieve(), DOCA_SUCCESS);
    EXPECT_EQ(event.type, job_type);
    ASSERT_EQ(doca_workq_event_handle_arm(&workq), DOCA_SUCCESS);
    ASSERT_EQ(queue().pending.size(), 1u) << "nobody will wake the program";
    queue().end_one();
    pollfd handle{.fd = workq.completions.event_handle(), .events = POLLIN, .revents = 0};
    ASSERT_EQ(poll(&handle, 1, 0), 1);
    ASSERT_EQ(workq.completions.clear(), DOCA_SUCCESS);
    ASSERT_EQ(retrieve(), DOCA_SUCCESS);
    EXPECT_EQ(event.type, DOCA_GRAPH_JOB);
}

/// Jobs of the user's own keep their order and events among those of graphs.
TEST_F(GraphContexts, OwnJobsKeepTheirOrder)
{
    const std::vector nodes = {add_job(graph), add_job(graph)};
    ASSERT_EQ(doca_graph_add_dependency(graph, nodes[0], nodes[1]), DOCA_SUCCESS);
    start();
    doca_graph_instance *const instance = instance_of(graph, nodes);
    queue().ends_at_once = true;
    doca_job own = job;
    std::uint64_t next = 0, expected = 0;
    int num_instances = 0;
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 5; ++i) {
            own.user_data.u64 = next++;
            ASSERT_EQ(doca_workq_submit(&workq, &own), DOCA_SUCCESS);
            if (i == round % 5) {
                ASSERT_EQ(submit(instance), DOCA_SUCCESS);
            }
        }
        while (retrieve() == DOCA_SUCCESS) {
            if (event.type == DOCA_GRAPH_JOB)
                ++num_instances;
            else
                ASSERT_EQ(event.user_data.u64, expected++);
        }
    }
    EXPECT_EQ(expected, next);
    EXPECT_EQ(num_instances, 100);
}

} // namespace
