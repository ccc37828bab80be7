// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Building graphs and instances: what is refused, and in which state.
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "support/graph_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

TEST(Graph, refuses_null)
{
    doca_graph *const graph = untouched<doca_graph>();
    doca_graph_node *node = untouched<doca_graph_node>();
    doca_ctx *const ctx = untouched<doca_ctx>();
    doca_workq *const workq = untouched<doca_workq>();
    EXPECT_EQ(doca_graph_create(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_ctx_node_create(nullptr, 1, ctx, &node), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_ctx_node_create(graph, 1, nullptr, &node), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_ctx_node_create(graph, 1, ctx, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_user_node_create(nullptr, take_step, &node), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_user_node_create(graph, nullptr, &node), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_user_node_create(graph, take_step, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_sub_graph_node_create(nullptr, graph, &node), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_sub_graph_node_create(graph, nullptr, &node), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_sub_graph_node_create(graph, graph, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_add_dependency(nullptr, node, node), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_add_dependency(graph, nullptr, node), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_add_dependency(graph, node, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_start(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_stop(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_workq_add(nullptr, workq), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_workq_add(graph, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_workq_rm(nullptr, workq), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_workq_rm(graph, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(node, untouched<doca_graph_node>());
}

TEST(Graph, instance_refuses_null)
{
    doca_graph *const graph = untouched<doca_graph>();
    doca_graph_node *const node = untouched<doca_graph_node>();
    doca_graph_instance *instance = untouched<doca_graph_instance>();
    doca_job *const job = untouched<doca_job>();
    doca_graph_instance_node_state state;
    doca_data result;
    const doca_graph_node *nodes[1];
    std::uint32_t count = 1;
    EXPECT_EQ(doca_graph_instance_create(nullptr, &instance), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_create(graph, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_destroy(nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_set_ctx_node_data(nullptr, node, job, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_set_ctx_node_data(instance, nullptr, job, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_set_ctx_node_data(instance, node, nullptr, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_set_user_node_data(nullptr, node, nullptr, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_set_user_node_data(instance, nullptr, nullptr, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_set_sub_graph_node_data(nullptr, node, instance, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_set_sub_graph_node_data(instance, nullptr, instance, nullptr),
              DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_set_sub_graph_node_data(instance, node, nullptr, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_graph_submit(nullptr, instance, {}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_workq_graph_submit(untouched<doca_workq>(), nullptr, {}), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_get_num_failed_nodes(nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_get_num_failed_nodes(instance, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_get_failed_nodes(nullptr, nodes, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_get_failed_nodes(instance, nullptr, &count), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_get_failed_nodes(instance, nodes, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_node_get_state(nullptr, node, &state), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_node_get_state(instance, nullptr, &state), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_node_get_state(instance, node, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_node_get_result(nullptr, node, &result), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_node_get_result(instance, nullptr, &result), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_instance_node_get_result(instance, node, nullptr), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(instance, untouched<doca_graph_instance>());
}

TEST(Graph, dependencies_must_not_close_a_circle)
{
    const TestGraph graph, other;
    std::vector<doca_graph_node *> nodes(5);
    for (doca_graph_node *&node : nodes)
        must(doca_graph_user_node_create(graph, take_step, &node));
    doca_graph_node *foreign = nullptr;
    must(doca_graph_user_node_create(other, take_step, &foreign));
    EXPECT_EQ(doca_graph_add_dependency(graph, nodes[0], nodes[0]), DOCA_ERROR_NOT_PERMITTED);
    for (std::size_t i = 0; i + 1 < nodes.size(); ++i)
        EXPECT_EQ(doca_graph_add_dependency(graph, nodes[i], nodes[i + 1]), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_add_dependency(graph, nodes[0], nodes[1]), DOCA_SUCCESS); // once more
    for (std::size_t to = 0; to < nodes.size(); ++to) {
        for (std::size_t from = to; from < nodes.size(); ++from)
            EXPECT_EQ(doca_graph_add_dependency(graph, nodes[from], nodes[to]), DOCA_ERROR_NOT_PERMITTED);
    }
    EXPECT_EQ(doca_graph_add_dependency(graph, foreign, nodes[0]), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_graph_add_dependency(graph, nodes[0], foreign), DOCA_ERROR_INVALID_VALUE);
}

TEST(Graph, circles_are_found_in_any_order_of_dependencies)
{
    constexpr std::size_t count = 24;
    std::mt19937 random(5);
    for (int round = 0; round < times(50); ++round) {
        const TestGraph graph;
        std::vector<doca_graph_node *> nodes(count);
        for (doca_graph_node *&node : nodes)
            must(doca_graph_user_node_create(graph, take_step, &node));
        bool reaches[count][count] = {}; // transitively
        for (std::size_t i = 0; i < count; ++i)
            reaches[i][i] = true;
        for (int i = 0; i < 150; ++i) {
            const std::size_t from = random() % count, to = random() % count;
            const bool is_circle = reaches[to][from];
            ASSERT_EQ(doca_graph_add_dependency(graph, nodes[from], nodes[to]),
                      is_circle ? DOCA_ERROR_NOT_PERMITTED : DOCA_SUCCESS)
                << from << " to " << to << ", round " << round;
            for (std::size_t a = 0; a < count && !is_circle; ++a) {
                for (std::size_t b = 0; b < count; ++b)
                    reaches[a][b] = reaches[a][b] || (reaches[a][from] && reaches[to][b]);
            }
        }
    }
}

TEST(Graph, long_chains_are_built_quickly_from_either_end)
{
    const int count = times(100'000);
    for (const bool is_forward : {true, false}) {
        const TestGraph graph;
        std::vector<doca_graph_node *> nodes(static_cast<std::size_t>(count));
        for (doca_graph_node *&node : nodes)
            must(doca_graph_user_node_create(graph, take_step, &node));
        for (std::size_t i = 0; i + 1 < nodes.size(); ++i) {
            if (is_forward)
                must(doca_graph_add_dependency(graph, nodes[i], nodes[i + 1]));
            else
                must(doca_graph_add_dependency(graph, nodes[i + 1], nodes[i]));
        }
        EXPECT_EQ(is_forward ? doca_graph_add_dependency(graph, nodes.back(), nodes.front())
                             : doca_graph_add_dependency(graph, nodes.front(), nodes.back()),
                  DOCA_ERROR_NOT_PERMITTED);
    }
}

class GraphBuildTest : public GraphTest {};
INSTANTIATE_FOR_GRAPHS(GraphBuildTest);

TEST_P(GraphBuildTest, needs_a_context_node_to_start)
{
    TestGraph graph, outer;
    EXPECT_EQ(doca_graph_start(graph), DOCA_ERROR_INVALID_VALUE);
    graph.add_user();
    EXPECT_EQ(doca_graph_start(graph), DOCA_ERROR_INVALID_VALUE);
    graph.add_copy(ctx());
    graph.start();
    outer.add_graph(graph); // it may be in a sub-graph
    outer.start();
}

TEST_P(GraphBuildTest, needs_its_contexts_started)
{
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    doca_ctx *const other = doca_dma_as_ctx(dma);
    must(doca_ctx_dev_add(other, dev));
    {
        TestGraph graph;
        graph.add_copy(ctx());
        graph.add_copy(other);
        EXPECT_EQ(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
        must(doca_ctx_start(other));
        graph.start();
        EXPECT_EQ(doca_graph_workq_add(graph, workq()), DOCA_ERROR_BAD_STATE); // not with both contexts
        must(doca_ctx_workq_add(other, workq()));
        EXPECT_EQ(doca_graph_workq_add(graph, workq()), DOCA_SUCCESS);
        EXPECT_EQ(doca_graph_workq_rm(graph, workq()), DOCA_SUCCESS);
    }
    must(doca_ctx_workq_rm(other, workq()));
    must(doca_ctx_stop(other));
}

TEST_P(GraphBuildTest, nothing_is_added_while_started)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_user();
    EXPECT_EQ(doca_graph_stop(graph), DOCA_ERROR_BAD_STATE);
    graph.start();
    EXPECT_EQ(doca_graph_start(graph), DOCA_ERROR_BAD_STATE);
    doca_graph_node *node = untouched<doca_graph_node>();
    EXPECT_EQ(doca_graph_ctx_node_create(graph, DOCA_DMA_JOB_MEMCPY, ctx(), &node), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_user_node_create(graph, take_step, &node), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_add_dependency(graph, a, b), DOCA_ERROR_BAD_STATE);
    TestGraph sub;
    sub.add_copy(ctx());
    sub.start();
    EXPECT_EQ(doca_graph_sub_graph_node_create(graph, sub, &node), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(node, untouched<doca_graph_node>());
    EXPECT_EQ(doca_graph_stop(graph), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_add_dependency(graph, a, b), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_start(graph), DOCA_SUCCESS);
    const InstanceHandle instance = graph.instance();
    set(instance, a, copy());
    set(instance, b, step(1));
    must(doca_graph_workq_add(graph, workq()));
    EXPECT_EQ(run(instance), DOCA_SUCCESS);
    must(doca_graph_workq_rm(graph, workq()));
}

TEST_P(GraphBuildTest, cannot_contain_itself)
{
    TestGraph inner;
    {
        TestGraph middle, outer;
        inner.add_copy(ctx());
        doca_graph_node *node = untouched<doca_graph_node>();
        EXPECT_EQ(doca_graph_sub_graph_node_create(inner, inner, &node), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(doca_graph_sub_graph_node_create(middle, inner, &node),
                  DOCA_ERROR_BAD_STATE); // not started
        must(doca_graph_start(inner));
        middle.add_graph(inner);
        middle.start();
        outer.add_graph(middle);
        outer.start();
        must(doca_graph_stop(inner));
        EXPECT_EQ(doca_graph_sub_graph_node_create(inner, outer, &node), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(doca_graph_sub_graph_node_create(inner, middle, &node), DOCA_ERROR_NOT_PERMITTED);
        // Those that run it have been told what it consists of.
        EXPECT_EQ(doca_graph_user_node_create(inner, take_step, &node), DOCA_ERROR_BAD_STATE);
        EXPECT_EQ(doca_graph_destroy(inner), DOCA_ERROR_NOT_PERMITTED);
        EXPECT_EQ(node, untouched<doca_graph_node>());
        TestGraph late;
        late.add_copy(ctx());
        EXPECT_EQ(doca_graph_sub_graph_node_create(late, inner, &node), DOCA_ERROR_BAD_STATE);
        must(doca_graph_start(inner));
    }
    must(doca_graph_stop(inner));
    EXPECT_NE(inner.add_user(), nullptr); // nobody runs it any more
}

TEST_P(GraphBuildTest, start_needs_its_sub_graphs_started)
{
    TestGraph inner, outer;
    inner.add_copy(ctx());
    must(doca_graph_start(inner));
    outer.add_graph(inner);
    must(doca_graph_stop(inner));
    EXPECT_EQ(doca_graph_start(outer), DOCA_ERROR_BAD_STATE);
    inner.start();
    EXPECT_EQ(doca_graph_start(outer), DOCA_SUCCESS);
    must(doca_graph_stop(outer));
}

TEST_P(GraphBuildTest, work_queue_is_added_once_and_stays)
{
    doca_graph *graph = nullptr;
    must(doca_graph_create(&graph));
    doca_graph_node *node = nullptr;
    must(doca_graph_ctx_node_create(graph, DOCA_DMA_JOB_MEMCPY, ctx(), &node));
    WorkqHandle other;
    must(doca_workq_create(4, other.out()));
    EXPECT_EQ(doca_graph_workq_add(graph, workq()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_workq_rm(graph, workq()), DOCA_ERROR_BAD_STATE);
    must(doca_graph_start(graph));
    EXPECT_EQ(doca_graph_workq_rm(graph, workq()), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_workq_add(graph, other), DOCA_ERROR_BAD_STATE);
    must(doca_ctx_workq_add(ctx(), other));
    EXPECT_EQ(doca_graph_workq_add(graph, other), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_workq_add(graph, workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_workq_add(graph, workq()), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_graph_stop(graph), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_destroy(graph), DOCA_ERROR_NOT_PERMITTED);
    must(doca_ctx_workq_rm(ctx(), other));
    EXPECT_EQ(doca_workq_destroy(other), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_graph_workq_rm(graph, other), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_workq_rm(graph, workq()), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_stop(graph), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_destroy(graph), DOCA_SUCCESS);
}

TEST_P(GraphBuildTest, instances_hold_the_graph)
{
    TestGraph graph;
    graph.add_copy(ctx());
    doca_graph_instance *none = untouched<doca_graph_instance>();
    EXPECT_EQ(doca_graph_instance_create(graph, &none), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(none, untouched<doca_graph_instance>());
    graph.start();
    const InstanceHandle instance = graph.instance();
    EXPECT_EQ(doca_graph_stop(graph), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_destroy(graph), DOCA_ERROR_NOT_PERMITTED);
}

/// A context that was destroyed is one that is not started, also where another one has got its address.
TEST_P(GraphBuildTest, may_outlive_its_contexts)
{
    DmaHandle dma;
    doca_ctx *other = nullptr;
    const auto create = [&] {
        must(doca_dma_create(dma.out()));
        other = doca_dma_as_ctx(dma);
        must(doca_ctx_dev_add(other, dev));
        must(doca_ctx_start(other));
        must(doca_ctx_workq_add(other, workq()));
    };
    const auto destroy = [&] {
        must(doca_ctx_workq_rm(other, workq()));
        must(doca_ctx_stop(other));
        dma.reset();
    };
    create();
    doca_dma_job_memcpy job = memcpy_job(other, dst, src);
    TestGraph built, started, running;
    built.add_copy(other);
    started.add_copy(other);
    started.start();
    doca_graph_node *const node = running.add_copy(other);
    running.start_on(workq());
    const InstanceHandle instance = running.instance();
    must(doca_graph_instance_set_ctx_node_data(instance, node, &job.base, nullptr));
    must(submit(workq(), instance));
    EXPECT_EQ(end(), DOCA_SUCCESS);
    destroy();
    create();
    EXPECT_EQ(doca_graph_start(built), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_workq_add(started, workq()), DOCA_ERROR_BAD_STATE);
    for (doca_ctx *const ctx : {other, static_cast<doca_ctx *>(nullptr)}) {
        job.base.ctx = ctx;
        EXPECT_EQ(doca_graph_instance_set_ctx_node_data(instance, node, &job.base, nullptr), DOCA_ERROR_NOT_PERMITTED);
    }
    EXPECT_EQ(submit(workq(), instance), DOCA_ERROR_BAD_STATE);
    expect_nothing_to_retrieve();
    destroy();
}

TEST_P(GraphBuildTest, data_must_suit_the_node)
{
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    TestGraph inner, other, graph;
    for (TestGraph *const each : {&inner, &other}) {
        each->add_copy(ctx());
        each->start();
    }
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_user();
    doca_graph_node *const c = graph.add_graph(inner);
    graph.start();
    const InstanceHandle sub = inner.instance(), wrong = other.instance(), instance = graph.instance();
    const auto set_job = [&](doca_graph_node *node, doca_job *job) {
        return doca_graph_instance_set_ctx_node_data(instance, node, job, nullptr);
    };
    EXPECT_EQ(set_job(a, copy()), DOCA_SUCCESS);
    EXPECT_EQ(set_job(b, copy()), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(set_job(c, copy()), DOCA_ERROR_NOT_PERMITTED);
    doca_job *const job = copy();
    job->type = DOCA_DMA_JOB_MEMCPY + 1;
    EXPECT_EQ(set_job(a, job), DOCA_ERROR_NOT_PERMITTED);
    job->type = DOCA_DMA_JOB_MEMCPY;
    job->ctx = doca_dma_as_ctx(dma);
    EXPECT_EQ(set_job(a, job), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_instance_set_ctx_node_data(sub, a, copy(), nullptr), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_instance_set_user_node_data(instance, a, nullptr, nullptr), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_instance_set_user_node_data(instance, b, nullptr, nullptr), DOCA_SUCCESS);
    EXPECT_EQ(doca_graph_instance_set_sub_graph_node_data(instance, a, sub, nullptr), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_instance_set_sub_graph_node_data(instance, c, wrong, nullptr), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_instance_set_sub_graph_node_data(instance, c, sub, nullptr), DOCA_SUCCESS);

    doca_graph_instance_node_state state;
    doca_data result;
    EXPECT_EQ(doca_graph_instance_node_get_state(sub, a, &state), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_instance_node_get_result(sub, a, &result), DOCA_ERROR_NOT_PERMITTED);
}

TEST_P(GraphBuildTest, sub_graph_instance_is_held_by_its_users)
{
    TestGraph inner, graph;
    inner.add_copy(ctx());
    inner.start();
    doca_graph_node *const a = graph.add_graph(inner);
    doca_graph_node *const b = graph.add_graph(inner);
    graph.start();
    const InstanceHandle sub = inner.instance(), another = inner.instance();
    {
        const InstanceHandle instance = graph.instance();
        set(instance, a, sub);
        set(instance, b, sub);
        EXPECT_EQ(doca_graph_instance_destroy(sub), DOCA_ERROR_NOT_PERMITTED);
        set(instance, a, another);
        set(instance, a, another);
        EXPECT_EQ(doca_graph_instance_destroy(sub), DOCA_ERROR_NOT_PERMITTED);
        set(instance, b, another);
        EXPECT_EQ(doca_graph_instance_destroy(another), DOCA_ERROR_NOT_PERMITTED);
    } // and then by none
}

TEST_P(GraphBuildTest, submit_checks_its_state)
{
    TestGraph inner, graph;
    doca_graph_node *const in_sub = inner.add_copy(ctx());
    inner.start();
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_user();
    doca_graph_node *const c = graph.add_graph(inner);
    graph.start();
    const InstanceHandle sub = inner.instance();
    const InstanceHandle instance = graph.instance();
    EXPECT_EQ(submit(workq(), instance), DOCA_ERROR_NOT_FOUND);
    must(doca_graph_workq_add(graph, workq()));
    EXPECT_EQ(submit(workq(), instance), DOCA_ERROR_INVALID_VALUE);
    set(instance, a, copy());
    set(instance, b, step(1));
    EXPECT_EQ(submit(workq(), instance), DOCA_ERROR_INVALID_VALUE);
    set(instance, c, sub);
    EXPECT_EQ(submit(workq(), instance), DOCA_ERROR_INVALID_VALUE); // the sub-graph's
    set(sub, in_sub, copy());
    EXPECT_EQ(submit(workq(), instance, 5), DOCA_SUCCESS);

    EXPECT_EQ(submit(workq(), instance), DOCA_ERROR_IN_USE);
    EXPECT_EQ(doca_graph_instance_destroy(instance), DOCA_ERROR_NOT_PERMITTED);
    EXPECT_EQ(doca_graph_instance_set_ctx_node_data(instance, a, copy(), nullptr), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_instance_set_user_node_data(instance, b, nullptr, nullptr), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_instance_set_sub_graph_node_data(instance, c, sub, nullptr), DOCA_ERROR_BAD_STATE);
    EXPECT_EQ(doca_graph_workq_rm(graph, workq()), DOCA_ERROR_IN_USE);
    EXPECT_EQ(end(5), DOCA_SUCCESS);
    expect_nothing_to_retrieve();
    EXPECT_EQ(doca_graph_workq_rm(graph, workq()), DOCA_SUCCESS);
}

TEST_P(GraphBuildTest, submit_needs_room_for_all_jobs_and_one_more)
{
    DmaEngine small(dev, 3);
    TestGraph graph;
    doca_graph_node *const nodes[] = {graph.add_copy(small.ctx()), graph.add_copy(small.ctx())};
    graph.order(nodes[0], nodes[1]);
    graph.start_on(small.workq());
    const InstanceHandle first = graph.instance(), second = graph.instance();
    doca_dma_job_memcpy job = memcpy_job(small.ctx(), dst, src);
    for (doca_graph_node *const node : nodes) {
        set(first, node, &job.base);
        set(second, node, &job.base);
    }
    doca_event event = {};
    for (int round = 0; round < 3; ++round) {
        must(doca_workq_submit(small.workq(), &job.base));
        EXPECT_EQ(submit(small.workq(), first), DOCA_ERROR_NO_MEMORY);
        EXPECT_EQ(wait_for(small.workq(), event), DOCA_SUCCESS);
        EXPECT_EQ(submit(small.workq(), first), DOCA_SUCCESS);
        EXPECT_EQ(submit(small.workq(), second), DOCA_ERROR_NO_MEMORY);
        EXPECT_EQ(doca_workq_submit(small.workq(), &job.base), DOCA_ERROR_NO_MEMORY);
        EXPECT_EQ(wait_for(small.workq(), event), DOCA_SUCCESS);
        EXPECT_EQ(event.type, DOCA_GRAPH_JOB);
    }
}
