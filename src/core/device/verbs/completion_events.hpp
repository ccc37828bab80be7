// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include <doca_error.h>

namespace opendoca {
class CompletionQueue;
}

namespace opendoca::verbs {

class ReliableConnection;

/// Lets completions wake an event-driven completion queue between arm() and disarm(). A completion queue cannot be
/// told to stay silent again once it was asked for an event: then it is not listened to. Trouble that the device tells
/// of wakes it at any time, until ReliableConnection::look_for_trouble() and is_broken().
class CompletionEvents {
public:
    explicit CompletionEvents(ReliableConnection &connection) noexcept : connection_(connection) {}
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
    void ignore_trouble() noexcept;

private:
    [[nodiscard]] doca_error_t listen() noexcept;
    void ignore() noexcept;

    ReliableConnection &connection_;
    CompletionQueue *completions_ = nullptr; ///< while attached to one that is event-driven
    bool watches_trouble_ = false;
    bool is_listening_ = false;
    std::uint32_t requested_ = 0; ///< events, at most, that may still come
};

} // namespace opendoca::verbs
