// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

#include "../../unique_fd.hpp"

namespace opendoca {

class CompletionQueue;

/// Wakes who sleeps on an event-driven completion queue each millisecond, to look at what changes without telling anybody.
class Ticker {
public:
    Ticker() = default;
    Ticker(const Ticker &) = delete;
    Ticker &operator=(const Ticker &) = delete;
    ~Ticker();

    /// OPERATING_SYSTEM, with a message, where descriptors lack.
    [[nodiscard]] doca_error_t open(CompletionQueue &completions);
    [[nodiscard]] bool is_open() const noexcept { return timer_.is_open(); }
    // Nothing where it is not open.
    void start() noexcept;
    void stop() noexcept;

private:
    CompletionQueue *completions_ = nullptr;
    UniqueFd timer_;
};

} // namespace opendoca
