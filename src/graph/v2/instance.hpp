// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include <doca_graph.h>

#include "../plan.hpp"
#include "submission.hpp"

/// doca_graph_instance of 2.2: the data of a graph's nodes, and the state of a run. Owned by the program. All memory is
/// allocated at creation, so a run allocates nothing. While it is in flight, only the thread of its work queue may use
/// it. Invariant: in flight, it is ready, blocked or has something in flight itself.
struct doca_graph_instance {
    explicit doca_graph_instance(const doca_graph &graph);
    doca_graph_instance(const doca_graph_instance &) = delete;
    doca_graph_instance &operator=(const doca_graph_instance &) = delete;
    ~doca_graph_instance();

    /// Set the data of a node: a job, an argument of a callback, or the instance that a sub-graph node runs. @p event,
    /// if not null, receives the node's result. Return BAD_STATE while the instance is in flight, NOT_PERMITTED for a
    /// node of another kind or graph.
    [[nodiscard]] doca_error_t set_job(const doca_graph_node &node, doca_job &job, doca_event *event) noexcept;
    [[nodiscard]] doca_error_t set_cookie(const doca_graph_node &node, void *cookie, doca_event *event) noexcept;
    [[nodiscard]] doca_error_t set_sub_instance(const doca_graph_node &node, doca_graph_instance &sub,
                                                doca_event *event) noexcept;
    /// Starts a run. Returns NO_MEMORY without credits for all its jobs, or the error of the first job if none could be
    /// submitted; nothing is then in flight.
    [[nodiscard]] doca_error_t submit(doca_workq &workq, const doca_data &user_data) noexcept;
    /// Returns NOT_PERMITTED while the instance is in flight or the data of another instance's node.
    [[nodiscard]] doca_error_t check_destroyable() const noexcept;

    [[nodiscard]] std::uint32_t num_failed() const noexcept { return num_failed_; }
    /// Writes as many failed nodes as @p nodes has room for, and returns their number.
    [[nodiscard]] std::uint32_t failed_nodes(std::span<const doca_graph_node *> nodes) const noexcept;
    /// Returns NOT_PERMITTED unless @p node belongs to the instance's graph.
    [[nodiscard]] doca_error_t check_own(const doca_graph_node &node) const noexcept;
    [[nodiscard]] doca_graph_instance_node_state state(const doca_graph_node &node) const noexcept;
    [[nodiscard]] doca_data result(const doca_graph_node &node) const noexcept;

private:
    friend class opendoca::Submission;

    /// The job of a context node in flight; receives its completion.
    class Job final : public opendoca::v2::CompletionHandler {
    public:
        [[nodiscard]] doca_error_t ended(const opendoca::Ended &ended, doca_event &event) noexcept override;

        doca_graph_instance *instance;
        std::uint32_t node;  ///< number of the node
        doca_data user_data; ///< of the doca_job
    };

    /// Result of starting a context node.
    enum class Start : std::uint8_t {
        refused, ///< with an error that ends the node
        blocked, ///< the context is full; the node is retried when other jobs have completed
        done,    ///< submitted, or executed at once
    };

    /// What the program has set for a node.
    struct NodeData {
        union {
            doca_job *job;
            void *cookie;
            doca_graph_instance *sub;
        };
        doca_event *event; ///< of the program; receives the node's result, or null
        bool is_set;
    };

    [[nodiscard]] doca_error_t check_settable(const doca_graph_node &node, opendoca::NodeKind kind,
                                              const char *name) const noexcept;
    void set(const doca_graph_node &node, const NodeData &data) noexcept;
    /// Returns whether all nodes, of sub-instances as well, have data.
    [[nodiscard]] bool has_all_data() noexcept;

    // Called by Submission.

    /// Resets the state for a run of @p submission.
    void begin(opendoca::Submission &submission, doca_graph_instance *parent, std::uint32_t parent_node) noexcept;
    [[nodiscard]] doca_error_t start_context_roots() noexcept;
    /// Starts all ready nodes, including those that become ready in the meantime.
    void run() noexcept;
    /// Ends the sub-graph node that runs this instance. Returns the instance to which that node belongs.
    [[nodiscard]] doca_graph_instance &end_in_parent() noexcept;
    [[nodiscard]] bool has_ready_nodes() const noexcept { return head_ != tail_; }
    [[nodiscard]] bool has_blocked_nodes() const noexcept { return num_blocked_ != 0; }
    [[nodiscard]] bool is_finished() const noexcept
    {
        return head_ == tail_ && num_blocked_ == 0 && num_in_flight_ == 0;
    }
    [[nodiscard]] doca_error_t status() const noexcept { return status_; }
    /// The credits of the completion queue that a run reserves: one for each job, and one for the signal.
    [[nodiscard]] std::uint32_t num_credits() const noexcept
    {
        return static_cast<std::uint32_t>(std::min<std::uint64_t>(plan_.num_all_jobs + 1, UINT32_MAX));
    }

    /// Submits or executes the job of a context node.
    Start start_job(std::uint32_t number) noexcept;
    [[gnu::cold]] [[nodiscard]] static doca_error_t explain_refusal(std::uint32_t number, const doca_ctx *ctx,
                                                                    const doca_job &job) noexcept;
    /// Begins the run of a sub-graph node's instance.
    void start_sub_graph(std::uint32_t number) noexcept;
    /// Starts blocked nodes; those that are refused again stay blocked.
    void retry_blocked() noexcept;
    /// Records the end of a job that was in flight.
    void job_ended(const Job &job, const opendoca::Ended &ended) noexcept;
    void note_result(std::uint32_t number, int type, const doca_data &user_data, doca_error_t status,
                     const opendoca::Result &result) noexcept;
    void node_ended(std::uint32_t number, doca_error_t result) noexcept;
    void end_in_flight(std::uint32_t number, doca_error_t result) noexcept;
    /// Makes the nodes ready that have waited for node @p number alone.
    void release_successors(std::uint32_t number) noexcept;
    [[gnu::cold]] void fail(std::uint32_t number, doca_error_t error) noexcept;

    const doca_graph &graph_;
    const opendoca::Plan &plan_;

    // The state of a run
    std::uint32_t head_ = 0;             ///< position in ready_ of the next node to start
    std::uint32_t tail_ = 0;             ///< and of the end
    std::uint32_t num_blocked_ = 0;      ///< nodes that wait for full contexts: the first elements of ready_
    std::uint32_t num_in_flight_ = 0;    ///< jobs and sub-graphs
    std::uint32_t num_failed_ = 0;       ///< kept until the next run, like the states and results
    doca_error_t status_ = DOCA_SUCCESS; ///< of the node that failed first
    bool is_in_flight_ = false;
    bool is_ready_ = false;                      ///< in the submission's list
    bool is_blocked_ = false;                    ///< likewise
    opendoca::Submission *submission_ = nullptr; ///< the run that this instance is a part of
    /// The ready nodes. Each node becomes ready once in a run, so the array is never reused in one run: its consumed
    /// beginning holds the blocked nodes.
    std::unique_ptr<std::uint32_t[]> ready_;
    std::unique_ptr<std::uint32_t[]> num_waits_; ///< for each node, how many predecessors have not ended
    std::unique_ptr<std::uint8_t[]> states_;     ///< enum doca_graph_instance_node_state
    std::unique_ptr<doca_data[]> results_;       ///< of each node, from its last run
    std::unique_ptr<NodeData[]> data_;           ///< of each node
    std::unique_ptr<Job[]> jobs_;                ///< of each context node, by Plan::Node::job
    doca_graph_instance *next_ready_ = nullptr;
    doca_graph_instance *next_blocked_ = nullptr;
    doca_graph_instance *parent_ = nullptr; ///< the instance that runs this one as a sub-graph
    std::uint32_t parent_node_ = 0;         ///< number of the node in parent_

    std::uint32_t num_unset_;    ///< nodes without data
    std::uint32_t num_uses_ = 0; ///< nodes of other instances that have this one as their data
    std::uint64_t check_ =
        0; ///< the last check that visited it; next_checked_ links the instances that a check still has to visit
    doca_graph_instance *next_checked_ = nullptr;
    opendoca::Submission own_submission_{*this}; ///< the run that this instance is the top of
};
