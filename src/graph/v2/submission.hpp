// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "graph_queue.hpp"

struct doca_graph_instance;

namespace opendoca {

/// One run of an instance on a work queue, including the instances that its sub-graph nodes run. Owned by the top
/// instance; used by the thread of the work queue. It advances inside retrieve: when one of its jobs completes, or by a
/// signal, which is a completion with this object as its handler. It keeps lists instead of recursing, so the depth of
/// graphs is not limited by the stack.
class Submission final : public v2::CompletionHandler {
public:
    explicit Submission(doca_graph_instance &top) noexcept : top_(top) {}

    /// Starts the context nodes that depend on nothing. Reserves the credits of the whole run, and keeps them on
    /// success.
    [[nodiscard]] doca_error_t begin(GraphQueue &queue, const doca_data &data) noexcept;
    /// Runs ready nodes and retries blocked ones. Returns DOCA_ERROR_AGAIN, or, if the run has ended, the result for
    /// retrieve with @p event filled in.
    [[nodiscard]] doca_error_t advance(doca_event &event) noexcept;
    /// Retries blocked nodes outside of retrieve. Posts a signal if more remains to be done.
    void retry() noexcept;
    /// Handles the signal.
    [[nodiscard]] doca_error_t ended(const Ended &ended, doca_event &event) noexcept override;

    [[nodiscard]] doca_workq &workq() const noexcept { return queue_->workq(); }
    /// Adds @p instance, which has nodes to start or has ended, to the ready list. No effect if it is in the list.
    void add_ready(doca_graph_instance &instance) noexcept;

private:
    friend class GraphQueue;

    /// Posts a completion to this object, unless one is pending: the run continues in the order of completions.
    void signal() noexcept;
    /// Add to and remove from the blocked list; no effect if it is already so.
    void add_blocked(doca_graph_instance &instance) noexcept;
    void remove_blocked(doca_graph_instance &instance) noexcept;
    /// Ends the run, and fills in the event of the program.
    [[nodiscard]] doca_error_t complete(doca_event &event) noexcept;

    doca_graph_instance &top_;
    GraphQueue *queue_ = nullptr;            ///< set while the run is in flight
    doca_graph_instance *ready_ = nullptr;   ///< head of the list of instances with work to do
    doca_graph_instance *blocked_ = nullptr; ///< head of the list of instances with nodes that wait for full contexts
    Submission *next_waiting_ = nullptr;     ///< in the queue's list
    bool is_waiting_ = false;
    bool is_signalled_ = false;      ///< a signal is in the completion queue
    doca_data user_data_of_event_{}; ///< from the submit
};

} // namespace opendoca
