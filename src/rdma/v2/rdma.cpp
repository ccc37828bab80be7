// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// An instance: its properties, start, export, connect and stop. The C functions of the properties are in
// rdma_properties.cpp.
#include "rdma.hpp"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "../../core/log/log.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v2/call.hpp"
#include "../../core/v2/workq.hpp"
#include "rdma_jobs.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA);

using opendoca::v2::call;

namespace {

/// The largest power of two: the limit while no device is added.
constexpr std::uint32_t largest_queue_size = std::uint32_t{1} << 31;
/// The rights that a peer can have.
constexpr std::uint32_t all_permissions =
    DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
constexpr std::uint32_t max_service_level = 15; // 4 bits of the packet header

/// Returns the name of @p state in log messages.
const char *name_of(doca_rdma_state state) noexcept
{
    constexpr const char *names[] = {"RESET", "INIT", "CONNECTED", "ERROR"};
    return names[state];
}

} // namespace

// The properties. Some can be set before a device is added; on_start() then checks them against the device.

const opendoca::RdmaCapabilities *doca_rdma::capabilities() const noexcept
{
    return has_device() ? &devices().front()->function().can.rdma : nullptr;
}

doca_error_t doca_rdma::check_not_started(const char *what) const noexcept
{
    if (is_started()) {
        LOG_ERR("the context is started: its %s can't be changed", what);
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma::check_configurable_device(const char *what) const noexcept
{
    if (!has_device()) {
        LOG_ERR("no device was added to the context yet: its %s can't be set", what);
        return DOCA_ERROR_BAD_STATE;
    }
    return check_not_started(what);
}

/// The size is rounded up to a power of two, which the getter then returns.
doca_error_t doca_rdma::set_queue_size(bool is_send, std::uint32_t size) noexcept
{
    const char *const what = is_send ? "send queue" : "receive queue";
    if (const doca_error_t status = check_not_started(what); status != DOCA_SUCCESS)
        return status;
    if (size == 0) {
        LOG_ERR("a %s has at least 1 entry", what);
        return DOCA_ERROR_INVALID_VALUE;
    }
    const std::uint32_t largest = has_device() ? devices().front()->function().max_queue_size() : largest_queue_size;
    if (size > largest) {
        LOG_ERR("a %s of %" PRIu32 ": at most %" PRIu32 " are supported", what, size, largest);
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    (is_send ? settings_.send_queue_size : settings_.recv_queue_size) = std::bit_ceil(size);
    return DOCA_SUCCESS;
}

/// RC is the default and the only transport that is supported.
doca_error_t doca_rdma::set_transport_type(doca_rdma_transport_type type) noexcept
{
    if (const doca_error_t status = check_not_started("transport"); status != DOCA_SUCCESS)
        return status;
    if (type == DOCA_RDMA_TRANSPORT_RC)
        return DOCA_SUCCESS;
    if (type == DOCA_RDMA_TRANSPORT_DC) {
        LOG_ERR("the transport DC is not supported");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    LOG_ERR("there is no transport %d", static_cast<int>(type));
    return DOCA_ERROR_INVALID_VALUE;
}

/// A connection uses the smaller MTU of both sides. The getter returns an MTU that was set even if the path's is less.
/// The raw value is compared as unsigned, so negative values are invalid as well.
doca_error_t doca_rdma::set_mtu(doca_mtu_size mtu) noexcept
{
    if (const doca_error_t status = check_not_started("MTU"); status != DOCA_SUCCESS)
        return status;
    if (static_cast<unsigned>(mtu) > DOCA_MTU_SIZE_RAW_ETHERNET) {
        LOG_ERR("there is no MTU %d", static_cast<int>(mtu));
        return DOCA_ERROR_INVALID_VALUE;
    }
    const opendoca::RdmaCapabilities *const can = capabilities();
    if (mtu > (can == nullptr ? DOCA_MTU_SIZE_4K_BYTES : can->active_mtu)) {
        LOG_ERR("the port does not support MTU %d", static_cast<int>(mtu));
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    settings_.mtu = mtu;
    settings_.is_mtu_fixed = true;
    return DOCA_SUCCESS;
}

/// An MTU that the program has not set may have been reduced by the queue pair when it connected.
doca_mtu_size doca_rdma::mtu() const noexcept
{
    if (queue_pair_ != nullptr)
        return queue_pair_->mtu();
    const opendoca::RdmaCapabilities *const can = capabilities();
    return settings_.is_mtu_fixed || can == nullptr ? settings_.mtu : can->active_mtu;
}

/// Sets the rights of the peer on the queue pair; a remote operation also needs the rights of the memory map.
doca_error_t doca_rdma::set_permissions(std::uint32_t permissions) noexcept
{
    if (const doca_error_t status = check_configurable_device("permissions"); status != DOCA_SUCCESS)
        return status;
    if ((permissions & ~all_permissions) != 0) {
        LOG_ERR("permissions 0x%" PRIx32 ": the bits 0x%" PRIx32 " are not permissions of RDMA", permissions,
                permissions & ~all_permissions);
        return DOCA_ERROR_INVALID_VALUE;
    }
    settings_.permissions = permissions;
    return DOCA_SUCCESS;
}

/// RoCE packets always have the global route header; it is optional on InfiniBand.
doca_error_t doca_rdma::set_grh_enabled(bool is_enabled) noexcept
{
    if (const doca_error_t status = check_configurable_device("global route header"); status != DOCA_SUCCESS)
        return status;
    if (!is_enabled && capabilities()->is_ethernet) {
        LOG_ERR("on an Ethernet port all packets have a global route header");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    settings_.has_grh = is_enabled;
    return DOCA_SUCCESS;
}

/// An index that was set is the only one tried; otherwise the provider chooses among the entries of the table.
doca_error_t doca_rdma::set_gid_index(std::uint32_t index) noexcept
{
    if (const doca_error_t status = check_configurable_device("GID"); status != DOCA_SUCCESS)
        return status;
    if (const std::size_t size = capabilities()->gids.size(); index >= size) {
        LOG_ERR("GID %" PRIu32 ": the table has %zu entries", index, size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    settings_.gid_index = index;
    settings_.is_gid_fixed = true;
    return DOCA_SUCCESS;
}

/// Buffers of one receive: the SGEs of a work request.
doca_error_t doca_rdma::set_recv_chain_length(std::uint32_t length) noexcept
{
    if (const doca_error_t status = check_not_started("receive chains"); status != DOCA_SUCCESS)
        return status;
    const opendoca::RdmaCapabilities *const can = capabilities();
    if (length == 0 || (can != nullptr && length > can->max_chain_length)) {
        LOG_ERR("receives of %" PRIu32 " buffers: at least 1 and at most the limit of the device", length);
        return DOCA_ERROR_INVALID_VALUE;
    }
    settings_.recv_chain_length = length;
    return DOCA_SUCCESS;
}

/// The priority of the packets in the fabric, if its switches are configured for it.
doca_error_t doca_rdma::set_service_level(std::uint32_t level) noexcept
{
    if (const doca_error_t status = check_not_started("service level"); status != DOCA_SUCCESS)
        return status;
    if (level > max_service_level) {
        LOG_ERR("service level %" PRIu32 ": there are 0 to %" PRIu32, level, max_service_level);
        return DOCA_ERROR_INVALID_VALUE;
    }
    settings_.service_level = level;
    return DOCA_SUCCESS;
}

/// Called when the program adds a device: one device, which supports reliable connections.
doca_error_t doca_rdma::check_device(const doca_dev &dev, const std::vector<doca_dev *> &others) const
{
    if (!dev.function().can.rdma.reliable_connection) {
        LOG_ERR("device %s cannot do RDMA", dev.description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!others.empty()) {
        LOG_ERR("an RDMA context takes one device, and has %s", others.front()->description().c_str());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return DOCA_SUCCESS;
}

bool doca_rdma::can_be_event_driven(const std::vector<doca_dev *> &devices) const
{
    return devices.empty() || devices.front()->function().can.rdma.event_driven;
}

doca_error_t doca_rdma::on_start(const std::vector<doca_dev *> &devices)
{
    if (const doca_error_t status = doca_ctx::on_start(devices); status != DOCA_SUCCESS)
        return status;
    const opendoca::RdmaCapabilities &can = devices.front()->function().can.rdma;
    // Properties that were set before the device was added are checked against its capabilities here.
    if (std::max(settings_.send_queue_size, settings_.recv_queue_size) > can.max_queue_size) {
        LOG_ERR("queues of %" PRIu32 " sends and %" PRIu32 " receives; the device does at most %" PRIu32 " of each",
                settings_.send_queue_size, settings_.recv_queue_size, can.max_queue_size);
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (settings_.recv_chain_length > can.max_chain_length) {
        LOG_ERR("receives of %" PRIu32 " buffers; the device does at most %" PRIu32, settings_.recv_chain_length,
                can.max_chain_length);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (settings_.gid_index >= can.gids.size()) {
        LOG_ERR("GID %" PRIu32 ": the table has %zu entries", settings_.gid_index, can.gids.size());
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    if (!settings_.has_grh && can.is_ethernet) {
        LOG_ERR("the global route header is off, which an Ethernet port does not support");
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    // A copy, so that an MTU which the program has not set follows the port at each start.
    opendoca::QueuePairSettings settings = settings_;
    settings.mtu = mtu();
    const doca_dev &dev = *devices.front();
    const doca_error_t status = dev.device().create_queue_pair(settings, state_, queue_pair_);
    // Release: pairs with the acquire loads in state() and QueuePair::state().
    if (status == DOCA_SUCCESS)
        state_.store(opendoca::ConnectionState::initial, std::memory_order_release);
    return status;
}

void doca_rdma::on_stop() noexcept
{
    // Stored twice. Before the queue pair is destroyed, so that other threads start no export or connect while its
    // destructor waits for a connect that is under way; and afterwards, since that connect may succeed and store
    // "connected". Release: pairs with the acquire loads in state() and export_details().
    state_.store(opendoca::ConnectionState::none, std::memory_order_release);
    queue_pair_.reset();
    state_.store(opendoca::ConnectionState::none, std::memory_order_release);
}

/// Called when the context is added to a work queue. The queue pair has one completion queue, so there is one work
/// queue.
doca_error_t doca_rdma::create_queue(const std::vector<doca_dev *> &devices, doca_workq &workq,
                                     std::unique_ptr<opendoca::v2::JobQueue> &queue)
{
    if (queue_pair_->is_attached()) {
        LOG_ERR("an RDMA context takes one work queue, and has one");
        return DOCA_ERROR_IN_USE;
    }
    const doca_dev &dev = *devices.front();
    const opendoca::RdmaCapabilities &can = dev.function().can.rdma;
    const opendoca::TransferCheck check(
        dev.device(), {can.max_message_size, can.max_chain_length, settings_.recv_chain_length, can.atomics});
    // The queue pair outlives the jobs: a context that leaves its work queue stays connected until it stops.
    return opendoca::v2::make_rdma_jobs(*queue_pair_, check, workq, queue);
}

/// Also checks the state, since another thread may be in on_stop().
doca_error_t doca_rdma::export_details(std::span<const std::byte> &details) const noexcept
{
    if (!is_started() || state_.load(std::memory_order_acquire) == opendoca::ConnectionState::none) {
        LOG_ERR("the context is not started: it has no connection details yet");
        return DOCA_ERROR_BAD_STATE;
    }
    details = queue_pair_->details();
    return DOCA_SUCCESS;
}

/// Checks the state; the queue pair itself changes it to CONNECTED.
doca_error_t doca_rdma::connect(std::span<const std::byte> details)
{
    if (const doca_rdma_state now = state(); now != DOCA_RDMA_STATE_INIT) {
        LOG_ERR("an instance in state %s can't be connected", name_of(now));
        return DOCA_ERROR_BAD_STATE;
    }
    return queue_pair_->connect(details);
}

doca_error_t doca_rdma::check_destroyable() const noexcept
{
    if (is_started()) {
        LOG_ERR("the context is not stopped");
        return DOCA_ERROR_BAD_STATE;
    }
    return DOCA_SUCCESS;
}

doca_error_t doca_rdma_create(struct doca_rdma **rdma)
{
    return call({rdma}, [&] { *rdma = new doca_rdma; });
}

/// Connections end with the stop of the context, so a destroyed instance has none.
doca_error_t doca_rdma_destroy(struct doca_rdma *rdma)
{
    return call({rdma}, [&] {
        const doca_error_t status = rdma->check_destroyable();
        if (status == DOCA_SUCCESS)
            delete rdma;
        return status;
    });
}

struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma)
{
    return rdma;
}

/// The details belong to the queue pair: the program copies them and does not free them.
doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
                              size_t *local_rdma_conn_details_size)
{
    return call({rdma, local_rdma_conn_details, local_rdma_conn_details_size}, [&] {
        std::span<const std::byte> details;
        const doca_error_t status = rdma->export_details(details);
        if (status == DOCA_SUCCESS) {
            *local_rdma_conn_details = details.data();
            *local_rdma_conn_details_size = details.size();
        }
        return status;
    });
}

doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
                               size_t remote_rdma_conn_details_size)
{
    return call({rdma, remote_rdma_conn_details}, [&] {
        if (remote_rdma_conn_details_size == 0) {
            LOG_ERR("connection details have 0 bytes");
            return DOCA_ERROR_INVALID_VALUE;
        }
        return rdma->connect({static_cast<const std::byte *>(remote_rdma_conn_details), remote_rdma_conn_details_size});
    });
}
