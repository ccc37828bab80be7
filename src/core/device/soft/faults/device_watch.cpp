// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device_watch.hpp"

#include <cstddef>
#include <utility>

namespace opendoca::soft {

doca_error_t DeviceWatch::of(CompletionQueue &completions, std::shared_ptr<DeviceWatch> &watch)
{
    if (auto *const existing = completions.find_polled<DeviceWatch>([](DeviceWatch &) { return true; })) {
        watch = existing->self_.lock();
        return DOCA_SUCCESS;
    }
    std::shared_ptr<DeviceWatch> created(new DeviceWatch(completions));
    if (completions.is_event_driven()) {
        if (const doca_error_t status = completions.open_timer(); status != DOCA_SUCCESS)
            return status;
    }
    created->self_ = created;
    completions.start_polling(*created);
    watch = std::move(created);
    return DOCA_SUCCESS;
}

DeviceWatch::~DeviceWatch()
{
    completions_.stop_polling(*this);
    completions_.unreserve_polled();
}

void DeviceWatch::remove(const WatchedObject &object) noexcept
{
    std::erase(objects_, &object);
}

void DeviceWatch::progress() noexcept
{
    // By index: what an object does here adds and removes none, but must not depend on that.
    for (std::size_t i = 0; i < objects_.size(); ++i)
        objects_[i]->check_device();
}

/// Nothing makes a descriptor readable when a device is reset, so the thread looks once a second.
bool DeviceWatch::arm() noexcept
{
    return !completions_.wake_within_a_second();
}

} // namespace opendoca::soft
