// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../core/job.hpp"

namespace opendoca {

class Submission;

/// A graph on one work queue. Belongs to the queue's thread.
class GraphQueue final : public JobQueue {
public:
    explicit GraphQueue(doca_workq &workq) noexcept : workq_(workq) {}

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    /// Lets those that wait for room try again.
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;

    [[nodiscard]] doca_workq &workq() const noexcept { return workq_; }
    /// In flight.
    [[nodiscard]] std::uint32_t num_instances() const noexcept { return num_instances_; }
    void instance_began() noexcept { ++num_instances_; }
    void instance_ended() noexcept { --num_instances_; }

    /// @p submission has nodes whose contexts had no room. Nothing if it waits already.
    void wait(Submission &submission) noexcept;
    void stop_waiting(Submission &submission) noexcept;

private:
    doca_workq &workq_;
    std::uint32_t num_instances_ = 0;
    std::uint32_t num_ends_seen_ = 0; ///< doca_workq::num_inner_ends() when progress() was last called
    Submission *waiting_ = nullptr;
};

} // namespace opendoca
