// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>
#include <memory>

#include <doca_graph.h>

#include "../../core/v3/task.hpp"
#include "graph.hpp"

/// doca_graph_instance of 3.0: the data of a graph's nodes, and the state of a run. Owned by the program; used by the
/// thread of the graph's engine. All memory is allocated at creation, so a run allocates nothing. Invariant: at rest
/// nothing is blocked or in flight, the list of ready nodes begins with the roots, and num_waits_ is as for a run that
/// begins, except after a failure.
///
/// Its run shares no code with that of 2.2. There, nodes take credits of a work queue, contexts can be full of other
/// jobs, and events are written; here each context has room for all of its tasks.
struct doca_graph_instance {
    explicit doca_graph_instance(doca_graph &graph);
    doca_graph_instance(const doca_graph_instance &) = delete;
    doca_graph_instance &operator=(const doca_graph_instance &) = delete;
    ~doca_graph_instance();

    /// Set the data of a node: a task, an argument of a callback, or the instance that a sub-graph node runs. Return
    /// BAD_STATE while the instance is in flight, NOT_PERMITTED for a node of another kind or another context.
    [[nodiscard]] doca_error_t set_task(const doca_graph_node &node, doca_task &task) noexcept;
    [[nodiscard]] doca_error_t set_cookie(const doca_graph_node &node, void *cookie) noexcept;
    [[nodiscard]] doca_error_t set_sub_instance(const doca_graph_node &node, doca_graph_instance &sub) noexcept;
    /// Starts a run. Returns the error of the first task if none could be submitted; nothing is then in flight. Does
    /// not call back.
    [[nodiscard]] doca_error_t submit() noexcept;
    // Return IN_USE, and log it, if the instance is in flight; the second one also if it is the data of a node.
    [[nodiscard]] doca_error_t check_not_submitted() const noexcept;
    [[nodiscard]] doca_error_t check_unused() const noexcept;

    doca_data user_data{};

private:
    friend struct doca_graph;

    /// A context node; receives the completion of its task.
    class Node final : public opendoca::v3::CompletionHandler {
    public:
        void ended(doca_error_t status) noexcept override { instance->task_ended(number, status); }

        doca_graph_instance *instance = nullptr;
        std::uint32_t number = 0; ///< number of the node
    };

    /// What the program has set for a node.
    struct Data {
        union {
            doca_task *task;
            void *cookie;
            doca_graph_instance *sub;
        };
        bool is_set;
    };

    [[nodiscard]] doca_error_t check_settable(const doca_graph_node &node, opendoca::NodeKind kind,
                                              const char *name) const noexcept;
    void set(const doca_graph_node &node, const Data &data) noexcept;
    /// Returns an error, after a log line, if the instance is in flight or a node has no data.
    [[nodiscard]] doca_error_t check_submittable() const noexcept;

    /// Begins a run by @p runner.
    void begin(doca_graph &runner, doca_graph_instance *parent, std::uint32_t parent_node) noexcept;
    /// Starts all ready nodes, including those that become ready in the meantime.
    void run() noexcept;
    /// Starts blocked nodes; those that are refused again stay blocked.
    void retry_blocked() noexcept;
    /// Starts a node. Returns whether it has ended, with success.
    [[nodiscard]] bool start(std::uint32_t number) noexcept;
    /// Executes the task of a context node. Returns false, without any change, if it has to be submitted.
    [[nodiscard]] bool execute_at_once(std::uint32_t number) noexcept;
    /// Submits the task of a node. Returns AGAIN if the context is full, and the node is then retried later. Any other
    /// error has ended the node.
    doca_error_t submit_task(std::uint32_t number) noexcept;
    /// Returns whether the context of a node exists: its tasks were freed with it.
    [[nodiscard]] bool has_context(std::uint32_t number) const noexcept
    {
        return opendoca::context_at<doca_ctx>(plan_.nodes[number].action.context) != nullptr;
    }
    /// Begins the run of a sub-graph node's instance.
    void start_sub_graph(std::uint32_t number) noexcept;
    /// Records the end of a node that was in flight, and runs what has become ready.
    void task_ended(std::uint32_t number, doca_error_t status) noexcept;
    void node_ended(std::uint32_t number, doca_error_t status) noexcept;
    /// Adds the nodes to the ready ones that have waited for node @p number alone.
    void release_successors(std::uint32_t number) noexcept;
    void fail(doca_error_t status) noexcept;
    [[nodiscard]] bool is_finished() const noexcept
    {
        return head_ == tail_ && num_blocked_ == 0 && num_in_flight_ == 0;
    }

    doca_graph &graph_;
    const opendoca::Plan &plan_;

    // The state of a run
    doca_graph *runner_ = nullptr;          ///< the graph of the instance that was submitted
    doca_graph_instance *parent_ = nullptr; ///< the instance that runs this one as a sub-graph
    std::uint32_t parent_node_ = 0;
    std::uint32_t head_ = 0; ///< position in ready_ of the next node to start
    std::uint32_t tail_ = 0; ///< and of the end
    std::uint32_t num_blocked_ = 0;
    std::uint32_t num_in_flight_ = 0;    ///< tasks and sub-graphs
    doca_error_t status_ = DOCA_SUCCESS; ///< of the node that failed first
    bool is_in_flight_ = false;
    bool is_ready_ = false;   ///< in the runner's list
    bool is_blocked_ = false; ///< likewise
    doca_graph_instance *next_ready_ = nullptr;
    doca_graph_instance *next_blocked_ = nullptr;
    /// The ready nodes, the roots first. Each node becomes ready once in a run, so a run never reuses a place.
    std::unique_ptr<std::uint32_t[]> ready_;
    std::unique_ptr<std::uint32_t[]> blocked_; ///< context nodes
    /// For each node, how many predecessors have not ended. Once it is ready, as many as when the next run begins.
    std::unique_ptr<std::uint32_t[]> num_waits_;
    std::unique_ptr<Data[]> data_;
    std::unique_ptr<Node[]> nodes_; ///< the context nodes

    std::uint32_t num_unset_;    ///< nodes without data
    std::uint32_t num_uses_ = 0; ///< nodes of other instances that have this one as their data
};
