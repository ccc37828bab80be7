// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../../core/v2/workq.hpp"

namespace opendoca {

class Submission;

/// A graph on one work queue: the source of its instances' ends. Belongs to the queue's thread.
class GraphQueue final : public v2::JobQueue, public Source, public Pollable {
public:
    explicit GraphQueue(doca_workq &workq);
    ~GraphQueue() override;

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override;
    [[nodiscard]] Source &source() noexcept override { return *this; }

    /// Lets those that are blocked try again.
    void progress() noexcept override;
    /// The same at once: there may be credits by now whose return nobody will be woken for.
    [[nodiscard]] bool arm() noexcept override;

    [[nodiscard]] doca_workq &workq() const noexcept { return workq_; }
    /// In flight.
    [[nodiscard]] std::uint32_t num_instances() const noexcept { return num_instances_; }
    void instance_began() noexcept { ++num_instances_; }
    void instance_ended() noexcept { --num_instances_; }

    /// @p submission has nodes whose contexts are full. Nothing if it waits already.
    void wait(Submission &submission) noexcept;
    void stop_waiting(Submission &submission) noexcept;

private:
    doca_workq &workq_;
    std::uint32_t num_instances_ = 0;
    Submission *waiting_ = nullptr;
};

} // namespace opendoca
