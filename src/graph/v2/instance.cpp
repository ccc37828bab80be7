// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "instance.hpp"

#include <atomic>
#include <cinttypes>
#include <cstdint>

#include "../../core/log/log.hpp"
#include "../../core/v2/call.hpp"
#include "graph.hpp"

OPENDOCA_LOG_SOURCE(DOCA_GRAPH_INSTANCE);

using opendoca::NodeKind;
using opendoca::v2::call;

doca_graph_instance::doca_graph_instance(const doca_graph &graph)
    : graph_(graph),
      plan_(*graph.plan()),
      ready_(std::make_unique_for_overwrite<std::uint32_t[]>(plan_.num_nodes())),
      num_waits_(std::make_unique_for_overwrite<std::uint32_t[]>(plan_.num_nodes())),
      states_(std::make_unique<std::uint8_t[]>(plan_.num_nodes())),
      results_(std::make_unique<doca_data[]>(plan_.num_nodes())),
      data_(std::make_unique<NodeData[]>(plan_.num_nodes())),
      jobs_(std::make_unique<Job[]>(plan_.num_jobs)),
      num_unset_(plan_.num_nodes())
{
    for (std::uint32_t number = 0; number != plan_.num_nodes(); ++number) {
        if (plan_.nodes[number].kind == NodeKind::context) {
            Job &job = jobs_[plan_.nodes[number].job];
            job.instance = this;
            job.node = number;
        }
    }
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

doca_error_t doca_graph_instance::check_own(const doca_graph_node &node) const noexcept
{
    if (node.graph == &graph_)
        return DOCA_SUCCESS;
    LOG_ERR("node %u is not one of the instance's graph", node.number);
    return DOCA_ERROR_NOT_PERMITTED;
}

doca_error_t doca_graph_instance::check_settable(const doca_graph_node &node, NodeKind kind,
                                                 const char *name) const noexcept
{
    if (is_in_flight_) {
        LOG_ERR("the instance is in flight: its nodes can't be given data");
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = check_own(node); status != DOCA_SUCCESS)
        return status;
    if (node.kind != kind) {
        LOG_ERR("node %u is no %s node", node.number, name);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

void doca_graph_instance::set(const doca_graph_node &node, const NodeData &data) noexcept
{
    if (!data_[node.number].is_set)
        --num_unset_;
    data_[node.number] = data;
}

doca_error_t doca_graph_instance::set_job(const doca_graph_node &node, doca_job &job, doca_event *event) noexcept
{
    if (const doca_error_t status = check_settable(node, NodeKind::context, "context"); status != DOCA_SUCCESS)
        return status;
    const doca_ctx *const ctx = opendoca::context_at<doca_ctx>(node.action.context);
    if (ctx == nullptr || job.type != node.type || job.ctx != ctx) {
        LOG_ERR("a job of type %d for context %p does not suit node %u, which is for type %d and context %p", job.type,
                static_cast<void *>(job.ctx), node.number, node.type, static_cast<const void *>(ctx));
        return DOCA_ERROR_NOT_PERMITTED;
    }
    set(node, {.job = &job, .event = event, .is_set = true});
    return DOCA_SUCCESS;
}

doca_error_t doca_graph_instance::set_cookie(const doca_graph_node &node, void *cookie, doca_event *event) noexcept
{
    const doca_error_t status = check_settable(node, NodeKind::user, "user");
    if (status == DOCA_SUCCESS)
        set(node, {.cookie = cookie, .event = event, .is_set = true});
    return status;
}

doca_error_t doca_graph_instance::set_sub_instance(const doca_graph_node &node, doca_graph_instance &sub,
                                                   doca_event *event) noexcept
{
    if (const doca_error_t status = check_settable(node, NodeKind::sub_graph, "sub-graph"); status != DOCA_SUCCESS)
        return status;
    if (&sub.graph_ != node.action.sub_graph) {
        LOG_ERR("the instance is of another graph than node %u runs", node.number);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    ++sub.num_uses_;
    if (const NodeData &before = data_[node.number]; before.is_set)
        --before.sub->num_uses_;
    set(node, {.sub = &sub, .event = event, .is_set = true});
    return DOCA_SUCCESS;
}

/// Checks each instance that sub-graph nodes may run, once, however often it is used.
bool doca_graph_instance::has_all_data() noexcept
{
    // A number that no other check has: visited instances need no reset.
    static std::atomic<std::uint64_t> num_checks{0};
    if (plan_.sub_graphs.empty())
        return num_unset_ == 0;
    const std::uint64_t check = num_checks.fetch_add(1, std::memory_order_relaxed) + 1;
    // A list through the instances replaces recursion, whose depth would depend on the graph.
    next_checked_ = nullptr;
    doca_graph_instance *next = this;
    while (next != nullptr) {
        const doca_graph_instance &instance = *next;
        next = instance.next_checked_;
        if (instance.num_unset_ != 0)
            return false;
        for (const std::uint32_t number : instance.plan_.sub_graphs) {
            doca_graph_instance &sub = *instance.data_[number].sub;
            if (sub.check_ != check) {
                sub.check_ = check;
                sub.next_checked_ = next;
                next = &sub;
            }
        }
    }
    return true;
}

doca_error_t doca_graph_instance::submit(doca_workq &workq, const doca_data &user_data) noexcept
{
    if (is_in_flight_) {
        LOG_ERR("the instance is in flight already");
        return DOCA_ERROR_IN_USE;
    }
    auto *const queue = static_cast<opendoca::GraphQueue *>(workq.queue_of(graph_.id()));
    if (queue == nullptr) {
        LOG_ERR("the graph was not added to this work queue");
        return DOCA_ERROR_NOT_FOUND;
    }
    if (!has_all_data()) {
        LOG_ERR("a node of the instance, or of one that it runs as a sub-graph, has no data");
        return DOCA_ERROR_INVALID_VALUE;
    }
    // The credits of the whole run are reserved at once, so that no job of it can fail for lack of a credit.
    if (!workq.completions.reserve(num_credits())) {
        if (num_credits() > workq.completions.depth()) // otherwise the program can drain the queue and try again
            LOG_ERR("an instance takes the room of %" PRIu32 " jobs, and the work queue is %" PRIu32 " deep",
                    num_credits(), workq.completions.depth());
        return DOCA_ERROR_NO_MEMORY;
    }
    const doca_error_t status = own_submission_.begin(*queue, user_data);
    if (status != DOCA_SUCCESS)
        workq.completions.release_credits(num_credits());
    return status;
}

doca_error_t doca_graph_instance::check_destroyable() const noexcept
{
    if (is_in_flight_) {
        LOG_ERR("the instance is in flight");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    if (num_uses_ != 0) {
        LOG_ERR("%u nodes of other instances are to run the instance", num_uses_);
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return DOCA_SUCCESS;
}

std::uint32_t doca_graph_instance::failed_nodes(std::span<const doca_graph_node *> nodes) const noexcept
{
    std::uint32_t count = 0;
    for (std::uint32_t number = 0; number != plan_.num_nodes() && count != nodes.size(); ++number) {
        if (states_[number] == DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR)
            nodes[count++] = graph_.nodes()[number].get();
    }
    return count;
}

doca_graph_instance_node_state doca_graph_instance::state(const doca_graph_node &node) const noexcept
{
    return static_cast<doca_graph_instance_node_state>(states_[node.number]);
}

doca_data doca_graph_instance::result(const doca_graph_node &node) const noexcept
{
    return results_[node.number];
}

doca_error_t doca_graph_instance_create(const struct doca_graph *graph, struct doca_graph_instance **graph_instance)
{
    return call({graph, graph_instance}, [&] {
        if (graph->plan() == nullptr) {
            LOG_ERR("the graph is not started");
            return DOCA_ERROR_BAD_STATE;
        }
        *graph_instance = new doca_graph_instance(*graph);
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_graph_instance_destroy(struct doca_graph_instance *graph_instance)
{
    return call({graph_instance}, [&] {
        const doca_error_t status = graph_instance->check_destroyable();
        if (status == DOCA_SUCCESS)
            delete graph_instance;
        return status;
    });
}

doca_error_t doca_graph_instance_set_ctx_node_data(struct doca_graph_instance *graph_instance,
                                                   struct doca_graph_node *node, struct doca_job *job,
                                                   struct doca_event *ev)
{
    return call({graph_instance, node, job}, [&] { return graph_instance->set_job(*node, *job, ev); });
}

doca_error_t doca_graph_instance_set_user_node_data(struct doca_graph_instance *graph_instance,
                                                    struct doca_graph_node *node, void *cookie, struct doca_event *ev)
{
    return call({graph_instance, node}, [&] { return graph_instance->set_cookie(*node, cookie, ev); });
}

doca_error_t doca_graph_instance_set_sub_graph_node_data(struct doca_graph_instance *graph_instance,
                                                         struct doca_graph_node *node,
                                                         struct doca_graph_instance *sub_graph_instance,
                                                         struct doca_event *ev)
{
    return call({graph_instance, node, sub_graph_instance},
                [&] { return graph_instance->set_sub_instance(*node, *sub_graph_instance, ev); });
}

doca_error_t doca_workq_graph_submit(struct doca_workq *workq, struct doca_graph_instance *graph_instance,
                                     union doca_data user_data)
{
    if (workq == nullptr || graph_instance == nullptr) [[unlikely]]
        return opendoca::refuse_null();
    return graph_instance->submit(*workq, user_data);
}

doca_error_t doca_graph_instance_get_num_failed_nodes(const struct doca_graph_instance *graph_instance,
                                                      uint32_t *num_failed_nodes)
{
    return call({graph_instance, num_failed_nodes}, [&] { *num_failed_nodes = graph_instance->num_failed(); });
}

doca_error_t doca_graph_instance_get_failed_nodes(const struct doca_graph_instance *graph_instance,
                                                  const struct doca_graph_node **failed_nodes,
                                                  uint32_t *num_failed_nodes)
{
    return call({graph_instance, failed_nodes, num_failed_nodes}, [&] {
        *num_failed_nodes = graph_instance->failed_nodes({failed_nodes, *num_failed_nodes});
    });
}

doca_error_t doca_graph_instance_node_get_state(const struct doca_graph_instance *graph_instance,
                                                const struct doca_graph_node *node,
                                                enum doca_graph_instance_node_state *state)
{
    return call({graph_instance, node, state}, [&] {
        const doca_error_t status = graph_instance->check_own(*node);
        if (status == DOCA_SUCCESS)
            *state = graph_instance->state(*node);
        return status;
    });
}

doca_error_t doca_graph_instance_node_get_result(const struct doca_graph_instance *graph_instance,
                                                 const struct doca_graph_node *node, union doca_data *result)
{
    return call({graph_instance, node, result}, [&] {
        const doca_error_t status = graph_instance->check_own(*node);
        if (status == DOCA_SUCCESS)
            *result = graph_instance->result(*node);
        return status;
    });
}
