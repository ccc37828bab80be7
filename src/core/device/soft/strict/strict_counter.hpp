// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "../counter/counter.hpp"

namespace opendoca::soft {

/// Checks whether a card could do an asynchronous wait for @p condition of @p counter: it compares values of 0 to 254
/// and whole bytes. Returns INVALID_VALUE, after a log line, if it could not.
[[nodiscard]] doca_error_t check_strict_wait(SoftCounter &counter, const WaitCondition &condition) noexcept;

/// A counter of a strict function: a wait that a card cannot do is refused. Thread-safe, like the counter.
class StrictCounter final : public SoftCounter {
public:
    [[nodiscard]] doca_error_t create_waits(CompletionQueue &completions,
                                            std::unique_ptr<CounterWaits> &waits) override;
};

} // namespace opendoca::soft
