// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device.hpp"

#include "../engine/completion_order.hpp"
#include "../log/log.hpp"
#include "connector.hpp"
#include "copy_engine.hpp"
#include "counter.hpp"
#include "memory_copier.hpp"
#include "queue_pair.hpp"
#include "user_access.hpp"

OPENDOCA_LOG_SOURCE(DOCA_DEVICE);

namespace opendoca {

namespace {

/// Logs that the device does not support @p operation. Used by the base class's version of each optional operation.
doca_error_t not_supported(const char *operation) noexcept
{
    LOG_ERR("this device cannot %s", operation);
    return DOCA_ERROR_NOT_SUPPORTED;
}

} // namespace

// Out of line, so that each vtable is emitted in this file only.
MemoryKey::~MemoryKey() = default;

UserMemory::~UserMemory() = default;

DoorbellPage::~DoorbellPage() = default;

MemoryCopier::~MemoryCopier() = default;

doca_error_t MemoryKey::export_to(ExportKind, std::vector<std::byte> &)
{
    return not_supported("export memory");
}

doca_error_t MemoryKey::mkey(std::uint32_t &) const
{
    return not_supported("provide a memory key for rdma-core");
}

Device::~Device() = default;

doca_error_t Device::register_memory(const MemoryRange &, std::uint32_t, std::unique_ptr<MemoryKey> &)
{
    return not_supported("register memory");
}

doca_error_t Device::register_dmabuf(const Dmabuf &, std::uint32_t, std::unique_ptr<MemoryKey> &)
{
    return not_supported("use the memory of a dmabuf");
}

doca_error_t Device::import_memory(std::span<const std::byte>, MemoryRange &, std::unique_ptr<MemoryKey> &)
{
    return not_supported("import memory");
}

doca_error_t Device::create_user_memory(const MemoryRange &, std::uint32_t, std::unique_ptr<UserMemory> &)
{
    return not_supported("register user memory (UMEM): only mlx5 devices can, by DEVX");
}

doca_error_t Device::read_clock(DeviceClock, std::uint64_t &) noexcept
{
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t Device::create_doorbell_page(DoorbellAccess, std::unique_ptr<DoorbellPage> &)
{
    return not_supported("provide a doorbell page (UAR): only mlx5 devices can, by DEVX");
}

doca_error_t Device::create_copy_engine(CompletionQueue &, std::unique_ptr<CopyEngine> &)
{
    return not_supported("copy memory");
}

doca_error_t Device::create_memory_copier(std::unique_ptr<MemoryCopier> &)
{
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t Device::create_queue_pair(const QueuePairSettings &, std::atomic<ConnectionState> &,
                                       std::unique_ptr<QueuePair> &)
{
    return not_supported("connect to a peer");
}

doca_error_t Device::create_receive_queue(CompletionQueue &, std::uint32_t, std::uint32_t,
                                          std::unique_ptr<ReceiveQueue> &)
{
    return not_supported("share receives between connections");
}

// Not logged, since the caller then uses TCP.
doca_error_t Device::create_connector(std::unique_ptr<Connector> &)
{
    return DOCA_ERROR_NOT_SUPPORTED;
}

doca_error_t Device::bridge(rdma_cm_id &, QueuePair &, std::unique_ptr<BridgedLink> &)
{
    return not_supported("use an id of rdma_cm: these belong to RDMA devices");
}

doca_error_t Device::create_counter(const CounterSetup &, std::unique_ptr<Counter> &)
{
    return not_supported("hold the counter of a sync event");
}

doca_error_t Device::import_counter(std::span<const std::byte>, std::unique_ptr<Counter> &)
{
    return not_supported("import a sync event");
}

ibv_pd *Device::protection_domain() const noexcept
{
    return nullptr;
}

Counter::~Counter() = default;

doca_error_t Counter::create_waits(CompletionQueue &, std::unique_ptr<CounterWaits> &)
{
    return not_supported("wait for a sync event without blocking");
}

std::uint64_t *Counter::local_word() noexcept
{
    return nullptr;
}

void Counter::expect_unnotified_changes() noexcept {}

doca_error_t Counter::export_to_dpu(Device &, std::vector<std::byte> &)
{
    return not_supported("export a sync event");
}

DeviceFunction::~DeviceFunction() = default;

std::string DeviceFunction::description() const
{
    return name + (pci_address.empty() ? "" : " (" + pci_address + ")");
}

std::vector<RepresentorInfo> DeviceFunction::representors() const
{
    return {};
}

/// Copies of all devices but strict ones complete in order.
void CopyEngine::set_ordered(bool) noexcept {}

// By default these report what was found when the device was listed. Providers that try abilities on the device
// override them.
std::uint32_t DeviceFunction::max_queue_size() const noexcept
{
    return can.rdma.max_queue_size;
}

bool DeviceFunction::can_export_dpu() const noexcept
{
    return can.export_dpu;
}

bool DeviceFunction::can_import_dpu() const noexcept
{
    return can.from_export_dpu;
}

bool DeviceFunction::can_export_counter() const noexcept
{
    return can.sync_event_export_dpu;
}

bool DeviceFunction::can_import_counter() const noexcept
{
    return can.sync_event_from_export_dpu;
}

std::vector<std::string> DeviceFunction::remarks() const
{
    return {};
}

const char *DeviceFunction::strict_suffix(StrictRule) const noexcept
{
    return "";
}

std::unique_ptr<CompletionOrder> DeviceFunction::order_of_late(const char *) const
{
    return nullptr;
}

std::string DeviceFunction::reason_against(Ability ability) const
{
    // Reasons that apply to all kinds of devices. A provider handles the others before it calls this function.
    switch (ability) {
    case Ability::hash_by_engine:
        return "opendoca does not use hash engines of cards: OpenSSL computes hashes on the CPU";
    case Ability::compress:
        return has_soft_engines() || can.compress_deflate || can.decompress_deflate
                   ? "libdoca_compress was built without the codec: libdeflate, liblz4 or libxxhash"
                   : "opendoca does not use compression engines of cards: DOCA_SOFT_ENGINES=1 lets the CPU stand in";
    case Ability::erasure_coding:
        return has_soft_engines() || can.erasure_coding
                   ? "this build of libdoca_erasure_coding has no ISA-L"
                   : "opendoca does not use erasure coding engines of cards: DOCA_SOFT_ENGINES=1 lets the CPU stand in";
    case Ability::encrypt:
        return has_soft_engines()
                   ? "OpenSSL, as it is configured, has no AES-GCM"
                   : "opendoca does not use encryption engines of cards: DOCA_SOFT_ENGINES=1 lets the CPU stand in";
    case Ability::message_service:
        return can.comm_channel ? "services run on a port of the DPU, where the representors are"
                                : reason_against(Ability::message_channel);
    case Ability::list_representors:
        return "only a port of the DPU has functions of the host behind it";
    case Ability::list_emulated:
    case Ability::manage_hotplug:
        return "opendoca does not implement emulated devices";
    default:
        return "this kind of device does not support it";
    }
}

} // namespace opendoca
