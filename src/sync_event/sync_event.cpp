// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event.hpp"

#include <algorithm>

#include "../core/log/log.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SYNC_EVENT);

namespace opendoca {

/// An imported event has its counter from the start on, and takes no configuration.
doca_error_t SyncEvent::import(doca_dev &dev, std::span<const std::byte> descriptor)
{
    if (!dev.function().can_import_counter()) {
        LOG_ERR("device %s cannot import sync events of a host: %s", dev.description().c_str(),
                dev.function().reason_against(Ability::import_counter).c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    devices_.reserve(1); // first, so that nothing can fail once the counter is imported
    if (const doca_error_t status = dev.device().import_counter(descriptor, counter_); status != DOCA_SUCCESS)
        return status;
    devices_.push_back(use(dev));
    is_imported_ = true;
    return DOCA_SUCCESS;
}

/// Checks the counter as well as the state: an event that was stopped keeps its counter, and so its configuration.
doca_error_t SyncEvent::check_configurable(const char *what) const noexcept
{
    if (is_imported_) {
        LOG_ERR("the sync event is imported: its %s can't be changed", what);
        return DOCA_ERROR_BAD_STATE;
    }
    if (counter_ != nullptr || (state_ != State::fresh && state_ != State::context)) {
        LOG_ERR("the sync event was started: its %s can't be changed", what);
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

/// Publishers and subscribers are configured alike; @p side selects one of them.
doca_error_t SyncEvent::add(Side &side, Location location, doca_dev *dev)
{
    const char *const what = &side == &publishers_ ? "publisher" : "subscriber";
    if (const doca_error_t status = check_configurable(what); status != DOCA_SUCCESS)
        return status;
    // More than one is an error of the start, not of this call.
    if (dev != nullptr)
        devices_.push_back(use(*dev));
    ++side.count;
    side.location = location;
    return DOCA_SUCCESS;
}

/// The alignment makes accesses of the CPU atomic, and is what RDMA atomics require.
doca_error_t SyncEvent::set_addr(std::uint64_t *addr)
{
    if (reinterpret_cast<std::uintptr_t>(addr) % sizeof(*addr) != 0) {
        LOG_ERR("a counter at %p is not aligned to %zu bytes", static_cast<void *>(addr), sizeof(*addr));
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (const doca_error_t status = check_configurable("address"); status != DOCA_SUCCESS)
        return status;
    addr_ = addr;
    return DOCA_SUCCESS;
}

/// The counter is created on the first device, in its own memory or at addr_. All devices of the event must support
/// counters.
doca_error_t SyncEvent::create_counter()
{
    if (counter_ != nullptr)
        return DOCA_SUCCESS;
    if (publishers_.count != 1 || subscribers_.count != 1) {
        LOG_ERR("a sync event needs one publisher and one subscriber, and has %u and %u", publishers_.count,
                subscribers_.count);
        return DOCA_ERROR_BAD_STATE;
    }
    const CounterSetup setup = {addr_, publishers_.location == Location::remote_pci};
    const auto holds_counters = [](const DeviceFunction &function) { return function.can.sync_event; };
    for (const DeviceUse &dev : devices_) {
        if (!holds_counters(dev->function())) {
            LOG_ERR("device %s cannot do sync events", dev->description().c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
    }
    if (!devices_.empty())
        return devices_.front()->device().create_counter(setup, counter_);
    // Neither the publisher nor the subscriber is on a device of this process: any device that supports counters will
    // do. It may be closed again: the counter holds what it needs.
    DeviceFunctions functions;
    if (const doca_error_t status = list_functions(functions); status != DOCA_SUCCESS)
        return status;
    const auto found = std::ranges::find_if(functions, [&](const auto &function) { return holds_counters(*function); });
    if (found == functions.end()) {
        LOG_ERR("no device of this machine can do sync events");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    std::unique_ptr<Device> device;
    const doca_error_t status = (*found)->open(device);
    return status == DOCA_SUCCESS ? device->create_counter(setup, counter_) : status;
}

/// On failure the event stays as it was and can be configured and started again.
doca_error_t SyncEvent::start_synchronous()
{
    if (state_ != State::fresh && state_ != State::synchronous_stopped) {
        LOG_ERR("%s", state_ == State::context ? "the sync event is used as a context: doca_ctx_start starts it"
                                               : "the sync event was started before");
        return DOCA_ERROR_BAD_STATE;
    }
    const doca_error_t status = create_counter();
    if (status == DOCA_SUCCESS)
        state_ = State::synchronous;
    return status;
}

/// Threads that are blocked in wait() stay blocked: the counter is not changed.
doca_error_t SyncEvent::stop_synchronous(bool for_good) noexcept
{
    if (!is_synchronous())
        return DOCA_ERROR_BAD_STATE;
    state_ = for_good ? State::stopped : State::synchronous_stopped;
    return DOCA_SUCCESS;
}

/// Called for each doca_sync_event_as_ctx(), so also for an event that is a context already.
bool SyncEvent::become_context() noexcept
{
    if (state_ == State::synchronous || state_ == State::synchronous_stopped) {
        LOG_ERR("the sync event was started in synchronous mode, and can't be a context");
        return false;
    }
    if (state_ == State::fresh)
        state_ = State::context;
    return true;
}

/// The state has been checked by the context; an event that was stopped for good cannot be started by it again.
doca_error_t SyncEvent::start_asynchronous()
{
    if (state_ == State::stopped) {
        LOG_ERR("the sync event was stopped, and can only be destroyed");
        return DOCA_ERROR_BAD_STATE;
    }
    const doca_error_t status = create_counter();
    if (status == DOCA_SUCCESS)
        state_ = State::asynchronous;
    return status;
}

/// Called before the event is destroyed: other threads may be in operations of a started event.
doca_error_t SyncEvent::check_stopped() const noexcept
{
    if (state_ == State::synchronous || state_ == State::asynchronous) {
        LOG_ERR("the sync event is started: it must be stopped before");
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t SyncEvent::check_exportable() const noexcept
{
    if (is_imported_) {
        LOG_ERR("the sync event is imported and cannot be exported");
        return DOCA_ERROR_BAD_STATE;
    }
    if (state_ != State::synchronous && state_ != State::asynchronous) {
        LOG_ERR("the sync event is not started: it can't be exported");
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

/// A second export through the same device returns the same bytes, since the program may still use those of the first.
doca_error_t SyncEvent::export_to_pci(doca_dev &dev, std::span<const std::byte> &descriptor)
{
    if (const doca_error_t status = check_exportable(); status != DOCA_SUCCESS)
        return status;
    if (!dev.function().can_export_counter()) {
        LOG_ERR("device %s cannot export sync events to a DPU: %s", dev.description().c_str(),
                dev.function().reason_against(Ability::export_counter).c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    auto known = std::ranges::find(exports_, &dev, [](const Export &one) { return one.dev.get(); });
    if (known == exports_.end()) {
        exports_.reserve(exports_.size() + 1); // first, so that nothing can fail once the descriptor is made
        std::vector<std::byte> made;
        if (const doca_error_t status = counter_->export_to_dpu(dev.device(), made); status != DOCA_SUCCESS)
            return status;
        exports_.push_back({use(dev), std::move(made)});
        known = exports_.end() - 1;
    }
    descriptor = known->descriptor;
    return DOCA_SUCCESS;
}

doca_error_t SyncEvent::get(std::uint64_t &value) noexcept
{
    return is_synchronous() ? counter_->get(value) : DOCA_ERROR_BAD_STATE;
}

doca_error_t SyncEvent::add(std::uint64_t value, std::uint64_t *fetched) noexcept
{
    if (!is_synchronous())
        return DOCA_ERROR_BAD_STATE;
    std::uint64_t old = 0; // the caller's word is written only on success
    const doca_error_t status = counter_->add(value, old);
    if (status == DOCA_SUCCESS && fetched != nullptr)
        *fetched = old;
    return status;
}

void SyncEvent::report_not_synchronous() noexcept
{
    LOG_ERR("the sync event is not started in synchronous mode");
}

} // namespace opendoca
