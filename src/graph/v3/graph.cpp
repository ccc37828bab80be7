// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "graph.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "../../core/log/log.hpp"
#include "../../core/v3/pe.hpp"
#include "instance.hpp"

OPENDOCA_LOG_SOURCE(DOCA_GRAPH);

doca_graph::doca_graph(doca_pe &pe) noexcept
{
    pe_ = &pe;
    polls_until_parked = 0; // whatever fills the lists resumes it
    pe.connected();
}

/// The program may destroy the graph in a callback of run_ready().
doca_graph::~doca_graph()
{
    pe_->disconnected();
    if (is_gone_ != nullptr)
        *is_gone_ = true;
}

doca_error_t doca_graph::set_conf(doca_graph_completion_cb_t succeeded, doca_graph_completion_cb_t failed,
                                  std::uint32_t max_instances) noexcept
{
    if (max_instances == 0) {
        LOG_ERR("a graph of 0 instances");
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (plan() != nullptr) {
        LOG_ERR("the graph is started: its configuration can't be changed");
        return DOCA_ERROR_BAD_STATE;
    }
    succeeded_ = succeeded;
    failed_ = failed;
    max_instances_ = max_instances;
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::add_sub_graph(doca_graph &sub_graph, doca_graph_node *&node)
{
    if (sub_graph.pe_ != pe_) {
        LOG_ERR("the sub-graph is on another progress engine");
        return DOCA_ERROR_INVALID_VALUE;
    }
    return GraphStructure::add_sub_graph(sub_graph, DOCA_ERROR_INVALID_VALUE, node);
}

doca_error_t doca_graph::start()
{
    if (max_instances_ == 0) {
        LOG_ERR("the graph has no configuration: doca_graph_set_conf");
        return DOCA_ERROR_BAD_STATE;
    }
    std::unique_ptr<const opendoca::Plan> plan;
    if (const doca_error_t status = make_plan(DOCA_ERROR_BAD_STATE, plan); status != DOCA_SUCCESS)
        return status;
    for (const void *context : plan->contexts) {
        const doca_ctx *const ctx = opendoca::context_at<doca_ctx>(context);
        if (ctx == nullptr || !ctx->is_running() || ctx->pe() != pe_) {
            LOG_ERR("a context of the graph's nodes %s", ctx == nullptr       ? "was destroyed"
                                                         : !ctx->is_running() ? "is not running"
                                                                              : "is on another progress engine");
            return DOCA_ERROR_BAD_STATE;
        }
    }
    // One credit is the smallest queue: a graph makes no completions itself, and is polled for its lists.
    join(1);
    is_poll_requested_ = true;
    set_plan(std::move(plan));
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::stop() noexcept
{
    if (plan() == nullptr)
        return DOCA_SUCCESS; // clean-up code often stops graphs that are stopped already
    if (num_instances() != 0) {
        LOG_ERR("the graph can't be stopped: it has %u instances", num_instances());
        return DOCA_ERROR_IN_USE;
    }
    leave();
    is_poll_requested_ = false;
    set_plan(nullptr);
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::check_destroyable() const noexcept
{
    if (plan() != nullptr) {
        LOG_ERR("the graph is started: it must be stopped before");
        return DOCA_ERROR_BAD_STATE;
    }
    if (num_uses() != 0) {
        LOG_ERR("the graph can't be destroyed: %u nodes of others run it", num_uses());
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_graph::check_instantiable() const noexcept
{
    if (plan() == nullptr) {
        LOG_ERR("the graph is not started");
        return DOCA_ERROR_BAD_STATE;
    }
    if (num_instances() >= max_instances_) {
        LOG_ERR("the graph has %u instances, which is the number that doca_graph_set_conf was given", max_instances_);
        return DOCA_ERROR_NO_MEMORY;
    }
    return DOCA_SUCCESS;
}

void doca_graph::add_ready(doca_graph_instance &instance) noexcept
{
    if (!std::exchange(instance.is_ready_, true))
        instance.next_ready_ = std::exchange(ready_, &instance);
}

void doca_graph::add_blocked(doca_graph_instance &instance) noexcept
{
    completions().resume(); // only polls of the graph retry it
    if (!std::exchange(instance.is_blocked_, true))
        instance.next_blocked_ = std::exchange(blocked_, &instance);
}

/// Removes @p instance, which has ended, from the blocked list if it is there. It is not in the ready list.
void doca_graph::remove_blocked(doca_graph_instance &instance) noexcept
{
    if (!std::exchange(instance.is_blocked_, false))
        return;
    doca_graph_instance **at = &blocked_;
    while (*at != &instance)
        at = &(*at)->next_blocked_;
    *at = instance.next_blocked_;
}

void doca_graph::wake() noexcept
{
    completions().wake_if_waiting();
}

bool doca_graph::progress_more() noexcept
{
    if (is_gone_ != nullptr)
        return false; // called by a callback of run_ready(), which does the rest
    // A context may have space again without an event that reports it, so blocked nodes are retried in each poll.
    bool is_any_started = ready_ != nullptr;
    for (doca_graph_instance *instance = blocked_; instance != nullptr; instance = instance->next_blocked_) {
        const std::uint32_t before = instance->num_blocked_;
        instance->retry_blocked();
        if (instance->num_blocked_ != before) {
            is_any_started = true;
            add_ready(*instance);
        }
    }
    run_ready();
    return is_any_started;
}

void doca_graph::run_ready() noexcept
{
    if (is_gone_ != nullptr)
        return; // called by a callback of the loop below, which will reach it
    bool is_gone = false;
    is_gone_ = &is_gone;
    while (ready_ != nullptr) {
        doca_graph_instance &instance = *std::exchange(ready_, ready_->next_ready_);
        instance.is_ready_ = false;
        instance.run();
        if (instance.num_blocked_ != 0) [[unlikely]]
            add_blocked(instance);
        // A callback that polls may have found the end of the instance's last task: it is in the list again then.
        if (instance.is_ready_ || !instance.is_finished())
            continue;
        remove_blocked(instance);
        instance.is_in_flight_ = false;
        if (doca_graph_instance *const parent = instance.parent_; parent != nullptr) {
            --parent->num_in_flight_;
            parent->node_ended(instance.parent_node_, instance.status_);
            add_ready(*parent);
            continue;
        }
        // The callback may submit the instance again, or destroy it and the graph.
        (instance.status_ == DOCA_SUCCESS ? succeeded_ : failed_)(&instance, instance.user_data, user_data);
        if (is_gone)
            return;
        // One completion a call: a callback that always submits again must not keep the program in this loop.
        break;
    }
    is_gone_ = nullptr;
    if (ready_ != nullptr)
        completions().resume();
}
