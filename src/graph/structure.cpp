// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "structure.hpp"

#include <algorithm>
#include <unordered_set>

#include "../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_GRAPH);

namespace opendoca {

GraphStructure::~GraphStructure()
{
    for (const auto &node : nodes_) {
        if (node->kind == NodeKind::sub_graph)
            --node->action.sub_graph->num_uses_;
    }
}

doca_error_t GraphStructure::check_changeable() const noexcept
{
    if (plan_ != nullptr) {
        LOG_ERR("the graph is started: nothing can be added to it");
        return DOCA_ERROR_BAD_STATE;
    }
    if (num_uses_ != 0) {
        LOG_ERR("the graph is a node of %u others: nothing can be added to it", num_uses_);
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t GraphStructure::add_node(NodeKind kind, NodeAction action, int type, doca_graph_node *&node)
{
    if (const doca_error_t status = check_changeable(); status != DOCA_SUCCESS)
        return status;
    nodes_.push_back(std::make_unique<doca_graph_node>(
        doca_graph_node{this, static_cast<std::uint32_t>(nodes_.size()), kind, type, action, {}, {}, {}, {}}));
    node = nodes_.back().get();
    return DOCA_SUCCESS;
}

doca_error_t GraphStructure::add_context_node(std::shared_ptr<const void> context, int type, doca_graph_node *&node)
{
    const doca_error_t status = add_node(NodeKind::context, {.context = context.get()}, type, node);
    if (status == DOCA_SUCCESS)
        node->context = std::move(context);
    return status;
}

/// Returns whether @p other is this graph, or a sub-graph of it at any depth.
bool GraphStructure::contains(const GraphStructure &other) const
{
    std::vector<const GraphStructure *> found = {this};
    std::unordered_set<const GraphStructure *> seen = {this};
    while (!found.empty()) {
        const GraphStructure *const graph = found.back();
        found.pop_back();
        if (graph == &other)
            return true;
        for (const auto &node : graph->nodes_) {
            if (node->kind == NodeKind::sub_graph && seen.insert(node->action.sub_graph).second)
                found.push_back(node->action.sub_graph);
        }
    }
    return false;
}

doca_error_t GraphStructure::add_sub_graph(GraphStructure &sub_graph, doca_error_t if_itself, doca_graph_node *&node)
{
    // Only a graph that others contain can be contained in the sub-graph, so the search is usually not needed.
    if (&sub_graph == this || (num_uses_ != 0 && sub_graph.contains(*this))) {
        LOG_ERR("the graph would contain itself");
        return if_itself;
    }
    if (sub_graph.plan_ == nullptr) {
        LOG_ERR("the sub-graph is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    const doca_error_t status = add_node(NodeKind::sub_graph, {.sub_graph = &sub_graph}, 0, node);
    if (status == DOCA_SUCCESS)
        ++sub_graph.num_uses_;
    return status;
}

doca_error_t GraphStructure::add_dependency(doca_graph_node &from, doca_graph_node &to, doca_error_t if_circle)
{
    if (const doca_error_t status = check_changeable(); status != DOCA_SUCCESS)
        return status;
    if (from.graph != this || to.graph != this) {
        LOG_ERR("a node of another graph can't be depended on, nor depend");
        return DOCA_ERROR_INVALID_VALUE;
    }
    // A duplicate edge would be counted twice. The shorter of the two lists is searched.
    const bool exists = from.successors.size() < to.predecessors.size()
                            ? std::ranges::find(from.successors, &to) != from.successors.end()
                            : std::ranges::find(to.predecessors, &from) != to.predecessors.end();
    if (exists)
        return DOCA_SUCCESS;
    if (search_.leads(to, from)) {
        LOG_ERR("node %u can't wait for node %u, which comes after it", to.number, from.number);
        return if_circle;
    }
    from.successors.push_back(&to);
    // Both lists have the edge, or none of them.
    try {
        to.predecessors.push_back(&from);
    } catch (...) {
        from.successors.pop_back();
        throw;
    }
    return DOCA_SUCCESS;
}

doca_error_t GraphStructure::make_plan(doca_error_t if_no_context, std::unique_ptr<const Plan> &plan) const
{
    if (plan_ != nullptr) {
        LOG_ERR("the graph is started already");
        return DOCA_ERROR_BAD_STATE;
    }
    // A sub-graph may have been stopped since it was added.
    for (const auto &node : nodes_) {
        if (node->kind == NodeKind::sub_graph && node->action.sub_graph->plan_ == nullptr) {
            LOG_ERR("the sub-graph of node %u is not started", node->number);
            return DOCA_ERROR_BAD_STATE;
        }
    }
    auto made = std::make_unique<const Plan>(*this);
    // Without a context node nothing would ever complete, so the end of a run could not be reported.
    if (made->num_all_jobs == 0) {
        LOG_ERR("none of the graph's %u nodes is a context node", made->num_nodes());
        return if_no_context;
    }
    plan = std::move(made);
    return DOCA_SUCCESS;
}

} // namespace opendoca
