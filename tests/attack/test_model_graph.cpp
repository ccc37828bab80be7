// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs, their nodes and dependencies, instances and their runs, beside plain jobs, by calls at random: see model.hpp.
// Some nodes fail: which of several is the first is the device's matter, all else is not.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "../conformance/support/graph_fixture.hpp"
#include "graph_shape.hpp"
#include "model.hpp"
#include "queued_ctx.hpp"

namespace {

using namespace doca_test;

constexpr std::size_t num_graphs = 3, num_instances = 5, max_nodes = 6;
constexpr std::uint32_t depth = 12;

struct OfGraph {
    std::array<bool, num_workqs> is_on{};

    [[nodiscard]] bool is_on_any() const { return is_on[0] || is_on[1]; }
};
struct OfInstance {
    std::size_t workq = 0; ///< where it was submitted
    std::uint64_t number = 0;
};
using Shape = GraphShape<OfGraph, OfInstance, doca_dma_job_memcpy, num_graphs, num_instances>;

class GraphModelTest : public DeviceTest, protected Model<doca_get_error_name>, protected Shape {
protected:
    void SetUp() override
    {
        must(doca_dma_create(dma.out()));
        must(doca_ctx_dev_add(ctx(), dev));
        must(doca_ctx_start(ctx()));
        for (doca_workq *&workq : workqs) {
            must(doca_workq_create(depth, &workq));
            must(doca_ctx_workq_add(ctx(), workq));
        }
    }

    [[nodiscard]] doca_ctx *ctx() const { return doca_dma_as_ctx(dma); }
    [[nodiscard]] std::uint32_t num_in_flight(std::size_t g, std::size_t q) const;
    [[nodiscard]] std::uint32_t num_credits(std::size_t q) const;
    [[nodiscard]] doca_error_t submit_answer(const Instance &instance) const;

    void step();
    void build(std::size_t g);
    void change_state(std::size_t g);
    void do_instance(std::size_t i);
    void set(Instance &instance);
    void submit(Instance &instance, std::size_t q);
    void copy(std::size_t q);
    void retrieve(std::size_t q, bool waits);
    void record_end(Instance &instance, doca_error_t result);
    void check_nodes(const Instance &instance, bool is_fine);
    void clean_up();
    static doca_error_t take_step(void *cookie, doca_event *)
    {
        auto &data = *static_cast<Data *>(cookie);
        ++data.num_runs;
        return data.result;
    }

    std::vector<std::byte> memory = std::vector<std::byte>(256);
    LocalMap map{dev, memory};
    Inventory inventory{4};
    BufHandle src = inventory.full(map, &memory[0], 10);
    BufHandle dst = inventory.full(map, &memory[50], 10);
    DmaHandle dma;
    std::array<doca_workq *, num_workqs> workqs{};
    std::array<std::uint32_t, num_workqs> num_plain{}; ///< jobs of no graph in flight
    std::uint64_t num_submitted = 0, num_ends = 0;
};

std::uint32_t GraphModelTest::num_in_flight(std::size_t g, std::size_t q) const
{
    return static_cast<std::uint32_t>(std::ranges::count_if(
        instances, [&](const Instance &one) { return one.is_submitted && one.graph == g && one.workq == q; }));
}

std::uint32_t GraphModelTest::num_credits(std::size_t q) const
{
    std::uint32_t count = num_plain[q];
    for (const Instance &one : instances)
        count += one.is_submitted && one.workq == q ? num_copies(one.graph) + 1 : 0;
    return count;
}

/// A job that is refused while none was taken is told by the submit.
doca_error_t GraphModelTest::submit_answer(const Instance &instance) const
{
    const Graph &graph = graphs[instance.graph];
    for (std::size_t node = 0; node != graph.nodes.size(); ++node) {
        if (graph.nodes[node].kind == NodeKind::copy && graph.nodes[node].after.empty())
            return instance.data[node]->result;
    }
    return DOCA_SUCCESS;
}

/// Nodes and dependencies.
void GraphModelTest::build(std::size_t g)
{
    Graph &graph = graphs[g];
    doca_graph_node *made = nullptr;
    const std::size_t other = below(num_graphs);
    if (!graph.nodes.empty() && one_in(2)) {
        Graph &of_other = one_in(8) && !graphs[other].nodes.empty() ? graphs[other] : graph;
        const std::size_t from = below(graph.nodes.size()), to = below(of_other.nodes.size());
        const bool is_known = &of_other == &graph && std::ranges::count(graph.nodes[to].after, from) != 0;
        if (answers("add_dependency",
                    doca_graph_add_dependency(graph.graph, graph.nodes[from].node, of_other.nodes[to].node),
                    unless(change(g) != DOCA_SUCCESS, DOCA_ERROR_BAD_STATE,
                           unless(&of_other != &graph, DOCA_ERROR_INVALID_VALUE,
                                  unless(!is_known && graph.leads(to, from), DOCA_ERROR_NOT_PERMITTED)))) &&
            !is_known)
            graph.nodes[to].after.push_back(from);
        return;
    }
    if (graph.nodes.size() == max_nodes)
        return;
    switch (below(3)) {
    case 0:
        if (answers("user_node_create", doca_graph_user_node_create(graph.graph, take_step, &made), change(g)))
            graph.nodes.push_back({made, NodeKind::user, 0, {}});
        break;
    case 1:
        if (graphs[other].graph != nullptr && num_copies(other) + num_copies(g) < depth &&
            answers("sub_graph_node_create", doca_graph_sub_graph_node_create(graph.graph, graphs[other].graph, &made),
                    unless(contains(other, g), DOCA_ERROR_NOT_PERMITTED,
                           unless(!graphs[other].is_started, DOCA_ERROR_BAD_STATE, change(g)))))
            graph.nodes.push_back({made, NodeKind::sub_graph, other, {}});
        break;
    default:
        if (answers("ctx_node_create", doca_graph_ctx_node_create(graph.graph, DOCA_DMA_JOB_MEMCPY, ctx(), &made),
                    change(g)))
            graph.nodes.push_back({made, NodeKind::copy, 0, {}});
    }
}

void GraphModelTest::change_state(std::size_t g)
{
    Graph &graph = graphs[g];
    const std::size_t q = below(num_workqs);
    const bool is_used = num_instances_of(g) != 0 || graph.is_on_any();
    switch (below(6)) {
    case 0:
    case 1:
        if (answers("graph_start", doca_graph_start(graph.graph),
                    unless(graph.is_started || lacks_sub_graph(g), DOCA_ERROR_BAD_STATE,
                           unless(num_copies(g) == 0, DOCA_ERROR_INVALID_VALUE))))
            graph.is_started = true;
        break;
    case 2:
        if (one_in(3) &&
            answers("graph_stop", doca_graph_stop(graph.graph),
                    unless(!graph.is_started, DOCA_ERROR_BAD_STATE, unless(is_used, DOCA_ERROR_NOT_PERMITTED))))
            graph.is_started = false;
        break;
    case 3:
        if (one_in(3) && answers("graph_workq_rm", doca_graph_workq_rm(graph.graph, workqs[q]),
                                 unless(!graph.is_started || !graph.is_on[q], DOCA_ERROR_BAD_STATE,
                                        unless(num_in_flight(g, q) != 0, DOCA_ERROR_IN_USE))))
            graph.is_on[q] = false;
        break;
    case 4:
        if (one_in(4) && answers("graph_destroy", doca_graph_destroy(graph.graph),
                                 unless(num_uses(g) != 0 || is_used, DOCA_ERROR_NOT_PERMITTED)))
            graph = {};
        break;
    default:
        if (answers("graph_workq_add", doca_graph_workq_add(graph.graph, workqs[q]),
                    unless(!graph.is_started, DOCA_ERROR_BAD_STATE, unless(graph.is_on[q], DOCA_ERROR_IN_USE))))
            graph.is_on[q] = true;
    }
}

void GraphModelTest::do_instance(std::size_t i)
{
    Instance &instance = instances[i];
    if (instance.instance == nullptr) {
        const std::size_t g = below(num_graphs);
        if (graphs[g].graph == nullptr)
            return;
        doca_graph_instance *made = nullptr;
        if (!answers("instance_create", doca_graph_instance_create(graphs[g].graph, &made),
                     unless(!graphs[g].is_started, DOCA_ERROR_BAD_STATE)))
            return;
        created(instance, made, g);
        return;
    }
    if (!one_in(12))
        return set(instance);
    if (answers("instance_destroy", doca_graph_instance_destroy(instance.instance),
                unless(instance.is_submitted || instance.parent != nullptr, DOCA_ERROR_NOT_PERMITTED)))
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
    const auto wanted = [&](NodeKind kind, bool suits = true) {
        return unless(instance.is_submitted, DOCA_ERROR_BAD_STATE,
                      unless(is_foreign || node.kind != kind || !suits, DOCA_ERROR_NOT_PERMITTED));
    };
    const NodeKind kind = one_in(16) ? static_cast<NodeKind>(below(3)) : node.kind;
    if (kind == NodeKind::user) {
        if (answers("set_user_node_data",
                    doca_graph_instance_set_user_node_data(instance.instance, node.node, &data, nullptr),
                    wanted(kind))) {
            data.is_set = true;
            data.result = one_in(16) ? DOCA_ERROR_UNEXPECTED : DOCA_SUCCESS;
        }
    } else if (kind == NodeKind::copy) {
        static doca_dma_job_memcpy none;
        const bool is_bad = one_in(16);
        doca_dma_job_memcpy &job = instance.is_submitted || wanted(kind) != DOCA_SUCCESS ? none : data.work;
        job = memcpy_job(ctx(), is_bad ? nullptr : dst.get(), src);
        if (answers("set_ctx_node_data",
                    doca_graph_instance_set_ctx_node_data(instance.instance, node.node, &job.base, nullptr),
                    wanted(kind))) {
            data.is_set = true;
            data.result = is_bad ? DOCA_ERROR_INVALID_VALUE : DOCA_SUCCESS;
        }
    } else {
        Instance &sub = instances[below(num_instances)];
        if (sub.instance == nullptr || is_busy(sub) || (sub.parent != nullptr && &sub != data.sub))
            return;
        const bool suits = node.kind == kind && sub.graph == node.sub;
        if (answers("set_sub_graph_node_data",
                    doca_graph_instance_set_sub_graph_node_data(instance.instance, node.node, sub.instance, nullptr),
                    wanted(kind, suits)))
            set_sub(instance, data, sub);
    }
}

void GraphModelTest::submit(Instance &instance, std::size_t q)
{
    if (instance.instance == nullptr || (is_busy(instance) && !instance.is_submitted))
        return;
    if (!instance.is_submitted)
        begin_runs(instance);
    const bool has_data = has_all_data(instance);
    const doca_error_t wanted =
        unless(instance.is_submitted, DOCA_ERROR_IN_USE,
               unless(!graphs[instance.graph].is_on[q], DOCA_ERROR_NOT_FOUND,
                      unless(!has_data, DOCA_ERROR_INVALID_VALUE,
                             unless(num_credits(q) + num_copies(instance.graph) + 1 > depth, DOCA_ERROR_NO_MEMORY,
                                    has_data ? submit_answer(instance) : DOCA_SUCCESS))));
    if (!answers("graph_submit", doca_workq_graph_submit(workqs[q], instance.instance, {.u64 = num_submitted + 1}),
                 wanted))
        return;
    instance.is_submitted = true;
    instance.workq = q;
    instance.number = ++num_submitted;
}

void GraphModelTest::copy(std::size_t q)
{
    const doca_dma_job_memcpy job = memcpy_job(ctx(), dst, src);
    if (answers("workq_submit", doca_workq_submit(workqs[q], &job.base),
                unless(num_credits(q) == depth, DOCA_ERROR_NO_MEMORY)))
        ++num_plain[q];
}

/// Each node's state is possible, and those of a run that nothing has failed of are all the same.
void GraphModelTest::check_nodes(const Instance &instance, bool is_fine)
{
    const Graph &graph = graphs[instance.graph];
    std::vector<doca_graph_instance_node_state> states;
    for (const NodeModel &node : graph.nodes)
        states.push_back(state_of(instance.instance, node.node));
    for (std::size_t node = 0; node != graph.nodes.size(); ++node) {
        const Data &data = *instance.data[node];
        const bool has_completed = states[node] == DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
        const bool has_failed = states[node] == DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR;
        const bool is_possible = has_completed ||
                                 (!is_fine && states[node] == DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED) ||
                                 (has_failed && results_of(instance, node).front() != DOCA_SUCCESS);
        const bool has_begun_early =
            (has_completed || has_failed) && std::ranges::any_of(graph.nodes[node].after, [&](std::size_t before) {
                return states[before] != DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
            });
        if (!is_possible || has_begun_early)
            complain("a node is in a state that it cannot have");
        if (graph.nodes[node].kind == NodeKind::user && data.num_runs != (has_completed || has_failed ? 1U : 0U))
            complain("a user node has run otherwise than its state says");
        if (data.sub != nullptr && (has_completed || has_failed))
            check_nodes(*data.sub, has_completed);
    }
    if (is_fine != failed_nodes_of(instance.instance).empty())
        complain("the number of nodes that have failed");
}

void GraphModelTest::record_end(Instance &instance, doca_error_t result)
{
    ++num_ends;
    const std::vector<doca_error_t> wanted = results_of(instance);
    if (std::ranges::count(wanted, result) == 0)
        complain("an instance has ended otherwise than it had to");
    instance.is_submitted = false;
    check_nodes(instance, result == DOCA_SUCCESS);
}

void GraphModelTest::retrieve(std::size_t q, bool waits)
{
    doca_event event = {};
    const bool is_idle = num_credits(q) == 0;
    const doca_error_t status =
        waits && !is_idle ? wait_for(workqs[q], event) : doca_workq_progress_retrieve(workqs[q], &event, 0);
    if (status == DOCA_ERROR_AGAIN)
        return;
    const auto result = static_cast<doca_error_t>(event.result.u64);
    EXPECT_EQ(status, result == DOCA_SUCCESS ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED) << where();
    if (event.type == DOCA_DMA_JOB_MEMCPY) {
        if (num_plain[q] == 0 || result != DOCA_SUCCESS)
            return complain("no such job");
        --num_plain[q];
        return;
    }
    const auto found = std::ranges::find_if(instances, [&](const Instance &one) {
        return one.is_submitted && one.workq == q && one.number == event.user_data.u64;
    });
    if (found == instances.end() || event.type != DOCA_GRAPH_JOB)
        return complain("no such instance");
    record_end(*found, result);
}

void GraphModelTest::step()
{
    const std::size_t g = below(num_graphs), what = below(16);
    Graph &graph = graphs[g];
    if (what < 5 && graph.graph == nullptr) {
        (void)answers("graph_create", doca_graph_create(&graph.graph), DOCA_SUCCESS);
        return;
    }
    if (what < 3)
        build(g);
    else if (what < 5)
        change_state(g);
    else if (what < 10)
        do_instance(below(num_instances));
    else if (what < 12)
        submit(instances[below(num_instances)], below(num_workqs));
    else if (what == 12)
        copy(below(num_workqs));
    else
        retrieve(below(num_workqs), one_in(4));
}

/// In the order that always works.
void GraphModelTest::clean_up()
{
    for (std::size_t q = 0; q != num_workqs; ++q) {
        while (num_credits(q) != 0 && !HasFailure())
            retrieve(q, true);
    }
    for (bool has_more = true; has_more;) { // those that run others before these
        has_more = false;
        for (Instance &instance : instances) {
            if (instance.instance == nullptr)
                continue;
            has_more = true;
            if (instance.parent != nullptr)
                continue;
            EXPECT_EQ(doca_graph_instance_destroy(instance.instance), DOCA_SUCCESS);
            destroyed(instance);
        }
    }
    for (bool has_more = true; has_more;) {
        has_more = false;
        for (std::size_t g = 0; g != num_graphs; ++g) {
            if (graphs[g].graph == nullptr)
                continue;
            has_more = true;
            if (num_uses(g) != 0)
                continue;
            for (std::size_t q = 0; q != num_workqs; ++q) {
                if (graphs[g].is_on[q]) {
                    EXPECT_EQ(doca_graph_workq_rm(graphs[g].graph, workqs[q]), DOCA_SUCCESS);
                }
            }
            EXPECT_EQ(doca_graph_destroy(graphs[g].graph), DOCA_SUCCESS);
            graphs[g] = {};
        }
    }
    for (doca_workq *const workq : workqs) {
        EXPECT_EQ(doca_ctx_workq_rm(ctx(), workq), DOCA_SUCCESS);
        EXPECT_EQ(doca_workq_destroy(workq), DOCA_SUCCESS);
    }
    EXPECT_EQ(doca_ctx_stop(ctx()), DOCA_SUCCESS);
}

TEST_P(GraphModelTest, CallsAndResultsMatchTheModel)
{
    run([&] { step(); });
    if (!HasFailure())
        clean_up();
    tell(num_ends);
}
INSTANTIATE_FOR_DEVICES(GraphModelTest, can_copy);

} // namespace
