// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs that succeed: in which order nodes run, what becomes of their events, and many at the same time.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <vector>

#include "support/graph_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

class GraphRunTest : public GraphTest {};
INSTANTIATE_FOR_GRAPHS(GraphRunTest);

/// As the Core guide's sample has it, with a copy in the place of the digest.
TEST_P(GraphRunTest, two_jobs_feed_a_callback)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_copy(ctx());
    doca_graph_node *const user = graph.add_user();
    graph.order(a, user);
    graph.order(b, user);
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    fill({&memory[0], 10}, 3);
    fill({&memory[50], 10}, 4);
    const BufHandle second = inventory.full(map, &memory[100], 10);
    doca_event events[3] = {};
    doca_dma_job_memcpy job = memcpy_job(ctx(), second, src, 22);
    set(instance, a, copy(11), &events[0]);
    set(instance, b, &job.base, &events[1]);
    bool are_equal = false;
    set(instance, user,
        step(1, DOCA_SUCCESS,
             [&](doca_event *event) {
                 are_equal = is_filled({&memory[50], 10}, 3) && is_filled({&memory[100], 10}, 3);
                 EXPECT_EQ(event, &events[2]);
                 event->result.u64 = 99;
             }),
        &events[2]);
    EXPECT_EQ(run(instance, 0x1234), DOCA_SUCCESS);
    EXPECT_TRUE(are_equal);
    expect_nothing_to_retrieve();
    for (const int i : {0, 1}) {
        EXPECT_EQ(events[i].type, DOCA_DMA_JOB_MEMCPY);
        EXPECT_EQ(events[i].user_data.u64, i == 0 ? 11u : 22u);
        EXPECT_EQ(events[i].result.u64, DOCA_SUCCESS);
    }
    EXPECT_EQ(events[2].result.u64, 99u); // the callback's own
    for (doca_graph_node *const node : {a, b, user}) {
        EXPECT_EQ(state_of(instance, node), completed);
        EXPECT_EQ(result_of(instance, node), DOCA_SUCCESS);
    }
    EXPECT_TRUE(failed_nodes_of(instance).empty());
}

TEST_P(GraphRunTest, callbacks_run_in_retrieve_only)
{
    TestGraph graph;
    doca_graph_node *const root = graph.add_user();
    doca_graph_node *const job = graph.add_copy(ctx());
    doca_graph_node *const last = graph.add_user();
    graph.order(job, last);
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    set(instance, root, step(1));
    set(instance, job, copy());
    set(instance, last, step(2));
    must(submit(workq(), instance));
    EXPECT_TRUE(notes.empty());
    EXPECT_EQ(end(), DOCA_SUCCESS);
    std::ranges::sort(notes);
    EXPECT_EQ(notes, (std::vector<int>{1, 2}));
}

TEST_P(GraphRunTest, callback_may_change_the_jobs_of_later_nodes)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const user = graph.add_user();
    doca_graph_node *const b = graph.add_copy(ctx());
    graph.order({a, user, b});
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    const BufHandle middle = inventory.empty(map, &memory[100], 20);
    const BufHandle last = inventory.empty(map, &memory[150], 20);
    fill({&memory[0], 10}, 9);
    doca_dma_job_memcpy first_job = memcpy_job(ctx(), middle, src);
    doca_dma_job_memcpy second_job = memcpy_job(ctx(), nullptr, nullptr);
    set(instance, a, &first_job.base);
    set(instance, user, step(1, DOCA_SUCCESS, [&](doca_event *) {
            second_job.src_buff = middle;
            second_job.dst_buff = last;
        }));
    set(instance, b, &second_job.base);
    EXPECT_EQ(run(instance), DOCA_SUCCESS);
    EXPECT_EQ(data_len_of(last), 10u);
    EXPECT_TRUE(is_filled({&memory[150], 10}, 9));
}

TEST_P(GraphRunTest, instance_runs_again_and_again)
{
    TestGraph graph;
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_user();
    doca_graph_node *const c = graph.add_copy(ctx());
    doca_graph_node *const d = graph.add_user();
    graph.order({a, b, d});
    graph.order({a, c, d});
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    set(instance, a, copy());
    set(instance, b, step(1));
    set(instance, c, copy());
    set(instance, d, step(2));
    const auto count = static_cast<std::size_t>(times(2000));
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_EQ(run(instance, i), DOCA_SUCCESS);
    ASSERT_EQ(notes.size(), 2 * count);
    for (std::size_t i = 0; i < count; ++i)
        ASSERT_TRUE(notes[2 * i] == 1 && notes[2 * i + 1] == 2);
}

TEST_P(GraphRunTest, many_instances_beside_jobs_have_one_event_each)
{
    constexpr std::uint64_t count = 10;
    TestGraph graph; // takes the room of two jobs and one more
    doca_graph_node *const a = graph.add_copy(ctx());
    doca_graph_node *const b = graph.add_copy(ctx());
    doca_graph_node *const user = graph.add_user();
    graph.order(a, user);
    graph.order(b, user);
    graph.start_on(workq());
    std::vector<InstanceHandle> instances;
    for (std::uint64_t i = 0; i < count; ++i) {
        instances.push_back(graph.instance());
        set(instances.back(), a, copy());
        set(instances.back(), b, copy());
        set(instances.back(), user, step(static_cast<int>(i)));
    }
    const InstanceHandle one_too_many = graph.instance();
    set(one_too_many, a, copy());
    set(one_too_many, b, copy());
    set(one_too_many, user, step(99));
    for (int round = 0; round < times(100); ++round) {
        for (std::uint64_t i = 0; i < count; ++i) {
            ASSERT_EQ(submit(workq(), instances[i], i), DOCA_SUCCESS);
            if (i % 5 == 0) {
                ASSERT_EQ(engine.submit(dst, src, 100 + i), DOCA_SUCCESS);
            }
        }
        ASSERT_EQ(submit(workq(), one_too_many), DOCA_ERROR_NO_MEMORY);
        std::vector<std::uint64_t> seen;
        while (seen.size() != count + 2) {
            doca_event event = {};
            ASSERT_EQ(wait_for(workq(), event), DOCA_SUCCESS);
            ASSERT_EQ(event.type, event.user_data.u64 < 100 ? int{DOCA_GRAPH_JOB} : int{DOCA_DMA_JOB_MEMCPY});
            seen.push_back(event.user_data.u64);
        }
        std::ranges::sort(seen);
        ASSERT_EQ(seen, (std::vector<std::uint64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 100, 105}));
        expect_nothing_to_retrieve();
    }
    EXPECT_EQ(notes.size(), count * static_cast<std::size_t>(times(100)));
}

/// The queue always has a completion of a job when it is asked for one.
TEST_P(GraphRunTest, jobs_of_their_own_do_not_hold_a_graph_up)
{
    TestGraph graph;
    doca_graph_node *const root = graph.add_user();
    doca_graph_node *const job = graph.add_copy(ctx());
    doca_graph_node *const last = graph.add_user();
    graph.order({root, job, last});
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    set(instance, root, step(1));
    set(instance, job, copy());
    set(instance, last, step(2));
    must(engine.submit(dst, src, 1));
    must(submit(workq(), instance, 2));
    bool has_ended = false;
    for (int i = 0; i < 20; ++i) {
        must(engine.submit(dst, src, 1));
        doca_event event = {};
        ASSERT_EQ(wait_for(workq(), event), DOCA_SUCCESS);
        has_ended = has_ended || event.user_data.u64 == 2;
    }
    EXPECT_TRUE(has_ended);
    for (int left = 2; left != 0; --left) { // of 21 jobs and the graph
        doca_event event = {};
        ASSERT_EQ(wait_for(workq(), event), DOCA_SUCCESS);
    }
    expect_nothing_to_retrieve();
}

TEST_P(GraphRunTest, sub_graph_runs_as_a_node)
{
    TestGraph inner, graph;
    doca_graph_node *const in_job = inner.add_copy(ctx());
    doca_graph_node *const in_user = inner.add_user();
    inner.order(in_job, in_user);
    inner.start();
    doca_graph_node *const before = graph.add_user();
    doca_graph_node *const first = graph.add_graph(inner);
    doca_graph_node *const between = graph.add_user();
    doca_graph_node *const second = graph.add_graph(inner);
    doca_graph_node *const after = graph.add_user();
    graph.order({before, first, between, second, after});
    graph.start_on(workq());
    const InstanceHandle sub = inner.instance();
    const InstanceHandle instance = graph.instance();
    set(sub, in_job, copy());
    set(sub, in_user, step(10));
    doca_event events[2] = {};
    set(instance, before, step(1));
    set(instance, first, sub, &events[0]); // one after the other: the same instance twice
    set(instance, between, step(2));
    set(instance, second, sub, &events[1]);
    set(instance, after, step(3));
    for (int i = 0; i < 3; ++i) {
        notes.clear();
        events[0] = events[1] = {.type = 5, .user_data = {.u64 = 5}, .result = {.u64 = 5}};
        ASSERT_EQ(run(instance), DOCA_SUCCESS);
        EXPECT_EQ(notes, (std::vector<int>{1, 10, 2, 10, 3}));
        for (const doca_event &event : events) {
            EXPECT_EQ(event.type, DOCA_GRAPH_JOB);
            EXPECT_EQ(event.user_data.u64, 0u);
            EXPECT_EQ(event.result.u64, DOCA_SUCCESS);
        }
        EXPECT_EQ(state_of(instance, second), completed);
        EXPECT_EQ(result_of(instance, second), DOCA_SUCCESS);
        EXPECT_EQ(state_of(sub, in_user), completed);
    }
    expect_nothing_to_retrieve();
}

TEST_P(GraphRunTest, long_chain_runs)
{
    const auto count = static_cast<std::size_t>(times(100'000));
    TestGraph graph;
    doca_graph_node *const job = graph.add_copy(ctx());
    std::vector<doca_graph_node *> nodes = {job};
    while (nodes.size() != count) {
        nodes.push_back(graph.add_user());
        graph.order(nodes[nodes.size() - 2], nodes.back());
    }
    graph.start_on(workq());
    const InstanceHandle instance = graph.instance();
    Step *const each = step(1);
    set(instance, job, copy());
    for (std::size_t i = 1; i < count; ++i)
        set(instance, nodes[i], each);
    EXPECT_EQ(run(instance), DOCA_SUCCESS);
    EXPECT_EQ(notes.size(), count - 1);
}

TEST_P(GraphRunTest, sub_graphs_of_sub_graphs_run_however_deep)
{
    const auto count = static_cast<std::size_t>(times(20'000));
    std::vector<std::unique_ptr<TestGraph>> graphs;
    std::vector<doca_graph_node *> subs = {nullptr}, users;
    for (std::size_t i = 0; i < count; ++i) {
        graphs.push_back(std::make_unique<TestGraph>());
        doca_graph_node *const first = i == 0 ? graphs[i]->add_copy(ctx()) : graphs[i]->add_graph(*graphs[i - 1]);
        subs.push_back(first);
        users.push_back(graphs[i]->add_user());
        graphs[i]->order(first, users[i]);
        graphs[i]->start();
    }
    must(doca_graph_workq_add(*graphs.back(), workq()));
    std::vector<InstanceHandle> instances;
    for (std::size_t i = 0; i < count; ++i) {
        instances.push_back(graphs[i]->instance());
        if (i == 0)
            set(instances[i], subs[1], copy());
        else
            set(instances[i], subs[i + 1], instances[i - 1]);
        set(instances[i], users[i], step(static_cast<int>(i)));
    }
    EXPECT_EQ(run(instances.back()), DOCA_SUCCESS);
    ASSERT_EQ(notes.size(), count);
    EXPECT_TRUE(std::ranges::is_sorted(notes)); // from the inside out
    must(doca_graph_workq_rm(*graphs.back(), workq()));
    while (!instances.empty())
        instances.pop_back();
    while (!graphs.empty())
        graphs.pop_back();
}

TEST_P(GraphRunTest, any_graph_runs_each_node_once_and_in_order)
{
    std::mt19937 random(11);
    for (int round = 0; round < times(100); ++round) {
        const std::size_t count = 1 + random() % 40;
        TestGraph graph;
        std::vector<doca_graph_node *> nodes;
        std::vector<std::pair<std::size_t, std::size_t>> edges;
        std::size_t num_jobs = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const bool is_job = i == 0 || (num_jobs < 14 && random() % 3 == 0);
            num_jobs += is_job;
            nodes.push_back(is_job ? graph.add_copy(ctx()) : graph.add_user());
            for (std::size_t from = 0; from < i; ++from) {
                if (random() % count < 2) {
                    graph.order(nodes[from], nodes[i]);
                    edges.emplace_back(from, i);
                }
            }
        }
        graph.start_on(workq());
        // Callbacks tell their order; a copy has ended when its event has its user data.
        std::vector<InstanceHandle> instances;
        std::vector<std::vector<int>> order(2, std::vector<int>(count, -1));
        std::vector<std::vector<doca_event>> events(2, std::vector<doca_event>(count));
        int next = 0;
        const std::size_t num_instances = 1 + (num_jobs < 15 ? 1 : 0);
        for (std::size_t k = 0; k < num_instances; ++k) {
            instances.push_back(graph.instance());
            for (std::size_t i = 0; i < count; ++i) {
                if (doca_graph_instance_set_ctx_node_data(instances[k], nodes[i], copy(i + 1), &events[k][i]) ==
                    DOCA_SUCCESS)
                    continue;
                set(instances[k], nodes[i], step(0, DOCA_SUCCESS, [&, k, i](doca_event *) {
                        EXPECT_EQ(order[k][i], -1);
                        order[k][i] = next++;
                        for (const auto &[from, to] : edges) {
                            if (to == i) {
                                EXPECT_TRUE(order[k][from] >= 0 || events[k][from].user_data.u64 == from + 1);
                            }
                        }
                    }));
            }
        }
        for (std::size_t k = 0; k < num_instances; ++k)
            ASSERT_EQ(submit(workq(), instances[k], k), DOCA_SUCCESS);
        std::uint64_t seen = 0;
        for (std::size_t k = 0; k < num_instances; ++k) {
            doca_event event = {};
            ASSERT_EQ(wait_for(workq(), event), DOCA_SUCCESS);
            seen |= std::uint64_t{1} << event.user_data.u64;
        }
        EXPECT_EQ(seen, (std::uint64_t{1} << num_instances) - 1);
        for (std::size_t k = 0; k < num_instances; ++k) {
            for (std::size_t i = 0; i < count; ++i) {
                EXPECT_EQ(state_of(instances[k], nodes[i]), completed);
                EXPECT_TRUE(order[k][i] >= 0 || events[k][i].user_data.u64 == i + 1);
            }
        }
        expect_nothing_to_retrieve();
    }
}
