// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs of which a node fails: nothing starts any more, what is in flight ends, and the instance tells why.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "support/graph_fixture.hpp"

using namespace doca_test;

class GraphFailureTest : public GraphTest {};
INSTANTIATE_FOR_GRAPHS(GraphFailureTest);

TEST_P(GraphFailureTest, failed_callback_stops_the_graph)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_user();
    doca_graph_node *const c = graph.add_user();
    doca_graph_node *const d = graph.add_copy(ctx());
    graph.order({a, b, c});
    graph.order(b, d);
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    doca_event event = {.type = 5, .user_data = {}, .result = {}};
    Step *const failing = step(1, DOCA_ERROR_TIME_OUT);
    set(instance, a, copy());
    set(instance, b, failing);
    set(instance, c, step(2));
    set(instance, d, copy(), &event);
    for (int round = 0; round < 2; ++round) {
        notes.clear();
        failing->result = DOCA_ERROR_TIME_OUT;
        EXPECT_EQ(run(instance), DOCA_ERROR_TIME_OUT);
        EXPECT_EQ(notes, std::vector<int>{1});
        EXPECT_EQ(state_of(instance, a), completed);
        EXPECT_EQ(state_of(instance, b), error);
        EXPECT_EQ(result_of(instance, b), DOCA_ERROR_TIME_OUT);
        EXPECT_EQ(state_of(instance, c), not_started);
        EXPECT_EQ(state_of(instance, d), not_started);
        EXPECT_EQ(event.type, 5);
        EXPECT_EQ(failed_nodes_of(instance), std::vector<const doca_graph_node *>{b});
        expect_nothing_to_retrieve();

        failing->result = DOCA_SUCCESS; // it can be submitted again, with more luck
        notes.clear();
        EXPECT_EQ(run(instance), DOCA_SUCCESS);
        EXPECT_EQ(notes, (std::vector<int>{1, 2}));
        EXPECT_EQ(state_of(instance, d), completed);
        EXPECT_TRUE(failed_nodes_of(instance).empty());
        event.type = 5;
    }
}

TEST_P(GraphFailureTest, failed_nodes_are_written_as_far_as_there_is_room)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_copy(ctx());
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    set(instance, a, copy());
    set(instance, b, bad_copy());
    EXPECT_EQ(run(instance), DOCA_ERROR_INVALID_VALUE);
    const doca_graph_node *nodes[1] = {a};
    std::uint32_t count = 0;
    EXPECT_EQ(doca_graph_instance_get_failed_nodes(instance, nodes, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 0u);
    EXPECT_EQ(nodes[0], a);
    count = 1;
    EXPECT_EQ(doca_graph_instance_get_failed_nodes(instance, nodes, &count), DOCA_SUCCESS);
    EXPECT_EQ(count, 1u);
    EXPECT_EQ(nodes[0], b);
}

TEST_P(GraphFailureTest, refused_job_of_the_first_root_is_submits_error)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_user();
    doca_graph_node *const c = graph.add_copy(ctx());
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    set(instance, a, bad_copy());
    set(instance, b, step(1));
    set(instance, c, copy());
    for (std::uint32_t i = 0; i < 2 * depth; ++i) // takes no room either
        ASSERT_EQ(submit(workq(), instance), DOCA_ERROR_INVALID_VALUE);
    expect_nothing_to_retrieve();
    EXPECT_TRUE(notes.empty());
    set(instance, a, copy()); // it is not in flight
    EXPECT_EQ(run(instance), DOCA_SUCCESS);
}

TEST_P(GraphFailureTest, refused_job_of_another_root_fails_the_instance)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_copy(ctx());
    doca_graph_node *const c = graph.add_user();
    doca_graph_node *const d = graph.add_user();
    graph.order(a, d);
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    doca_event event = {};
    set(instance, a, copy(11), &event);
    set(instance, b, bad_copy());
    set(instance, c, step(1));
    set(instance, d, step(2));
    for (std::uint32_t i = 0; i < 2 * depth; ++i) {
        event = {};
        ASSERT_EQ(run(instance), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(state_of(instance, a), completed); // was in flight
        EXPECT_EQ(event.user_data.u64, 11u);
        EXPECT_EQ(state_of(instance, b), error);
        EXPECT_EQ(result_of(instance, b), DOCA_ERROR_INVALID_VALUE);
        EXPECT_EQ(state_of(instance, c), not_started);
        EXPECT_EQ(state_of(instance, d), not_started);
    }
    EXPECT_TRUE(notes.empty());
    expect_nothing_to_retrieve();
}

TEST_P(GraphFailureTest, refused_job_of_a_later_node_fails_the_instance)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_user();
    doca_graph_node *const b = graph.add_copy(ctx());
    doca_graph_node *const c = graph.add_user();
    graph.order({a, b, c});
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    set(instance, a, step(1));
    set(instance, b, bad_copy());
    set(instance, c, step(2));
    EXPECT_EQ(run(instance), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(notes, std::vector<int>{1});
    EXPECT_EQ(state_of(instance, b), error);

    // A callback may not give a job to another context.
    doca_job *const job = copy();
    set(instance, b, job);
    job->ctx = nullptr;
    EXPECT_EQ(run(instance), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(result_of(instance, b), DOCA_ERROR_INVALID_VALUE);
}

TEST_P(GraphFailureTest, what_is_in_flight_ends_first)
{
    if (!is_deferred())
        GTEST_SKIP() << "jobs end in submit";
    TestGraph graph;
    std::vector<doca_graph_node *> jobs;
    for (int i = 0; i < 5; ++i)
        jobs.push_back(graph.add_copy(ctx()));
    doca_graph_node *const user = graph.add_user();
    doca_graph_node *const last = graph.add_user();
    for (doca_graph_node *const job : jobs)
        graph.order(job, last);
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    for (std::size_t i = 0; i < jobs.size(); ++i)
        set(instance, jobs[i], copy());
    set(instance, user, step(1, DOCA_ERROR_FULL));
    set(instance, last, step(2));
    must(submit(workq(), instance, 3));
    doca_event event = {};
    // One job is carried out in each call; the callback has run in the first.
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        ASSERT_EQ(engine.retrieve(event), DOCA_ERROR_AGAIN);
        EXPECT_EQ(notes, std::vector<int>{1});
        EXPECT_EQ(doca_graph_instance_destroy(instance), DOCA_ERROR_NOT_PERMITTED);
    }
    EXPECT_EQ(end(3), DOCA_ERROR_FULL);
    for (doca_graph_node *const job : jobs)
        EXPECT_EQ(state_of(instance, job), completed);
    EXPECT_EQ(state_of(instance, last), not_started);
    EXPECT_EQ(notes, std::vector<int>{1});
}

TEST_P(GraphFailureTest, sub_graph_fails_its_node)
{
    TestGraph inner, graph;
    doca_graph_node *const in_job = inner.add_copy(ctx());
    doca_graph_node *const in_user = inner.add_user();
    inner.order(in_job, in_user);
    inner.start();
    doca_graph_node *const node = graph.add_graph(inner);
    doca_graph_node *const after = graph.add_user();
    graph.order(node, after);
    graph.start_on(workq());
    const InstanceHandle sub = inner.instance();
    const InstanceHandle instance = graph.instance();
    set(sub, in_job, copy());
    set(sub, in_user, step(1, DOCA_ERROR_NOT_FOUND));
    doca_event event = {};
    set(instance, node, sub, &event);
    set(instance, after, step(2));
    EXPECT_EQ(run(instance), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(event.type, DOCA_GRAPH_JOB);
    EXPECT_EQ(event.result.u64, DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(state_of(instance, node), error);
    EXPECT_EQ(result_of(instance, node), DOCA_ERROR_NOT_FOUND);
    EXPECT_EQ(state_of(instance, after), not_started);
    EXPECT_EQ(failed_nodes_of(instance), std::vector<const doca_graph_node *>{node});
    EXPECT_EQ(failed_nodes_of(sub), std::vector<const doca_graph_node *>{in_user});
    EXPECT_EQ(notes, std::vector<int>{1});
}

TEST_P(GraphFailureTest, sub_graph_in_flight_runs_to_its_own_end)
{
    TestGraph inner, graph;
    doca_graph_node *const in_job = inner.add_copy(ctx());
    doca_graph_node *const in_user = inner.add_user();
    inner.order(in_job, in_user);
    inner.start();
    doca_graph_node *const node = graph.add_graph(inner);
    doca_graph_node *const failing = graph.add_user();
    graph.start_on(workq());
    const InstanceHandle sub = inner.instance();
    const InstanceHandle instance = graph.instance();
    set(sub, in_job, copy());
    set(sub, in_user, step(2));
    set(instance, node, sub);
    set(instance, failing, step(1, DOCA_ERROR_FULL));
    EXPECT_EQ(run(instance), DOCA_ERROR_FULL);
    EXPECT_EQ(notes, (std::vector<int>{1, 2}));
    EXPECT_EQ(state_of(instance, node), completed);
    EXPECT_EQ(state_of(instance, failing), error);
}

TEST_P(GraphFailureTest, one_instance_cannot_run_twice_at_the_same_time)
{
    TestGraph inner, graph;
    doca_graph_node *const in_job = inner.add_copy(ctx());
    inner.start_on(workq());
    doca_graph_node *const a = graph.add_graph(inner);
    doca_graph_node *const b = graph.add_graph(inner);
    graph.start_on(workq());
    const InstanceHandle sub = inner.instance();
    const InstanceHandle instance = graph.instance();
    set(sub, in_job, copy());
    set(instance, a, sub);
    set(instance, b, sub);
    EXPECT_EQ(run(instance), DOCA_ERROR_IN_USE);
    EXPECT_EQ(state_of(instance, a), completed);
    EXPECT_EQ(result_of(instance, b), DOCA_ERROR_IN_USE);
    EXPECT_EQ(run(sub), DOCA_SUCCESS); // on its own, too
}

TEST_P(GraphFailureTest, of_one_instance_leaves_others_alone)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_user();
    graph.order(a, b);
    graph.start_on(workq());
    std::vector<InstanceHandle> instances;
    for (int i = 0; i < 8; ++i) {
        instances.push_back(graph.instance());
        set(instances.back(), a, copy());
        set(instances.back(), b, step(i, i % 2 == 0 ? DOCA_SUCCESS : DOCA_ERROR_UNKNOWN));
    }
    for (std::uint64_t i = 0; i < 8; ++i)
        must(submit(workq(), instances[i], i));
    std::uint64_t seen = 0;
    for (int i = 0; i < 8; ++i) {
        doca_event event = {};
        const doca_error_t status = wait_for(workq(), event);
        const bool has_failed = event.user_data.u64 % 2 != 0;
        EXPECT_EQ(status, has_failed ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS);
        EXPECT_EQ(event.result.u64, has_failed ? DOCA_ERROR_UNKNOWN : DOCA_SUCCESS);
        seen |= std::uint64_t{1} << event.user_data.u64;
    }
    EXPECT_EQ(seen, 0xffu);
}
