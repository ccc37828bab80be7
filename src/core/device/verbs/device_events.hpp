// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Asynchronous events of verbs: failures and changes that a device reports other than by completions.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include <doca_error.h>

#include "../../base/unique_fd.hpp"
#include "../../process/fork.hpp"

namespace opendoca::verbs {

enum class DeviceFailure : std::uint8_t {
    none,
    suspected, ///< a queue pair may be broken, and its work requests flushed; the queue pairs have to be queried
    fatal,     ///< the device or the completion queue has failed: there will be no more completions
};

/// Records failures of the queue pairs on one completion queue, so that the thread that polls it can find out that
/// there will be no completions. Any thread that reads the device's events may report a failure; only the polling
/// thread reads and clears it.
class FailureListener {
public:
    /// Returns the current failure. Acquire: pairs with the release store and the acq_rel exchange in report().
    [[nodiscard]] DeviceFailure failure() const noexcept { return failure_.load(std::memory_order_acquire); }
    /// Clears a suspected failure. A fatal one is permanent.
    void clear() noexcept;
    /// Returns a descriptor that becomes readable when a blocked thread has to check for failures, until
    /// DeviceEvents::read() and clear(). -1 before make_waitable().
    [[nodiscard]] int fd() const noexcept { return handle_.get(); }

private:
    friend class DeviceEvents;
    void report(DeviceFailure failure) noexcept;

    std::atomic<DeviceFailure> failure_ = DeviceFailure::none;
    ProcessFd reported_; ///< an eventfd, written when another thread has read the event
    ProcessFd handle_;   ///< an epoll instance with the eventfd and the device's descriptor
};

/// The asynchronous events of an open device. No thread waits for them: threads that poll for completions occasionally
/// read the events, on behalf of all listeners. Owned by the VerbsDevice; thread-safe.
class DeviceEvents {
public:
    DeviceEvents(ibv_context &context, std::string device_name);
    DeviceEvents(const DeviceEvents &) = delete;
    DeviceEvents &operator=(const DeviceEvents &) = delete;

    /// Reports failures of @p queue_pair and of its completion queue to @p listener until remove(), which must come
    /// before either is destroyed.
    void add(FailureListener &listener, ibv_qp &queue_pair);
    void remove(const ibv_qp &queue_pair) noexcept;
    /// Creates the descriptor of @p listener.
    [[nodiscard]] doca_error_t make_waitable(FailureListener &listener) noexcept;

    /// Reads all pending events and notifies the listeners. Never blocks.
    void read() noexcept;

private:
    struct Entry {
        FailureListener *listener;
        ibv_qp *queue_pair;
    };
    void handle(const ibv_async_event &event) noexcept;
    void fail(const char *why) noexcept;

    ibv_context &context_;
    const std::string device_name_;
    ObjectMutex lock_;
    std::vector<Entry> entries_;
    bool has_failed_ = false;
};

} // namespace opendoca::verbs
