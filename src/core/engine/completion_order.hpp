// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

namespace opendoca {

/// The order in which a queue of a strict device carries out its operations, and completes them. Created by the device,
/// owned by the queue, and used by the queue's thread.
class CompletionOrder {
public:
    CompletionOrder() = default;
    CompletionOrder(const CompletionOrder &) = delete;
    CompletionOrder &operator=(const CompletionOrder &) = delete;
    virtual ~CompletionOrder() = default;

    /// Returns which of @p count operations that wait is the next one, from 0 for the oldest on. @p count is not 0.
    [[nodiscard]] virtual std::uint32_t next(std::uint32_t count) noexcept = 0;
};

} // namespace opendoca
