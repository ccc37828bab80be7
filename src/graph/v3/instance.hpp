// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_graph.h>

#include "../../core/v3/task.hpp"
#include "graph.hpp"

/// The data of a graph's nodes, and how far a run has come. All memory is taken at creation.
///
/// A run has no part in 2.2's: there, nodes take credits of a work queue, contexts can be full of other jobs,
/// and events are written. Here each context has room for all its tasks.
struct doca_graph_instance {
    explicit doca_graph_instance(doca_graph &graph);
    doca_graph_instance(const doca_graph_instance &) = delete;
    doca_graph_instance &operator=(const doca_graph_instance &) = delete;
    ~doca_graph_instance();

    [[nodiscard]] doca_error_t set_task(const doca_graph_node &node, doca_task &task) noexcept;
    [[nodiscard]] doca_error_t set_cookie(const doca_graph_node &node, void *cookie) noexcept;
    [[nodiscard]] doca_error_t set_sub_instance(const doca_graph_node &node,
                                                doca_graph_instance &sub) noexcept;
    [[nodiscard]] doca_error_t submit() noexcept;
    // IN_USE, with a message, if it is submitted; the second one also if it is the data of a node.
    [[nodiscard]] doca_error_t check_not_submitted() const noexcept;
    [[nodiscard]] doca_error_t check_unused() const noexcept;

    doca_data user_data{};

private:
    friend struct doca_graph;

    /// A context node: hears of the end of its task.
    class Node final : public opendoca::v3::CompletionHandler {
    public:
        void ended(const opendoca::Ended &ended) noexcept override
        {
            instance->task_ended(number, ended.status);
        }

        doca_graph_instance *instance = nullptr;
        std::uint32_t number = 0;
    };

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
    [[nodiscard]] doca_error_t check_submittable() const noexcept;

    void begin(doca_graph &runner, doca_graph_instance *parent, std::uint32_t parent_node) noexcept;
    /// Starts all nodes that are ready, and those that become so.
    void run() noexcept;
    void retry_blocked() noexcept;
    /// AGAIN: its context is full, and it waits. Any other error has failed the node.
    doca_error_t start_task(std::uint32_t number) noexcept;
    void start_sub_graph(std::uint32_t number) noexcept;
    void task_ended(std::uint32_t number, doca_error_t status) noexcept;
    void node_ended(std::uint32_t number, doca_error_t status) noexcept;
    [[nodiscard]] bool is_finished() const noexcept
    {
        return head_ == tail_ && num_blocked_ == 0 && num_in_flight_ == 0;
    }

    doca_graph &graph_;
    const opendoca::Plan &plan_;

    // A run
    doca_graph *runner_ = nullptr;          ///< the graph of the instance that was submitted
    doca_graph_instance *parent_ = nullptr; ///< that runs it as a sub-graph
    std::uint32_t parent_node_ = 0;
    std::uint32_t head_ = 0; ///< of the ready nodes
    std::uint32_t tail_ = 0;
    std::uint32_t num_blocked_ = 0;
    std::uint32_t num_in_flight_ = 0;    ///< tasks and sub-graphs
    doca_error_t status_ = DOCA_SUCCESS; ///< of the node that failed first
    bool is_in_flight_ = false;
    bool is_ready_ = false;   ///< in the runner's list
    bool is_blocked_ = false; ///< likewise
    doca_graph_instance *next_ready_ = nullptr;
    doca_graph_instance *next_blocked_ = nullptr;
    /// Each node is ready once in a run. Those that are blocked are kept at the beginning, which was used.
    std::unique_ptr<std::uint32_t[]> ready_;
    std::unique_ptr<std::uint32_t[]> num_waits_; ///< for how many nodes each waits
    std::unique_ptr<Data[]> data_;
    std::unique_ptr<Node[]> nodes_; ///< the context nodes

    std::uint32_t num_unset_;    ///< nodes without data
    std::uint32_t num_uses_ = 0; ///< nodes of other instances that it is the data of
};
