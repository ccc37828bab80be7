// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include "../../request.hpp"

namespace opendoca::soft {

class SoftDevice;

/// Decides for a connection of a strict device which requests are carried out later than in their submission. A member
/// of the queue pair, used by the thread that posts.
class LateRequests {
public:
    explicit LateRequests(const SoftDevice &device) noexcept;

    /// Returns whether the device is strict, and @p opcode is a read, a write or an atomic operation. The first of them
    /// is logged. Messages are no late requests: their receivers must not depend on polls of this end.
    [[nodiscard]] bool include(Opcode opcode) noexcept;
    [[nodiscard]] bool are_possible() const noexcept { return is_strict_; }

private:
    const SoftDevice &device_;
    const bool is_strict_;
    bool was_logged_ = false;
};

} // namespace opendoca::soft
