// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs of tasks: order, failures, sub-graphs, and instances that run again.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include <poll.h>

#include <doca_graph.h>
#include <doca_log.h>

#include "dma_tasks.hpp"

namespace doca_test {
namespace {

using GraphHandle = Handle<doca_graph, doca_graph_destroy>;
using InstanceHandle = Handle<doca_graph_instance, doca_graph_instance_destroy>;
using Calls = std::vector<std::string>;

/// A callback node: notes that it was called.
struct Step {
    Calls *calls;
    std::string name;
    doca_error_t result = DOCA_SUCCESS;
};

doca_error_t call_step(void *cookie)
{
    const auto &step = *static_cast<Step *>(cookie);
    step.calls->push_back(step.name);
    return step.result;
}

/// A DMA context that runs, and graphs on its progress engine.
class Graph : public DmaTaskTest {
protected:
    static constexpr std::uint32_t max_instances = 2;

    void SetUp() override
    {
        DmaTaskTest::SetUp();
        dma = std::make_unique<DmaContext>(dev, pe, 16);
        must(doca_ctx_start(dma->ctx()));
    }
    void TearDown() override
    {
        for (const Copy &copy : copies)
            doca_task_free(copy.as_task());
        const doca_error_t status = doca_ctx_stop(dma->ctx());
        EXPECT_TRUE(status == DOCA_SUCCESS || status == DOCA_ERROR_IN_PROGRESS);
        run_until([&] { return dma->state() == DOCA_CTX_STATE_IDLE; });
    }

    [[nodiscard]] GraphHandle new_graph()
    {
        GraphHandle graph;
        must(doca_graph_create(pe, graph.out()));
        must(doca_graph_set_conf(graph, ended<true>, ended<false>, max_instances));
        must(doca_graph_set_user_data(graph, {.ptr = this}));
        return graph;
    }
    [[nodiscard]] doca_graph_node *context_node(doca_graph *graph) const
    {
        doca_graph_node *node = nullptr;
        must(doca_graph_node_create_from_ctx(graph, dma->ctx(), &node));
        return node;
    }
    [[nodiscard]] static doca_graph_node *user_node(doca_graph *graph)
    {
        doca_graph_node *node = nullptr;
        must(doca_graph_node_create_from_user(graph, call_step, &node));
        return node;
    }
    [[nodiscard]] static InstanceHandle instance_of(doca_graph *graph, std::uint64_t name = 0)
    {
        InstanceHandle instance;
        must(doca_graph_instance_create(graph, instance.out()));
        must(doca_graph_instance_set_user_data(instance, {.u64 = name}));
        return instance;
    }
    /// A task that copies @p from to @p to; its callbacks are not to be called.
    doca_task *copy_task(const doca_buf *from, doca_buf *to)
    {
        copies.push_back({});
        must(dma->alloc(copies.back(), from, to));
        return copies.back().as_task();
    }

    template <bool Succeeded>
    static void ended(doca_graph_instance *instance, doca_data instance_data, doca_data graph_data)
    {
        auto &self = *static_cast<Graph *>(graph_data.ptr);
        self.ends.push_back((Succeeded ? "done " : "failed ") + std::to_string(instance_data.u64));
        if (self.then)
            self.then(instance);
    }

    std::unique_ptr<DmaContext> dma;
    std::list<Copy> copies;
    Calls calls; ///< of user nodes
    Calls ends;  ///< of instances
    std::function<void(doca_graph_instance *)> then;
};

INSTANTIATE_FOR_COPYING_DEVICES(Graph);

TEST_P(Graph, nodes_run_in_the_order_of_their_dependencies)
{
    const BufHandle first = source(0, 100);
    const BufHandle middle = destination(0, 100);
    const BufHandle last = destination(200, 100);
    const GraphHandle graph = new_graph();
    doca_graph_node *const before = user_node(graph);
    doca_graph_node *const copy = context_node(graph);
    doca_graph_node *const again = context_node(graph);
    doca_graph_node *const after = user_node(graph);
    must(doca_graph_add_dependency(graph, before, copy));
    must(doca_graph_add_dependency(graph, copy, again));
    must(doca_graph_add_dependency(graph, again, after));
    must(doca_graph_start(graph));
    InstanceHandle instance = instance_of(graph, 5);
    doca_data data{};
    EXPECT_EQ(doca_graph_get_user_data(graph, &data), DOCA_SUCCESS);
    EXPECT_EQ(data.ptr, this);
    EXPECT_EQ(doca_graph_instance_get_user_data(instance, &data), DOCA_SUCCESS);
    EXPECT_EQ(data.u64, 5u);
    Step begin{&calls, "begin"};
    Step end{&calls, "end"};
    must(doca_graph_instance_set_user_node_data(instance, before, &begin));
    must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(first, middle)));
    must(doca_graph_instance_set_ctx_node_data(instance, again, copy_task(middle, last)));
    EXPECT_EQ(doca_graph_instance_submit(instance), DOCA_ERROR_INVALID_VALUE) << "a node has no data";
    must(doca_graph_instance_set_user_node_data(instance, after, &end));

    for (int round = 1; round != 4; ++round) { // the same instance again, with the same data
        must(doca_buf_reset_data_len(middle));
        must(doca_buf_reset_data_len(last));
        std::ranges::fill(dst_memory, std::byte{0});
        ASSERT_EQ(doca_graph_instance_submit(instance), DOCA_SUCCESS);
        EXPECT_EQ(doca_graph_instance_submit(instance), DOCA_ERROR_IN_USE);
        EXPECT_EQ(doca_graph_instance_set_user_node_data(instance, after, &end), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_graph_instance_set_user_data(instance, {.u64 = 1}), DOCA_ERROR_IN_USE);
        EXPECT_EQ(doca_graph_instance_destroy(instance), DOCA_ERROR_IN_USE);
        EXPECT_TRUE(ends.size() < static_cast<std::size_t>(round)) << "nobody is called in a submit";
        run_until([&] { return ends.size() == static_cast<std::size_t>(round); });
        EXPECT_EQ(std::memcmp(&dst_memory[200], src_memory.data(), 100), 0);
    }
    EXPECT_EQ(ends, (Calls{"done 5", "done 5", "done 5"}));
    EXPECT_EQ(calls, (Calls{"begin", "end", "begin", "end", "begin", "end"}));
    for (const Copy &each : copies) {
        EXPECT_FALSE(each.has_ended()) << "a task's own callbacks are not called in a graph";
        EXPECT_EQ(doca_task_get_status(each.as_task()), DOCA_SUCCESS);
    }
    EXPECT_FALSE(progress());
    EXPECT_EQ(doca_graph_stop(graph), DOCA_ERROR_IN_USE);
    instance.reset();
    EXPECT_EQ(doca_graph_stop(graph), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_stop(graph), DOCA_SUCCESS);
}

/// Two chains of callbacks after a copy take turns: nodes run in the order in which they become ready.
TEST_P(Graph, chains_run_side_by_side)
{
    const BufHandle src = source(0, 10);
    const BufHandle dst = destination(0, 10);
    const GraphHandle graph = new_graph();
    doca_graph_node *const copy = context_node(graph);
    std::array<doca_graph_node *, 6> nodes;
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        nodes[i] = user_node(graph);
        must(doca_graph_add_dependency(graph, i < 2 ? copy : nodes[i - 2], nodes[i]));
    }
    must(doca_graph_start(graph));
    InstanceHandle instance = instance_of(graph);
    must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(src, dst)));
    std::array<Step, nodes.size()> steps;
    for (std::size_t i = 0; i != nodes.size(); ++i) {
        steps[i] = {&calls, std::to_string(i)};
        must(doca_graph_instance_set_user_node_data(instance, nodes[i], &steps[i]));
    }
    must(doca_graph_instance_submit(instance));
    run_until([&] { return !ends.empty(); });
    EXPECT_EQ(calls, (Calls{"0", "1", "2", "3", "4", "5"}));
    instance.reset();
    must(doca_graph_stop(graph));
}

TEST_P(Graph, a_node_that_fails_ends_the_instance_when_the_others_have_ended)
{
    const BufHandle src = source(0, 100);
    const BufHandle dst = destination(0, 100);
    const GraphHandle graph = new_graph();
    doca_graph_node *const copy = context_node(graph);
    doca_graph_node *const bad = user_node(graph);
    doca_graph_node *const never = user_node(graph);
    must(doca_graph_add_dependency(graph, copy, never));
    must(doca_graph_add_dependency(graph, bad, never));
    must(doca_graph_start(graph));
    InstanceHandle instance = instance_of(graph, 1);
    Step failing{&calls, "bad", DOCA_ERROR_TIME_OUT};
    Step last{&calls, "never"};
    must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(src, dst)));
    must(doca_graph_instance_set_user_node_data(instance, bad, &failing));
    must(doca_graph_instance_set_user_node_data(instance, never, &last));
    must(doca_graph_instance_submit(instance));
    run_until([&] { return !ends.empty(); });
    EXPECT_EQ(ends, Calls{"failed 1"});
    EXPECT_EQ(calls, Calls{"bad"});
    EXPECT_EQ(in_flight(dma->ctx()), 0u) << "what was in flight has ended before";
    EXPECT_EQ(data_len_of(dst), 100u);
    // It can run again, and then succeeds.
    failing.result = DOCA_SUCCESS;
    must(doca_buf_reset_data_len(dst));
    must(doca_graph_instance_submit(instance));
    run_until([&] { return ends.size() == 2; });
    EXPECT_EQ(ends[1], "done 1");
    instance.reset();
    must(doca_graph_stop(graph));
}

/// A program may submit an instance again in its callback for ever, and test outside of progress whether to stop.
TEST_P(Graph, a_callback_that_submits_again_does_not_keep_progress)
{
    const BufHandle src = source(0, 100);
    const BufHandle dst = destination(0, 100);
    for (const bool begins_with_copy : {true, false}) {
        const GraphHandle graph = new_graph();
        doca_graph_node *const copy = context_node(graph);
        doca_graph_node *const step = user_node(graph);
        must(begins_with_copy ? doca_graph_add_dependency(graph, copy, step)
                              : doca_graph_add_dependency(graph, step, copy));
        must(doca_graph_start(graph));
        InstanceHandle instance = instance_of(graph);
        Step call{&calls, "step"};
        must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(src, dst)));
        must(doca_graph_instance_set_user_node_data(instance, step, &call));
        ends.clear();
        then = [&](doca_graph_instance *ended) {
            must(doca_buf_reset_data_len(dst));
            must(doca_graph_instance_submit(ended));
        };
        must(doca_buf_reset_data_len(dst));
        must(doca_graph_instance_submit(instance));
        while (ends.size() < 100) {
            const std::size_t before = ends.size();
            (void)progress();
            ASSERT_LE(ends.size(), before + 1) << "one completion a call";
        }
        const std::size_t last = ends.size();
        then = nullptr;
        run_until([&] { return ends.size() == last + 1; });
        instance.reset();
        must(doca_graph_stop(graph));
    }
}

TEST_P(Graph, tasks_are_in_flight_until_they_are_polled)
{
    const BufHandle src = source(0, 100);
    const BufHandle dst = destination(0, 100);
    const GraphHandle graph = new_graph();
    doca_graph_node *const copy = context_node(graph);
    must(doca_graph_start(graph));
    InstanceHandle instance = instance_of(graph);
    must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(src, dst)));
    must(doca_graph_instance_submit(instance));
    std::size_t count = 0;
    must(doca_pe_get_num_inflight_tasks(pe, &count));
    EXPECT_EQ(count, 1u) << "a program polls until there are none";
    while (count != 0) {
        (void)progress();
        must(doca_pe_get_num_inflight_tasks(pe, &count));
    }
    EXPECT_EQ(ends, Calls{"done 0"});
    instance.reset();
    must(doca_graph_stop(graph));
}

TEST_P(Graph, copies_that_complete_at_once_take_one_progress_call)
{
    if (!is_soft(GetParam()) || std::getenv("DOCA_SOFT_DEFER") != nullptr || std::getenv("DOCA_SOFT_STRICT") != nullptr)
        GTEST_SKIP() << "copies of this device take time";
    const BufHandle first = source(0, 100);
    const BufHandle middle = destination(0, 100);
    const BufHandle last = destination(200, 100);
    const BufHandle empty = destination(400, 100);
    const GraphHandle graph = new_graph();
    doca_graph_node *const copy = context_node(graph);
    doca_graph_node *const step = user_node(graph);
    doca_graph_node *const again = context_node(graph);
    doca_graph_node *const fails = context_node(graph);
    must(doca_graph_add_dependency(graph, copy, step));
    must(doca_graph_add_dependency(graph, step, again));
    must(doca_graph_add_dependency(graph, again, fails));
    must(doca_graph_start(graph));
    InstanceHandle instance = instance_of(graph, 1);
    Step call{&calls, "step"};
    must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(first, middle)));
    must(doca_graph_instance_set_user_node_data(instance, step, &call));
    must(doca_graph_instance_set_ctx_node_data(instance, again, copy_task(middle, last)));
    must(doca_graph_instance_set_ctx_node_data(instance, fails, copy_task(last, empty)));
    must(doca_graph_instance_submit(instance));
    EXPECT_TRUE(calls.empty());
    EXPECT_TRUE(progress());
    EXPECT_EQ(ends, Calls{"done 1"});
    EXPECT_EQ(std::memcmp(&dst_memory[400], src_memory.data(), 100), 0);
    EXPECT_EQ(in_flight(dma->ctx()), 0u);
    for (const Copy &each : copies) {
        EXPECT_FALSE(each.has_ended());
        EXPECT_EQ(doca_task_get_status(each.as_task()), DOCA_SUCCESS);
    }
    // A copy that cannot be made fails as one that was submitted does, after those before it.
    must(doca_buf_reset_data_len(middle));
    must(doca_buf_reset_data_len(last));
    must(doca_buf_set_data(empty, &dst_memory[499], 1)); // no room
    must(doca_graph_instance_submit(instance));
    run_until([&] { return ends.size() == 2; });
    EXPECT_EQ(ends[1], "failed 1");
    EXPECT_EQ(data_len_of(last), 100u);
    EXPECT_EQ(doca_task_get_status(copies.back().as_task()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(calls, (Calls{"step", "step"}));
    instance.reset();
    must(doca_graph_stop(graph));
}

TEST_P(Graph, a_task_that_fails_fails_its_instance)
{
    const BufHandle empty = source(0, 100);
    must(doca_buf_reset_data_len(empty));
    const BufHandle dst = destination(0, 100);
    const GraphHandle graph = new_graph();
    doca_graph_node *const copy = context_node(graph);
    must(doca_graph_start(graph));
    InstanceHandle instance = instance_of(graph, 2);
    must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(empty, dst)));
    must(doca_graph_instance_submit(instance));
    run_until([&] { return !ends.empty(); });
    EXPECT_EQ(ends, Calls{"failed 2"});
    EXPECT_EQ(doca_task_get_status(copies.back().as_task()), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(dma->state(), DOCA_CTX_STATE_STOPPING) << "as without a graph";
    EXPECT_EQ(doca_graph_instance_submit(instance), DOCA_ERROR_BAD_STATE) << "the context takes no more";
    instance.reset();
    must(doca_graph_stop(graph));
}

TEST_P(Graph, sub_graphs_are_nodes)
{
    const BufHandle src = source(0, 100);
    const BufHandle dst = destination(0, 100);
    const GraphHandle inner = new_graph();
    doca_graph_node *const copy = context_node(inner);
    const GraphHandle outer = new_graph();
    doca_graph_node *sub = nullptr;
    EXPECT_EQ(doca_graph_node_create_from_graph(outer, inner, &sub), DOCA_ERROR_BAD_STATE) << "it is not started";
    must(doca_graph_start(inner));
    ASSERT_EQ(doca_graph_node_create_from_graph(outer, inner, &sub), DOCA_SUCCESS);
    doca_graph_node *const after = user_node(outer);
    must(doca_graph_add_dependency(outer, sub, after));
    must(doca_graph_start(outer));
    InstanceHandle inside = instance_of(inner, 8);
    InstanceHandle instance = instance_of(outer, 9);
    Step end{&calls, "end"};
    must(doca_graph_instance_set_user_node_data(instance, after, &end));
    must(doca_graph_instance_set_sub_graph_node_data(instance, sub, inside));
    EXPECT_EQ(doca_graph_instance_destroy(inside), DOCA_ERROR_IN_USE);
    // What the inner one lacks is known when it starts.
    must(doca_graph_instance_submit(instance));
    run_until([&] { return !ends.empty(); });
    EXPECT_EQ(ends, Calls{"failed 9"});
    must(doca_graph_instance_set_ctx_node_data(inside, copy, copy_task(src, dst)));
    must(doca_graph_instance_submit(instance));
    run_until([&] { return ends.size() == 2; });
    EXPECT_EQ(ends[1], "done 9") << "the inner one has no callback of its own";
    EXPECT_EQ(calls, Calls{"end"});
    EXPECT_EQ(data_len_of(dst), 100u);
    instance.reset();
    EXPECT_EQ(doca_graph_stop(inner), DOCA_ERROR_IN_USE) << "it has an instance";
    inside.reset();
    must(doca_graph_stop(inner));
    EXPECT_EQ(doca_graph_destroy(inner), DOCA_ERROR_BAD_STATE) << "a node runs it";
    must(doca_graph_stop(outer));
}

TEST_P(Graph, what_does_not_fit_is_refused)
{
    GraphHandle graph;
    EXPECT_EQ(doca_graph_create(nullptr, graph.out()), DOCA_ERROR_INVALID_VALUE);
    must(doca_graph_create(pe, graph.out()));
    EXPECT_EQ(doca_graph_set_conf(graph, ended<true>, nullptr, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_set_conf(graph, ended<true>, ended<false>, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_start(graph), DOCA_ERROR_BAD_STATE) << "set_conf is missing";
    must(doca_graph_set_conf(graph, ended<true>, ended<false>, 1));
    doca_graph_node *const step = user_node(graph);
    EXPECT_EQ(doca_graph_start(graph), DOCA_ERROR_BAD_STATE) << "no context node";
    doca_graph_node *const copy = context_node(graph);
    must(doca_graph_add_dependency(graph, step, copy));
    EXPECT_EQ(doca_graph_add_dependency(graph, copy, step), DOCA_ERROR_INVALID_VALUE) << "a circle";
    EXPECT_EQ(doca_graph_add_dependency(graph, copy, copy), DOCA_ERROR_INVALID_VALUE);
    InstanceHandle instance;
    EXPECT_EQ(doca_graph_instance_create(graph, instance.out()), DOCA_ERROR_BAD_STATE);
    must(doca_graph_start(graph));
    EXPECT_EQ(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_destroy(graph), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_set_conf(graph, ended<true>, ended<false>, 1), DOCA_ERROR_BAD_STATE);
    doca_graph_node *late = nullptr;
    EXPECT_EQ(doca_graph_node_create_from_user(graph, call_step, &late), DOCA_ERROR_BAD_STATE);
    must(doca_graph_instance_create(graph, instance.out()));
    InstanceHandle more;
    EXPECT_EQ(doca_graph_instance_create(graph, more.out()), DOCA_ERROR_NO_MEMORY);
    Step none{&calls, "none"};
    EXPECT_EQ(doca_graph_instance_set_user_node_data(instance, copy, &none), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_instance_set_user_node_data(instance, nullptr, &none), DOCA_ERROR_INVALID_VALUE);
    instance.reset();
    must(doca_graph_stop(graph));
    // A context of another progress engine.
    PeHandle other;
    must(doca_pe_create(other.out()));
    GraphHandle stranger;
    must(doca_graph_create(other, stranger.out()));
    must(doca_graph_set_conf(stranger, ended<true>, ended<false>, 1));
    (void)context_node(stranger);
    EXPECT_EQ(doca_graph_start(stranger), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_pe_destroy(other), DOCA_ERROR_IN_USE);
    stranger.reset();
}

/// A context that was destroyed is not looked at any more.
TEST_P(Graph, may_outlive_its_contexts)
{
    static char log[1 << 16]; // of a backend that stays
    static const doca_error_t has_log = [] {
        doca_log_backend *backend = nullptr;
        return doca_log_backend_create_with_buf_sdk(
            log, sizeof(log), [](char *) {}, &backend);
    }();
    must(has_log);
    const BufHandle src = source(0, 100);
    const BufHandle dst = destination(0, 100);
    const GraphHandle graph = new_graph(), started = new_graph();
    InstanceHandle instance;
    {
        DmaContext other(dev, pe, 1);
        must(doca_ctx_start(other.ctx()));
        doca_graph_node *node = nullptr;
        must(doca_graph_node_create_from_ctx(graph, other.ctx(), &node));
        must(doca_graph_node_create_from_ctx(started, other.ctx(), &node));
        must(doca_graph_start(started));
        instance = instance_of(started);
        Copy copy;
        must(other.alloc(copy, src, dst));
        must(doca_graph_instance_set_ctx_node_data(instance, node, copy.as_task()));
        doca_task_free(copy.as_task());
        must(doca_ctx_stop(other.ctx()));
    }
    EXPECT_EQ(doca_graph_instance_submit(instance), DOCA_ERROR_BAD_STATE);
    EXPECT_TRUE(ends.empty());
    const std::size_t seen = std::strlen(log);
    EXPECT_EQ(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
    EXPECT_NE(std::strstr(log + seen, "a context of the graph's nodes was destroyed"), nullptr) << log + seen;
    instance.reset();
    must(doca_graph_stop(started));
}

TEST_P(Graph, a_callback_may_submit_again_or_destroy_everything)
{
    const BufHandle src = source(0, 10);
    const BufHandle dst = destination(0, 1000);
    GraphHandle graph = new_graph();
    doca_graph_node *const copy = context_node(graph);
    must(doca_graph_start(graph));
    InstanceHandle instance = instance_of(graph, 3);
    must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(src, dst)));
    then = [&](doca_graph_instance *ended_one) {
        EXPECT_EQ(ended_one, instance);
        if (ends.size() < 10) {
            EXPECT_EQ(doca_graph_instance_submit(instance), DOCA_SUCCESS);
            return;
        }
        instance.reset();
        EXPECT_EQ(doca_graph_stop(graph), DOCA_SUCCESS);
        graph.reset();
    };
    must(doca_graph_instance_submit(instance));
    run_until([&] { return ends.size() == 10; });
    EXPECT_EQ(data_len_of(dst), 100u);
    EXPECT_FALSE(progress());
    then = nullptr;
}

using Action = std::function<void()>;

/// A node that calls the Action that is its data.
doca_graph_node *action_node(doca_graph *graph)
{
    doca_graph_node *node = nullptr;
    must(doca_graph_node_create_from_user(
        graph,
        [](void *cookie) {
            (*static_cast<Action *>(cookie))();
            return DOCA_SUCCESS;
        },
        &node));
    return node;
}

/// Programs must not poll in a callback (doca_pe.h). One that does finds the copy of another instance.
TEST_P(Graph, what_becomes_ready_in_a_callback_runs_later)
{
    const BufHandle src = source(0, 10);
    const std::array<BufHandle, max_instances> dsts = {destination(0, 10), destination(100, 10)};
    const GraphHandle graph = new_graph();
    doca_graph_node *const copy = context_node(graph);
    doca_graph_node *const step = action_node(graph);
    must(doca_graph_add_dependency(graph, copy, step));
    must(doca_graph_start(graph));
    for (int i = 0; i != 4; ++i)
        EXPECT_FALSE(progress()); // the graph, which has nothing to do, is parked
    Action action = [&] { (void)progress(); };
    std::array<InstanceHandle, max_instances> instances;
    for (std::uint32_t i = 0; i != max_instances; ++i) {
        instances[i] = instance_of(graph, i);
        must(doca_graph_instance_set_ctx_node_data(instances[i], copy, copy_task(src, dsts[i])));
        must(doca_graph_instance_set_user_node_data(instances[i], step, &action));
        must(doca_graph_instance_submit(instances[i]));
    }
    run_until([&] { return ends.size() == max_instances; });
    EXPECT_EQ(ends, (Calls{"done 0", "done 1"}));
    for (InstanceHandle &instance : instances)
        instance.reset();
    must(doca_graph_stop(graph));
}

/// The same with the last copy of the callback's own instance, which ends once.
TEST_P(Graph, an_instance_that_ends_in_its_own_callback_ends_once)
{
    const BufHandle src = source(0, 10), first_dst = destination(0, 10), second_dst = destination(100, 10);
    const GraphHandle graph = new_graph();
    doca_graph_node *const first = context_node(graph), *const second = context_node(graph);
    doca_graph_node *const step = action_node(graph);
    must(doca_graph_add_dependency(graph, first, step));
    must(doca_graph_start(graph));
    Action action = [&] {
        for (int i = 0; i != 8; ++i)
            (void)progress();
    };
    InstanceHandle instance = instance_of(graph, 0);
    must(doca_graph_instance_set_ctx_node_data(instance, first, copy_task(src, first_dst)));
    must(doca_graph_instance_set_ctx_node_data(instance, second, copy_task(src, second_dst)));
    must(doca_graph_instance_set_user_node_data(instance, step, &action));
    must(doca_graph_instance_submit(instance));
    run_until([&] { return !ends.empty(); });
    while (progress()) {
    }
    EXPECT_EQ(ends, (Calls{"done 0"}));
    EXPECT_EQ(data_len_of(second_dst), 10U);
    instance.reset();
    must(doca_graph_stop(graph));
}

TEST_P(Graph, wakes_who_sleeps)
{
    const BufHandle src = source(0, 10);
    const BufHandle dst = destination(0, 10);
    const GraphHandle graph = new_graph();
    doca_graph_node *const step = user_node(graph);
    doca_graph_node *const copy = context_node(graph);
    must(doca_graph_add_dependency(graph, step, copy));
    must(doca_graph_start(graph));
    InstanceHandle instance = instance_of(graph, 4);
    Step first{&calls, "first"};
    must(doca_graph_instance_set_user_node_data(instance, step, &first));
    must(doca_graph_instance_set_ctx_node_data(instance, copy, copy_task(src, dst)));
    doca_notification_handle_t handle{};
    must(doca_pe_get_notification_handle(pe, &handle));
    for (int i = 0; i != 4; ++i)
        EXPECT_FALSE(progress()); // the graph, which has nothing to do, is parked
    must(doca_pe_request_notification(pe));
    pollfd fd{handle, POLLIN, 0};
    EXPECT_EQ(poll(&fd, 1, 0), 0);
    must(doca_graph_instance_submit(instance));
    while (ends.empty()) {
        ASSERT_EQ(poll(&fd, 1, 10000), 1) << "a node is ready, or has ended";
        must(doca_pe_clear_notification(pe, handle));
        while (progress()) {
        }
        must(doca_pe_request_notification(pe));
    }
    EXPECT_EQ(ends, Calls{"done 4"});
    instance.reset();
    must(doca_graph_stop(graph));
}

} // namespace
} // namespace doca_test
