// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Provider contract for DMA copies.
#pragma once

#include "../copy_check.hpp"
#include "../engine/source.hpp"

namespace opendoca {

/// Copies memory on behalf of one DMA context. Copies complete on one completion queue, and only the thread of that
/// queue uses the engine. A concrete engine may also provide a fast path as inline functions, for front ends that are
/// compiled for its type:
///     bool admit(const CopyCheck &check, const doca_buf &dst, const doca_buf &src) noexcept;
///     bool admit_with_credit(const CopyCheck &check, const doca_buf &dst, const doca_buf &src) noexcept;
///     doca_error_t copy_fast(Tag tag, doca_buf &dst, const doca_buf &src) noexcept;
/// admit() returns whether a copy can take the fast path, and takes the credits that it needs. admit_with_credit() does
/// the same for a caller that has checked that the completion queue is not full. copy_fast() then starts the copy. An
/// engine with poll_fast() is polled by that function.
class OPENDOCA_INTERNAL CopyEngine : public Source {
public:
    /// Starts a copy that CopyCheck has validated. When the completion of a successful copy is retrieved, the
    /// destination's data sections have grown by the length of the copy. NO_MEMORY, without any change, if the
    /// completion queue is full. All other failures are reported by the completion.
    [[nodiscard]] virtual doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src, CopyPlan plan) noexcept = 0;
};

} // namespace opendoca
