// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "instance.hpp"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstdint>
#include <cstring>

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

// A run, from submit to its end in retrieve. Nodes that can start are in ready_; what happens when a node ends is in
// node_ended() and end_in_flight().

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
    // Copies of the plan: a run consumes the list and the counts.
    std::memcpy(ready_.get(), plan_.roots.data(), plan_.roots.size() * sizeof(ready_[0]));
    std::memcpy(num_waits_.get(), plan_.num_preceding.data(), num_nodes * sizeof(num_waits_[0]));
    std::memset(states_.get(), DOCA_GRAPH_INSTANCE_NODE_STATE_NOT_STARTED, num_nodes);
}

/// Starts the context nodes that depend on nothing. Returns the error of the first job if none could be submitted.
doca_error_t doca_graph_instance::start_context_roots() noexcept
{
    bool is_any_taken = false;
    while (head_ < plan_.num_context_roots) {
        const Start start = start_job(ready_[head_++]);
        if (start == Start::refused)
            // Jobs that were submitted complete before the run ends with the error.
            return is_any_taken ? DOCA_SUCCESS : status_;
        is_any_taken = is_any_taken || start == Start::done;
    }
    return DOCA_SUCCESS;
}

void doca_graph_instance::run() noexcept
{
    // Blocked nodes go first: they have waited longest.
    if (num_blocked_ != 0) [[unlikely]]
        retry_blocked();
    const opendoca::Plan::Node *const nodes = plan_.nodes.data();
    while (head_ != tail_) {
        const std::uint32_t number = ready_[head_++];
        const opendoca::Plan::Node &node = nodes[number];
        if (node.kind == NodeKind::user) {
            const NodeData &data = data_[number];
            node_ended(number,
                       reinterpret_cast<doca_graph_user_node_cb_t>(node.action.callback)(data.cookie, data.event));
        } else if (node.kind == NodeKind::context) {
            start_job(number);
        } else {
            start_sub_graph(number);
        }
    }
}

void doca_graph_instance::retry_blocked() noexcept
{
    // start_job() may write the list that is read here, but only behind the position of reading.
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

/// Ends a node that has nothing in flight.
[[gnu::always_inline]] inline void doca_graph_instance::node_ended(std::uint32_t number, doca_error_t result) noexcept
{
    results_[number].u64 = result;
    if (result != DOCA_SUCCESS) [[unlikely]] {
        fail(number, result);
        return;
    }
    states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
    release_successors(number);
}

/// Records the first failure. No node starts afterwards.
void doca_graph_instance::fail(std::uint32_t number, doca_error_t error) noexcept
{
    states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_ERROR;
    ++num_failed_;
    if (status_ == DOCA_SUCCESS)
        status_ = error;
    // Drops all nodes that have not started. Those in flight end by themselves.
    head_ = tail_;
    num_blocked_ = 0;
}

/// Stores the result of a context node's job, and writes it to the node's event if the program has set one.
[[gnu::always_inline]] inline void doca_graph_instance::note_result(std::uint32_t number, int type,
                                                                    const doca_data &user_data, doca_error_t status,
                                                                    const opendoca::Result &result) noexcept
{
    results_[number].u64 = status;
    doca_event *const event = data_[number].event;
    if (event == nullptr) [[likely]]
        return;
    event->type = type;
    event->user_data = user_data;
    submission_->workq()
        .queue_of(*opendoca::context_at<doca_ctx>(plan_.nodes[number].action.context))
        ->write_result(type, status, result, *event);
    // The event's result may be an address that write_result() has filled.
    results_[number] = event->result;
}

/// Logs the reason why a node's job can't be submitted to @p ctx, the node's context, and returns its code.
doca_error_t doca_graph_instance::explain_refusal(std::uint32_t number, const doca_ctx *ctx,
                                                  const doca_job &job) noexcept
{
    if (ctx == nullptr) {
        LOG_ERR("the context of node %u was destroyed", number);
        return DOCA_ERROR_BAD_STATE;
    }
    if (job.ctx != ctx) {
        LOG_ERR("the job of node %u is for context %p now, and not for the node's, %p", number,
                static_cast<void *>(job.ctx), static_cast<const void *>(ctx));
        return DOCA_ERROR_INVALID_VALUE;
    }
    return doca_workq::not_on_queue(*ctx);
}

doca_graph_instance::Start doca_graph_instance::start_job(std::uint32_t number) noexcept
{
    const opendoca::Plan::Node &node = plan_.nodes[number];
    const doca_job &base = *data_[number].job;
    doca_workq &workq = submission_->workq();
    const doca_ctx *const ctx = opendoca::context_at<doca_ctx>(node.action.context);
    opendoca::v2::JobQueue *const queue = ctx != nullptr ? workq.queue_of(*ctx) : nullptr;
    doca_error_t status = DOCA_SUCCESS;
    if (queue == nullptr || base.ctx != ctx) [[unlikely]] {
        status = explain_refusal(number, ctx, base);
        // A job that takes no time needs no completion, and its successors can start at once.
    } else if (queue->carry_out(base)) [[likely]] {
        note_result(number, base.type, base.user_data, DOCA_SUCCESS, {});
        states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
        release_successors(number);
        return Start::done;
    } else {
        Job &job = jobs_[node.job];
        job.user_data = base.user_data;
        workq.completions.release_credits(1); // the job takes this credit and returns it when it completes
        status = queue->submit_tagged(base, job.tag());
        if (status == DOCA_SUCCESS) [[likely]] {
            states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_STARTED;
            ++num_in_flight_;
            return Start::done;
        }
        (void)workq.completions.reserve(1);
        // The queue has credits. A context that refuses a job without having any in flight would refuse it forever.
        if (status == DOCA_ERROR_NO_MEMORY && workq.completions.num_outstanding(queue->source()) != 0) {
            ready_[num_blocked_++] = number;
            return Start::blocked;
        }
    }
    node_ended(number, status);
    return Start::refused;
}

void doca_graph_instance::start_sub_graph(std::uint32_t number) noexcept
{
    // Checked again: the instance may have been submitted, or given another sub-instance, since the run began.
    doca_graph_instance &sub = *data_[number].sub;
    if (sub.is_in_flight_ || sub.num_unset_ != 0) {
        LOG_ERR("the instance that node %u is to run %s", number,
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
    // The event of a sub-graph node has the form of that of a submitted graph.
    if (doca_event *const event = parent.data_[parent_node_].event; event != nullptr) {
        event->type = DOCA_GRAPH_JOB;
        event->user_data.u64 = 0;
        event->result.u64 = status_;
    }
    parent.results_[parent_node_].u64 = status_;
    parent.end_in_flight(parent_node_, status_);
    return parent;
}

/// Ends a node that was in flight: a job or a sub-graph. Another node may have failed in the meantime.
void doca_graph_instance::end_in_flight(std::uint32_t number, doca_error_t result) noexcept
{
    --num_in_flight_;
    if (result != DOCA_SUCCESS) {
        fail(number, result);
        return;
    }
    states_[number] = DOCA_GRAPH_INSTANCE_NODE_STATE_COMPLETED;
    // After a failure elsewhere in the instance no further node starts.
    if (status_ == DOCA_SUCCESS)
        release_successors(number);
}

void doca_graph_instance::job_ended(const Job &job, const opendoca::Ended &ended) noexcept
{
    note_result(job.node, graph_.nodes()[job.node]->type, job.user_data, ended.status, ended.result);
    end_in_flight(job.node, ended.status);
}

doca_error_t doca_graph_instance::Job::ended(const opendoca::Ended &ended, doca_event &event) noexcept
{
    opendoca::Submission &submission = *instance->submission_;
    (void)submission.workq().completions.reserve(1); // takes back the credit that start_job() lent to the job
    instance->job_ended(*this, ended);
    submission.add_ready(*instance);
    return submission.advance(event);
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
