// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The C functions of the properties of an instance: doca_rdma_set_X() and doca_rdma_get_X().
#include <cstdint>

#include "../../core/log/log.hpp"
#include "../../core/v2/call.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_RDMA_PROPERTIES);

using opendoca::v2::call;

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
