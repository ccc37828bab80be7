// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs on work queues in event-driven mode: no order of arm and submit loses a signal.
#include <cstddef>
#include <random>
#include <vector>

#include <poll.h>

#include "support/graph_fixture.hpp"
#include "support/sanitizers.hpp"

using namespace doca_test;

namespace {

constexpr int patience = 60'000; // milliseconds, after which a signal counts as lost

} // namespace

class GraphEventTest : public GraphTest {
protected:
    GraphEventTest() : GraphTest(true) { must(doca_workq_get_event_handle(workq(), &handle)); }

    void arm() { EXPECT_EQ(doca_workq_event_handle_arm(workq()), DOCA_SUCCESS); }
    void clear() { EXPECT_EQ(doca_workq_event_handle_clear(workq(), handle), DOCA_SUCCESS); }
    [[nodiscard]] bool is_readable(int timeout) const
    {
        pollfd waiting = {.fd = handle, .events = POLLIN, .revents = 0};
        return poll(&waiting, 1, timeout) == 1 && (waiting.revents & POLLIN) != 0;
    }

    /// Whether the handle is silent where there is nothing to do. A device that works by itself may announce a
    /// completion after it was retrieved, at any time, which wakes for nothing; but there is an end to it.
    [[nodiscard]] bool becomes_silent(bool is_armed)
    {
        for (int most_late = GetParam().device.is_soft() ? 0 : 64;; --most_late) {
            if (!is_readable(0))
                return true;
            if (most_late == 0)
                return false;
            clear();
            if (is_armed)
                arm();
        }
    }

    /// A chain of @p length nodes, of which every third is a callback.
    void make_chain(TestGraph &graph, int length, bool begins_with_callback)
    {
        doca_graph_node *last = nullptr;
        for (int i = 0; i < length; ++i) {
            const bool is_callback = (i + (begins_with_callback ? 0 : 1)) % 3 == 0;
            nodes.push_back(is_callback ? graph.add_user() : graph.add_copy(ctx()));
            if (last != nullptr)
                graph.order(last, nodes.back());
            last = nodes.back();
        }
        graph.start_on(workq());
    }
    InstanceHandle make_instance(const TestGraph &graph)
    {
        InstanceHandle instance = graph.instance();
        for (doca_graph_node *const node : nodes) {
            if (doca_graph_instance_set_ctx_node_data(instance, node, copy(), nullptr) != DOCA_SUCCESS)
                set(instance, node, step(1));
        }
        return instance;
    }

    doca_event_handle_t handle = -1;
    std::vector<doca_graph_node *> nodes;
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GraphEventTest);
INSTANTIATE_TEST_SUITE_P(device, GraphEventTest, testing::ValuesIn(graph_params(supports_events)), graph_param_name);

TEST_P(GraphEventTest, an_armed_queue_wakes_for_each_instance)
{
    for (const bool begins_with_callback : {true, false}) {
        nodes.clear();
        TestGraph graph;
        make_chain(graph, 7, begins_with_callback);
        const InstanceHandle instance = make_instance(graph);
        for (int i = 0; i < times(500); ++i) {
            const bool arms_first = i % 2 == 0;
            if (arms_first)
                arm();
            must(submit(workq(), instance, 9));
            if (!arms_first)
                arm();
            doca_event event = {};
            doca_error_t status = DOCA_ERROR_AGAIN;
            while (status == DOCA_ERROR_AGAIN) {
                ASSERT_TRUE(is_readable(patience)) << "a lost signal, round " << i;
                clear();
                ASSERT_TRUE(becomes_silent(false));
                status = engine.retrieve(event);
                arm();
            }
            ASSERT_EQ(status, DOCA_SUCCESS);
            ASSERT_EQ(event.user_data.u64, 9u);
            ASSERT_TRUE(becomes_silent(true)) << "there is nothing to do";
            clear();
        }
    }
}

TEST_P(GraphEventTest, any_mix_of_instances_and_jobs_loses_no_signal)
{
    TestGraph graph;
    make_chain(graph, 5, false);
    std::vector<InstanceHandle> instances;
    for (int i = 0; i < 3; ++i)
        instances.push_back(make_instance(graph));
    std::mt19937 random(7);
    for (int round = 0; round < times(1000); ++round) {
        std::size_t left = 0;
        const std::size_t arms_after = random() % 6;
        for (std::size_t i = 0; i < 5; ++i) {
            if (i == arms_after)
                arm();
            if (random() % 3 == 0)
                continue;
            must(i < 3 ? submit(workq(), instances[i]) : engine.submit(dst, src));
            ++left;
        }
        if (arms_after == 5)
            arm();
        while (left != 0) {
            ASSERT_TRUE(is_readable(patience)) << "a lost signal, round " << round;
            clear();
            doca_event event = {};
            doca_error_t status;
            while ((status = engine.retrieve(event)) == DOCA_SUCCESS)
                --left;
            ASSERT_EQ(status, DOCA_ERROR_AGAIN);
            arm();
        }
        ASSERT_TRUE(becomes_silent(true));
        clear();
    }
}
