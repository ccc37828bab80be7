// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../dev.hpp"
#include "../job.hpp"

struct doca_dma_job_memcpy;

namespace opendoca {

/// DMA for one work queue: checks a job, and hands it to what the provider derives from this. Between the
/// work queue and the provider there is nothing else.
class CopyQueue : public JobQueue {
public:
    /// @p dev does the copies.
    explicit CopyQueue(const doca_dev &dev) noexcept;

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override;

protected:
    /// Takes a copy whose sizes and local rights are checked, and ends it in doca_workq::complete_at_once()
    /// or later in doca_workq::complete(). A successful copy has extended the destination's data sections. @p
    /// dst and @p src are the keys of the heads of the lists. NO_MEMORY when the work queue is full.
    [[nodiscard]] virtual doca_error_t copy(const doca_dma_job_memcpy &job, CopyPlan plan, MemoryKey &dst,
                                            MemoryKey &src) noexcept = 0;

    [[nodiscard]] const doca_dev &dev() const noexcept { return dev_; }

private:
    [[gnu::cold]] [[nodiscard]] doca_error_t submit_any(const doca_dma_job_memcpy &job) noexcept;
    [[nodiscard]] doca_error_t check_list(const doca_buf &head, bool for_writing) const noexcept;

    const doca_dev &dev_;
    const std::uint32_t max_list_elements_;
    const std::uint64_t max_size_;
};

} // namespace opendoca
