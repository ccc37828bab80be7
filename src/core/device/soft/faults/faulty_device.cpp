// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "faulty_device.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "../../../log/log.hpp"
#include "../strict/strict.hpp"
#include "faulty_copy_engine.hpp"
#include "faulty_counter.hpp"
#include "faulty_queue_pair.hpp"
#include "faulty_receive_queue.hpp"

OPENDOCA_LOG_SOURCE(DOCA_SOFT_FAULTY_DEVICE);

namespace opendoca::soft {

doca_error_t FaultyDevice::check_present() const
{
    if (!states_.of(index_).is_removed())
        return DOCA_SUCCESS;
    LOG_ERR("device %s was removed", function().description().c_str());
    return DOCA_ERROR_INITIALIZATION;
}

/// Each function consults the plan, and otherwise calls the function of the software device.
doca_error_t FaultyDevice::register_memory(const MemoryRange &range, std::uint32_t access,
                                           std::unique_ptr<MemoryKey> &key)
{
    if (const doca_error_t status = check_present(); status != DOCA_SUCCESS)
        return status;
    if (plan_->injects(Fault::registration)) {
        LOG_ERR("[%p, +%zu) is not registered, as DOCA_SOFT_FAULTS requests", static_cast<void *>(range.addr),
                range.len);
        return DOCA_ERROR_NO_MEMORY;
    }
    return SoftDevice::register_memory(range, access, key);
}

doca_error_t FaultyDevice::import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                         std::unique_ptr<MemoryKey> &key)
{
    if (plan_->injects(Fault::import)) {
        LOG_ERR("a memory map is not imported, as DOCA_SOFT_FAULTS requests");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    return SoftDevice::import_memory(descriptor, range, key);
}

/// Each function creates the faulty class in place of the software device's. Setting it up is left to the base class.
doca_error_t FaultyDevice::create_copy_engine(CompletionQueue &completions, std::unique_ptr<CopyEngine> &engine)
{
    const doca_error_t status = check_present();
    if (status == DOCA_SUCCESS)
        engine = std::make_unique<FaultyCopyEngine>(*this, completions, states_.of(index_), plan_);
    return status;
}

doca_error_t FaultyDevice::create_queue_pair(const QueuePairSettings &settings, std::atomic<ConnectionState> &state,
                                             std::unique_ptr<QueuePair> &queue_pair)
{
    if (const doca_error_t status = check_present(); status != DOCA_SUCCESS)
        return status;
    auto created = std::make_unique<FaultyQueuePair>(*this, settings, state, states_, index_, plan_);
    const doca_error_t status = created->open(settings);
    if (status == DOCA_SUCCESS)
        queue_pair = std::move(created);
    return status;
}

doca_error_t FaultyDevice::create_receive_queue(CompletionQueue &completions, std::uint32_t size, std::uint32_t,
                                                std::unique_ptr<ReceiveQueue> &queue)
{
    if (is_strict()) {
        if (const doca_error_t status = check_strict_receives(size, function()); status != DOCA_SUCCESS)
            return status;
    }
    if (const doca_error_t status = check_present(); status != DOCA_SUCCESS)
        return status;
    auto created = std::make_unique<FaultyReceiveQueue>(*this, completions, size, states_.of(index_), plan_);
    const doca_error_t status = created->open();
    if (status == DOCA_SUCCESS)
        queue = std::move(created);
    return status;
}

doca_error_t FaultyDevice::create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter)
{
    auto created = std::make_unique<FaultyCounter>(is_strict(), plan_);
    const doca_error_t status = created->create(setup);
    if (status == DOCA_SUCCESS)
        counter = std::move(created);
    return status;
}

doca_error_t FaultyDevice::import_counter(std::span<const std::byte> descriptor, std::unique_ptr<Counter> &counter)
{
    if (plan_->injects(Fault::import)) {
        LOG_ERR("a sync event is not imported, as DOCA_SOFT_FAULTS requests");
        return DOCA_ERROR_NOT_PERMITTED;
    }
    auto created = std::make_unique<FaultyCounter>(is_strict(), plan_);
    const doca_error_t status = created->import(descriptor, function());
    if (status == DOCA_SUCCESS)
        counter = std::move(created);
    return status;
}

} // namespace opendoca::soft
