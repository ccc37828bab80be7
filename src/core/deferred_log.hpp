// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "guard.hpp"
#include "log_backend.hpp"

namespace opendoca {

/// Keeps the libraries' log lines of this thread until the end of a scope. For scopes that hold a lock: a log backend
/// may call the program, which may call the object that is locked. Declared before the lock, so that it ends after it.
class OPENDOCA_INTERNAL DeferredLog {
public:
    DeferredLog() noexcept : outer_(current_) { current_ = this; }
    DeferredLog(const DeferredLog &) = delete;
    DeferredLog &operator=(const DeferredLog &) = delete;
    /// Writes the kept lines, or hands them to the scope around this one.
    ~DeferredLog()
    {
        current_ = outer_;
        if (first_ != nullptr) [[unlikely]]
            write();
    }

    /// Drops the lines kept so far.
    void discard() noexcept;

    /// Of this thread, or null.
    [[nodiscard]] static DeferredLog *current() noexcept { return current_; }
    /// False when memory lacks.
    [[nodiscard]] bool keep(const LogLine &line) noexcept;

private:
    struct Line;

    void write() noexcept;

    // A scope is entered by each call of an endpoint: initial-exec makes this one access without a call.
    [[gnu::tls_model("initial-exec")]] static constinit thread_local DeferredLog *current_;

    DeferredLog *const outer_;
    Line *first_ = nullptr;
    Line *last_ = nullptr;
};

} // namespace opendoca
