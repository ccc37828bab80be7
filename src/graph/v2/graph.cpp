// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "graph.hpp"

#include <algorithm>
#include <cstdint>

#include "../../core/log/log.hpp"
#include "../../core/v2/call.hpp"
#include "../../core/v2/workq.hpp"

OPENDOCA_LOG_SOURCE(DOCA_GRAPH);

using opendoca::context_at;
using opendoca::NodeKind;
using opendoca::v2::call;

doca_error_t doca_graph::start()
{
    std::unique_ptr<const opendoca::Plan> plan;
    if (const doca_error_t status = make_plan(DOCA_ERROR_INVALID_VALUE, plan); status != DOCA_SUCCESS)
        return status;
    for (const void *context : plan->contexts) {
        if (const doca_ctx *const ctx = context_at<doca_ctx>(context); ctx == nullptr || !ctx->is_started()) {
            LOG_ERR("a context of the graph's nodes %s", ctx == nullptr ? "was destroyed" : "is not started");
            return DOCA_ERROR_BAD_STATE;
        }
    }
    const std::lock_guard guard(lock_);
    set_plan(std::move(plan));
    return DOCA_SUCCESS;
}

/// Checks the condition of stop and destroy: no instances and no uses by other graphs.
doca_error_t doca_graph::check_unused(const char *what) const noexcept
{
    if (const std::uint32_t count = num_instances(); count != 0) {
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
    if (num_uses() != 0) {
        LOG_ERR("the graph can't be destroyed: %u nodes of others run it", num_uses());
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return check_unused("destroyed");
}

doca_error_t doca_graph::stop() noexcept
{
    if (plan() == nullptr) {
        LOG_ERR("the graph is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    if (const doca_error_t status = check_unused("stopped"); status != DOCA_SUCCESS)
        return status;
    const std::lock_guard guard(lock_);
    set_plan(nullptr);
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::workq_add(doca_workq &workq)
{
    const std::lock_guard guard(lock_);
    if (plan() == nullptr) {
        LOG_ERR("the graph is not started: it can't be added to a work queue");
        return DOCA_ERROR_BAD_STATE;
    }
    if (std::ranges::find(services_, &workq, &Service::workq) != services_.end()) {
        LOG_ERR("the work queue has the graph already");
        return DOCA_ERROR_IN_USE;
    }
    for (const void *context : plan()->contexts) {
        if (const doca_ctx *const ctx = context_at<doca_ctx>(context);
            ctx == nullptr || workq.queue_of(*ctx) == nullptr) {
            LOG_ERR("a context of the graph's nodes was %s",
                    ctx == nullptr ? "destroyed" : "not added to the work queue");
            return DOCA_ERROR_BAD_STATE;
        }
    }
    auto queue = std::make_unique<opendoca::GraphQueue>(workq);
    // Reserved before attach(), so that nothing fails after it.
    services_.reserve(services_.size() + 1);
    workq.attach(id_, *queue);
    services_.push_back({&workq, std::move(queue)});
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::workq_rm(doca_workq &workq) noexcept
{
    const std::lock_guard guard(lock_);
    if (plan() == nullptr) {
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
    return call({graph, ctx, node}, [&] { return graph->add_context_node(ctx->share_address(), job_type, *node); });
}

doca_error_t doca_graph_user_node_create(struct doca_graph *graph, doca_graph_user_node_cb_t cb,
                                         struct doca_graph_node **node)
{
    return call({graph, reinterpret_cast<const void *>(cb), node}, [&] {
        return graph->add_node(NodeKind::user, {.callback = reinterpret_cast<void (*)()>(cb)}, 0, *node);
    });
}

doca_error_t doca_graph_sub_graph_node_create(struct doca_graph *graph, struct doca_graph *sub_graph,
                                              struct doca_graph_node **node)
{
    return call({graph, sub_graph, node},
                [&] { return graph->add_sub_graph(*sub_graph, DOCA_ERROR_NOT_PERMITTED, *node); });
}

doca_error_t doca_graph_add_dependency(struct doca_graph *graph, struct doca_graph_node *from,
                                       struct doca_graph_node *to)
{
    return call({graph, from, to}, [&] { return graph->add_dependency(*from, *to, DOCA_ERROR_NOT_PERMITTED); });
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
