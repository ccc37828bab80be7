// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs of DOCA 3.0, their instances and runs, by calls at random: see tasks_model.hpp. Some user nodes fail; a task
// that failed would stop its context.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../graph_shape.hpp"
#include "tasks_model.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_graphs = 3, num_instances = 5, max_nodes = 6, length = 16;
constexpr std::uint32_t num_tasks = 12, max_instances = 2;

/// Of a node that copies: a task of its own.
struct Copy {
    doca_task *task = nullptr;
    std::size_t place = 0;
    BufHandle src, dst;
};

struct OfGraph {
    bool is_configured = false;
};
class GraphModelTest;

struct OfInstance {
    GraphModelTest *test = nullptr;
};
using Shape = GraphShape<OfGraph, OfInstance, Copy, num_graphs, num_instances>;

class GraphModelTest : public TasksModel, protected Shape {
protected:
    void SetUp() override
    {
        TasksModel::SetUp();
        must(doca_dma_create(dev, dma.out()));
        must(doca_dma_task_memcpy_set_conf(dma, unexpected, unexpected, num_tasks));
        adopt(ctx, doca_dma_as_ctx(dma));
        (void)start(ctx);
    }

    static void unexpected(doca_dma_task_memcpy *, doca_data, doca_data)
    {
        FAIL() << "a callback of a task in a graph";
    }
    static doca_error_t take_step(void *cookie)
    {
        auto &data = *static_cast<Data *>(cookie);
        data.owner->test->note_step(data);
        return data.result;
    }
    template <bool Succeeded>
    static void run_ended(doca_graph_instance *, doca_data data, doca_data)
    {
        auto &instance = *static_cast<Instance *>(data.ptr);
        instance.test->record_end(instance, Succeeded);
    }
    void note_step(Data &data);
    void record_end(Instance &instance, bool has_succeeded);
    [[nodiscard]] bool is_complete(const Instance &instance, std::size_t node) const;
    void step();
    void build(std::size_t g);
    void change_state(std::size_t g);
    void do_instance(Instance &instance);
    void set(Instance &instance);
    void set_copy(Instance &instance, Data &data, doca_graph_node *node, doca_error_t wanted);
    void submit_run(Instance &instance);
    static void empty_destinations(Instance &instance);
    void release(Instance &instance);
    void release(Copy &copy);
    void serve();
    void clean_up();

    std::vector<std::byte> from = std::vector<std::byte>(num_tasks * length);
    std::vector<std::byte> to = std::vector<std::byte>(num_tasks * length);
    MmapHandle from_map = map_of(dev, from), to_map = map_of(dev, to);
    InventoryHandle inventory = inventory_of(2 * num_tasks);
    DmaHandle dma;
    CtxModel ctx;
    std::array<bool, num_tasks> is_taken{}; ///< tasks, and places for their copies
};

/// What it waited for has ended well.
bool GraphModelTest::is_complete(const Instance &instance, std::size_t node) const
{
    const Data &data = *instance.data[node];
    switch (graphs[instance.graph].nodes[node].kind) {
    case NodeKind::user:
        return data.num_runs == 1 && data.result == DOCA_SUCCESS;
    case NodeKind::copy:
        return data_len_of(data.work.dst) == length;
    default:
        break;
    }
    for (std::size_t inner = 0; inner != data.sub->data.size(); ++inner) {
        if (!is_complete(*data.sub, inner))
            return false;
    }
    return true;
}

void GraphModelTest::note_step(Data &data)
{
    if (!is_in_progress || !is_busy(*data.owner))
        complain("a user node runs of what was not submitted, or outside of doca_pe_progress()");
    if (data.num_runs++ != 0)
        complain("a user node runs twice");
    for (const std::size_t before : graphs[data.owner->graph].nodes[data.node].after) {
        if (!is_complete(*data.owner, before))
            complain("a node runs before what it waits for");
    }
}

void GraphModelTest::record_end(Instance &instance, bool has_succeeded)
{
    ++num_ends;
    ++num_callbacks;
    if (!is_in_progress || !instance.is_submitted)
        complain("the end of what was not submitted, or outside of doca_pe_progress()");
    if (has_succeeded != (results_of(instance).front() == DOCA_SUCCESS))
        complain("an instance has ended otherwise than it had to");
    for (std::size_t node = 0; has_succeeded && node != instance.data.size(); ++node) {
        if (!is_complete(instance, node))
            complain("an instance has succeeded, and one of its nodes has not");
    }
    instance.is_submitted = false;
}

void GraphModelTest::build(std::size_t g)
{
    Graph &graph = graphs[g];
    doca_graph_node *made = nullptr;
    const std::size_t other = below(num_graphs);
    if (!graph.nodes.empty() && one_in(2)) {
        Graph &of_other = one_in(8) && !graphs[other].nodes.empty() ? graphs[other] : graph;
        const std::size_t before = below(graph.nodes.size()), after = below(of_other.nodes.size());
        const bool is_known = &of_other == &graph && std::ranges::count(graph.nodes[after].after, before) != 0;
        const bool is_possible = &of_other == &graph && (is_known || !graph.leads(after, before));
        if (answers("add_dependency",
                    doca_graph_add_dependency(graph.graph, graph.nodes[before].node, of_other.nodes[after].node),
                    unless(change(g) != DOCA_SUCCESS, DOCA_ERROR_BAD_STATE,
                           unless(!is_possible, DOCA_ERROR_INVALID_VALUE))) &&
            !is_known)
            graph.nodes[after].after.push_back(before);
        return;
    }
    if (graph.nodes.size() == max_nodes)
        return;
    switch (below(3)) {
    case 0:
        if (answers("node_from_user", doca_graph_node_create_from_user(graph.graph, take_step, &made), change(g)))
            graph.nodes.push_back({made, NodeKind::user, 0, {}});
        break;
    case 1:
        if (graphs[other].graph != nullptr &&
            answers("node_from_graph", doca_graph_node_create_from_graph(graph.graph, graphs[other].graph, &made),
                    unless(contains(other, g), DOCA_ERROR_INVALID_VALUE,
                           unless(!graphs[other].is_started, DOCA_ERROR_BAD_STATE, change(g)))))
            graph.nodes.push_back({made, NodeKind::sub_graph, other, {}});
        break;
    default:
        if (answers("node_from_ctx", doca_graph_node_create_from_ctx(graph.graph, ctx.ctx, &made), change(g)))
            graph.nodes.push_back({made, NodeKind::copy, 0, {}});
    }
}

void GraphModelTest::change_state(std::size_t g)
{
    Graph &graph = graphs[g];
    switch (below(5)) {
    case 0:
        if (answers("graph_set_conf",
                    doca_graph_set_conf(graph.graph, run_ended<true>, run_ended<false>, max_instances),
                    unless(graph.is_started, DOCA_ERROR_BAD_STATE)))
            graph.is_configured = true;
        break;
    case 1:
        if (one_in(3) && answers("graph_stop", doca_graph_stop(graph.graph),
                                 unless(graph.is_started && num_instances_of(g) != 0, DOCA_ERROR_IN_USE)))
            graph.is_started = false;
        break;
    case 2:
        if (one_in(4) && answers("graph_destroy", doca_graph_destroy(graph.graph),
                                 unless(graph.is_started || num_uses(g) != 0, DOCA_ERROR_BAD_STATE)))
            graph = {};
        break;
    default:
        if (answers("graph_start", doca_graph_start(graph.graph),
                    unless(!graph.is_configured || graph.is_started || lacks_sub_graph(g) || num_copies(g) == 0,
                           DOCA_ERROR_BAD_STATE)))
            graph.is_started = true;
    }
}

void GraphModelTest::do_instance(Instance &instance)
{
    if (instance.instance == nullptr) {
        const std::size_t g = below(num_graphs);
        if (graphs[g].graph == nullptr)
            return;
        doca_graph_instance *made = nullptr;
        if (answers("instance_create", doca_graph_instance_create(graphs[g].graph, &made),
                    unless(!graphs[g].is_started, DOCA_ERROR_BAD_STATE,
                           unless(num_instances_of(g) == max_instances, DOCA_ERROR_NO_MEMORY)))) {
            created(instance, made, g);
            instance.test = this;
            must(doca_graph_instance_set_user_data(made, {.ptr = &instance}));
        }
        return;
    }
    if (!one_in(12))
        return set(instance);
    if (answers("instance_destroy", doca_graph_instance_destroy(instance.instance),
                unless(instance.is_submitted || instance.parent != nullptr, DOCA_ERROR_IN_USE)))
        release(instance);
}

void GraphModelTest::release(Copy &copy)
{
    if (copy.task == nullptr)
        return;
    doca_task_free(copy.task);
    --ctx.allocated;
    is_taken[copy.place] = false;
    copy = {};
}

void GraphModelTest::release(Instance &instance)
{
    for (const auto &data : instance.data)
        release(data->work);
    destroyed(instance);
}

/// Gives a node its data.
void GraphModelTest::set(Instance &instance)
{
    if (is_busy(instance) && !instance.is_submitted)
        return; // whether the node that runs it has begun is the device's matter
    const std::size_t g = one_in(16) ? below(num_graphs) : instance.graph;
    if (graphs[g].nodes.empty())
        return;
    const std::size_t n = below(graphs[g].nodes.size());
    const NodeModel &node = graphs[g].nodes[n];
    const bool is_foreign = g != instance.graph;
    Data other;
    Data &data = is_foreign ? other : *instance.data[n];
    const NodeKind kind = one_in(16) ? static_cast<NodeKind>(below(3)) : node.kind;
    const auto wanted = [&](bool suits = true) {
        return unless(instance.is_submitted, DOCA_ERROR_BAD_STATE,
                      unless(is_foreign, DOCA_ERROR_INVALID_VALUE,
                             unless(node.kind != kind || !suits, DOCA_ERROR_NOT_PERMITTED)));
    };
    if (kind == NodeKind::copy)
        return set_copy(instance, data, node.node, wanted());
    if (kind == NodeKind::user) {
        if (answers("set_user_node_data", doca_graph_instance_set_user_node_data(instance.instance, node.node, &data),
                    wanted())) {
            data.is_set = true;
            data.result = one_in(16) ? DOCA_ERROR_UNEXPECTED : DOCA_SUCCESS;
        }
        return;
    }
    Instance &sub = instances[below(num_instances)];
    if (sub.instance == nullptr || is_busy(sub) || (sub.parent != nullptr && &sub != data.sub))
        return;
    if (answers("set_sub_graph_node_data",
                doca_graph_instance_set_sub_graph_node_data(instance.instance, node.node, sub.instance),
                wanted(node.kind == kind && sub.graph == node.sub)))
        set_sub(instance, data, sub);
}

void GraphModelTest::set_copy(Instance &instance, Data &data, doca_graph_node *node, doca_error_t wanted)
{
    Copy copy;
    copy.place = static_cast<std::size_t>(std::ranges::find(is_taken, false) - is_taken.begin());
    if (copy.place == num_tasks)
        return;
    const std::size_t at = copy.place * length;
    must(doca_buf_inventory_buf_get_by_data(inventory, from_map, &from[at], length, copy.src.out()));
    must(doca_buf_inventory_buf_get_by_addr(inventory, to_map, &to[at], length, copy.dst.out()));
    doca_dma_task_memcpy *task = nullptr;
    must(doca_dma_task_memcpy_alloc_init(dma, copy.src, copy.dst, {}, &task));
    ++ctx.allocated;
    copy.task = doca_dma_task_memcpy_as_task(task);
    is_taken[copy.place] = true;
    if (answers("set_ctx_node_data", doca_graph_instance_set_ctx_node_data(instance.instance, node, copy.task),
                wanted)) {
        std::swap(data.work, copy);
        data.is_set = true;
    }
    release(copy);
}

void GraphModelTest::empty_destinations(Instance &instance)
{
    for (const auto &data : instance.data) {
        if (data->work.task != nullptr)
            must(doca_buf_reset_data_len(data->work.dst));
        if (data->sub != nullptr)
            empty_destinations(*data->sub);
    }
}

void GraphModelTest::submit_run(Instance &instance)
{
    if (instance.instance == nullptr || (is_busy(instance) && !instance.is_submitted))
        return;
    if (!instance.is_submitted) {
        begin_runs(instance);
        empty_destinations(instance);
    }
    if (answers("instance_submit", doca_graph_instance_submit(instance.instance),
                unless(instance.is_submitted, DOCA_ERROR_IN_USE,
                       unless(!has_own_data(instance), DOCA_ERROR_INVALID_VALUE))))
        instance.is_submitted = true;
}

void GraphModelTest::serve()
{
    progress(std::ranges::any_of(instances, &Instance::is_submitted), std::chrono::seconds(60));
}

void GraphModelTest::step()
{
    const std::size_t g = below(num_graphs), what = below(16);
    Graph &graph = graphs[g];
    if (what < 5 && graph.graph == nullptr) {
        (void)answers("graph_create", doca_graph_create(pe, &graph.graph), DOCA_SUCCESS);
        return;
    }
    if (what < 3)
        build(g);
    else if (what < 5)
        change_state(g);
    else if (what < 11)
        do_instance(instances[below(num_instances)]);
    else if (what < 13)
        submit_run(instances[below(num_instances)]);
    else
        serve();
}

/// In the order that always works.
void GraphModelTest::clean_up()
{
    while (std::ranges::any_of(instances, &Instance::is_submitted) && !HasFailure())
        serve();
    for (std::size_t left = num_instances; left-- != 0;) { // those that run others before these
        for (Instance &instance : instances) {
            if (instance.instance == nullptr || instance.parent != nullptr)
                continue;
            EXPECT_EQ(doca_graph_instance_destroy(instance.instance), DOCA_SUCCESS);
            release(instance);
        }
    }
    for (std::size_t left = num_graphs; left-- != 0;) {
        for (std::size_t g = 0; g != num_graphs; ++g) {
            if (graphs[g].graph == nullptr || num_uses(g) != 0)
                continue;
            EXPECT_EQ(doca_graph_stop(graphs[g].graph), DOCA_SUCCESS);
            EXPECT_EQ(doca_graph_destroy(graphs[g].graph), DOCA_SUCCESS);
            graphs[g] = {};
        }
    }
    stop(ctx);
}

TEST_P(GraphModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
}
INSTANTIATE_FOR_COPYING_DEVICES(GraphModelTest);

} // namespace
