// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "device.hpp"

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "../../log/log.hpp"
#include "../../objects/dmabuf.hpp"
#include "../counter.hpp"
#include "../descriptor.hpp"
#include "../host/own_memory.hpp"
#include "cm_bridge.hpp"
#include "copy_engine.hpp"
#include "loopback.hpp"
#include "memory_descriptor.hpp"
#include "queue_pair.hpp"
#include "rdma_cm.hpp"
#include "receive_queue.hpp"

OPENDOCA_LOG_SOURCE(DOCA_VERBS_DEVICE);

namespace opendoca::verbs {

namespace {

/// Returns the rights of a memory map as verbs flags. Writing for a peer requires local write access too.
int verbs_access(std::uint32_t access) noexcept
{
    int flags = 0;
    if ((access & writing_access) != 0)
        flags |= IBV_ACCESS_LOCAL_WRITE;
    return flags | static_cast<int>(remote_access(access));
}

} // namespace

doca_error_t explain_registration(int error, const MemoryRange &range, const std::string &device)
{
    const char *hint = "";
    doca_error_t status = DOCA_ERROR_DRIVER;
    // errno alone does not explain what the program can do about it.
    if (error == EFAULT) {
        status = DOCA_ERROR_INVALID_VALUE;
        hint = ": not all of it is memory of this process that may be written";
    } else if (error == ENOMEM) {
        status = DOCA_ERROR_NO_MEMORY;
        hint = ": the limit of locked memory (ulimit -l) may be too low";
    } else if (error == EOPNOTSUPP) {
        status = DOCA_ERROR_NOT_SUPPORTED;
    }
    LOG_ERR("registering [%p, +%zu) with device %s: %s%s", static_cast<void *>(range.addr), range.len, device.c_str(),
            std::strerror(error), hint);
    return status;
}

/// Writes the rkey and the range. The rights in the descriptor are informative: the device enforces those of the
/// registration.
doca_error_t VerbsKey::export_to(ExportKind kind, std::vector<std::byte> &descriptor)
{
    if (kind != ExportKind::rdma)
        return MemoryKey::export_to(kind, descriptor);
    const RemoteMemoryDescriptor d = {.addr = reinterpret_cast<std::uintptr_t>(range_.addr),
                                      .len = range_.len,
                                      .key = region_->rkey,
                                      .access = access_ & rdma_access};
    descriptor = to_bytes(DescriptorKind::verbs_memory, d);
    return DOCA_SUCCESS;
}

doca_error_t VerbsKey::mkey(std::uint32_t &key) const
{
    key = verbs_key(number);
    return DOCA_SUCCESS;
}

VerbsDevice::VerbsDevice(const VerbsFunction &function, ibv_pd &pd) noexcept
    : Device(function),
      function_(function),
      pd_(pd)
{
}

VerbsDevice::VerbsDevice(const VerbsFunction &function, OpenContext own)
    : Device(function),
      function_(function),
      own_(std::move(own)),
      pd_(*own_.pd),
      events_(std::make_unique<DeviceEvents>(*own_.context, function.ibdev_name))
{
}

doca_error_t VerbsDevice::open(const VerbsFunction &function, std::unique_ptr<Device> &device)
{
    OpenContext opened;
    const doca_error_t status = OpenContext::open(function, opened);
    if (status == DOCA_SUCCESS)
        device = std::make_unique<VerbsDevice>(function, std::move(opened));
    return status;
}

/// Finds the device by its name in a fresh list. The list that the function was found in may be old: devices can be
/// removed and renamed at any time.
doca_error_t OpenContext::open(const VerbsFunction &function, OpenContext &opened)
{
    const DeviceList devices;
    for (ibv_device *const candidate : devices) {
        if (function.ibdev_name != ibv_get_device_name(candidate))
            continue;
        opened.context.reset(ibv_open_device(candidate));
        if (opened.context != nullptr)
            close_in_children_of(*opened.context);
        opened.pd.reset(opened.context != nullptr ? ibv_alloc_pd(opened.context.get()) : nullptr);
        if (opened.pd == nullptr) {
            LOG_ERR("opening RDMA device %s: %s", function.ibdev_name.c_str(), std::strerror(errno));
            return DOCA_ERROR_INITIALIZATION;
        }
        return DOCA_SUCCESS;
    }
    LOG_ERR("RDMA device %s no longer exists", function.ibdev_name.c_str());
    return DOCA_ERROR_INITIALIZATION;
}

/// Registers @p range with ibv_reg_mr(). The region can be used by all queue pairs of the protection domain.
doca_error_t VerbsDevice::register_memory(const MemoryRange &range, std::uint32_t access,
                                          std::unique_ptr<MemoryKey> &key)
{
    // Kernels differ in what they pin without a check: some accept pages that are not readable, or that are mapped
    // read-only.
    if (const doca_error_t status = check_accessible(range, (access & writing_access) != 0); status != DOCA_SUCCESS)
        return status;
    Handle<ibv_mr> region(ibv_reg_mr(&pd_, range.addr, range.len, verbs_access(access)));
    if (region == nullptr)
        return explain_registration(errno, range, function_.name);
    key = make_key(std::move(region), range, access);
    return DOCA_SUCCESS;
}

std::unique_ptr<MemoryKey> VerbsDevice::make_key(Handle<ibv_mr> region, const MemoryRange &range, std::uint32_t access)
{
    return std::make_unique<VerbsKey>(std::move(region), range, access);
}

doca_error_t VerbsDevice::connect_to_itself(ReliableConnection &connection) const noexcept
{
    return verbs::connect_to_itself(*this, connection);
}

/// Registers a dmabuf with ibv_reg_dmabuf_mr(). The program's address for it is used as the I/O virtual address, so
/// that buffers in it are addressed as any others. The program need not be able to access the memory.
doca_error_t VerbsDevice::register_dmabuf(const Dmabuf &dmabuf, std::uint32_t access, std::unique_ptr<MemoryKey> &key)
{
    const MemoryRange &range = dmabuf.range();
    Handle<ibv_mr> region(ibv_reg_dmabuf_mr(&pd_, dmabuf.offset(), range.len,
                                            reinterpret_cast<std::uintptr_t>(range.addr), dmabuf.fd(),
                                            verbs_access(access)));
    if (region != nullptr) {
        key = make_key(std::move(region), range, access);
        return DOCA_SUCCESS;
    }
    const int error = errno;
    LOG_ERR("device %s can't use file descriptor %d as a dmabuf from %zu on, %zu bytes: %s", function_.name.c_str(),
            dmabuf.fd(), dmabuf.offset(), range.len, std::strerror(error));
    return error == EOPNOTSUPP || error == ENOSYS ? DOCA_ERROR_NOT_SUPPORTED
           : error == ENOMEM                      ? DOCA_ERROR_NO_MEMORY
           : error == EINVAL || error == EBADF    ? DOCA_ERROR_INVALID_VALUE
                                                  : DOCA_ERROR_DRIVER;
}

/// Creates a key for a peer's memory from its descriptor. Nothing is created on the device: the rkey is checked by the
/// peer's device at each access.
doca_error_t VerbsDevice::import_memory(std::span<const std::byte> descriptor, MemoryRange &range,
                                        std::unique_ptr<MemoryKey> &key)
{
    if (!function_.can.rdma.reliable_connection) {
        LOG_ERR("device %s cannot import memory for RDMA", function_.name.c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    RemoteMemoryDescriptor d{};
    if (const doca_error_t status = read_descriptor(descriptor, d); status != DOCA_SUCCESS)
        return status;
    key = std::make_unique<VerbsKey>(d.key);
    range = {reinterpret_cast<std::byte *>(static_cast<std::uintptr_t>(d.addr)), d.len};
    return DOCA_SUCCESS;
}

doca_error_t VerbsDevice::create_copy_engine(CompletionQueue &completions, std::unique_ptr<CopyEngine> &engine)
{
    return VerbsCopyEngine::create(*this, completions, engine);
}

doca_error_t VerbsDevice::create_queue_pair(const QueuePairSettings &settings, std::atomic<ConnectionState> &state,
                                            std::unique_ptr<QueuePair> &queue_pair)
{
    return VerbsQueuePair::create(*this, settings, state, queue_pair);
}

doca_error_t VerbsDevice::create_receive_queue(CompletionQueue &completions, std::uint32_t size,
                                               std::uint32_t chain_length, std::unique_ptr<ReceiveQueue> &queue)
{
    return VerbsReceiveQueue::create(*this, completions, size, chain_length, queue);
}

doca_error_t VerbsDevice::create_connector(std::unique_ptr<Connector> &connector)
{
    return RdmaCm::create(*this, connector);
}

doca_error_t VerbsDevice::bridge(rdma_cm_id &id, QueuePair &queue_pair, std::unique_ptr<BridgedLink> &link)
{
    return CmBridge::create(*this, id, static_cast<VerbsQueuePair &>(queue_pair), link);
}

doca_error_t VerbsDevice::read_clock(DeviceClock clock, std::uint64_t &value) noexcept
{
    const bool is_read = clock == DeviceClock::free_running && verbs::read_clock(context(), value);
    return is_read ? DOCA_SUCCESS : DOCA_ERROR_NOT_SUPPORTED;
}

/// Creates a counter in memory of this process, which the CPU updates. RDMA is not involved.
doca_error_t VerbsDevice::create_counter(const CounterSetup &setup, std::unique_ptr<Counter> &counter)
{
    return create_local_counter(setup, counter);
}

} // namespace opendoca::verbs
