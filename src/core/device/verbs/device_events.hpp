// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a device says other than by completions: asynchronous events, as verbs call them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <infiniband/verbs.h>

#include <doca_error.h>

#include "../../unique_fd.hpp"

namespace opendoca::verbs {

enum class DeviceFailure : std::uint8_t {
    none,
    suspected, ///< one of the queue pairs may be broken, and what is posted flushed
    fatal,     ///< the device has failed, or the completion queue: nothing completes any more
};

/// Somebody who waits for completions of queue pairs, and has to hear when there will be none. Any thread tells it; the
/// one that waits asks.
class FailureListener {
public:
    [[nodiscard]] DeviceFailure failure() const noexcept { return failure_.load(std::memory_order_acquire); }
    /// What was suspected was looked into. What is fatal stays so.
    void forget() noexcept;
    /// Becomes readable when a thread that sleeps has to look: until DeviceEvents::read() and forget(). -1 before
    /// make_waitable().
    [[nodiscard]] int fd() const noexcept { return handle_.get(); }

private:
    friend class DeviceEvents;
    void tell(DeviceFailure failure) noexcept;

    std::atomic<DeviceFailure> failure_ = DeviceFailure::none;
    UniqueFd told_;   ///< another thread has read the event
    UniqueFd handle_; ///< an epoll of told_ and of the device's descriptor
};

/// The asynchronous events of a device that was opened. No thread waits for them: who waits for completions reads them
/// now and then, for all.
class DeviceEvents {
public:
    DeviceEvents(ibv_context &context, std::string device_name);
    DeviceEvents(const DeviceEvents &) = delete;
    DeviceEvents &operator=(const DeviceEvents &) = delete;

    /// From now on @p listener hears of @p queue_pair and its completion queue, until remove(), which comes before
    /// either is destroyed.
    void add(FailureListener &listener, ibv_qp &queue_pair);
    void remove(const ibv_qp &queue_pair) noexcept;
    /// Gives @p listener its descriptor.
    [[nodiscard]] doca_error_t make_waitable(FailureListener &listener) noexcept;

    /// Reads what there is, and tells the listeners. Never waits.
    void read() noexcept;

private:
    struct Entry {
        FailureListener *listener;
        ibv_qp *queue_pair;
    };
    void take(const ibv_async_event &event) noexcept;
    void die(const char *why) noexcept;

    ibv_context &context_;
    const std::string device_name_;
    std::mutex lock_;
    std::vector<Entry> entries_;
    bool is_dead_ = false;
};

} // namespace opendoca::verbs
