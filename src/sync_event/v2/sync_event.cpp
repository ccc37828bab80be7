// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event.hpp"

#include <algorithm>

#include "../../core/dev.hpp"
#include "../../core/log.hpp"
#include "../../core/v2/workq.hpp"
#include "sync_event_jobs.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SYNC_EVENT);

using opendoca::Counter;

doca_sync_event::~doca_sync_event()
{
    counter_.reset();
    for (doca_dev *const dev : devices_in_use_)
        dev->release_use();
}

doca_error_t doca_sync_event::create_from_export(doca_dev &dev, std::span<const std::byte> descriptor,
                                                 doca_sync_event *&event)
{
    if (!dev.function().can.sync_event_from_export_dpu) {
        LOG_ERR("device %s cannot import sync events of a host", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    auto created = std::make_unique<doca_sync_event>();
    created->devices_in_use_.reserve(1);
    if (const doca_error_t status = dev.device().import_counter(descriptor, created->counter_);
        status != DOCA_SUCCESS)
        return status;
    created->importer_ = &dev;
    created->devices_in_use_.push_back(&dev);
    dev.take_use();
    event = created.release();
    return DOCA_SUCCESS;
}

doca_error_t doca_sync_event::check_configurable(const char *what) const noexcept
{
    if (is_imported()) {
        LOG_ERR("the sync event was made from an export: its %s can't be changed", what);
        return DOCA_ERROR_BAD_STATE;
    }
    if (state_ != State::fresh && state_ != State::context) {
        LOG_ERR("the sync event was started: its %s can't be changed", what);
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_sync_event::add_location(Locations &side, doca_dev *dev)
{
    const char *const what = &side == &publishers_ ? "publisher" : "subscriber";
    if (const doca_error_t status = check_configurable(what); status != DOCA_SUCCESS)
        return status;
    if (dev != nullptr) {
        devices_in_use_.push_back(dev);
        dev->take_use();
    }
    ++side.count;
    side.dev = dev;
    return DOCA_SUCCESS;
}

doca_error_t doca_sync_event::set_addr(std::uint64_t *addr)
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

/// Of an imported event, there is one already.
doca_error_t doca_sync_event::create_counter()
{
    if (is_imported())
        return DOCA_SUCCESS;
    if (publishers_.count != 1 || subscribers_.count != 1) {
        LOG_ERR("a sync event needs one publisher and one subscriber, and has %u and %u",
                     publishers_.count, subscribers_.count);
        return DOCA_ERROR_BAD_STATE;
    }
    const opendoca::CounterSetup setup = {addr_, publishers_.dev == nullptr};
    const auto holds_counters = [](const opendoca::DeviceFunction &function) {
        return function.can.sync_event;
    };
    for (const doca_dev *const dev : devices_in_use_) {
        if (!holds_counters(dev->function())) {
            LOG_ERR("device %s cannot do sync events", dev->description().c_str());
            return DOCA_ERROR_NOT_SUPPORTED;
        }
    }
    if (!devices_in_use_.empty())
        return devices_in_use_.front()->device().create_counter(setup, counter_);
    // Both ends are on the DPU, and no device was named: any that can do it will do.
    opendoca::DeviceFunctions functions;
    if (const doca_error_t status = opendoca::list_functions(functions); status != DOCA_SUCCESS)
        return status;
    const auto found =
        std::ranges::find_if(functions, [&](const auto &function) { return holds_counters(*function); });
    if (found == functions.end()) {
        LOG_ERR("no device of this machine can do sync events");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    std::unique_ptr<opendoca::Device> device;
    const doca_error_t status = (*found)->open(device);
    return status == DOCA_SUCCESS ? device->create_counter(setup, counter_) : status;
}

doca_error_t doca_sync_event::start_synchronous()
{
    if (state_ != State::fresh) {
        LOG_ERR("%s", state_ == State::context
                               ? "the sync event is used as a context: doca_ctx_start starts it"
                               : "the sync event was started before");
        return DOCA_ERROR_BAD_STATE;
    }
    const doca_error_t status = create_counter();
    if (status == DOCA_SUCCESS)
        state_ = State::synchronous;
    return status;
}

doca_error_t doca_sync_event::stop_synchronous() noexcept
{
    if (state_ != State::synchronous) {
        report_not_synchronous();
        return DOCA_ERROR_BAD_STATE;
    }
    state_ = State::stopped;
    return DOCA_SUCCESS;
}

doca_ctx *doca_sync_event::as_ctx() noexcept
{
    if (state_ == State::synchronous) {
        LOG_ERR("the sync event was started in synchronous mode, and can't be a context");
        return nullptr;
    }
    if (state_ == State::fresh)
        state_ = State::context;
    return this;
}

doca_error_t doca_sync_event::check_stopped() const noexcept
{
    if (state_ == State::synchronous || state_ == State::asynchronous) {
        LOG_ERR("the sync event is started: it must be stopped before");
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_sync_event::check_exportable() const noexcept
{
    if (is_imported()) {
        LOG_ERR("the sync event was made from an export, and can't be exported");
        return DOCA_ERROR_BAD_STATE;
    }
    if (state_ != State::synchronous && state_ != State::asynchronous) {
        LOG_ERR("the sync event is not started: it can't be exported");
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_sync_event::export_to_dpu(doca_dev &dev, std::span<const std::byte> &descriptor)
{
    if (const doca_error_t status = check_exportable(); status != DOCA_SUCCESS)
        return status;
    if (!dev.function().can.sync_event_export_dpu) {
        LOG_ERR("device %s cannot export sync events to a DPU", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    auto known = std::ranges::find(exports_, &dev, &Export::dev);
    if (known == exports_.end()) {
        exports_.reserve(exports_.size() + 1);
        std::vector<std::byte> made;
        if (const doca_error_t status = counter_->export_to_dpu(dev.function(), made); status != DOCA_SUCCESS)
            return status;
        exports_.push_back({&dev, std::move(made)});
        known = exports_.end() - 1;
    }
    descriptor = known->descriptor;
    return DOCA_SUCCESS;
}

void doca_sync_event::report_not_synchronous() noexcept
{
    LOG_ERR("the sync event is not started in synchronous mode");
}

doca_error_t doca_sync_event::check_device(const doca_dev &, const std::vector<doca_dev *> &) const
{
    LOG_ERR("a sync event has the devices of its locations: none can be added to its context");
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t doca_sync_event::on_start(const std::vector<doca_dev *> &)
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

void doca_sync_event::on_stop() noexcept
{
    state_ = State::stopped;
}

bool doca_sync_event::can_be_event_driven(const std::vector<doca_dev *> &) const
{
    return std::ranges::all_of(
        devices_in_use_, [](const doca_dev *dev) { return dev->function().can.sync_event_event_driven; });
}

doca_error_t doca_sync_event::create_queue(const std::vector<doca_dev *> &, doca_workq &workq,
                                           std::unique_ptr<opendoca::v2::JobQueue> &queue)
{
    return opendoca::v2::SyncEventJobs::create(*counter_, workq.completions, queue);
}
