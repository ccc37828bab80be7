// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "../guard.hpp"
#include "operation.hpp"

namespace opendoca {

/// Whose operations end on a completion queue: a copy engine, a queue pair, a counter's waits, a graph. Belongs
/// to the completion queue's thread.
class OPENDOCA_INTERNAL Source {
public:
    Source() = default;
    Source(const Source &) = delete;
    Source &operator=(const Source &) = delete;
    virtual ~Source();

    /// Ends the operations that may never end by themselves, because somebody wants to stop. Their ends can
    /// then be retrieved.
    virtual void flush() noexcept;
    /// The end of @p operation is being retrieved. Only for operations that were ended by
    /// CompletionQueue::done_and_tell().
    virtual void retrieved(Operation &operation) noexcept;

    void *owner = nullptr; ///< the front end's
};

class CompletionQueue;

/// What a completion queue polls: something whose operations end without a call of ours.
class OPENDOCA_INTERNAL Pollable {
public:
    Pollable() = default;
    Pollable(const Pollable &) = delete;
    Pollable &operator=(const Pollable &) = delete;
    virtual ~Pollable();

    /// Gives the ends of operations to the completion queue.
    virtual void progress() noexcept = 0;
    /// The same, where nothing waits in the completion queue: an operation that has succeeded may be returned
    /// instead of queued. Its tag, and its result as far as it has one, are then in the operation, which the
    /// caller releases. Null when there is none to be returned.
    [[nodiscard]] virtual Operation *poll_one() noexcept;
    /// Event-driven mode: from arm() to disarm(), an event that progress() could act on must make a descriptor
    /// readable that was given to CompletionQueue::watch(); disarm() makes it unreadable. True when progress()
    /// could act already.
    ///
    /// Programs arm, check once more, and block. So progress() and poll_one() may run between arm() and disarm(), and
    /// must not take back what arm() has requested: they leave the descriptor readable and the request pending, or
    /// call CompletionQueue::wake_if_armed().
    [[nodiscard]] virtual bool arm() noexcept;
    virtual void disarm() noexcept;

private:
    friend class CompletionQueue;
    void *retriever_ = nullptr; ///< see CompletionQueue::retrieve_by()
};

} // namespace opendoca
