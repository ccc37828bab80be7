// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>

#include "../base/guard.hpp"
#include "log_backend.hpp"

namespace opendoca {

/// Collects the libraries' log lines of this thread until the end of a scope. For scopes that hold a lock: a log
/// backend may call the program, which may use the locked object. Declared before the lock, so that it is destroyed
/// after the lock is released. Scopes may be nested. Used by one thread, on its stack.
class OPENDOCA_INTERNAL DeferredLog {
public:
    DeferredLog() noexcept : outer_(current_) { current_ = this; }
    DeferredLog(const DeferredLog &) = delete;
    DeferredLog &operator=(const DeferredLog &) = delete;
    /// Writes the collected lines, or passes them to the enclosing scope.
    ~DeferredLog()
    {
        current_ = outer_;
        if (first_ != nullptr) [[unlikely]]
            write();
    }

    /// Drops the lines collected so far, for a caller that retries and would log them again.
    void discard() noexcept;

    /// Returns the innermost scope of this thread, or null.
    [[nodiscard]] static DeferredLog *current() noexcept { return current_; }
    /// Collects @p line. Returns false if there is no memory.
    [[nodiscard]] bool keep(const LogLine &line) noexcept;

private:
    struct Line;

    void write() noexcept;

    // Each call of an endpoint enters a scope: with initial-exec, the access needs no function call.
    [[gnu::tls_model("initial-exec")]] static constinit thread_local DeferredLog *current_;

    DeferredLog *const outer_;
    // The collected lines: a list, oldest first.
    Line *first_ = nullptr;
    Line *last_ = nullptr;
};

} // namespace opendoca
