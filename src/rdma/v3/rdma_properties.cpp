// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The properties of an instance: doca_rdma_set_X() and doca_rdma_get_X(). A property can be set only while the context
// is idle, and keeps its value over stop and start. A setter that fails changes nothing.
#include <bit>
#include <cstdint>
#include <type_traits>

#include "../../core/base/public_values.hpp"
#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_PROPERTIES);

using opendoca::Access;
using opendoca::v3::call;

namespace {

constexpr std::uint32_t max_service_level = 15; // 4 bits of the packet header
constexpr std::uint8_t max_rnr_retries = 7;     // 3 bits, where 7 is without limit
/// The rights that a peer can have.
constexpr std::uint32_t all_rights =
    Access::local_read_write | Access::rdma_read | Access::rdma_write | Access::rdma_atomic;

/// Calls @p change with the instance if the context is idle, else fails with BAD_STATE. @p what is the name of the
/// property in log messages.
template <typename Change>
doca_error_t set(doca_rdma *rdma, const char *what, Change change)
{
    return call({rdma}, [&]() -> doca_error_t {
        const doca_error_t status = rdma->check_configurable(what);
        if (status != DOCA_SUCCESS)
            return status;
        return change(*rdma);
    });
}

/// Sets the member that @p field returns to @p value if that is between @p min_value and @p max_value, inclusive, else
/// fails with @p if_out_of_range.
template <typename Field>
doca_error_t set_between(doca_rdma *rdma, const char *what, std::uint32_t value, std::uint32_t min_value,
                         std::uint32_t max_value, doca_error_t if_out_of_range, Field field)
{
    return set(rdma, what, [&](doca_rdma &of) {
        if (value < min_value || value > max_value) {
            LOG_ERR("%s %u is not between %u and %u", what, value, min_value, max_value);
            return if_out_of_range;
        }
        field(of) = static_cast<std::remove_reference_t<decltype(field(of))>>(value);
        return DOCA_SUCCESS;
    });
}

/// Stores the value that @p read returns. Permitted in every state of the context.
template <typename Value, typename Read>
doca_error_t get(const doca_rdma *rdma, Value *out, Read read)
{
    return call({rdma, out}, [&] { *out = static_cast<Value>(read(*rdma)); });
}

/// Fails with BAD_STATE: the function is for a context with its data path on a DPA or a GPU.
doca_error_t refuse_other_data_path(const doca_rdma *rdma, const void *handle)
{
    return call({rdma, handle}, [] {
        LOG_ERR("the context's data path is on the CPU");
        return DOCA_ERROR_BAD_STATE;
    });
}

} // namespace

/// Rounded up to a power of two, which the getter then returns.
doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size)
{
    return set(rdma, "send queue", [&](doca_rdma &of) {
        const std::uint32_t max_value = of.function().max_queue_size();
        if (send_queue_size == 0 || send_queue_size > max_value) {
            LOG_ERR("a send queue of %u: 1 to %u are supported", send_queue_size, max_value);
            return send_queue_size == 0 ? DOCA_ERROR_INVALID_VALUE : DOCA_ERROR_NOT_SUPPORTED;
        }
        of.settings.send_queue_size = std::bit_ceil(send_queue_size);
        of.is_send_queue_size_set = true;
        return DOCA_SUCCESS;
    });
}

/// Only for data paths on a DPA or a GPU. On a CPU the number of receive tasks decides.
doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size)
{
    if (recv_queue_size == 0)
        return opendoca::refuse_value("a receive queue of 0 tasks");
    return set(rdma, "receive queue", [](doca_rdma &) {
        LOG_ERR("the size of the receive queue is the number of receive tasks: it can only be set where the data path "
                "is not on the CPU");
        return DOCA_ERROR_NOT_SUPPORTED;
    });
}

/// Limits the buffers in the local list of one task; queue pairs allocate an SGE for each.
doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma, uint32_t max_send_buf_list_len)
{
    return set(rdma, "maximum length of send lists", [&](doca_rdma &of) {
        if (max_send_buf_list_len == 0 || max_send_buf_list_len > of.can().max_chain_length) {
            LOG_ERR("send lists of %u buffers: 1 to %u are supported", max_send_buf_list_len,
                    of.can().max_chain_length);
            return DOCA_ERROR_INVALID_VALUE;
        }
        of.max_send_list = max_send_buf_list_len;
        return DOCA_SUCCESS;
    });
}

/// RC is the default and the only transport. DC exists in DOCA and is not built, which is another error than a value
/// that is no transport.
doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma, enum doca_rdma_transport_type transport_type)
{
    return set(rdma, "transport", [&](doca_rdma &) {
        if (transport_type == DOCA_RDMA_TRANSPORT_TYPE_RC)
            return DOCA_SUCCESS;
        const bool is_dc = transport_type == DOCA_RDMA_TRANSPORT_TYPE_DC;
        LOG_ERR("transport %d: %s", static_cast<int>(transport_type),
                is_dc ? "DC is not supported" : "there is no such transport");
        return is_dc ? DOCA_ERROR_NOT_SUPPORTED : DOCA_ERROR_INVALID_VALUE;
    });
}

/// A connection uses the smaller MTU of both sides; one by rdma_cm that of the path. doca_rdma_get_mtu() returns the
/// setting even if connections use less.
doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu)
{
    return set(rdma, "MTU", [&](doca_rdma &of) {
        if (static_cast<unsigned>(mtu) > DOCA_MTU_SIZE_RAW_ETHERNET) { // unsigned: negative values are invalid, too
            LOG_ERR("there is no MTU %d", static_cast<int>(mtu));
            return DOCA_ERROR_INVALID_VALUE;
        }
        if (mtu > of.can().active_mtu) {
            LOG_ERR("MTU %d is above the MTU %d of the port", static_cast<int>(mtu),
                    static_cast<int>(of.can().active_mtu));
            return DOCA_ERROR_NOT_SUPPORTED;
        }
        of.settings.mtu = mtu;
        of.settings.is_mtu_fixed = true;
        return DOCA_SUCCESS;
    });
}

/// Sets the rights of peers on the queue pairs; a remote operation also needs the rights of the memory map.
doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions)
{
    return set(rdma, "permissions", [&](doca_rdma &of) {
        if ((permissions & ~all_rights) != 0) {
            LOG_ERR("permissions 0x%x: local, RDMA and atomic access, 0x%x, are possible", permissions, all_rights);
            return DOCA_ERROR_INVALID_VALUE;
        }
        of.settings.permissions = permissions;
        return DOCA_SUCCESS;
    });
}

/// RoCE packets always have the global route header; it is optional on InfiniBand.
doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled)
{
    return set(rdma, "global route header", [&](doca_rdma &of) {
        if (grh_enabled == 0 && of.can().is_ethernet) {
            LOG_ERR("packets of an Ethernet port have a global route header");
            return DOCA_ERROR_INVALID_VALUE;
        }
        of.settings.has_grh = grh_enabled != 0;
        return DOCA_SUCCESS;
    });
}

/// A fixed index is used as it is; otherwise the provider chooses an entry of the table.
doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index)
{
    return set(rdma, "GID", [&](doca_rdma &of) {
        if (gid_index >= of.can().gids.size()) {
            LOG_ERR("GID %u: the table has %zu entries", gid_index, of.can().gids.size());
            return DOCA_ERROR_INVALID_VALUE;
        }
        of.settings.gid_index = gid_index;
        of.settings.is_gid_fixed = true;
        return DOCA_SUCCESS;
    });
}

doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl)
{
    return set_between(
        rdma, "service level", sl, 0, max_service_level, DOCA_ERROR_INVALID_VALUE,
        [](doca_rdma & of) -> auto & { return of.settings.service_level; });
}

/// In milliseconds.
doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma, uint16_t timeout)
{
    return set_between(
        rdma, "timeout of connection requests", timeout, 1, UINT16_MAX, DOCA_ERROR_INVALID_VALUE,
        [](doca_rdma & of) -> auto & { return of.request_timeout; });
}

/// Counts connections that have not ended; a client that exceeds it is rejected.
doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections)
{
    return set_between(
        rdma, "number of connections", max_num_connections, 1, UINT16_MAX, DOCA_ERROR_NOT_SUPPORTED,
        [](doca_rdma & of) -> auto & { return of.max_connections; });
}

/// Kept for the getter: queue pairs retry without limit.
doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count)
{
    return set_between(
        rdma, "RNR retry count", rnr_retry_count, 0, max_rnr_retries, DOCA_ERROR_INVALID_VALUE,
        [](doca_rdma & of) -> auto & { return of.rnr_retries; });
}

doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma, uint32_t buf_list_len)
{
    return set(rdma, "maximum length of receive lists", [&](doca_rdma &of) {
        if (buf_list_len == 0 || buf_list_len > of.can().max_chain_length) {
            LOG_ERR("receives of %u buffers: 1 to %u are supported", buf_list_len, of.can().max_chain_length);
            return DOCA_ERROR_INVALID_VALUE;
        }
        of.settings.recv_chain_length = buf_list_len;
        return DOCA_SUCCESS;
    });
}

doca_error_t
doca_rdma_set_connection_state_callbacks(struct doca_rdma *rdma,
                                         doca_rdma_connection_request_cb_t doca_rdma_connect_request_cb,
                                         doca_rdma_connection_established_cb_t doca_rdma_connect_established_cb,
                                         doca_rdma_connection_failure_cb_t doca_rdma_connect_failure_cb,
                                         doca_rdma_connection_disconnection_cb_t doca_rdma_disconnect_cb)
{
    return set(rdma, "callbacks", [&](doca_rdma &of) {
        of.callbacks = {doca_rdma_connect_request_cb, doca_rdma_connect_established_cb, doca_rdma_connect_failure_cb,
                        doca_rdma_disconnect_cb};
        return DOCA_SUCCESS;
    });
}

/// The number that was set; once the context was started without one, the number that on_start() has derived.
doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size)
{
    return get(rdma, send_queue_size, [](const doca_rdma &of) { return of.settings.send_queue_size; });
}

/// The number of receive tasks, since it cannot be set on a CPU data path.
doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size)
{
    return get(rdma, recv_queue_size, [](const doca_rdma &of) { return of.receive.conf().count; });
}

doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma, uint32_t *max_send_buf_list_len)
{
    return get(rdma, max_send_buf_list_len, [](const doca_rdma &of) { return of.max_send_list; });
}

doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma, enum doca_rdma_transport_type *transport_type)
{
    return get(rdma, transport_type, [](const doca_rdma &) { return DOCA_RDMA_TRANSPORT_TYPE_RC; });
}

doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu)
{
    return get(rdma, mtu, [](const doca_rdma &of) { return of.settings.mtu; });
}

doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions)
{
    return get(rdma, permissions, [](const doca_rdma &of) { return of.settings.permissions; });
}

doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled)
{
    return get(rdma, grh_enabled, [](const doca_rdma &of) { return of.settings.has_grh; });
}

doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index)
{
    return get(rdma, gid_index, [](const doca_rdma &of) { return of.settings.gid_index; });
}

doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl)
{
    return get(rdma, sl, [](const doca_rdma &of) { return of.settings.service_level; });
}

doca_error_t doca_rdma_get_connection_request_timeout(const struct doca_rdma *rdma, uint16_t *timeout)
{
    return get(rdma, timeout, [](const doca_rdma &of) { return of.request_timeout; });
}

doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma, uint16_t *max_num_connections)
{
    return get(rdma, max_num_connections, [](const doca_rdma &of) { return of.max_connections; });
}

doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma, uint8_t *rnr_retry_count)
{
    return get(rdma, rnr_retry_count, [](const doca_rdma &of) { return of.rnr_retries; });
}

doca_error_t doca_rdma_task_receive_get_dst_buf_list_len(const struct doca_rdma *rdma, uint32_t *buf_list_len)
{
    return get(rdma, buf_list_len, [](const doca_rdma &of) { return of.settings.recv_chain_length; });
}

/// The functions below are for contexts with another data path, which cannot be configured.
doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, doca_dpa_dev_rdma_t *dpa_rdma)
{
    return refuse_other_data_path(rdma, dpa_rdma);
}

doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma, struct doca_gpu_dev_rdma **gpu_rdma)
{
    return refuse_other_data_path(rdma, gpu_rdma);
}

doca_error_t doca_rdma_dpa_completion_attach(struct doca_rdma *rdma, struct doca_dpa_completion *dpa_comp)
{
    return refuse_other_data_path(rdma, dpa_comp);
}
