// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_dma.h>

#include "../../core/dev.hpp"
#include "../../core/device/copy_engine.hpp"
#include "../../core/v2/workq.hpp"

namespace opendoca::v2 {

/// Whether an engine can look for completions of fast-path copies inline.
template <typename Engine>
concept HasFastPoll = requires(Engine &engine)
{
    engine.poll_fast([](Operation &) {}, [] { return DOCA_ERROR_AGAIN; });
};

/// DMA jobs of one work queue. @p Engine is a provider's own type, or CopyEngine.
template <typename Engine>
class DmaJobs final : public JobQueue {
public:
    DmaJobs(std::unique_ptr<CopyEngine> owned, Engine &engine, const doca_dev &dev, doca_workq &workq) noexcept
        : engine_(engine),
          check_(dev.device(), dev.function().can.dma_max_list_elements, dev.function().can.dma_max_size),
          workq_(workq),
          owned_(std::move(owned))
    {
        if constexpr (HasFastPoll<Engine>)
            workq.set_retriever(*this, engine);
    }
    ~DmaJobs() override { workq_.remove_retriever(*this); }

    [[nodiscard]] doca_error_t submit(const doca_job &base) noexcept override
    {
        const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
        if constexpr (has_fast_copy) {
            if (!admit(job)) [[unlikely]]
                return submit_slow(job);
            return engine_.copy_fast(TagOf{base}, *job.dst_buff, *job.src_buff);
        } else {
            return submit_slow(job);
        }
    }
    [[nodiscard]] doca_error_t submit_tagged(const doca_job &base, Tag tag) noexcept override
    {
        const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
        // What retrieve() looks for inline is the program's own.
        if constexpr (has_fast_copy && !HasFastPoll<Engine>) {
            if (admit(job)) [[likely]]
                return engine_.copy_fast(tag, *job.dst_buff, *job.src_buff);
        }
        return submit_any(job, tag);
    }
    [[nodiscard]] bool carry_out(const doca_job &base) noexcept override
    {
        const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
        if constexpr (copies_at_once) {
            if (is_copy(job) && engine_.admit_with_credit(check_, *job.dst_buff, *job.src_buff)) [[likely]]
                return engine_.copy_at_once(*job.dst_buff, *job.src_buff), true;
        }
        return false;
    }
    [[nodiscard]] doca_error_t retrieve(doca_event &event) noexcept override
    {
        if constexpr (HasFastPoll<Engine>) {
            // Fast-path operations are those of submit(): the program's own.
            const auto give = [&](Operation & operation) __attribute__((always_inline))
            {
                store_tag(event, operation.tag);
                event.result.u64 = DOCA_SUCCESS;
                workq_.completions.release(operation);
            };
            return engine_.poll_fast(give, [&] { return workq_.give_waiting(event); });
        } else {
            return JobQueue::retrieve(event);
        }
    }
    [[nodiscard]] Source &source() noexcept override { return engine_; }
    [[nodiscard]] doca_error_t submit_1_3(const doca_job &job) noexcept override;

private:
    static constexpr bool has_fast_copy = requires(Engine & engine, doca_buf &buf)
    {
        engine.copy_fast(Tag{}, buf, buf);
    };
    static constexpr bool copies_at_once = requires(Engine & engine, doca_buf &buf) { engine.copy_at_once(buf, buf); };
    static constexpr bool has_imports = requires(Engine & engine, Tag tag, doca_buf &buf)
    {
        engine.end_imported(tag, buf, buf);
    };

    [[gnu::always_inline]] [[nodiscard]] static bool is_copy(const doca_dma_job_memcpy &job) noexcept
    {
        if (job.base.type != DOCA_DMA_JOB_MEMCPY || job.src_buff == nullptr || job.dst_buff == nullptr) [[unlikely]]
            return false;
        return true;
    }
    [[gnu::always_inline]] [[nodiscard]] bool admit(const doca_dma_job_memcpy &job) noexcept
    {
        return is_copy(job) && engine_.admit(check_, *job.dst_buff, *job.src_buff);
    }
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_slow(const doca_dma_job_memcpy &job) noexcept
    {
        if constexpr (has_imports) {
            if (is_copy(job))
                return (job.src_buff->fast_path_uses & KeyUse::copied_here) == 0
                           ? submit_imported<Engine::imported_src>(job)
                           : submit_imported<Engine::imported_dst>(job);
        }
        return submit_any(job);
    }
    /// The memory on @p side may be imported.
    template <auto side>
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_imported(const doca_dma_job_memcpy &job) noexcept
    {
        if (!engine_.template copy_imported<side>(check_, *job.dst_buff, *job.src_buff)) [[unlikely]]
            return submit_any(job);
        engine_.end_imported(tag_of(job.base), *job.dst_buff, *job.src_buff);
        return DOCA_SUCCESS;
    }
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_any(const doca_dma_job_memcpy &job) noexcept
    {
        return submit_any(job, tag_of(job.base));
    }
    [[nodiscard]] doca_error_t submit_any(const doca_dma_job_memcpy &job, Tag tag) noexcept;

    Engine &engine_;
    CopyCheck check_;
    doca_workq &workq_;
    std::unique_ptr<CopyEngine> owned_;
};

} // namespace opendoca::v2
