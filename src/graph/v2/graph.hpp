// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include <doca_graph.h>

#include "../../core/id.hpp"
#include "dependency_search.hpp"
#include "graph_queue.hpp"
#include "plan.hpp"

/// A node as it is built; instances run from the plan.
struct doca_graph_node {
    doca_graph *graph;
    std::uint32_t number; ///< in its graph
    opendoca::NodeKind kind;
    int job_type; ///< of a context node
    opendoca::NodeAction action;
    std::vector<doca_graph_node *> successors;
    std::vector<doca_graph_node *> predecessors;
    opendoca::DependencySearch::Mark mark;
};

/// Nodes and their dependencies, and the work queues that they run on.
struct doca_graph {
    doca_graph();
    doca_graph(const doca_graph &) = delete;
    doca_graph &operator=(const doca_graph &) = delete;
    ~doca_graph();

    [[nodiscard]] doca_error_t add_node(opendoca::NodeKind kind, opendoca::NodeAction action, int job_type,
                                        doca_graph_node **node);
    [[nodiscard]] doca_error_t add_sub_graph(doca_graph &sub_graph, doca_graph_node **node);
    [[nodiscard]] doca_error_t add_dependency(doca_graph_node &from, doca_graph_node &to);
    [[nodiscard]] doca_error_t start();
    [[nodiscard]] doca_error_t stop() noexcept;
    [[nodiscard]] doca_error_t workq_add(doca_workq &workq);
    [[nodiscard]] doca_error_t workq_rm(doca_workq &workq) noexcept;
    [[nodiscard]] doca_error_t check_destroyable() const noexcept;

    /// Work queues find it by this.
    [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
    /// Null unless started.
    [[nodiscard]] const opendoca::Plan *plan() const noexcept { return plan_.get(); }
    [[nodiscard]] std::span<const std::unique_ptr<doca_graph_node>> nodes() const noexcept { return nodes_; }

    // Each is counted by the object itself.
    void instance_created() const noexcept { num_instances_.fetch_add(1, std::memory_order_relaxed); }
    void instance_destroyed() const noexcept { num_instances_.fetch_sub(1, std::memory_order_relaxed); }

private:
    struct Service {
        doca_workq *workq;
        std::unique_ptr<opendoca::GraphQueue> queue;
    };

    [[nodiscard]] doca_error_t check_changeable() const noexcept;
    [[nodiscard]] doca_error_t check_unused(const char *what) const noexcept;
    [[nodiscard]] bool contains(const doca_graph &other) const;

    const opendoca::Id id_;
    std::vector<std::unique_ptr<doca_graph_node>> nodes_;
    opendoca::DependencySearch search_;
    std::uint32_t num_uses_ = 0; ///< nodes that run this graph
    mutable std::atomic<std::uint32_t> num_instances_{0};
    std::unique_ptr<const opendoca::Plan> plan_;
    mutable std::mutex lock_; ///< of what follows
    std::vector<Service> services_;
};
