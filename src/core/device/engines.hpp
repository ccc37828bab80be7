// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The concrete copy engines of all providers, so that a front end can compile its fast path for each
// type. Submitting then takes one virtual call instead of two. Types that are not listed here work through the virtual
// functions.
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
