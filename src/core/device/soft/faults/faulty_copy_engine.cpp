// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "faulty_copy_engine.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace opendoca::soft {

namespace {

constexpr std::size_t max_ended_exporters = 64; ///< exporters that can seem to end; further ones do not

} // namespace

FaultyCopyEngine::FaultyCopyEngine(const SoftDevice &device, CompletionQueue &completions, FunctionState &function,
                                   std::shared_ptr<FaultPlan> plan)
    : SoftCopyEngine(device, completions, FastCopies::disabled),
      faults_(plan),
      life_(function, std::move(plan))
{
    ended_exporters_.reserve(max_ended_exporters);
}

doca_error_t FaultyCopyEngine::copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept
{
    if (completions_.is_full() || faults_->injects(Fault::full, Jobs::dma))
        return DOCA_ERROR_NO_MEMORY;
    const RemoteMemory *const source = memory_of(src);
    doca_error_t status = life_.begin_job(Jobs::dma);
    // A copy between two processes consults the plan for the source only.
    if (status != DOCA_SUCCESS)
        end_deferred(status);
    else if (has_peer_ended(source != nullptr ? source : memory_of(dst)))
        status = DOCA_ERROR_CONNECTION_RESET;
    else if (faults_->injects(Fault::job, Jobs::dma))
        status = DOCA_ERROR_IO_FAILED;
    if (status == DOCA_SUCCESS)
        return SoftCopyEngine::copy(tag, dst, src, plan);
    completions_.done(tag, *this, status);
    return DOCA_SUCCESS;
}

void FaultyCopyEngine::progress() noexcept
{
    if (life_.is_lost())
        return end_deferred(DOCA_ERROR_IO_FAILED);
    SoftCopyEngine::progress();
}

/// Null: memory of this process, which can't vanish.
bool FaultyCopyEngine::has_peer_ended(const RemoteMemory *memory) noexcept
{
    if (memory == nullptr)
        return false;
    if (std::ranges::find(ended_exporters_, memory->process()) != ended_exporters_.end())
        return true;
    if (ended_exporters_.size() == max_ended_exporters || !faults_->injects(Fault::peer, Jobs::dma))
        return false;
    ended_exporters_.push_back(memory->process());
    return true;
}

} // namespace opendoca::soft
