// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "instance.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "../../core/log/log.hpp"
#include "../../core/v3/ctx.hpp"

OPENDOCA_LOG_SOURCE(DOCA_GRAPH_INSTANCE);

using opendoca::NodeKind;
using opendoca::Plan;

doca_graph_instance::doca_graph_instance(doca_graph &graph)
    : graph_(graph),
      plan_(*graph.plan()),
      ready_(std::make_unique_for_overwrite<std::uint32_t[]>(plan_.num_nodes())),
      blocked_(std::make_unique_for_overwrite<std::uint32_t[]>(plan_.num_jobs)),
      num_waits_(std::make_unique_for_overwrite<std::uint32_t[]>(plan_.num_nodes())),
      data_(std::make_unique<Data[]>(plan_.num_nodes())),
      nodes_(std::make_unique<Node[]>(plan_.num_jobs)),
      num_unset_(plan_.num_nodes())
{
    for (std::uint32_t number = 0; number != plan_.num_nodes(); ++number) {
        if (plan_.nodes[number].kind == NodeKind::context) {
            Node &node = nodes_[plan_.nodes[number].job];
            node.instance = this;
            node.number = number;
        }
    }
    std::ranges::copy(plan_.roots, ready_.get());
    std::ranges::copy(plan_.num_preceding, num_waits_.get());
    graph_.instance_created();
}

doca_graph_instance::~doca_graph_instance()
{
    for (const std::uint32_t number : plan_.sub_graphs) {
        if (data_[number].is_set)
            --data_[number].sub->num_uses_;
    }
    graph_.instance_destroyed();
}

// Data

doca_error_t doca_graph_instance::check_settable(const doca_graph_node &node, NodeKind kind,
                                                 const char *name) const noexcept
{
    if (is_in_flight_) {
        LOG_ERR("the instance is submitted: its nodes can't be given data");
        return DOCA_ERROR_BAD_STATE;
    }
    if (node.graph != &graph_) {
        LOG_ERR("node %u is not one of the instance's graph", node.number);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (node.kind != kind) {
        LOG_ERR("node %u is no %s node", node.number, name);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

void doca_graph_instance::set(const doca_graph_node &node, const Data &data) noexcept
{
    if (!data_[node.number].is_set)
        --num_unset_;
    data_[node.number] = data;
}

doca_error_t doca_graph_instance::set_task(const doca_graph_node &node, doca_task &task) noexcept
{
    if (const doca_error_t status = check_settable(node, NodeKind::context, "context"); status != DOCA_SUCCESS)
        return status;
    if (task.ctx != opendoca::context_at<doca_ctx>(node.action.context)) {
        LOG_ERR("task %p is not one of the context of node %u", static_cast<void *>(&task), node.number);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    set(node, {.task = &task, .is_set = true});
    return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance::set_cookie(const doca_graph_node &node, void *cookie) noexcept
{
    const doca_error_t status = check_settable(node, NodeKind::user, "user");
    if (status == DOCA_SUCCESS)
        set(node, {.cookie = cookie, .is_set = true});
    return status;
}

doca_error_t doca_graph_instance::set_sub_instance(const doca_graph_node &node, doca_graph_instance &sub) noexcept
{
    if (const doca_error_t status = check_settable(node, NodeKind::sub_graph, "sub-graph"); status != DOCA_SUCCESS)
        return status;
    if (&sub.graph_ != node.action.sub_graph) {
        LOG_ERR("the instance is of another graph than node %u runs", node.number);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    ++sub.num_uses_;
    if (const Data &before = data_[node.number]; before.is_set)
        --before.sub->num_uses_;
    set(node, {.sub = &sub, .is_set = true});
    return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance::check_not_submitted() const noexcept
{
    if (!is_in_flight_)
        return DOCA_SUCCESS;
    LOG_ERR("the instance is submitted");
    return DOCA_ERROR_IN_USE;
}

doca_error_t doca_graph_instance::check_unused() const noexcept
{
    if (const doca_error_t status = check_not_submitted(); status != DOCA_SUCCESS)
        return status;
    if (num_uses_ != 0) {
        LOG_ERR("%u nodes of other instances are to run the instance", num_uses_);
        return DOCA_ERROR_IN_USE;
    }
    return DOCA_SUCCESS;
}

// A run

doca_error_t doca_graph_instance::check_submittable() const noexcept
{
    if (const doca_error_t status = check_not_submitted(); status != DOCA_SUCCESS)
        return status;
    if (num_unset_ != 0) {
        LOG_ERR("%u nodes of the instance have no data", num_unset_);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/// Data that is missing in the instances of sub-graphs is found when their nodes start.
doca_error_t doca_graph_instance::submit() noexcept
{
    if (const doca_error_t status = check_submittable(); status != DOCA_SUCCESS)
        return status;
    begin(graph_, nullptr, 0);
    while (head_ < plan_.num_context_roots) {
        // Submitted, also if it could be executed at once: the engine counts a task of the graph until it is polled.
        const doca_error_t status = submit_task(ready_[head_++]);
        if (status == DOCA_SUCCESS || status == DOCA_ERROR_AGAIN) [[likely]]
            continue;
        if (num_in_flight_ != 0)
            break; // the instance ends with the error, after the tasks that were submitted
        is_in_flight_ = false;
        return status;
    }
    if (num_blocked_ != 0)
        graph_.add_blocked(*this);
    if (head_ != tail_ || is_finished()) {
        graph_.add_ready(*this);
        // The engine may be armed: user nodes and sub-graphs run in its next progress call.
        graph_.wake();
    }
    return DOCA_SUCCESS;
}

void doca_graph_instance::begin(doca_graph &runner, doca_graph_instance *parent, std::uint32_t parent_node) noexcept
{
    runner_ = &runner;
    parent_ = parent;
    parent_node_ = parent_node;
    is_in_flight_ = true;
    head_ = 0;
    tail_ = static_cast<std::uint32_t>(plan_.roots.size());
    if (std::exchange(status_, DOCA_SUCCESS) != DOCA_SUCCESS) [[unlikely]]
        std::ranges::copy(plan_.num_preceding, num_waits_.get());
}

void doca_graph_instance::run() noexcept
{
    // Blocked nodes go first: they have waited longest.
    if (num_blocked_ != 0) [[unlikely]]
        retry_blocked();
    while (head_ != tail_) {
        std::uint32_t number = ready_[head_++];
        // In a chain the next node is known from the plan. It is not put into the list, from which it would be read
        // back at once: that takes as long as all else that a node needs.
        while (start(number)) {
            const std::uint32_t next = plan_.nodes[number].only_successor;
            if (next == Plan::none || head_ != tail_) {
                release_successors(number);
                break;
            }
            number = next;
        }
    }
}

bool doca_graph_instance::start(std::uint32_t number) noexcept
{
    const Plan::Node &node = plan_.nodes[number];
    if (node.kind == NodeKind::user) {
        const auto callback = reinterpret_cast<doca_graph_user_node_cb_t>(node.action.callback);
        if (const doca_error_t status = callback(data_[number].cookie); status != DOCA_SUCCESS) [[unlikely]]
            fail(status);
        return status_ == DOCA_SUCCESS; // the callback may have called progress, in which another node has failed
    }
    if (node.kind == NodeKind::sub_graph)
        start_sub_graph(number);
    else if (execute_at_once(number)) [[likely]]
        return true;
    else
        (void)submit_task(number);
    return false;
}

void doca_graph_instance::retry_blocked() noexcept
{
    const std::uint32_t count = num_blocked_;
    num_blocked_ = 0;
    for (std::uint32_t i = 0; i != count && status_ == DOCA_SUCCESS; ++i)
        (void)submit_task(blocked_[i]);
}

bool doca_graph_instance::execute_at_once(std::uint32_t number) noexcept
{
    return has_context(number) && doca_ctx::execute_at_once(*data_[number].task);
}

doca_error_t doca_graph_instance::submit_task(std::uint32_t number) noexcept
{
    doca_error_t status = DOCA_ERROR_BAD_STATE;
    if (has_context(number)) {
        status = doca_ctx::submit_for(nodes_[plan_.nodes[number].job], *data_[number].task);
    } else {
        LOG_ERR("the context of node %u was destroyed", number);
    }
    if (status == DOCA_SUCCESS)
        ++num_in_flight_;
    else if (status == DOCA_ERROR_AGAIN)
        blocked_[num_blocked_++] = number;
    else
        node_ended(number, status);
    return status;
}

void doca_graph_instance::start_sub_graph(std::uint32_t number) noexcept
{
    doca_graph_instance &sub = *data_[number].sub;
    if (const doca_error_t status = sub.check_submittable(); status != DOCA_SUCCESS) {
        node_ended(number, status);
        return;
    }
    ++num_in_flight_;
    sub.begin(*runner_, this, number);
    runner_->add_ready(sub);
}

void doca_graph_instance::task_ended(std::uint32_t number, doca_error_t status) noexcept
{
    --num_in_flight_;
    node_ended(number, status);
    runner_->add_ready(*this);
    // At once, and not in the next progress call: successors start as soon as the task has ended.
    runner_->run_ready();
}

/// Ends a node. After the first failure no other node of the instance starts.
void doca_graph_instance::node_ended(std::uint32_t number, doca_error_t status) noexcept
{
    if (status != DOCA_SUCCESS) [[unlikely]]
        fail(status);
    if (status_ == DOCA_SUCCESS) [[likely]]
        release_successors(number);
}

void doca_graph_instance::release_successors(std::uint32_t number) noexcept
{
    const Plan::Node &node = plan_.nodes[number];
    for (std::uint32_t i = node.successors_begin; i != node.successors_end; ++i) {
        const std::uint32_t successor = plan_.successors[i];
        if (--num_waits_[successor] != 0)
            continue;
        num_waits_[successor] = plan_.num_preceding[successor];
        ready_[tail_++] = successor;
    }
}

void doca_graph_instance::fail(doca_error_t status) noexcept
{
    if (status_ == DOCA_SUCCESS)
        status_ = status;
    // Drops all nodes that have not started. Those in flight end by themselves.
    head_ = tail_;
    num_blocked_ = 0;
}
