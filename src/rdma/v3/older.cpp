// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// RDMA as programs of DOCA 2.5 and 2.6 have it: the private symbols that opendoca/older/rdma.h binds its names to. They
// stay part of the ABI. An instance has one connection, which tasks take without naming it. Shared receive queues of
// the program are refused: no device has them.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include "../../core/log/log.hpp"
#include "../../core/v3/call.hpp"
#include "rdma.hpp"

OPENDOCA_LOG_SOURCE(DOCA_OLDER_RDMA);

using opendoca::v3::call;

struct doca_rdma_srq;

extern "C" {

DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_create_2_5(struct doca_dev *dev, struct doca_rdma **rdma);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_export_2_5(const struct doca_rdma *rdma,
                                                        const void **local_rdma_conn_details,
                                                        size_t *local_rdma_conn_details_size);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_connect_2_5(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
                                                         size_t remote_rdma_conn_details_size);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_send_allocate_init_2_5(struct doca_rdma *rdma,
                                                                         const struct doca_buf *src_buf,
                                                                         union doca_data user_data,
                                                                         struct doca_rdma_task_send **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_send_imm_allocate_init_2_5(struct doca_rdma *rdma,
                                                                             const struct doca_buf *src_buf,
                                                                             doca_be32_t immediate_data,
                                                                             union doca_data user_data,
                                                                             struct doca_rdma_task_send_imm **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_read_allocate_init_2_5(struct doca_rdma *rdma,
                                                                         const struct doca_buf *src_buf,
                                                                         struct doca_buf *dst_buf,
                                                                         union doca_data user_data,
                                                                         struct doca_rdma_task_read **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_write_allocate_init_2_5(struct doca_rdma *rdma,
                                                                          const struct doca_buf *src_buf,
                                                                          struct doca_buf *dst_buf,
                                                                          union doca_data user_data,
                                                                          struct doca_rdma_task_write **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_write_imm_allocate_init_2_5(
    struct doca_rdma *rdma, const struct doca_buf *src_buf, struct doca_buf *dst_buf, doca_be32_t immediate_data,
    union doca_data user_data, struct doca_rdma_task_write_imm **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_atomic_cmp_swp_allocate_init_2_5(
    struct doca_rdma *rdma, struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t cmp_data,
    uint64_t swap_data, union doca_data user_data, struct doca_rdma_task_atomic_cmp_swp **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_atomic_fetch_add_allocate_init_2_5(
    struct doca_rdma *rdma, struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t add_data,
    union doca_data user_data, struct doca_rdma_task_atomic_fetch_add **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_remote_net_sync_event_get_allocate_init_2_5(
    struct doca_rdma *rdma, const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_remote_net_sync_event_notify_set_allocate_init_2_5(
    struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, const struct doca_buf *src_buf,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_task_remote_net_sync_event_notify_add_allocate_init_2_5(
    struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, struct doca_buf *result_buf, uint64_t add_data,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_add **task);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_create_with_srq_2_6(struct doca_dev *dev, struct doca_rdma_srq *rdma_srq,
                                                                 struct doca_rdma **rdma);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_create_2_6(struct doca_dev *dev, struct doca_rdma_srq **rdma_srq);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_destroy_2_6(struct doca_rdma_srq *rdma_srq);
DOCA_EXPERIMENTAL struct doca_ctx *opendoca_rdma_srq_as_ctx_2_6(struct doca_rdma_srq *rdma_srq_ctx);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_cap_get_max_shared_recv_queue_size_2_6(
    const struct doca_devinfo *devinfo, uint32_t *max_shared_recv_queue_size);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_cap_task_receive_get_max_dst_buf_list_len_2_6(
    const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_set_shared_recv_queue_size_2_6(struct doca_rdma_srq *rdma_srq,
                                                                                uint32_t shared_recv_queue_size);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_task_receive_set_dst_buf_list_len_2_6(struct doca_rdma_srq *rdma_srq,
                                                                                       uint32_t buf_list_len);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_set_type_2_6(struct doca_rdma_srq *rdma_srq, std::uint32_t srq_type);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_get_type_2_6(struct doca_rdma_srq *rdma_srq, std::uint32_t *srq_type);
DOCA_EXPERIMENTAL doca_error_t
opendoca_rdma_srq_task_receive_get_dst_buf_list_len_2_6(const struct doca_rdma_srq *rdma_srq, uint32_t *buf_list_len);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_get_shared_recv_queue_size_2_6(const struct doca_rdma_srq *rdma_srq,
                                                                                uint32_t *shared_recv_queue_size);
DOCA_EXPERIMENTAL doca_error_t opendoca_rdma_srq_get_dpa_handle_2_6(const struct doca_rdma_srq *rdma_srq,
                                                                    struct doca_dpa_dev_rdma_srq **dpa_rdma_srq);

} // extern "C"

namespace {

/// Returns the connection of an instance, or null if there is none yet: the submit of the task reports that.
doca_rdma_connection *connection_of(const doca_rdma *rdma)
{
    return rdma == nullptr ? nullptr : rdma->only_connection();
}

doca_error_t no_srq(std::initializer_list<const void *> arguments, const char *function)
{
    const auto refuse = [&] {
        LOG_ERR("%s: no device here has shared receive queues of the program", function);
        return DOCA_ERROR_NOT_SUPPORTED;
    };
    return call(arguments, refuse, function);
}

} // namespace

doca_error_t opendoca_rdma_create_2_5(struct doca_dev *dev, struct doca_rdma **rdma)
{
    const doca_error_t status = doca_rdma_create(dev, rdma);
    if (status == DOCA_SUCCESS)
        (*rdma)->wait_for_connection();
    return status;
}

/// The header of that time has a const instance here, which a program has created as one that is not.
doca_error_t opendoca_rdma_export_2_5(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
                                      size_t *local_rdma_conn_details_size)
{
    const auto export_details = [&] {
        std::span<const std::byte> details;
        const doca_error_t status = const_cast<doca_rdma *>(rdma)->export_only_connection(details);
        if (status == DOCA_SUCCESS) {
            *local_rdma_conn_details = details.data();
            *local_rdma_conn_details_size = details.size();
        }
        return status;
    };
    return call({rdma, local_rdma_conn_details, local_rdma_conn_details_size}, export_details, "doca_rdma_export");
}

doca_error_t opendoca_rdma_connect_2_5(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
                                       size_t remote_rdma_conn_details_size)
{
    const auto connect = [&] {
        if (remote_rdma_conn_details_size == 0) {
            LOG_ERR("connection details have 0 bytes");
            return DOCA_ERROR_INVALID_VALUE;
        }
        return rdma->connect_only_connection(
            {static_cast<const std::byte *>(remote_rdma_conn_details), remote_rdma_conn_details_size});
    };
    return call({rdma, remote_rdma_conn_details}, connect, "doca_rdma_connect");
}

doca_error_t opendoca_rdma_task_send_allocate_init_2_5(struct doca_rdma *rdma, const struct doca_buf *src_buf,
                                                       union doca_data user_data, struct doca_rdma_task_send **task)
{
    return doca_rdma_task_send_allocate_init(rdma, connection_of(rdma), src_buf, user_data, task);
}

doca_error_t opendoca_rdma_task_send_imm_allocate_init_2_5(struct doca_rdma *rdma, const struct doca_buf *src_buf,
                                                           doca_be32_t immediate_data, union doca_data user_data,
                                                           struct doca_rdma_task_send_imm **task)
{
    return doca_rdma_task_send_imm_allocate_init(rdma, connection_of(rdma), src_buf, immediate_data, user_data, task);
}

doca_error_t opendoca_rdma_task_read_allocate_init_2_5(struct doca_rdma *rdma, const struct doca_buf *src_buf,
                                                       struct doca_buf *dst_buf, union doca_data user_data,
                                                       struct doca_rdma_task_read **task)
{
    return doca_rdma_task_read_allocate_init(rdma, connection_of(rdma), src_buf, dst_buf, user_data, task);
}

doca_error_t opendoca_rdma_task_write_allocate_init_2_5(struct doca_rdma *rdma, const struct doca_buf *src_buf,
                                                        struct doca_buf *dst_buf, union doca_data user_data,
                                                        struct doca_rdma_task_write **task)
{
    return doca_rdma_task_write_allocate_init(rdma, connection_of(rdma), src_buf, dst_buf, user_data, task);
}

doca_error_t opendoca_rdma_task_write_imm_allocate_init_2_5(struct doca_rdma *rdma, const struct doca_buf *src_buf,
                                                            struct doca_buf *dst_buf, doca_be32_t immediate_data,
                                                            union doca_data user_data,
                                                            struct doca_rdma_task_write_imm **task)
{
    return doca_rdma_task_write_imm_allocate_init(rdma, connection_of(rdma), src_buf, dst_buf, immediate_data,
                                                  user_data, task);
}

doca_error_t opendoca_rdma_task_atomic_cmp_swp_allocate_init_2_5(struct doca_rdma *rdma, struct doca_buf *dst_buf,
                                                                 struct doca_buf *result_buf, uint64_t cmp_data,
                                                                 uint64_t swap_data, union doca_data user_data,
                                                                 struct doca_rdma_task_atomic_cmp_swp **task)
{
    return doca_rdma_task_atomic_cmp_swp_allocate_init(rdma, connection_of(rdma), dst_buf, result_buf, cmp_data,
                                                       swap_data, user_data, task);
}

doca_error_t opendoca_rdma_task_atomic_fetch_add_allocate_init_2_5(struct doca_rdma *rdma, struct doca_buf *dst_buf,
                                                                   struct doca_buf *result_buf, uint64_t add_data,
                                                                   union doca_data user_data,
                                                                   struct doca_rdma_task_atomic_fetch_add **task)
{
    return doca_rdma_task_atomic_fetch_add_allocate_init(rdma, connection_of(rdma), dst_buf, result_buf, add_data,
                                                         user_data, task);
}

doca_error_t opendoca_rdma_task_remote_net_sync_event_get_allocate_init_2_5(
    struct doca_rdma *rdma, const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task)
{
    return doca_rdma_task_remote_net_sync_event_get_allocate_init(rdma, connection_of(rdma), event, dst_buf, user_data,
                                                                  task);
}

doca_error_t opendoca_rdma_task_remote_net_sync_event_notify_set_allocate_init_2_5(
    struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, const struct doca_buf *src_buf,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task)
{
    return doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(rdma, connection_of(rdma), event, src_buf,
                                                                         user_data, task);
}

doca_error_t opendoca_rdma_task_remote_net_sync_event_notify_add_allocate_init_2_5(
    struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, struct doca_buf *result_buf, uint64_t add_data,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_add **task)
{
    return doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(rdma, connection_of(rdma), event, result_buf,
                                                                         add_data, user_data, task);
}

doca_error_t opendoca_rdma_create_with_srq_2_6(struct doca_dev *dev, struct doca_rdma_srq *rdma_srq,
                                               struct doca_rdma **rdma)
{
    return no_srq({dev, rdma_srq, rdma}, "doca_rdma_create_with_srq");
}

doca_error_t opendoca_rdma_srq_create_2_6(struct doca_dev *dev, struct doca_rdma_srq **rdma_srq)
{
    return no_srq({dev, rdma_srq}, "doca_rdma_srq_create");
}

doca_error_t opendoca_rdma_srq_destroy_2_6(struct doca_rdma_srq *rdma_srq)
{
    return no_srq({rdma_srq}, "doca_rdma_srq_destroy");
}

/// Never called with a queue: there is none.
struct doca_ctx *opendoca_rdma_srq_as_ctx_2_6(struct doca_rdma_srq *)
{
    return nullptr;
}

doca_error_t opendoca_rdma_srq_cap_get_max_shared_recv_queue_size_2_6(const struct doca_devinfo *devinfo,
                                                                      uint32_t *max_shared_recv_queue_size)
{
    return no_srq({devinfo, max_shared_recv_queue_size}, "doca_rdma_srq_cap_get_max_shared_recv_queue_size");
}

doca_error_t opendoca_rdma_srq_cap_task_receive_get_max_dst_buf_list_len_2_6(const struct doca_devinfo *devinfo,
                                                                             uint32_t *max_buf_list_len)
{
    return no_srq({devinfo, max_buf_list_len}, "doca_rdma_srq_cap_task_receive_get_max_dst_buf_list_len");
}

doca_error_t opendoca_rdma_srq_set_shared_recv_queue_size_2_6(struct doca_rdma_srq *rdma_srq, uint32_t)
{
    return no_srq({rdma_srq}, "doca_rdma_srq_set_shared_recv_queue_size");
}

doca_error_t opendoca_rdma_srq_task_receive_set_dst_buf_list_len_2_6(struct doca_rdma_srq *rdma_srq, uint32_t)
{
    return no_srq({rdma_srq}, "doca_rdma_srq_task_receive_set_dst_buf_list_len");
}

doca_error_t opendoca_rdma_srq_set_type_2_6(struct doca_rdma_srq *rdma_srq, std::uint32_t)
{
    return no_srq({rdma_srq}, "doca_rdma_srq_set_type");
}

doca_error_t opendoca_rdma_srq_get_type_2_6(struct doca_rdma_srq *rdma_srq, std::uint32_t *srq_type)
{
    return no_srq({rdma_srq, srq_type}, "doca_rdma_srq_get_type");
}

doca_error_t opendoca_rdma_srq_task_receive_get_dst_buf_list_len_2_6(const struct doca_rdma_srq *rdma_srq,
                                                                     uint32_t *buf_list_len)
{
    return no_srq({rdma_srq, buf_list_len}, "doca_rdma_srq_task_receive_get_dst_buf_list_len");
}

doca_error_t opendoca_rdma_srq_get_shared_recv_queue_size_2_6(const struct doca_rdma_srq *rdma_srq,
                                                              uint32_t *shared_recv_queue_size)
{
    return no_srq({rdma_srq, shared_recv_queue_size}, "doca_rdma_srq_get_shared_recv_queue_size");
}

doca_error_t opendoca_rdma_srq_get_dpa_handle_2_6(const struct doca_rdma_srq *rdma_srq,
                                                  struct doca_dpa_dev_rdma_srq **dpa_rdma_srq)
{
    return no_srq({rdma_srq, dpa_rdma_srq}, "doca_rdma_srq_get_dpa_handle");
}
