// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "../../core/v2/workq.hpp"

namespace opendoca {

class Submission;

/// A graph on one work queue: the source of the completions of its instances, and a poller that retries blocked nodes.
/// Owned by the graph; used by the work queue's thread only. It is polled from the first time that a submission waits.
class GraphQueue final : public v2::JobQueue, public Source, public Pollable {
public:
    explicit GraphQueue(doca_workq &workq);
    ~GraphQueue() override;

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override;
    [[nodiscard]] Source &source() noexcept override { return *this; }

    /// Lets each waiting submission retry its blocked nodes, by a signal in the order of completions.
    void progress() noexcept override;
    /// Retries at once, since credits that have been returned before the queue was armed cause no wake-up.
    [[nodiscard]] bool arm() noexcept override;

    [[nodiscard]] doca_workq &workq() const noexcept { return workq_; }
    /// The number of instances in flight.
    [[nodiscard]] std::uint32_t num_instances() const noexcept { return num_instances_; }
    // Called by submissions.
    void instance_began() noexcept { ++num_instances_; }
    void instance_ended() noexcept { --num_instances_; }

    /// Adds @p submission to the waiting ones, because contexts of some of its nodes are full. No effect if it waits
    /// already.
    void wait(Submission &submission) noexcept;
    /// Removes @p submission from the waiting ones, if it is there.
    void stop_waiting(Submission &submission) noexcept;

private:
    doca_workq &workq_;
    std::uint32_t num_instances_ = 0;
    Submission *waiting_ = nullptr; ///< head of a list; see Submission::next_waiting_
};

} // namespace opendoca
