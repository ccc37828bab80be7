// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Provider contract for DMA copies.
#pragma once

#include "../checks/copy_check.hpp"
#include "../engine/source.hpp"

namespace opendoca {

/// Copies memory on behalf of one DMA context. Copies complete on one completion queue, and only the thread of that
/// queue uses the engine. small_copies.hpp describes what a concrete engine may provide besides.
class OPENDOCA_INTERNAL CopyEngine : public Source {
public:
    /// Starts a copy that CopyCheck has validated. When the completion of a successful copy is retrieved, the
    /// destination's data sections have grown by the length of the copy. NO_MEMORY, without any change, if the
    /// completion queue is full. All other failures are reported by the completion.
    [[nodiscard]] virtual doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept = 0;
    /// Lets copies complete in the order of submission, or in any order. Default: no effect, as they always complete in
    /// order.
    virtual void set_ordered(bool is_ordered) noexcept;
};

} // namespace opendoca
