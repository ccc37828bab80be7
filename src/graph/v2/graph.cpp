// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "graph.hpp"

#include <algorithm>
#include <unordered_set>

#include "../../core/log.hpp"
#include "../../core/v2/call.hpp"
#include "../../core/v2/workq.hpp"

OPENDOCA_LOG_SOURCE(DOCA_GRAPH);

using opendoca::v2::call;
using opendoca::NodeKind;

doca_graph::doca_graph() = default;

doca_graph::~doca_graph()
{
    for (const auto &node : nodes_) {
        if (node->kind == NodeKind::sub_graph)
            --node->action.sub_graph->num_uses_;
    }
}

doca_error_t doca_graph::check_changeable() const noexcept
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

doca_error_t doca_graph::add_node(NodeKind kind, opendoca::NodeAction action, int job_type,
                                  doca_graph_node **node)
{
    if (const doca_error_t status = check_changeable(); status != DOCA_SUCCESS)
        return status;
    nodes_.push_back(std::make_unique<doca_graph_node>(doca_graph_node{
        this, static_cast<std::uint32_t>(nodes_.size()), kind, job_type, action, {}, {}, {}}));
    *node = nodes_.back().get();
    return DOCA_SUCCESS;
}

/// Whether @p other is this graph, or runs inside it.
bool doca_graph::contains(const doca_graph &other) const
{
    std::vector<const doca_graph *> found = {this};
    std::unordered_set<const doca_graph *> seen = {this};
    while (!found.empty()) {
        const doca_graph *const graph = found.back();
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

doca_error_t doca_graph::add_sub_graph(doca_graph &sub_graph, doca_graph_node **node)
{
    if (&sub_graph == this || (num_uses_ != 0 && sub_graph.contains(*this))) {
        LOG_ERR("the graph would contain itself");
        return DOCA_ERROR_NOT_PERMITTED;
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

doca_error_t doca_graph::add_dependency(doca_graph_node &from, doca_graph_node &to)
{
    if (const doca_error_t status = check_changeable(); status != DOCA_SUCCESS)
        return status;
    if (from.graph != this || to.graph != this) {
        LOG_ERR("a node of another graph can't be depended on, nor depend");
        return DOCA_ERROR_INVALID_VALUE;
    }
    const bool is_known = from.successors.size() < to.predecessors.size()
                              ? std::ranges::find(from.successors, &to) != from.successors.end()
                              : std::ranges::find(to.predecessors, &from) != to.predecessors.end();
    if (is_known)
        return DOCA_SUCCESS;
    if (search_.leads(to, from)) {
        LOG_ERR("node %u can't wait for node %u, which comes after it", to.number, from.number);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    from.successors.push_back(&to);
    try {
        to.predecessors.push_back(&from);
    } catch (...) {
        from.successors.pop_back();
        throw;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::start()
{
    if (plan_ != nullptr) {
        LOG_ERR("the graph is started already");
        return DOCA_ERROR_BAD_STATE;
    }
    for (const auto &node : nodes_) {
        if (node->kind == NodeKind::sub_graph && node->action.sub_graph->plan_ == nullptr) {
            LOG_ERR("the sub-graph of node %u is not started", node->number);
            return DOCA_ERROR_BAD_STATE;
        }
    }
    auto plan = std::make_unique<const opendoca::Plan>(*this);
    if (plan->num_all_jobs == 0) {
        LOG_ERR("none of the graph's %u nodes is a context node", plan->num_nodes());
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (!std::ranges::all_of(plan->contexts, &doca_ctx::is_started)) {
        LOG_ERR("a context of the graph's nodes is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    const std::lock_guard guard(lock_);
    plan_ = std::move(plan);
    return DOCA_SUCCESS;
}

/// What stopping and destroying ask for.
doca_error_t doca_graph::check_unused(const char *what) const noexcept
{
    if (const std::uint32_t count = num_instances_.load(std::memory_order_relaxed); count != 0) {
        LOG_ERR("the graph can't be %s: it has %u instances", what, count);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    const std::lock_guard guard(lock_);
    if (!services_.empty()) {
        LOG_ERR("the graph can't be %s: it is on %zu work queues", what, services_.size());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::check_destroyable() const noexcept
{
    if (num_uses_ != 0) {
        LOG_ERR("the graph can't be destroyed: %u nodes of others run it", num_uses_);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return check_unused("destroyed");
}

doca_error_t doca_graph::stop() noexcept
{
    if (plan_ == nullptr) {
        LOG_ERR("the graph is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = check_unused("stopped"); status != DOCA_SUCCESS)
        return status;
    const std::lock_guard guard(lock_);
    plan_.reset();
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::workq_add(doca_workq &workq)
{
    const std::lock_guard guard(lock_);
    if (plan_ == nullptr) {
        LOG_ERR("the graph is not started: it can't be added to a work queue");
        return DOCA_ERROR_BAD_STATE;
    }
    if (std::ranges::find(services_, &workq, &Service::workq) != services_.end()) {
        LOG_ERR("the work queue has the graph already");
        return DOCA_ERROR_IN_USE;
    }
    for (const doca_ctx *ctx : plan_->contexts) {
        if (workq.queue_of(*ctx) == nullptr) {
            LOG_ERR("a context of the graph's nodes was not added to the work queue");
            return DOCA_ERROR_BAD_STATE;
        }
    }
    auto queue = std::make_unique<opendoca::GraphQueue>(workq);
    services_.reserve(services_.size() + 1);
    workq.attach(id_, *queue);
    services_.push_back({&workq, std::move(queue)});
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::workq_rm(doca_workq &workq) noexcept
{
    const std::lock_guard guard(lock_);
    if (plan_ == nullptr) {
        LOG_ERR("the graph is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    const auto service = std::ranges::find(services_, &workq, &Service::workq);
    if (service == services_.end()) {
        LOG_ERR("the work queue does not have the graph");
        return DOCA_ERROR_BAD_STATE;
    }
    if (const std::uint32_t count = service->queue->num_instances(); count != 0) {
        LOG_ERR("%u instances of the graph on this work queue were not retrieved yet", count);
        return DOCA_ERROR_IN_USE;
    }
    workq.detach(id_);
    services_.erase(service);
    return DOCA_SUCCESS;
}

doca_error_t doca_graph_create(struct doca_graph **graph)
{
    return call({graph}, [&] { *graph = new doca_graph; });
}

doca_error_t doca_graph_destroy(struct doca_graph *graph)
{
    return call({graph}, [&] {
        const doca_error_t status = graph->check_destroyable();
        if (status == DOCA_SUCCESS)
            delete graph;
        return status;
    });
}

doca_error_t doca_graph_ctx_node_create(struct doca_graph *graph, int job_type, const struct doca_ctx *ctx,
                                        struct doca_graph_node **node)
{
    return call({graph, ctx, node}, [&] { return graph->add_node(NodeKind::context, {.ctx = ctx}, job_type, node); });
}

doca_error_t doca_graph_user_node_create(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
                                         struct doca_graph_node **node)
{
    return call({graph, reinterpret_cast<const void *>(cb), node}, [&] { return graph->add_node(NodeKind::user, {.callback = cb}, 0, node); });
}

doca_error_t doca_graph_sub_graph_node_create(struct doca_graph *graph, struct doca_graph *sub_graph,
                                              struct doca_graph_node **node)
{
    return call({graph, sub_graph, node}, [&] { return graph->add_sub_graph(*sub_graph, node); });
}

doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
                                       struct doca_graph_node *to)
{
    return call({graph, from, to}, [&] { return graph->add_dependency(*from, *to); });
}

doca_error_t doca_graph_start(struct doca_graph *graph)
{
    return call({graph}, [&] { return graph->start(); });
}

doca_error_t doca_graph_stop(struct doca_graph *graph)
{
    return call({graph}, [&] { return graph->stop(); });
}

doca_error_t doca_graph_workq_add(struct doca_graph *graph, struct doca_workq *workq)
{
    return call({graph, workq}, [&] { return graph->workq_add(*workq); });
}

doca_error_t doca_graph_workq_rm(struct doca_graph *graph, struct doca_workq *workq)
{
    return call({graph, workq}, [&] { return graph->workq_rm(*workq); });
}
