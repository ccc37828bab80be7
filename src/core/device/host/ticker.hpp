// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <doca_error.h>

#include "../../base/unique_fd.hpp"
#include "../../process/fork.hpp"

namespace opendoca {

class CompletionQueue;

/// Makes the event handle of a completion queue readable within a millisecond of start(), so that a blocked thread
/// polls for changes that raise no event. Owned by a source, and used by the thread of the completion queue, which must
/// outlive it. Does not use CPU time while it is stopped.
class Ticker {
public:
    Ticker() = default;
    Ticker(const Ticker &) = delete;
    Ticker &operator=(const Ticker &) = delete;
    ~Ticker();

    /// Creates the timer. OPERATING_SYSTEM, logged, if no descriptors are left.
    [[nodiscard]] doca_error_t open(CompletionQueue &completions);
    [[nodiscard]] bool is_open() const noexcept { return timer_.is_open(); }
    /// Starts the timer, or restarts it. Does nothing unless is_open().
    void start() noexcept;
    /// Stops the timer and makes its descriptor unreadable. Does nothing unless is_open().
    void stop() noexcept;

private:
    CompletionQueue *completions_ = nullptr;
    ProcessFd timer_;
};

} // namespace opendoca
