// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "copy_engine.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "../cursor.hpp"

namespace opendoca::skeleton {

SkeletonCopyEngine::SkeletonCopyEngine(CompletionQueue &completions) : completions_(completions)
{
    pending_.reserve(completions_.depth());
    completions_.reserve_polled(); // last: it must be undone
}

SkeletonCopyEngine::~SkeletonCopyEngine()
{
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
}

/// Only takes note of the copy. Hardware would get a work request here, with the operation's address as its id.
doca_error_t SkeletonCopyEngine::copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept
{
    // The only refusal: without a credit nothing has changed, and the program retries.
    if (completions_.is_full())
        return DOCA_ERROR_NO_MEMORY;
    Operation &operation = completions_.begin(tag, *this);
    operation.payload<Copy>() = {&dst, &src, plan};
    pending_.push_back(&operation);
    completions_.start_polling(*this); // also wakes a program that is blocked on the queue's handle
    // The queue may have been armed while this engine was polled already. arm() is not called again then.
    completions_.wake_if_waiting();
    return DOCA_SUCCESS;
}

/// Completes what is pending. Hardware would be asked for completions here, and would name their operations.
void SkeletonCopyEngine::progress() noexcept
{
    for (Operation *const operation : pending_) {
        execute(operation->payload<Copy>());
        completions_.done(*operation, DOCA_SUCCESS);
    }
    pending_.clear();
}

/// Returns whether polling has work. If not, no event is needed: work comes by copy() alone, which wakes the queue.
/// Hardware would request an event of its completion queue instead.
bool SkeletonCopyEngine::arm() noexcept
{
    return !pending_.empty();
}

/// Copies between two lists of buffers whose pieces need not have equal lengths. CopyCheck has made sure that the
/// destination has room.
void SkeletonCopyEngine::execute(const Copy &copy) noexcept
{
    Cursor from = Cursor::over_data(*copy.src);
    Cursor to = Cursor::over_destination(*copy.dst, copy.plan.overwrites);
    for (std::size_t left = copy.plan.length; left != 0;) {
        from.skip_empty();
        to.skip_empty();
        const std::size_t part = std::min({left, from.left(), to.left()});
        std::memcpy(to.addr(), from.addr(), part);
        from.advance(part);
        to.advance(part);
        left -= part;
    }
    extend_data(*copy.dst, copy.plan.length, copy.plan.overwrites);
}

} // namespace opendoca::skeleton
