// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../host/own_memory.hpp"
#include "connection/queue_pair.hpp"
#include "counter/counter.hpp"
#include "memory/copy_engine.hpp"
#include "memory/memory_copier.hpp"
#include "strict/strict.hpp"
#include "strict/strict_counter.hpp"
#include "strict/strict_queue_pair.hpp"

namespace opendoca::soft {

namespace {

std::unique_ptr<SoftQueuePair> make_queue_pair(const SoftDevice &device, const QueuePairSettings &settings,
                                               std::atomic<ConnectionState> &state)
{
    if (device.is_strict())
        return std::make_unique<StrictQueuePair>(device, settings, state);
    return std::make_unique<SoftQueuePair>(device, settings, state);
}

std::unique_ptr<SoftCounter> make_counter(bool is_strict)
{
    if (is_strict)
        return std::make_unique<StrictCounter>();
    return std::make_unique<SoftCounter>();
}

} // namespace

doca_error_t SoftKey::export_to(ExportKind kind, std::vector<std::byte> &descriptor)
{
    // A function without a port is a port of the DPU.
    const EntryKind entry = kind == ExportKind::rdma ? EntryKind::rdma_memory
                            : function_.port.empty() ? EntryKind::dpu_memory
                                                     : EntryKind::host_memory;
    std::unique_ptr<Exporter::Export> published;
    const doca_error_t status = Exporter::publish({range_, access_, entry, function_}, published);
    if (status != DOCA_SUCCESS)
        return status;
    // The descriptor is set last: an allocation failure in between leaves the caller's unchanged.
    std::vector<std::byte> bytes = to_bytes(DescriptorKind::soft_memory, published->descriptor());
    exports_.push_back(std::move(published));
    descriptor = std::move(bytes);
    return DOCA_SUCCESS;
}

doca_error_t SoftKey::export_for_receives(const ExportDescriptor *&found)
{
    // Double-checked, as each long receive calls this. Acquire: pairs with the release store of the same flag below.
    if (!has_receive_export_.load(std::memory_order_acquire)) [[unlikely]] {
        // Checked again: another thread may have exported it while this one waited for the lock.
        const std::lock_guard guard(receive_lock_);
        if (receives_exported_ == nullptr) {
            const doca_error_t status =
                Exporter::publish({range_, Access::rdma_write, EntryKind::receive, function_}, receives_exported_);
            if (status != DOCA_SUCCESS)
                return status;
            has_receive_export_.store(true, std::memory_order_release);
        }
    }
    found = &receives_exported_->descriptor();
    return DOCA_SUCCESS;
}

doca_error_t SoftDevice::register_memory(const MemoryRange &range, std::uint32_t access,
                                         std::unique_ptr<MemoryKey> &key)
{
    // Copies fault on memory that is not accessible, in this process or, for an export, as an error in another one:
    // found here, where it concerns the program that made the mistake.
    if (const doca_error_t status = check_accessible(range, (access & writing_access) != 0); status != DOCA_SUCCESS)
        return status;
    auto made = std::make_unique<SoftKey>(range, access, function());
    if (is_strict()) {
        if (const doca_error_t status = made->pin(); status != DOCA_SUCCESS)
            return status;
    }
    key = std::move(made);
    return DOCA_SUCCESS;
}

doca_error_t SoftDevice::import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                       std::unique_ptr<MemoryKey> &key)
{
    std::unique_ptr<RemoteMemory> memory;
    const doca_error_t status = RemoteMemory::import(descriptor, function(), memory);
    if (status != DOCA_SUCCESS)
        return status;
    range = memory->range();
    key = std::make_unique<SoftKey>(std::move(memory), function());
    return DOCA_SUCCESS;
}

doca_error_t SoftDevice::create_copy_engine(CompletionQueue &completions, std::unique_ptr<CopyEngine> &engine)
{
    engine = std::make_unique<SoftCopyEngine>(*this, completions);
    return DOCA_SUCCESS;
}

doca_error_t SoftDevice::create_memory_copier(std::unique_ptr<MemoryCopier> &copier)
{
    copier = std::make_unique<SoftMemoryCopier>(*this);
    return DOCA_SUCCESS;
}

doca_error_t SoftDevice::create_queue_pair(const QueuePairSettings &settings, std::atomic<ConnectionState> &state,
                                           std::unique_ptr<QueuePair> &queue_pair)
{
    auto created = make_queue_pair(*this, settings, state);
    const doca_error_t status = created->open(settings);
    // The output is set only on success; a failed object is destroyed here.
    if (status == DOCA_SUCCESS)
        queue_pair = std::move(created);
    return status;
}

/// The chain length is not needed: the receives are ordinary buffer lists of this process.
doca_error_t SoftDevice::create_receive_queue(CompletionQueue &completions, std::uint32_t size, std::uint32_t,
                                              std::unique_ptr<ReceiveQueue> &queue)
{
    if (is_strict()) {
        if (const doca_error_t status = check_strict_receives(size, function()); status != DOCA_SUCCESS)
            return status;
    }
    queue = std::make_unique<SoftReceiveQueue>(*this, completions, size);
    return DOCA_SUCCESS;
}

/// The clocks of this machine's kernel: CLOCK_MONOTONIC_RAW in nanoseconds as the free-running counter, and CLOCK_TAI.
doca_error_t SoftDevice::read_clock(DeviceClock clock, std::uint64_t &value) noexcept
{
    timespec now{};
    if (clock_gettime(clock == DeviceClock::real_time ? CLOCK_TAI : CLOCK_MONOTONIC_RAW, &now) != 0)
        return DOCA_ERROR_NOT_SUPPORTED;
    value = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
    return DOCA_SUCCESS;
}

doca_error_t SoftDevice::create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter)
{
    auto created = make_counter(is_strict());
    const doca_error_t status = created->create(setup);
    if (status == DOCA_SUCCESS)
        counter = std::move(created);
    return status;
}

doca_error_t SoftDevice::import_counter(std::span<const std::byte> descriptor, std::unique_ptr<Counter> &counter)
{
    // The descriptor is not trusted: import() checks it against the page that it names.
    auto created = make_counter(is_strict());
    const doca_error_t status = created->import(descriptor, function());
    if (status == DOCA_SUCCESS)
        counter = std::move(created);
    return status;
}

} // namespace opendoca::soft
