// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <cstdint>

#include "../base/guard.hpp"
#include "operation.hpp"

namespace opendoca {

/// Submits operations that complete on a completion queue: a copy engine, a queue pair, the waits for a counter, a
/// graph. Used only by the thread of that completion queue, unless a derived class allows more. A front end owns it.
class OPENDOCA_INTERNAL Source {
public:
    Source() = default;
    Source(const Source &) = delete;
    Source &operator=(const Source &) = delete;
    virtual ~Source();

    /// Completes the operations that may never complete by themselves, because the front end is stopping. Their
    /// completions can be retrieved afterwards.
    virtual void flush() noexcept;
    /// Called when the completion of @p operation is retrieved, if CompletionQueue::done_and_notify() has completed it.
    virtual void retrieved(Operation &operation) noexcept;

    void *owner = nullptr; ///< the front end's object, for its own use
};

class CompletionQueue;

/// Something to poll for completions, as with ibv_poll_cq(): a device's completion queue or, on the software device,
/// the connections to peers and the waits for counters. Used only by the thread of the completion queue that polls it.
class OPENDOCA_INTERNAL Pollable {
public:
    Pollable() = default;
    Pollable(const Pollable &) = delete;
    Pollable &operator=(const Pollable &) = delete;
    virtual ~Pollable();

    /// Puts the completions that are there into the completion queue.
    virtual void progress() noexcept = 0;
    /// Does the same while the completion queue's ring is empty, but may return one operation that has succeeded
    /// instead of queueing it. Its tag and its result, as far as it has one, are in the operation, and the caller
    /// releases it. Returns null if there is none to return.
    [[nodiscard]] virtual Operation *poll_one() noexcept;
    /// Event-driven mode. From arm() to disarm(), any event that gives progress() work must make a descriptor readable
    /// that was passed to CompletionQueue::watch(); disarm() makes it unreadable again. Returns true if progress()
    /// already has work.
    ///
    /// Programs arm, poll once more, and block. progress() and poll_one() may therefore run between arm() and disarm()
    /// and must not undo the request of arm(): they leave the descriptor readable and the request pending, or call
    /// CompletionQueue::wake_if_waiting().
    [[nodiscard]] virtual bool arm() noexcept;
    virtual void disarm() noexcept;
    /// From a park() that returns true to unpark(), the completion queue is not polled. Any event that gives progress()
    /// work must call CompletionQueue::wake_if_waiting(): by a pollable of the queue's root, or by the thread itself.
    /// Returns false, without any change, if that is impossible or if there is work. Default: false.
    [[nodiscard]] virtual bool park() noexcept;
    virtual void unpark() noexcept;
};

} // namespace opendoca
