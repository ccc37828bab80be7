// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The properties of an instance: doca_rdma_set_X() and doca_rdma_get_X(). Some can be set before a device is added;
// on_start() then checks them against the device.
#include <bit>
#include <cinttypes>
#include <cstddef>
#include <cstdint>

#include "../../core/log/log.hpp"
#include "../../core/objects/dev.hpp"
#include "../../core/v2/call.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_PROPERTIES);

using opendoca::v2::call;

namespace {

/// The largest power of two: the limit while no device is added.
constexpr std::uint32_t largest_queue_size = std::uint32_t{1} << 31;
/// The rights that a peer can have.
constexpr std::uint32_t all_permissions =
    DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC;
constexpr std::uint32_t max_service_level = 15; // 4 bits of the packet header

} // namespace

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

namespace {

/// Stores the value that @p value returns. BAD_STATE if no device was added: several values depend on it.
template <typename T, typename Value>
doca_error_t get(const doca_rdma *rdma, T *out, Value &&value, const char *function = __builtin_FUNCTION()) noexcept
{
    return call(
        {rdma, out},
        [&] {
            if (!rdma->has_device()) {
                LOG_ERR("no device was added to the context yet");
                return DOCA_ERROR_BAD_STATE;
            }
            *out = static_cast<T>(value(*rdma));
            return DOCA_SUCCESS;
        },
        function);
}

} // namespace

doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size)
{
    return call({rdma}, [&] { return rdma->set_queue_size(true, send_queue_size); });
}

doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size)
{
    return call({rdma}, [&] { return rdma->set_queue_size(false, recv_queue_size); });
}

doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type)
{
    return call({rdma}, [&] { return rdma->set_transport_type(transport_type); });
}

doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
    return call({rdma}, [&] { return rdma->set_mtu(mtu); });
}

doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
{
    return call({rdma}, [&] { return rdma->set_permissions(permissions); });
}

doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled)
{
    return call({rdma}, [&] { return rdma->set_grh_enabled(grh_enabled); });
}

doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index)
{
    return call({rdma}, [&] { return rdma->set_gid_index(gid_index); });
}

doca_error_t doca_rdma_set_recv_buf_chain_len(struct doca_rdma *rdma, uint32_t recv_buf_chain_len)
{
    return call({rdma}, [&] { return rdma->set_recv_chain_length(recv_buf_chain_len); });
}

doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl)
{
    return call({rdma}, [&] { return rdma->set_service_level(sl); });
}

/// Both sizes are powers of two: the value that was set, rounded up.
doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size)
{
    return get(rdma, send_queue_size, [](const doca_rdma &r) { return r.settings().send_queue_size; });
}

doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size)
{
    return get(rdma, recv_queue_size, [](const doca_rdma &r) { return r.settings().recv_queue_size; });
}

doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type)
{
    return get(rdma, transport_type, [](const doca_rdma &) { return DOCA_RDMA_TRANSPORT_RC; });
}

doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu)
{
    return get(rdma, mtu, [](const doca_rdma &r) { return r.mtu(); });
}

doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions)
{
    return get(rdma, permissions, [](const doca_rdma &r) { return r.settings().permissions; });
}

doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, bool *grh_enabled)
{
    return get(rdma, grh_enabled, [](const doca_rdma &r) { return r.settings().has_grh; });
}

doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index)
{
    return get(rdma, gid_index, [](const doca_rdma &r) { return r.settings().gid_index; });
}

doca_error_t doca_rdma_get_recv_buf_chain_len(const struct doca_rdma *rdma, uint32_t *recv_buf_chain_len)
{
    return get(rdma, recv_buf_chain_len, [](const doca_rdma &r) { return r.settings().recv_chain_length; });
}

doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl)
{
    return get(rdma, sl, [](const doca_rdma &r) { return r.settings().service_level; });
}

doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma, enum doca_rdma_state *state)
{
    return get(rdma, state, [](const doca_rdma &r) { return r.state(); });
}
