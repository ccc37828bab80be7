// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The one special case of the data path: a copy of one buffer to one buffer that the engine starts at once. All other
// operations of all libraries go through the virtual functions of their source. A small copy takes as long as a few
// calls, so DMA's front ends are compiled for each concrete engine in visit_engine(), and submitting takes one
// virtual call instead of two.
//
// Such an engine has, besides CopyEngine's functions:
//     bool admit(const CopyCheck &check, const doca_buf &dst, const doca_buf &src) noexcept;
//         Returns whether the copy can take the short path, and takes the credits that it needs.
//     bool admit_with_credit(const CopyCheck &check, const doca_buf &dst, const doca_buf &src) noexcept;
//         The same for a caller that has checked that the completion queue is not full.
//     doca_error_t copy_fast(Tag tag, doca_buf &dst, const doca_buf &src) noexcept;
//         Starts a copy that was admitted.
// and optionally
//     doca_error_t poll_fast(deliver, otherwise): polls for a copy that copy_fast() has started; see CopyQueue.
//     void copy_at_once(doca_buf &dst, const doca_buf &src) noexcept: executes an admitted copy without a completion.
//     copy_imported(), end_imported(): the short path of memory of other processes; see SoftCopyEngine.
//
// Used by src/dma/v2/dma_jobs.hpp, which calls all of them, and src/dma/v3/memcpy_tasks.hpp, which calls
// admit_with_credit(), copy_fast() and copy_at_once(). Types that are not listed here work through CopyEngine.
#pragma once

#include "mlx5/copy_engine.hpp"
#include "soft/memory/copy_engine.hpp"
#include "verbs/copy_engine.hpp"

namespace opendoca {

/// Calls @p visitor with @p engine as its concrete type if the front end may use its copy_fast(), else as a CopyEngine.
/// @p is_armed_known: the front end calls the engine only while the completion queue is not armed, which SoftCopyEngine
/// requires.
template <typename Visitor>
auto visit_engine(CopyEngine &engine, bool is_armed_known, Visitor &&visitor)
{
    auto *const soft = dynamic_cast<soft::SoftCopyEngine *>(&engine);
    if (soft != nullptr && soft->copies_at_once() && is_armed_known)
        return visitor(*soft);
    if (auto *const verbs = dynamic_cast<verbs::VerbsCopyEngine *>(&engine))
        return visitor(*verbs);
    if (auto *const mlx5 = dynamic_cast<mlx5::DmaCopyEngine *>(&engine))
        return visitor(*mlx5);
    return visitor(engine);
}

} // namespace opendoca
