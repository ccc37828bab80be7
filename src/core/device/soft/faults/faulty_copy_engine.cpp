// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "faulty_copy_engine.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace opendoca::soft {

namespace {

constexpr std::size_t most_vanished = 64; ///< exporters that can seem to end; further ones do not

} // namespace

FaultyCopyEngine::FaultyCopyEngine(const SoftDevice &device, CompletionQueue &completions,
                                   std::shared_ptr<FaultPlan> plan)
    : SoftCopyEngine(device, completions, FastCopies::disabled),
      faults_(std::move(plan))
{
    vanished_.reserve(most_vanished);
}

doca_error_t FaultyCopyEngine::copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept
{
    if (completions_.is_full() || faults_->strikes(Fault::full, Jobs::dma))
        return DOCA_ERROR_NO_MEMORY;
    const RemoteMemory *const source = memory_of(src);
    doca_error_t status = DOCA_SUCCESS;
    // A copy between two processes consults the plan for the source only.
    if (is_peer_gone(source != nullptr ? source : memory_of(dst)))
        status = DOCA_ERROR_CONNECTION_RESET;
    else if (faults_->strikes(Fault::job, Jobs::dma))
        status = DOCA_ERROR_IO_FAILED;
    if (status == DOCA_SUCCESS)
        return SoftCopyEngine::copy(tag, dst, src, plan);
    completions_.done(tag, *this, status);
    return DOCA_SUCCESS;
}

/// Null: memory of this process, which can't vanish.
bool FaultyCopyEngine::is_peer_gone(const RemoteMemory *memory) noexcept
{
    if (memory == nullptr)
        return false;
    if (std::ranges::find(vanished_, memory->process()) != vanished_.end())
        return true;
    if (vanished_.size() == most_vanished || !faults_->strikes(Fault::peer, Jobs::dma))
        return false;
    vanished_.push_back(memory->process());
    return true;
}

} // namespace opendoca::soft
