// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Graphs and their instances as models of them know them, in every generation.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include <doca_graph.h>

namespace doca_test {

enum class NodeKind { copy, user, sub_graph };

struct NodeModel {
    doca_graph_node *node;
    NodeKind kind;
    std::size_t sub; ///< a graph
    std::vector<std::size_t> after;
};

/// @p Extra is what a generation knows besides, as in all of these.
template <typename Extra>
struct GraphModel : Extra {
    doca_graph *graph = nullptr;
    bool is_started = false;
    std::vector<NodeModel> nodes;

    [[nodiscard]] bool leads(std::size_t from, std::size_t to) const
    {
        return from == to ||
               std::ranges::any_of(nodes[to].after, [&](std::size_t before) { return leads(from, before); });
    }
};

template <typename Extra, typename Work>
struct InstanceModel;

/// What a node of an instance was given.
template <typename Extra, typename Work>
struct DataModel {
    InstanceModel<Extra, Work> *owner = nullptr;
    std::size_t node = 0;
    bool is_set = false;
    doca_error_t result = DOCA_SUCCESS; ///< that it will have
    Work work{};
    InstanceModel<Extra, Work> *sub = nullptr;
    unsigned num_runs = 0; ///< of a user node
};

template <typename Extra, typename Work>
struct InstanceModel : Extra {
    doca_graph_instance *instance = nullptr;
    std::size_t graph = 0;
    std::vector<std::unique_ptr<DataModel<Extra, Work>>> data; ///< of each node
    InstanceModel *parent = nullptr;                           ///< whose data it is
    bool is_submitted = false;                                 ///< in its own right
};

/// @p Work: the job or task of a node that copies.
template <typename OfGraph, typename OfInstance, typename Work, std::size_t num_graphs, std::size_t num_instances>
struct GraphShape {
    using Graph = GraphModel<OfGraph>;
    using Instance = InstanceModel<OfInstance, Work>;
    using Data = DataModel<OfInstance, Work>;

    std::array<Graph, num_graphs> graphs;
    std::array<Instance, num_instances> instances;

    /// Nodes that run graph @p g.
    [[nodiscard]] std::size_t num_uses(std::size_t g) const
    {
        std::size_t count = 0;
        for (const Graph &graph : graphs)
            count += static_cast<std::size_t>(std::ranges::count_if(
                graph.nodes, [&](const NodeModel &node) { return node.kind == NodeKind::sub_graph && node.sub == g; }));
        return count;
    }
    [[nodiscard]] std::size_t num_instances_of(std::size_t g) const
    {
        return static_cast<std::size_t>(std::ranges::count_if(
            instances, [&](const Instance &one) { return one.instance != nullptr && one.graph == g; }));
    }
    /// Whether @p other is @p g, or runs inside it.
    [[nodiscard]] bool contains(std::size_t g, std::size_t other) const
    {
        return g == other || std::ranges::any_of(graphs[g].nodes, [&](const NodeModel &node) {
                   return node.kind == NodeKind::sub_graph && contains(node.sub, other);
               });
    }
    [[nodiscard]] bool lacks_sub_graph(std::size_t g) const
    {
        return std::ranges::any_of(graphs[g].nodes, [&](const NodeModel &node) {
            return node.kind == NodeKind::sub_graph && !graphs[node.sub].is_started;
        });
    }
    /// With those of its sub-graphs.
    [[nodiscard]] std::uint32_t num_copies(std::size_t g) const
    {
        std::uint32_t count = 0;
        for (const NodeModel &node : graphs[g].nodes)
            count += node.kind == NodeKind::copy ? 1 : node.kind == NodeKind::sub_graph ? num_copies(node.sub) : 0;
        return count;
    }
    /// Whether something can be added to it.
    [[nodiscard]] doca_error_t change(std::size_t g) const
    {
        return graphs[g].is_started || num_uses(g) != 0 ? DOCA_ERROR_BAD_STATE : DOCA_SUCCESS;
    }

    /// An instance of graph @p g, whose nodes have no data.
    void created(Instance &instance, doca_graph_instance *made, std::size_t g)
    {
        instance = {};
        instance.instance = made;
        instance.graph = g;
        for (std::size_t node = 0; node != graphs[g].nodes.size(); ++node) {
            instance.data.push_back(std::make_unique<Data>());
            instance.data.back()->owner = &instance;
            instance.data.back()->node = node;
        }
    }
    void destroyed(Instance &instance)
    {
        for (const auto &data : instance.data) {
            if (data->sub != nullptr)
                data->sub->parent = nullptr;
        }
        instance = {};
    }
    void set_sub(Instance &instance, Data &data, Instance &sub)
    {
        if (data.sub != nullptr)
            data.sub->parent = nullptr;
        data.is_set = true;
        data.sub = &sub;
        sub.parent = &instance;
    }

    /// Whether it, or one that it runs, is in flight.
    [[nodiscard]] static bool runs_busy(const Instance &instance)
    {
        return instance.is_submitted || std::ranges::any_of(instance.data, [](const auto &data) {
                   return data->sub != nullptr && runs_busy(*data->sub);
               });
    }
    /// The same, or one that runs it.
    [[nodiscard]] static bool is_busy(const Instance &instance)
    {
        const Instance *top = &instance;
        while (top->parent != nullptr)
            top = top->parent;
        return runs_busy(*top);
    }
    [[nodiscard]] static bool has_own_data(const Instance &instance)
    {
        return std::ranges::all_of(instance.data, [](const auto &data) { return data->is_set; });
    }
    [[nodiscard]] static bool has_all_data(const Instance &instance)
    {
        return std::ranges::all_of(instance.data, [](const auto &data) {
            return data->is_set && (data->sub == nullptr || has_all_data(*data->sub));
        });
    }
    /// What it may come to: success alone, or the results of the nodes that may fail first.
    [[nodiscard]] std::vector<doca_error_t> results_of(const Instance &instance) const
    {
        if (!has_own_data(instance))
            return {DOCA_ERROR_INVALID_VALUE};
        const Graph &graph = graphs[instance.graph];
        std::vector<doca_error_t> results;
        const auto fails = [&](std::size_t node) { return results_of(instance, node).front() != DOCA_SUCCESS; };
        for (std::size_t node = 0; node != graph.nodes.size(); ++node) {
            bool is_first = fails(node);
            for (std::size_t before = 0; before != graph.nodes.size(); ++before)
                is_first = is_first && !(before != node && fails(before) && graph.leads(before, node));
            if (is_first)
                std::ranges::copy(results_of(instance, node), std::back_inserter(results));
        }
        return results.empty() ? std::vector{DOCA_SUCCESS} : results;
    }
    [[nodiscard]] std::vector<doca_error_t> results_of(const Instance &instance, std::size_t node) const
    {
        const Data &data = *instance.data[node];
        return data.sub != nullptr ? results_of(*data.sub) : std::vector{data.result};
    }
    static void begin_runs(Instance &instance)
    {
        for (const auto &data : instance.data) {
            data->num_runs = 0;
            if (data->sub != nullptr)
                begin_runs(*data->sub);
        }
    }
};

} // namespace doca_test
