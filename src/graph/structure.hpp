// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <doca_error.h>

#include "dependency_search.hpp"
#include "plan.hpp"

/// A node under construction: the opaque type of the C API. Owned by its graph. Instances use the plan instead.
struct doca_graph_node {
    opendoca::GraphStructure *graph;
    std::uint32_t number; ///< in its graph
    opendoca::NodeKind kind;
    int type; ///< of a context node: the front end's type of job or task
    opendoca::NodeAction action;
    std::shared_ptr<const void> context;         ///< of a context node: keeps the pointer in the action valid
    std::vector<doca_graph_node *> successors;   ///< nodes that depend on this one
    std::vector<doca_graph_node *> predecessors; ///< nodes that this one depends on
    opendoca::DependencySearch::Mark mark;       ///< for DependencySearch
};

namespace opendoca {

/// The nodes of a graph and their dependencies, as the program builds them. The graphs of both front ends derive from
/// it. Nodes and dependencies can only be added while the graph is stopped and no other graph contains it, so a graph
/// never contains itself. One thread at a time may use it; only the number of instances is atomic.
class GraphStructure {
public:
    GraphStructure() = default;
    GraphStructure(const GraphStructure &) = delete;
    GraphStructure &operator=(const GraphStructure &) = delete;

    /// Adds a node without dependencies. Each function returns BAD_STATE, after a log line, unless nodes can be added.
    [[nodiscard]] doca_error_t add_node(NodeKind kind, NodeAction action, int type, doca_graph_node *&node);
    /// The graph does not keep the context alive: the program may destroy it before the graph.
    [[nodiscard]] doca_error_t add_context_node(std::shared_ptr<const void> context, int type, doca_graph_node *&node);
    /// Returns @p if_itself if the graph would contain itself.
    [[nodiscard]] doca_error_t add_sub_graph(GraphStructure &sub_graph, doca_error_t if_itself, doca_graph_node *&node);
    /// Makes @p to wait for @p from; no effect if it does already. Returns @p if_circle if @p from already depends on
    /// @p to.
    [[nodiscard]] doca_error_t add_dependency(doca_graph_node &from, doca_graph_node &to, doca_error_t if_circle);

    /// Returns null unless the graph is started.
    [[nodiscard]] const Plan *plan() const noexcept { return plan_.get(); }
    [[nodiscard]] std::span<const std::unique_ptr<doca_graph_node>> nodes() const noexcept { return nodes_; }
    /// The number of nodes of other graphs that run this graph.
    [[nodiscard]] std::uint32_t num_uses() const noexcept { return num_uses_; }

    // Called by the constructor and the destructor of an instance, in any thread. Relaxed: the count guards no other
    // data.
    void instance_created() const noexcept { num_instances_.fetch_add(1, std::memory_order_relaxed); }
    void instance_destroyed() const noexcept { num_instances_.fetch_sub(1, std::memory_order_relaxed); }
    [[nodiscard]] std::uint32_t num_instances() const noexcept
    {
        return num_instances_.load(std::memory_order_relaxed);
    }

protected:
    ~GraphStructure();

    /// Makes the plan. Returns BAD_STATE if the graph is started already, and @p if_no_context if it has no context
    /// node at any depth.
    [[nodiscard]] doca_error_t make_plan(doca_error_t if_no_context, std::unique_ptr<const Plan> &plan) const;
    void set_plan(std::unique_ptr<const Plan> plan) noexcept { plan_ = std::move(plan); }
    /// Returns BAD_STATE, after a log line, if nodes and dependencies cannot be added.
    [[nodiscard]] doca_error_t check_changeable() const noexcept;

private:
    [[nodiscard]] bool contains(const GraphStructure &other) const;

    std::vector<std::unique_ptr<doca_graph_node>> nodes_; ///< by number
    DependencySearch search_;
    std::uint32_t num_uses_ = 0;
    mutable std::atomic<std::uint32_t> num_instances_{0};
    std::unique_ptr<const Plan> plan_; ///< set while the graph is started
};

} // namespace opendoca
