// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <vector>

#include "../../engine/completion_queue.hpp"
#include "../copy_engine.hpp"

namespace opendoca::skeleton {

/// The copies of one DMA context (step 4). A Source, since its operations complete on a completion queue, and a
/// Pollable, since they complete without a call of the program. Owned by the context; used by the thread of
/// @p completions alone. Invariant: pending_ has each operation that copy() has accepted and progress() has not
/// completed, and room for as many as the completion queue has credits, so that copy() does not allocate.
class OPENDOCA_INTERNAL SkeletonCopyEngine final : public CopyEngine, public Pollable {
public:
    /// Throws std::bad_alloc; the context's start then fails with NO_MEMORY.
    explicit SkeletonCopyEngine(CompletionQueue &completions);
    /// The context flushes its operations before it destroys the engine.
    ~SkeletonCopyEngine() override;

    [[nodiscard]] doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept override;
    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;

private:
    /// What an operation in flight needs. Kept in the operation itself, which has room for 32 bytes.
    struct Copy {
        doca_buf *dst;
        const doca_buf *src;
        CopyPlan plan;
    };

    static void execute(const Copy &copy) noexcept;

    CompletionQueue &completions_;
    std::vector<Operation *> pending_; ///< in the order of their submission
};

} // namespace opendoca::skeleton
