// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The copy engines and queue pairs of all providers by their own types, so that a front end can compile its fast
// path for each: then submitting is one virtual call. Others work as well, by one more.
#pragma once

#include "mlx5/copy_engine.hpp"
#include "soft/memory/copy_engine.hpp"
#include "soft/connection/queue_pair.hpp"
#include "verbs/copy_engine.hpp"
#include "verbs/queue_pair.hpp"

namespace opendoca {

/// Calls @p visitor with @p engine by its own type, where the front end may use its copy_fast(). That of some only
/// serves completion queues that are not armed: @p is_armed_known says that the front end asks before each use.
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

/// The same for queue pairs.
template <typename Visitor>
auto visit_engine(QueuePair &queue_pair, Visitor &&visitor)
{
    if (auto *const soft = dynamic_cast<soft::PlainQueuePair *>(&queue_pair))
        return visitor(*soft);
    if (auto *const verbs = dynamic_cast<verbs::VerbsQueuePair *>(&queue_pair))
        return visitor(*verbs);
    return visitor(queue_pair);
}

} // namespace opendoca
