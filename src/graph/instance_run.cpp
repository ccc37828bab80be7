// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How an instance runs, from submit to its end in retrieve.
#include <algorithm>
#include <cstring>

#include <doca_log.h>

#include "../core/workq.hpp"
#include "graph.hpp"
#include "instance.hpp"

DOCA_LOG_REGISTER(DOCA_GRAPH_RUN);

using opendoca::InnerSubmit;
using opendoca::NodeKind;

void doca_graph_instance::begin(opendoca::Submission &submission, doca_graph_instance *parent,
                                std::uint32_t parent_node) noexcept
{
    const std::size_t num_nodes = plan_.num_nodes();
    submission_ = &submission;
    parent_ = parent;
    parent_node_ = parent_node;
    is_in_flight_ = true;
    num_blocked_ = 0;
    num_in_flight_ = 0;
    num_failed_ = 0;
    status_ = DOCA_SUCCESS;
    head_ = 0;
    tail_ = static_cast<std::uint32_t>(plan_.roots.size());
    std::memcpy(ready_.get(), plan_.roots.data(), plan_.roots.size() * sizeof(ready_[0]));
    std::memcpy(num_waits_.get(), plan_.num_preceding.data(), num_nodes * sizeof(num_waits_[0]));
    std::memset(states_.get(), DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED, num_nodes);
}

/// In submit: the error of the first job while none was taken.
doca_error_t doca_graph_instance::start_context_roots() noexcept
{
    bool is_any_taken = false;
    while (head_ < plan_.num_context_roots) {
        switch (start_job(ready_[head_++])) {
        case InnerSubmit::Stage::refused:
            return is_any_taken ? DOCA_SUCCESS : status_;
        case InnerSubmit::Stage::full:
            break;
        case InnerSubmit::Stage::pending:
        case InnerSubmit::Stage::ended:
            is_any_taken = true;
        }
    }
    return DOCA_SUCCESS;
}

void doca_graph_instance::run() noexcept
{
    if (num_blocked_ != 0) [[unlikely]]
        retry_blocked();
    const opendoca::Plan::Node *const nodes = plan_.nodes.data();
    while (head_ != tail_) {
        const std::uint32_t number = ready_[head_++];
        const opendoca::Plan::Node &node = nodes[number];
        if (node.kind == NodeKind::user) {
            const NodeData &data = data_[number];
            node_ended(number, node.action.callback(data.cookie, data.event));
        } else if (node.kind == NodeKind::context) {
            start_job(number);
        } else {
            start_sub_graph(number);
        }
    }
}

void doca_graph_instance::retry_blocked() noexcept
{
    const std::uint32_t count = num_blocked_;
    num_blocked_ = 0;
    for (std::uint32_t i = 0; i != count && status_ == DOCA_SUCCESS; ++i)
        start_job(ready_[i]);
}

[[gnu::always_inline]] inline void doca_graph_instance::release_successors(std::uint32_t number) noexcept
{
    const opendoca::Plan::Node &node = plan_.nodes[number];
    const std::uint32_t *const successors = plan_.successors.data();
    std::uint32_t *const num_waits = num_waits_.get();
    std::uint32_t *const ready = ready_.get();
    std::uint32_t tail = tail_;
    for (std::uint32_t i = node.successors_begin; i != node.successors_end; ++i) {
        const std::uint32_t successor = successors[i];
        if (--num_waits[successor] == 0)
            ready[tail++] = successor;
    }
    tail_ = tail;
}

/// Of a node that nothing else was in flight with.
[[gnu::always_inline]] inline void doca_graph_instance::node_ended(std::uint32_t number,
                                                                   doca_error_t result) noexcept
{
    results_[number].u64 = result;
    if (result != DOCA_SUCCESS) [[unlikely]] {
        fail(number, result);
        return;
    }
    states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
    release_successors(number);
}

/// From now on, no node starts.
void doca_graph_instance::fail(std::uint32_t number, doca_error_t error) noexcept
{
    states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR;
    ++num_failed_;
    if (status_ == DOCA_SUCCESS)
        status_ = error;
    head_ = tail_;
    num_blocked_ = 0;
}

InnerSubmit::Stage doca_graph_instance::start_job(std::uint32_t number) noexcept
{
    const NodeData &data = data_[number];
    const opendoca::Plan::Node &node = plan_.nodes[number];
    const doca_job &job = *data.job;
    if (job.ctx != node.action.ctx) [[unlikely]] {
        DOCA_LOG_ERR("the job of node %u is for context %p now, and not for the node's, %p", number,
                     static_cast<void *>(job.ctx), static_cast<const void *>(node.action.ctx));
        node_ended(number, DOCA_ERROR_INVALID_VALUE);
        return InnerSubmit::Stage::refused;
    }
    const InnerSubmit outcome = submission_->workq().submit_inner(job, jobs_[node.job]);
    switch (outcome.stage) {
    case InnerSubmit::Stage::ended:
        if (data.event != nullptr) {
            data.event->type = job.type;
            data.event->user_data = job.user_data;
            data.event->result.u64 = outcome.result;
        }
        [[fallthrough]];
    case InnerSubmit::Stage::refused:
        node_ended(number, outcome.result);
        break;
    case InnerSubmit::Stage::pending:
        states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED;
        ++num_in_flight_;
        break;
    case InnerSubmit::Stage::full:
        ready_[num_blocked_++] = number;
    }
    return outcome.stage;
}

void doca_graph_instance::start_sub_graph(std::uint32_t number) noexcept
{
    doca_graph_instance &sub = *data_[number].sub;
    if (sub.is_in_flight_ || sub.num_unset_ != 0) {
        DOCA_LOG_ERR("the instance that node %u is to run %s", number,
                     sub.is_in_flight_ ? "is in flight" : "has nodes without data");
        node_ended(number, sub.is_in_flight_ ? DOCA_ERROR_IN_USE : DOCA_ERROR_INVALID_VALUE);
        return;
    }
    states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED;
    ++num_in_flight_;
    sub.begin(*submission_, this, number);
    submission_->add_ready(sub);
}

doca_graph_instance &doca_graph_instance::end_in_parent() noexcept
{
    doca_graph_instance &parent = *parent_;
    is_in_flight_ = false;
    if (doca_event *const event = parent.data_[parent_node_].event; event != nullptr) {
        event->type = DOCA_GRAPH_JOB;
        event->user_data.u64 = 0;
        event->result.u64 = status_;
    }
    parent.results_[parent_node_].u64 = status_;
    parent.end_in_flight(parent_node_, status_);
    return parent;
}

/// A job or a sub-graph has ended; another node may have failed meanwhile.
void doca_graph_instance::end_in_flight(std::uint32_t number, doca_error_t result) noexcept
{
    --num_in_flight_;
    if (result != DOCA_SUCCESS) {
        fail(number, result);
        return;
    }
    states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
    if (status_ == DOCA_SUCCESS)
        release_successors(number);
}

void doca_graph_instance::job_ended(const Job &job, const opendoca::JobSlot &slot,
                                    doca_error_t result) noexcept
{
    results_[job.node].u64 = result;
    if (doca_event *const event = data_[job.node].event; event != nullptr) {
        event->type = slot.type;
        event->user_data = job.user_data;
        if (job.write_result != nullptr)
            job.write_result(slot, result, *event);
        else
            event->result.u64 = result;
        results_[job.node] = event->result;
    }
    end_in_flight(job.node, result);
}

doca_error_t doca_graph_instance::Job::ended(const opendoca::JobSlot &slot, doca_error_t result,
                                             doca_event &event) noexcept
{
    instance->submission_->workq().inner_job_ended();
    instance->job_ended(*this, slot, result);
    instance->submission_->add_ready(*instance);
    return instance->submission_->go_on(event);
}
