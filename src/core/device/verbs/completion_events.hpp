// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include <doca_error.h>

namespace opendoca {
class CompletionQueue;
}

namespace opendoca::verbs {

class VerbsCompletions;

/// Makes the completions of a verbs completion queue wake an event-driven CompletionQueue between arm() and disarm().
/// Verbs cannot cancel a notification request; if one is still pending at disarm(), this stops watching the completion
/// channel until the next arm(). A device failure wakes the CompletionQueue at any time, until
/// VerbsCompletions::check_for_failure() and clear_failure() have handled it. Owned by a ConnectionPoller or a
/// CopyQueue, and used by its thread.
class CompletionEvents {
public:
    explicit CompletionEvents(VerbsCompletions &from) noexcept : from_(from) {}
    CompletionEvents(const CompletionEvents &) = delete;
    CompletionEvents &operator=(const CompletionEvents &) = delete;
    ~CompletionEvents() { detach(); }

    /// Starts to wake @p completions. Does nothing if it is not event-driven.
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) noexcept;
    void detach() noexcept;

    /// Requests a wake-up by the next completion, or by the next solicited one. Returns false if the device or the
    /// system refuses.
    [[nodiscard]] bool arm(bool only_solicited) noexcept;
    void disarm() noexcept;
    /// Stops waking the waiter for failures, once the device has failed for good.
    void unwatch_failures() noexcept;

private:
    [[nodiscard]] doca_error_t watch_channel() noexcept;
    void unwatch_channel() noexcept;

    VerbsCompletions &from_;
    CompletionQueue *completions_ = nullptr; ///< null unless attached to an event-driven queue
    bool watches_failures_ = false;
    bool is_watching_channel_ = false;
    std::uint32_t requested_ = 0; ///< upper bound of the events that may still arrive
};

} // namespace opendoca::verbs
