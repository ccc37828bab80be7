// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The provider contract of DMA.
#pragma once

#include "../copy_check.hpp"
#include "../engine/source.hpp"

namespace opendoca {

/// Copies memory; the ends go to one completion queue. An engine can also have, inline,
///     bool admit(const CopyCheck &check, const doca_buf &dst, const doca_buf &src) noexcept;
///     bool admit_with_credit(const CopyCheck &check, const doca_buf &dst, const doca_buf &src) noexcept;
///     doca_error_t copy_fast(Tag tag, doca_buf &dst, const doca_buf &src) noexcept;
/// for copies that need nothing but to be started, which the last does with those that one of the others has admitted:
/// the second is for who knows that the completion queue is not full. Front ends that know its type call these, and
/// where there is poll_fast(), that.
class OPENDOCA_INTERNAL CopyEngine : public Source {
public:
    /// Carries out a copy that CopyCheck has found possible. Where it succeeds, the destination's data sections
    /// have become longer by its length when its end is retrieved. NO_MEMORY, and nothing has changed, when the
    /// completion queue is full. Everything else that goes wrong is the operation's status at its end.
    [[nodiscard]] virtual doca_error_t copy(Tag tag, doca_buf &dst, const doca_buf &src,
                                            CopyPlan plan) noexcept = 0;
};

} // namespace opendoca
