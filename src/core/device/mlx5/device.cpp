// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "../../log/log.hpp"
#include "../descriptor.hpp"
#include "../verbs/reliable_connection.hpp"
#include "copy_engine.hpp"
#include "counter.hpp"
#include "memory_descriptor.hpp"
#include "user_access.hpp"

OPENDOCA_LOG_SOURCE(DOCA_MLX5_DEVICE);

namespace opendoca::mlx5 {

/// Exports to the DPU by a second key, which is shared under an access key. The range and access of the descriptor are
/// informative; the card enforces those of the key.
doca_error_t Mlx5Key::export_to(ExportKind kind, std::vector<std::byte> &descriptor)
{
    if (kind != ExportKind::dpu)
        return VerbsKey::export_to(kind, descriptor);
    const Mlx5Function &function = device_.mlx5_function();
    const Sharing &sharing = sharing_of(function);
    if (sharing.way == Sharing::Way::none) {
        LOG_ERR("device %s cannot export memory to a DPU: %s", function.name.c_str(), sharing.reason.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    // The memory map keeps the descriptor, so there is one shared key for each registration.
    const bool is_writable = (access() & Access::dpu_read_write) != 0;
    SharedKey shared;
    if (const Outcome outcome =
            shared.create(device_.commands(), device_.pd(), sharing.way, region(), range(), is_writable);
        !outcome.is_good()) {
        LOG_ERR("device %s: the key of [%p, +%zu) can't be shared with the DPU: %s", function.name.c_str(),
                static_cast<void *>(range().addr), range().len, outcome.to_text().c_str());
        return DOCA_ERROR_DRIVER;
    }
    SharedMemoryDescriptor d = {.addr = reinterpret_cast<std::uintptr_t>(range().addr),
                                .len = range().len,
                                .card_guid = function.card_guid(),
                                .vhca_id = function.device_capabilities().vhca_id,
                                .key_index = shared.key().index(),
                                .access = access() & (Access::dpu_read_only | Access::dpu_read_write),
                                .access_key = {}};
    std::ranges::copy(shared.access_key(), d.access_key);
    descriptor = to_bytes(DescriptorKind::mlx5_memory, d);
    shared_ = std::move(shared);
    return DOCA_SUCCESS;
}

Mlx5Device::Mlx5Device(const Mlx5Function &function, verbs::OpenContext own)
    : VerbsDevice(function, std::move(own)),
      function_(function),
      commands_(function.library(), context())
{
}

doca_error_t Mlx5Device::open(const Mlx5Function &function, std::unique_ptr<Device> &device)
{
    verbs::OpenContext opened;
    const doca_error_t status = verbs::OpenContext::open(function, opened);
    if (status == DOCA_SUCCESS)
        device = std::make_unique<Mlx5Device>(function, std::move(opened));
    return status;
}

doca_error_t Mlx5Device::read_clock(DeviceClock clock, std::uint64_t &value) noexcept
{
    if (clock != DeviceClock::real_time)
        return VerbsDevice::read_clock(clock, value);
    return read_time(function_.library(), context(), value) ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

std::unique_ptr<MemoryKey> Mlx5Device::make_key(verbs::Handle<ibv_mr> region, const MemoryRange &range,
                                                std::uint32_t access)
{
    return std::make_unique<Mlx5Key>(*this, std::move(region), range, access);
}

/// Imports a range of the host as an alias of the host's key, or a peer's memory for RDMA as any verbs device does.
doca_error_t Mlx5Device::import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                       std::unique_ptr<MemoryKey> &key)
{
    // Descriptors of a memory map exist in two kinds. Any other error is reported for the kind that this device adds.
    if (is_for_rdma(descriptor))
        return VerbsDevice::import_memory(descriptor, range, key);
    SharedMemoryDescriptor d{};
    if (const doca_error_t status = read_descriptor(descriptor, d); status != DOCA_SUCCESS)
        return status;
    DeviceKey alias;
    if (const doca_error_t status = import_key(d, alias); status != DOCA_SUCCESS)
        return status;
    // The rights in the descriptor decide only which operations are offered; the card enforces those of the key.
    const bool is_writable = d.access == Access::dpu_read_write;
    key =
        std::make_unique<AliasKey>(std::move(alias), KeyUse::dma_source | (is_writable ? KeyUse::dma_destination : 0));
    range = {reinterpret_cast<std::byte *>(static_cast<std::uintptr_t>(d.addr)), d.len};
    return DOCA_SUCCESS;
}

doca_error_t Mlx5Device::import_key(const SharedMemoryDescriptor &d, DeviceKey &alias) const
{
    if (const Sharing &sharing = sharing_of(function_); !sharing.imports) {
        LOG_ERR("device %s cannot import what a host exports: %s", function_.name.c_str(), sharing.reason.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    // An alias can refer only to keys of functions of its own card.
    if (d.card_guid != function_.card_guid()) {
        LOG_ERR("the export descriptor is of a function of card 0x%016" PRIx64
                ", and device %s is of card 0x%016" PRIx64,
                d.card_guid, function_.name.c_str(), function_.card_guid());
        return DOCA_ERROR_INVALID_VALUE;
    }
    AccessKey access_key;
    std::ranges::copy(d.access_key, access_key.begin());
    if (const Outcome outcome = commands_.create_alias(pd(), d.vhca_id, d.key_index, access_key, alias);
        !outcome.is_good()) {
        LOG_ERR("device %s has no access to key index 0x%" PRIx32 " of VHCA %u: the export was stopped, or the "
                "descriptor is forged (%s)",
                function_.name.c_str(), d.key_index, d.vhca_id, outcome.to_text().c_str());
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t Mlx5Device::create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter)
{
    return SharedCounter::create(setup, counter);
}

doca_error_t Mlx5Device::import_counter(std::span<const std::byte> descriptor, std::unique_ptr<Counter> &counter)
{
    return RemoteCounter::create(*this, descriptor, counter);
}

doca_error_t Mlx5Device::create_user_memory(const MemoryRange &range, std::uint32_t access,
                                            std::unique_ptr<UserMemory> &memory)
{
    return mlx5::create_user_memory(*this, range, access, memory);
}

doca_error_t Mlx5Device::create_doorbell_page(DoorbellAccess access, std::unique_ptr<DoorbellPage> &page)
{
    return mlx5::create_doorbell_page(*this, access, page);
}

/// Copies with the DMA engine if a trial has succeeded, otherwise by RDMA loopback.
doca_error_t Mlx5Device::create_copy_engine(CompletionQueue &completions, std::unique_ptr<CopyEngine> &engine)
{
    return engine_of(function_).works ? DmaCopyEngine::create(*this, completions, engine)
                                      : VerbsDevice::create_copy_engine(completions, engine);
}

bool Mlx5Device::loop_back(verbs::ReliableConnection &connection) const noexcept
{
    const std::uint32_t first_packet = verbs::random_psn();
    const auto port = static_cast<std::uint8_t>(function_.port());
    // The kernel has no record of a transition by DEVX; start_sending() takes this into account.
    if (commands_.loop_back(connection.queue_pair(), port, IBV_MTU_4096, first_packet).is_good() &&
        connection.start_sending(first_packet) == 0)
        return true;
    // The transition may have failed halfway.
    (void)connection.reset();
    return false;
}

/// Uses forced loopback if the device supports it, otherwise the network path of any RDMA device.
doca_error_t Mlx5Device::connect_to_itself(verbs::ReliableConnection &connection) const noexcept
{
    const bool can_loop_back = function_.can.rdma.is_ethernet && function_.device_capabilities().forces_loopback;
    return can_loop_back && loop_back(connection) ? DOCA_SUCCESS : VerbsDevice::connect_to_itself(connection);
}

} // namespace opendoca::mlx5
