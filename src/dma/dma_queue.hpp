// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "../core/dev.hpp"
#include "../core/job.hpp"

namespace opendoca {

/// DMA for one work queue: checks a job, and hands it to the device.
class DmaQueue final : public JobQueue {
public:
    [[nodiscard]] static doca_error_t create(const doca_dev &dev, doca_workq &workq, std::unique_ptr<JobQueue> &queue);

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;
    void progress() noexcept override { copies_->progress(); }
    [[nodiscard]] bool needs_progress() const noexcept override { return copies_->needs_progress(); }
    [[nodiscard]] bool arm() noexcept override { return copies_->arm(); }
    void disarm() noexcept override { copies_->disarm(); }

private:
    explicit DmaQueue(const doca_dev &dev) noexcept;

    [[gnu::cold]] [[nodiscard]] doca_error_t submit_any(const doca_dma_job_memcpy &job) noexcept;
    [[nodiscard]] doca_error_t check_list(const doca_buf &head, bool for_writing) const noexcept;

    const doca_dev &dev_;
    std::unique_ptr<CopyQueue> copies_;
    const std::uint32_t max_list_elements_;
    const std::uint64_t max_size_;
};

} // namespace opendoca
