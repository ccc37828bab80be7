// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_graph.h>

#include "../../core/v3/ctx.hpp"
#include "../../core/v3/member.hpp"
#include "../structure.hpp"

/// Nodes and their dependencies on a progress engine, which runs those of its instances that have something
/// to do.
struct doca_graph final : opendoca::GraphStructure, opendoca::v3::Member {
    explicit doca_graph(doca_pe &pe) noexcept;
    ~doca_graph() override;

    [[nodiscard]] doca_error_t set_conf(doca_graph_completion_cb_t succeeded,
                                        doca_graph_completion_cb_t failed,
                                        std::uint32_t max_instances) noexcept;
    [[nodiscard]] doca_error_t add_sub_graph(doca_graph &sub_graph, doca_graph_node *&node);
    [[nodiscard]] doca_error_t start();
    [[nodiscard]] doca_error_t stop() noexcept;
    [[nodiscard]] doca_error_t check_destroyable() const noexcept;
    /// NO_MEMORY, or BAD_STATE, unless there may be another instance.
    [[nodiscard]] doca_error_t check_instantiable() const noexcept;

    doca_data user_data{};

    // What instances call.

    /// @p instance has nodes to be started, or has ended. Nothing if it is known.
    void add_ready(doca_graph_instance &instance) noexcept;
    /// @p instance has nodes whose contexts are full. Nothing if it is known.
    void add_blocked(doca_graph_instance &instance) noexcept;
    void forget(doca_graph_instance &instance) noexcept;
    /// Runs all that is ready. The graph may be gone after it: callbacks may destroy it. Nothing while it
    /// runs.
    void run_ready() noexcept;
    /// Something has become ready outside of pe_progress.
    void wake() noexcept;

private:
    [[nodiscard]] std::size_t num_in_flight() const noexcept override
    {
        return 0;
    } // its tasks are counted by their contexts
    [[nodiscard]] bool progress_more() noexcept override;
    [[nodiscard]] bool has_more() const noexcept override { return ready_ != nullptr; }
    void task_ended(doca_task &, const opendoca::Ended &) noexcept override {}

    doca_graph_completion_cb_t succeeded_ = nullptr;
    doca_graph_completion_cb_t failed_ = nullptr;
    std::uint32_t max_instances_ = 0;
    doca_graph_instance *ready_ = nullptr;   ///< a list
    doca_graph_instance *blocked_ = nullptr; ///< a list
    bool is_running_ = false;
    bool *is_gone_ = nullptr; ///< to be set by the destructor, while it runs
};
