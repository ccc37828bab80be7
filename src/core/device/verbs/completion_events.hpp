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
    explicit CompletionEvents(VerbsCompletions &source) noexcept : source_(source) {}
    CompletionEvents(const CompletionEvents &) = delete;
    CompletionEvents &operator=(const CompletionEvents &) = delete;
    ~CompletionEvents() { detach(); }

    /// Starts to wake @p completions by failures of the device and, once armed, by completions. Does nothing if it is
    /// not event-driven: then arm() and disarm() are never called.
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) noexcept;
    void detach() noexcept;

    /// Requests a wake-up by the next completion, or by the next solicited one. Returns false if the device or the
    /// system refuses.
    [[nodiscard]] bool arm(bool only_solicited) noexcept;
    void disarm() noexcept;
    /// Stops waking the waiter for failures, once the device has failed for good. The descriptor of such a device stays
    /// readable, so that each further wait would return at once.
    void unwatch_failures() noexcept;

private:
    [[nodiscard]] doca_error_t watch_channel() noexcept;
    void unwatch_channel() noexcept;

    VerbsCompletions &source_;
    CompletionQueue *completions_ = nullptr; ///< null unless attached to an event-driven queue
    bool watches_failures_ = false;
    bool is_watching_channel_ = false;
    std::uint32_t max_pending_events_ = 0; // upper bound of the events that the channel may still deliver
};

} // namespace opendoca::verbs
