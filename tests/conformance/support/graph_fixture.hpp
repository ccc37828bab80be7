// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs of copies and callbacks on one work queue.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <doca_graph.h>

#include "dma_fixture.hpp"
#include "environment.hpp"

namespace doca_test {

using InstanceHandle = Handle<doca_graph_instance, doca_graph_instance_destroy>;

/// A device, and whether its jobs are carried out in submit or in retrieve.
struct GraphParam {
    DeviceParam device;
    bool is_deferred;
};

inline std::ostream &operator<<(std::ostream &stream, const GraphParam &param)
{
    return stream << param.device << (param.is_deferred ? ", deferred" : "");
}

inline std::vector<GraphParam> graph_params(const std::function<bool(doca_devinfo *)> &suits = can_copy)
{
    std::vector<GraphParam> params;
    for (const DeviceParam &device : few_devices_that(suits)) {
        params.push_back({device, false});
        if (device.is_soft())
            params.push_back({device, true});
    }
    return params;
}

inline std::string graph_param_name(const testing::TestParamInfo<GraphParam> &info)
{
    return as_test_name(info.param.device.ibdev) + (info.param.is_deferred ? "_deferred" : "");
}

/// What a user node does: it records its id, calls a function, and returns a result.
struct Step {
    std::vector<int> *notes = nullptr;
    int id = 0;
    doca_error_t result = DOCA_SUCCESS;
    std::function<void(doca_event *)> act = nullptr;
};

inline doca_error_t take_step(void *cookie, doca_event *event)
{
    const auto &step = *static_cast<const Step *>(cookie);
    if (step.notes != nullptr)
        step.notes->push_back(step.id);
    if (step.act)
        step.act(event);
    return step.result;
}

/// A graph. The destructor removes it from its work queue, stops it and destroys it.
class TestGraph {
public:
    TestGraph() { must(doca_graph_create(&graph_)); }
    TestGraph(const TestGraph &) = delete;
    TestGraph &operator=(const TestGraph &) = delete;
    ~TestGraph()
    {
        if (workq_ != nullptr) {
            EXPECT_EQ(doca_graph_workq_rm(graph_, workq_), DOCA_SUCCESS);
        }
        if (is_started_) {
            EXPECT_EQ(doca_graph_stop(graph_), DOCA_SUCCESS);
        }
        EXPECT_EQ(doca_graph_destroy(graph_), DOCA_SUCCESS);
    }

    operator doca_graph *() const { return graph_; }

    /// Adds a node for jobs of a type.
    doca_graph_node *add_job(int type, doca_ctx *ctx)
    {
        doca_graph_node *node = nullptr;
        must(doca_graph_ctx_node_create(graph_, type, ctx, &node));
        return node;
    }
    doca_graph_node *add_copy(doca_ctx *ctx) { return add_job(DOCA_DMA_JOB_MEMCPY, ctx); }
    doca_graph_node *add_user(doca_graph_user_node_cb_t callback = take_step)
    {
        doca_graph_node *node = nullptr;
        must(doca_graph_user_node_create(graph_, callback, &node));
        return node;
    }
    doca_graph_node *add_graph(doca_graph *sub_graph)
    {
        doca_graph_node *node = nullptr;
        must(doca_graph_sub_graph_node_create(graph_, sub_graph, &node));
        return node;
    }
    void order(doca_graph_node *from, doca_graph_node *to) { must(doca_graph_add_dependency(graph_, from, to)); }
    void order(std::initializer_list<doca_graph_node *> nodes)
    {
        for (const auto *node = nodes.begin(); node + 1 != nodes.end(); ++node)
            order(node[0], node[1]);
    }
    void start()
    {
        must(doca_graph_start(graph_));
        is_started_ = true;
    }
    void start_on(doca_workq *workq)
    {
        start();
        must(doca_graph_workq_add(graph_, workq));
        workq_ = workq;
    }
    [[nodiscard]] InstanceHandle instance() const
    {
        InstanceHandle made;
        must(doca_graph_instance_create(graph_, made.out()));
        return made;
    }

private:
    doca_graph *graph_ = nullptr;
    doca_workq *workq_ = nullptr;
    bool is_started_ = false;
};

inline doca_error_t submit(doca_workq *workq, doca_graph_instance *instance, std::uint64_t user_data = 0)
{
    return doca_workq_graph_submit(workq, instance, {.u64 = user_data});
}

inline doca_graph_instance_node_state state_of(doca_graph_instance *instance, doca_graph_node *node)
{
    doca_graph_instance_node_state state = DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED;
    EXPECT_EQ(doca_graph_instance_node_get_state(instance, node, &state), DOCA_SUCCESS);
    return state;
}

inline std::uint64_t result_of(doca_graph_instance *instance, doca_graph_node *node)
{
    doca_data result = {};
    EXPECT_EQ(doca_graph_instance_node_get_result(instance, node, &result), DOCA_SUCCESS);
    return result.u64;
}

inline std::vector<const doca_graph_node *> failed_nodes_of(doca_graph_instance *instance)
{
    std::uint32_t count = 0;
    EXPECT_EQ(doca_graph_instance_get_num_failed_nodes(instance, &count), DOCA_SUCCESS);
    std::vector<const doca_graph_node *> nodes(count + 1);
    std::uint32_t written = count + 1;
    EXPECT_EQ(doca_graph_instance_get_failed_nodes(instance, nodes.data(), &written), DOCA_SUCCESS);
    EXPECT_EQ(written, count);
    nodes.resize(written);
    return nodes;
}

/// Retrieves the event of an instance. Returns the result of the instance.
inline doca_error_t wait_for_instance(doca_workq *workq, std::uint64_t user_data = 0)
{
    doca_event event = {};
    const doca_error_t status = wait_for(workq, event);
    const auto result = static_cast<doca_error_t>(event.result.u64);
    EXPECT_EQ(status, result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED);
    EXPECT_EQ(event.type, DOCA_GRAPH_JOB);
    EXPECT_EQ(event.user_data.u64, user_data);
    return result;
}

/// Runs an instance from its submit to its event. Returns the result of the instance.
inline doca_error_t run_instance(doca_workq *workq, doca_graph_instance *instance)
{
    constexpr std::uint64_t user_data = 7;
    must(submit(workq, instance, user_data));
    return wait_for_instance(workq, user_data);
}

/// Runs a graph of two jobs in order. Expects that the first one fails, and that the second one does not start.
inline void expect_failure_to_end_graph(doca_workq *workq, doca_job &failing, doca_job &second)
{
    TestGraph graph;
    doca_graph_node *const nodes[] = {graph.add_job(failing.type, failing.ctx), graph.add_job(second.type, second.ctx)};
    graph.order(nodes[0], nodes[1]);
    graph.start_on(workq);
    const InstanceHandle instance = graph.instance();
    must(doca_graph_instance_set_ctx_node_data(instance, nodes[0], &failing, nullptr));
    must(doca_graph_instance_set_ctx_node_data(instance, nodes[1], &second, nullptr));
    EXPECT_NE(run_instance(workq, instance), DOCA_SUCCESS);
    EXPECT_EQ(failed_nodes_of(instance), (std::vector<const doca_graph_node *>{nodes[0]}));
    EXPECT_EQ(result_of(instance, nodes[0]), std::uint64_t{DOCA_ERROR_IO_FAILED});
    EXPECT_EQ(state_of(instance, nodes[1]), DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED);
}

/// An engine and jobs that can be submitted any number of times, since a full destination counts as empty.
class GraphTest : public testing::TestWithParam<GraphParam> {
protected:
    static constexpr auto not_started = DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED;
    static constexpr auto completed = DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
    static constexpr auto error = DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR;
    static constexpr std::uint32_t depth = 32;

    explicit GraphTest(bool is_event_driven = false) : engine(dev, depth, is_event_driven) {}

    [[nodiscard]] doca_ctx *ctx() const { return engine.ctx(); }
    [[nodiscard]] doca_workq *workq() const { return engine.workq(); }
    [[nodiscard]] bool is_deferred() const { return GetParam().is_deferred; }

    /// Returns a job that exists as long as the test.
    doca_job *copy(std::uint64_t user_data = 0)
    {
        jobs_.push_back(std::make_unique<doca_dma_job_memcpy>(memcpy_job(ctx(), dst, src, user_data)));
        return &jobs_.back()->base;
    }
    /// Returns a job that is refused.
    doca_job *bad_copy()
    {
        jobs_.push_back(std::make_unique<doca_dma_job_memcpy>(memcpy_job(ctx(), nullptr, src)));
        return &jobs_.back()->base;
    }
    Step *step(int id, doca_error_t result = DOCA_SUCCESS, std::function<void(doca_event *)> act = nullptr)
    {
        steps_.push_back(std::make_unique<Step>(Step{&notes, id, result, std::move(act)}));
        return steps_.back().get();
    }
    static void set(const InstanceHandle &instance, doca_graph_node *node, doca_job *job, doca_event *event = nullptr)
    {
        must(doca_graph_instance_set_ctx_node_data(instance, node, job, event));
    }
    static void set(const InstanceHandle &instance, doca_graph_node *node, Step *step, doca_event *event = nullptr)
    {
        must(doca_graph_instance_set_user_node_data(instance, node, step, event));
    }
    static void set(const InstanceHandle &instance, doca_graph_node *node, const InstanceHandle &sub,
                    doca_event *event = nullptr)
    {
        must(doca_graph_instance_set_sub_graph_node_data(instance, node, sub, event));
    }

    /// Retrieves the event of an instance. Returns the result of the instance.
    doca_error_t end(std::uint64_t user_data = 0) { return wait_for_instance(workq(), user_data); }
    /// Runs an instance from submit to its event.
    doca_error_t run(const InstanceHandle &instance, std::uint64_t user_data = 7)
    {
        must(submit(workq(), instance, user_data));
        return end(user_data);
    }
    void expect_nothing_to_retrieve() const
    {
        doca_event event = {.type = 77, .user_data = {}, .result = {}};
        EXPECT_EQ(engine.retrieve(event), DOCA_ERROR_AGAIN);
        EXPECT_EQ(event.type, 77);
    }

    const Environment defer{"DOCA_SOFT_DEFER", GetParam().is_deferred ? "1" : nullptr};
    DevHandle dev{open_device(GetParam().device)};
    std::vector<std::byte> memory = std::vector<std::byte>(256);
    LocalMap map{dev, memory};
    Inventory inventory{16};
    BufHandle src = inventory.full(map, &memory[0], 10);
    BufHandle dst = inventory.full(map, &memory[50], 10);
    DmaEngine engine;
    std::vector<int> notes; ///< of the user nodes that ran

private:
    std::vector<std::unique_ptr<doca_dma_job_memcpy>> jobs_;
    std::vector<std::unique_ptr<Step>> steps_;
};

} // namespace doca_test

#define INSTANTIATE_FOR_GRAPHS(suite)                                                                                  \
    GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(suite);                                                              \
    INSTANTIATE_TEST_SUITE_P(device, suite, testing::ValuesIn(doca_test::graph_params()), doca_test::graph_param_name)
