// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include <doca_dma.h>

#include "../../core/device/copy_engine.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v2/workq.hpp"

namespace opendoca::v2 {

/// Whether an engine has a poll for copies of its short path that can be inlined into retrieve().
template <typename Engine>
concept HasFastPoll = requires(Engine &engine)
{
    engine.poll_fast([](Operation &) {}, [] { return DOCA_ERROR_AGAIN; });
};

/// The DMA jobs of one context on one work queue: validates each job, starts its copy, and retrieves copies of the
/// short path without a virtual call. Owned by the context from doca_ctx_workq_add() to doca_ctx_workq_rm(); used by
/// the thread of the work queue.
/// @p Engine is the concrete type of the engine if it has a short path (core/device/small_copies.hpp), else
/// CopyEngine. All branches on what it provides are decided at compile time.
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

    /// Submits a copy. One that the engine admits to its short path starts here; submit_slow() handles all others,
    /// invalid ones included.
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
        // Not with an engine that retrieve() polls inline: retrieve() reports all copies of the short path to the
        // program, and a tagged job belongs to a graph.
        if constexpr (has_fast_copy && !HasFastPoll<Engine>) {
            if (admit(job)) [[likely]]
                return engine_.copy_fast(tag, *job.dst_buff, *job.src_buff);
        }
        return submit_any(job, tag);
    }
    /// Copies without a completion, for a caller such as a graph that needs none. The copy takes no credit, so the
    /// completion queue is not checked.
    [[nodiscard]] bool carry_out(const doca_job &base) noexcept override
    {
        const auto &job = reinterpret_cast<const doca_dma_job_memcpy &>(base);
        if constexpr (copies_at_once) {
            if (is_copy(job) && engine_.admit_with_credit(check_, *job.dst_buff, *job.src_buff)) [[likely]]
                return engine_.copy_at_once(*job.dst_buff, *job.src_buff), true;
        }
        return false;
    }
    /// Polls for copies of the short path and, if there are none, retrieves what is in the ring.
    [[nodiscard]] doca_error_t retrieve(doca_event &event) noexcept override
    {
        if constexpr (HasFastPoll<Engine>) {
            // Only submit() starts copies of the short path here, so each is a job of the program, and has succeeded: a
            // failed copy goes through the ring.
            const auto report = [&](Operation & operation) __attribute__((always_inline))
            {
                store_tag(event, operation.tag);
                event.result.u64 = DOCA_SUCCESS;
                workq_.completions.release(operation);
            };
            return engine_.poll_fast(report, [&] { return workq_.retrieve_queued(event); });
        } else {
            return JobQueue::retrieve(event);
        }
    }
    [[nodiscard]] Source &source() noexcept override { return engine_; }
    [[nodiscard]] doca_error_t submit_1_3(const doca_job &job) noexcept override;

private:
    // What the engine provides: a short path, copies without a completion, and a short path for imported memory.
    static constexpr bool has_fast_copy = requires(Engine & engine, doca_buf &buf)
    {
        engine.copy_fast(Tag{}, buf, buf);
    };
    static constexpr bool copies_at_once = requires(Engine & engine, doca_buf &buf) { engine.copy_at_once(buf, buf); };
    static constexpr bool has_imports = requires(Engine & engine, Tag tag, doca_buf &buf)
    {
        engine.end_imported(tag, buf, buf);
    };

    /// Returns whether @p job is a copy with both buffers, as the functions of the engine require.
    [[gnu::always_inline]] [[nodiscard]] static bool is_copy(const doca_dma_job_memcpy &job) noexcept
    {
        if (job.base.type != DOCA_DMA_JOB_MEMCPY || job.src_buff == nullptr || job.dst_buff == nullptr) [[unlikely]]
            return false;
        return true;
    }
    /// Returns whether the engine takes @p job on its short path; it then has the credits for it.
    [[gnu::always_inline]] [[nodiscard]] bool admit(const doca_dma_job_memcpy &job) noexcept
    {
        return is_copy(job) && engine_.admit(check_, *job.dst_buff, *job.src_buff);
    }
    /// Submits a job that the short path does not take. If one side is imported memory of another process, the engine
    /// may have a short path for that; the other side has to be memory of this process.
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
    /// Submits a copy with imported memory on @p side. Returns to the general path if the engine does not take it.
    template <auto side>
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_imported(const doca_dma_job_memcpy &job) noexcept
    {
        if (!engine_.template copy_imported<side>(check_, *job.dst_buff, *job.src_buff)) [[unlikely]]
            return submit_any(job);
        engine_.end_imported(tag_of(job.base), *job.dst_buff, *job.src_buff);
        return DOCA_SUCCESS;
    }
    /// Submits any job by the general path.
    [[gnu::noinline]] [[nodiscard]] doca_error_t submit_any(const doca_dma_job_memcpy &job) noexcept
    {
        return submit_any(job, tag_of(job.base));
    }
    [[nodiscard]] doca_error_t submit_any(const doca_dma_job_memcpy &job, Tag tag) noexcept;

    Engine &engine_; ///< owned_, as its concrete type
    CopyCheck check_;
    doca_workq &workq_; ///< outlives this object
    std::unique_ptr<CopyEngine> owned_;
};

} // namespace opendoca::v2
