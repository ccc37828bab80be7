// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#pragma once

#include <memory>
#include <vector>

#include "../../../engine/completion_queue.hpp"

namespace opendoca::soft {

/// An object with operations that wait, and that must notice what happens to its device meanwhile.
class WatchedObject {
public:
    WatchedObject() = default;
    WatchedObject(const WatchedObject &) = delete;
    WatchedObject &operator=(const WatchedObject &) = delete;
    virtual ~WatchedObject() = default;

    /// Ends operations if the device no longer carries them out. Called at each poll.
    virtual void check_device() noexcept = 0;
};

/// Lets the objects of one completion queue look at their devices at each poll, and at least once a second while the
/// thread is blocked. Owned by the objects together; only the thread of the completion queue may use it.
class DeviceWatch final : public Pollable {
public:
    /// Finds the watch of @p completions, or creates it. OPERATING_SYSTEM.
    [[nodiscard]] static doca_error_t of(CompletionQueue &completions, std::shared_ptr<DeviceWatch> &watch);
    ~DeviceWatch() override;

    void add(WatchedObject &object) { objects_.push_back(&object); }
    void remove(const WatchedObject &object) noexcept;

    void progress() noexcept override;
    [[nodiscard]] bool arm() noexcept override;

private:
    explicit DeviceWatch(CompletionQueue &completions) : completions_(completions) { completions_.reserve_polled(); }

    CompletionQueue &completions_;
    std::weak_ptr<DeviceWatch> self_; ///< for of()
    std::vector<WatchedObject *> objects_;
};

} // namespace opendoca::soft
