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

/// Lets completions wake an event-driven completion queue between arm() and disarm(). A completion queue cannot be
/// told to stay silent again once it was asked for an event: then it is not listened to. A failure that the device
/// tells of wakes it at any time, until VerbsCompletions::look_for_failure() and forget_failure().
class CompletionEvents {
public:
    explicit CompletionEvents(VerbsCompletions &from) noexcept : from_(from) {}
    CompletionEvents(const CompletionEvents &) = delete;
    CompletionEvents &operator=(const CompletionEvents &) = delete;
    ~CompletionEvents() { detach(); }

    /// Does nothing for one that is polled.
    [[nodiscard]] doca_error_t attach(CompletionQueue &completions) noexcept;
    void detach() noexcept;

    /// Of the completions that come from now on, the first, or the first solicited one, wakes the completion queue.
    /// False when the system refuses.
    [[nodiscard]] bool arm(bool only_solicited) noexcept;
    void disarm() noexcept;
    /// There is nothing more to be told of.
    void ignore_failures() noexcept;

private:
    [[nodiscard]] doca_error_t listen() noexcept;
    void ignore() noexcept;

    VerbsCompletions &from_;
    CompletionQueue *completions_ = nullptr; ///< while attached to one that is event-driven
    bool watches_failures_ = false;
    bool is_listening_ = false;
    std::uint32_t requested_ = 0; ///< events, at most, that may still come
};

} // namespace opendoca::verbs
