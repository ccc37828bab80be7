// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_dma.h>

#include "../../core/dev.hpp"
#include "../../core/device/copy_engine.hpp"
#include "../../core/v2/job_queue.hpp"

namespace opendoca::v2 {

/// DMA jobs of one work queue. @p Engine is a provider's own type, or CopyEngine.
template <typename Engine>
class DmaJobs final : public JobQueue {
public:
    DmaJobs(std::unique_ptr<CopyEngine> owned, Engine &engine, const doca_dev &dev) noexcept
        : engine_(engine),
          check_(dev.device(), dev.function().can.dma_max_list_elements, dev.function().can.dma_max_size),
          owned_(std::move(owned))
    {
    }

    [[nodiscard]] doca_error_t submit(const doca_job &job) noexcept override
    {
        return submit_with(job, [&] { return tag_of(job); });
    }
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &job, Tag tag) noexcept override
    {
        return submit_with(job, [tag] { return tag; });
    }
    [[nodiscard]] Source &source() noexcept override { return engine_; }

private:
    /// @p tag gives the tag when it is needed: the fast path has no register to keep it in.
    template <typename GetTag>
    [[gnu::always_inline]] [[nodiscard]] doca_error_t submit_with(const doca_job &base, GetTag tag) noexcept
    {
        const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
        PlainCopy plain;
        if (base.type != DOCA_DMA_JOB_MEMCPY || job.src_buff == nullptr || job.dst_buff == nullptr ||
            !check_.is_plain(*job.dst_buff, *job.src_buff, plain)) [[unlikely]]
            return submit_any(job, tag());
        if constexpr (requires { engine_.copy_plain(tag(), *job.dst_buff, *job.src_buff, plain); })
            return engine_.copy_plain(tag(), *job.dst_buff, *job.src_buff, plain);
        else
            return engine_.copy(tag(), *job.dst_buff, *job.src_buff, plain.plan(*job.src_buff));
    }
    [[gnu::noinline, gnu::cold]] [[nodiscard]] doca_error_t submit_any(const doca_dma_job_memcpy &job,
                                                                       Tag tag) noexcept;

    Engine &engine_;
    CopyCheck check_;
    std::unique_ptr<CopyEngine> owned_;
};

} // namespace opendoca::v2
