// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstddef>
#include <cstdint>

#include <doca_graph.h>

#include "../../core/v3/ctx.hpp"
#include "../../core/v3/member.hpp"
#include "../structure.hpp"

/// doca_graph of 3.0: the structure, and a member of a progress engine that runs its instances with work to do. Owned
/// by the program. Used by the thread of the engine only, except while it is stopped. Invariant: an instance in flight
/// is in a list here, or has tasks or sub-graphs in flight.
/// It is parked while its lists are empty: the completion of a task runs what follows, without a poll of the graph.
struct doca_graph final : opendoca::GraphStructure, opendoca::v3::Member {
    explicit doca_graph(doca_pe &pe) noexcept;
    ~doca_graph() override;

    /// Sets the callbacks and the largest number of instances. BAD_STATE while the graph is started.
    [[nodiscard]] doca_error_t set_conf(doca_graph_completion_cb_t succeeded, doca_graph_completion_cb_t failed,
                                        std::uint32_t max_instances) noexcept;
    /// Returns INVALID_VALUE for a graph of another engine, or if the graph would contain itself.
    [[nodiscard]] doca_error_t add_sub_graph(doca_graph &sub_graph, doca_graph_node *&node);
    /// Returns BAD_STATE, after a log line, unless the graph is configured and all its contexts run on the same engine.
    [[nodiscard]] doca_error_t start();
    /// Returns IN_USE while the graph has instances.
    [[nodiscard]] doca_error_t stop() noexcept;
    /// Returns BAD_STATE while the graph is started or another graph contains it.
    [[nodiscard]] doca_error_t check_destroyable() const noexcept;
    /// Returns BAD_STATE if the graph is not started, and NO_MEMORY if it has its maximum of instances.
    [[nodiscard]] doca_error_t check_instantiable() const noexcept;

    doca_data user_data{};

    // Called by instances.

    /// Adds @p instance, which has nodes to start or has ended, to the ready list. No effect if it is in the list.
    /// run_ready() or wake() must follow.
    void add_ready(doca_graph_instance &instance) noexcept;
    /// Adds @p instance, which has nodes that wait for full contexts, to the blocked list. No effect if it is in the
    /// list.
    void add_blocked(doca_graph_instance &instance) noexcept;
    /// Removes an instance that has ended from the blocked list.
    void remove_blocked(doca_graph_instance &instance) noexcept;
    /// Runs the instances of the ready list up to the first that completes; the others wait for the next poll. The
    /// callback may destroy the graph, so it must not be used afterwards. No effect if called from inside of itself.
    void run_ready() noexcept;
    /// Lets the progress engine poll the graph, and wakes it: an instance has become ready outside of doca_pe_progress.
    void wake() noexcept;

private:
    [[nodiscard]] std::size_t num_in_flight() const noexcept override { return 0; } // the contexts count its tasks
    [[nodiscard]] bool progress_more() noexcept override;
    [[nodiscard]] bool has_silent_work() const noexcept override { return ready_ != nullptr; }
    [[nodiscard]] bool can_park() const noexcept override { return ready_ == nullptr && blocked_ == nullptr; }
    void task_ended(doca_task &, const opendoca::Ended &) noexcept override {}

    doca_graph_completion_cb_t succeeded_ = nullptr;
    doca_graph_completion_cb_t failed_ = nullptr;
    std::uint32_t max_instances_ = 0;        ///< 0 until set_conf()
    doca_graph_instance *ready_ = nullptr;   ///< head of a list
    doca_graph_instance *blocked_ = nullptr; ///< head of a list
    bool *is_gone_ = nullptr;                ///< set inside run_ready(): the destructor writes true to it
};
