// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "graph_queue.hpp"

struct doca_graph_instance;

namespace opendoca {

/// One run of an instance on a work queue, with the instances that its sub-graph nodes run. Goes on in
/// retrieve: when a job of it has ended, or by a signal, which is a completion with the submission as its
/// handler. Never calls itself, however deep graphs are.
class Submission final : public v2::CompletionHandler {
public:
    explicit Submission(doca_graph_instance &top) noexcept : top_(top) {}

    /// Starts the jobs of the roots. The credits for everything are reserved, and stay so on success.
    [[nodiscard]] doca_error_t begin(GraphQueue &queue, const doca_data &data) noexcept;
    /// Runs what is ready, and tries again what was blocked. DOCA_ERROR_AGAIN, or what retrieve returns with
    /// @p event of the instance's end.
    [[nodiscard]] doca_error_t go_on(doca_event &event) noexcept;
    /// Tries again what was blocked, outside of retrieve: a signal follows if anything else is to be done.
    void retry() noexcept;
    /// The signal.
    [[nodiscard]] doca_error_t ended(const Ended &ended, doca_event &event) noexcept override;

    [[nodiscard]] doca_workq &workq() const noexcept { return queue_->workq(); }
    /// @p instance has nodes to be started, or has ended. Nothing if it is known.
    void add_ready(doca_graph_instance &instance) noexcept;

private:
    friend class GraphQueue;

    void signal() noexcept;
    void add_blocked(doca_graph_instance &instance) noexcept;
    void remove_blocked(doca_graph_instance &instance) noexcept;
    [[nodiscard]] doca_error_t complete(doca_event &event) noexcept;

    doca_graph_instance &top_;
    GraphQueue *queue_ = nullptr;
    doca_graph_instance *ready_ = nullptr;   ///< a list
    doca_graph_instance *blocked_ = nullptr; ///< a list of those with nodes whose contexts are full
    Submission *next_waiting_ = nullptr;     ///< in the queue's list
    bool is_waiting_ = false;
    bool is_signalled_ = false;
    doca_data user_data_of_event_{};
};

} // namespace opendoca
