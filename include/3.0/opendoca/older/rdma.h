// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/rdma.h
 * What doca_rdma.h has more, and other, at a level up to 20600. Included by it, inside of extern "C".
 *
 * An instance that doca_rdma_create() of these levels has made has one connection. doca_ctx_start() gives
 * DOCA_ERROR_IN_PROGRESS and the context is starting; the program calls doca_rdma_export(), gives the details to the
 * peer, and calls doca_rdma_connect() with those of the peer. A doca_pe_progress() after that makes the context
 * running. Tasks take that connection.
 */
#ifndef OPENDOCA_OLDER_RDMA_H_
#define OPENDOCA_OLDER_RDMA_H_

/** Handles of code on a DPA. */
struct doca_dpa_dev_rdma;

/**
 * Create an instance for one connection, not started.
 *
 * @param [in] dev The device.
 * @param [out] rdma The new instance.
 * @return As doca_rdma_create() of DOCA 3.0.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma)
    OPENDOCA_BOUND_TO(opendoca_rdma_create_2_5);

/**
 * Make the connection's details. State: starting; or running (opendoca).
 *
 * @param [in] rdma The instance.
 * @param [out] local_rdma_conn_details The details, the same at each call; valid until the context is idle.
 * @param [out] local_rdma_conn_details_size Their bytes.
 * @return As doca_rdma_export() of DOCA 3.0.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
                                                size_t *local_rdma_conn_details_size)
    OPENDOCA_BOUND_TO(opendoca_rdma_export_2_5);

/**
 * Connect to the peer. State: starting; or running (opendoca).
 *
 * @param [in] rdma The instance.
 * @param [in] remote_rdma_conn_details The peer's details.
 * @param [in] remote_rdma_conn_details_size Their bytes.
 * @return As doca_rdma_connect() of DOCA 3.0.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
                                                 size_t remote_rdma_conn_details_size)
    OPENDOCA_BOUND_TO(opendoca_rdma_connect_2_5);

/* As those of DOCA 3.0; types that differ in const or as bool and uint8_t are equal in their binary form. */

DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_gid_table_size(struct doca_devinfo *devinfo, uint32_t *gid_table_size);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_gid(struct doca_devinfo *devinfo, uint32_t start_index,
                                                     uint32_t num_entries, struct doca_rdma_gid *gid_array);

#if OPENDOCA_LEVEL == 20500
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled);
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, bool *grh_enabled);
#else
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled);
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled);
#endif

DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, struct doca_dpa_dev_rdma **dpa_rdma)
    OPENDOCA_BOUND_TO(doca_rdma_get_dpa_handle);

/*
 * Tasks: as those of DOCA 3.0, on the instance's connection. They can be allocated when the context runs, which it does
 * when it is connected.
 */

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
                                                                 union doca_data user_data,
                                                                 struct doca_rdma_task_send **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_send_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_imm_allocate_init(
    struct doca_rdma *rdma, const struct doca_buf *src_buf, doca_be32_t immediate_data, union doca_data user_data,
    struct doca_rdma_task_send_imm **task) OPENDOCA_BOUND_TO(opendoca_rdma_task_send_imm_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma, const struct doca_buf *src_buf,
                                                                 struct doca_buf *dst_buf, union doca_data user_data,
                                                                 struct doca_rdma_task_read **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_read_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma,
                                                                  const struct doca_buf *src_buf,
                                                                  struct doca_buf *dst_buf, union doca_data user_data,
                                                                  struct doca_rdma_task_write **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_write_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_imm_allocate_init(
    struct doca_rdma *rdma, const struct doca_buf *src_buf, struct doca_buf *dst_buf, doca_be32_t immediate_data,
    union doca_data user_data, struct doca_rdma_task_write_imm **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_write_imm_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(
    struct doca_rdma *rdma, struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t cmp_data,
    uint64_t swap_data, union doca_data user_data, struct doca_rdma_task_atomic_cmp_swp **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_atomic_cmp_swp_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_fetch_add_allocate_init(
    struct doca_rdma *rdma, struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t add_data,
    union doca_data user_data, struct doca_rdma_task_atomic_fetch_add **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_atomic_fetch_add_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
    struct doca_rdma *rdma, const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_get **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_remote_net_sync_event_get_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
    struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, const struct doca_buf *src_buf,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_set **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_remote_net_sync_event_notify_set_allocate_init_2_5);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
    struct doca_rdma *rdma, struct doca_sync_event_remote_net *event, struct doca_buf *result_buf, uint64_t add_data,
    union doca_data user_data, struct doca_rdma_task_remote_net_sync_event_notify_add **task)
    OPENDOCA_BOUND_TO(opendoca_rdma_task_remote_net_sync_event_notify_add_allocate_init_2_5);

/* Results: names that 3.0 has with _len. */

DOCA_EXPERIMENTAL uint32_t doca_rdma_task_receive_get_result_length(const struct doca_rdma_task_receive *task)
    OPENDOCA_BOUND_TO(doca_rdma_task_receive_get_result_len);

DOCA_EXPERIMENTAL uint32_t doca_rdma_task_read_get_result_length(const struct doca_rdma_task_read *task)
    OPENDOCA_BOUND_TO(doca_rdma_task_read_get_result_len);

DOCA_EXPERIMENTAL uint32_t
doca_rdma_task_remote_net_sync_event_get_get_result_length(const struct doca_rdma_task_remote_net_sync_event_get *task)
    OPENDOCA_BOUND_TO(doca_rdma_task_remote_net_sync_event_get_get_result_len);

#if OPENDOCA_LEVEL >= 20600

/*
 * Shared receive queues of the program: no device has them (opendoca). doca_rdma_srq_create() and the capabilities
 * give DOCA_ERROR_NOT_SUPPORTED, so the others are never called with one; they give DOCA_ERROR_NOT_SUPPORTED as well,
 * and doca_rdma_srq_as_ctx() NULL.
 */

/** A shared receive queue. */
struct doca_rdma_srq;

/** A shared receive queue, as code on a DPA has it. */
struct doca_dpa_dev_rdma_srq;

/** Kinds of shared receive queues. */
enum doca_rdma_srq_type {
    DOCA_RDMA_SRQ_TYPE_LINKED_LIST = 0, /**< A linked list. */
    DOCA_RDMA_SRQ_TYPE_CYCLIC = 1,      /**< A ring. */
};

DOCA_EXPERIMENTAL doca_error_t doca_rdma_create_with_srq(struct doca_dev *dev, struct doca_rdma_srq *rdma_srq,
                                                         struct doca_rdma **rdma)
    OPENDOCA_BOUND_TO(opendoca_rdma_create_with_srq_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_create(struct doca_dev *dev, struct doca_rdma_srq **rdma_srq)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_create_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_destroy(struct doca_rdma_srq *rdma_srq)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_destroy_2_6);

DOCA_EXPERIMENTAL struct doca_ctx *doca_rdma_srq_as_ctx(struct doca_rdma_srq *rdma_srq_ctx)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_as_ctx_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_cap_get_max_shared_recv_queue_size(const struct doca_devinfo *devinfo,
                                                                                uint32_t *max_shared_recv_queue_size)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_cap_get_max_shared_recv_queue_size_2_6);

DOCA_EXPERIMENTAL doca_error_t
doca_rdma_srq_cap_task_receive_get_max_dst_buf_list_len(const struct doca_devinfo *devinfo, uint32_t *max_buf_list_len)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_cap_task_receive_get_max_dst_buf_list_len_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_set_shared_recv_queue_size(struct doca_rdma_srq *rdma_srq,
                                                                        uint32_t shared_recv_queue_size)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_set_shared_recv_queue_size_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_task_receive_set_dst_buf_list_len(struct doca_rdma_srq *rdma_srq,
                                                                               uint32_t buf_list_len)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_task_receive_set_dst_buf_list_len_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_set_type(struct doca_rdma_srq *rdma_srq, enum doca_rdma_srq_type srq_type)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_set_type_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_get_type(struct doca_rdma_srq *rdma_srq, enum doca_rdma_srq_type *srq_type)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_get_type_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_task_receive_get_dst_buf_list_len(const struct doca_rdma_srq *rdma_srq,
                                                                               uint32_t *buf_list_len)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_task_receive_get_dst_buf_list_len_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_get_shared_recv_queue_size(const struct doca_rdma_srq *rdma_srq,
                                                                        uint32_t *shared_recv_queue_size)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_get_shared_recv_queue_size_2_6);

DOCA_EXPERIMENTAL doca_error_t doca_rdma_srq_get_dpa_handle(const struct doca_rdma_srq *rdma_srq,
                                                            struct doca_dpa_dev_rdma_srq **dpa_rdma_srq)
    OPENDOCA_BOUND_TO(opendoca_rdma_srq_get_dpa_handle_2_6);

#endif

#endif /* OPENDOCA_OLDER_RDMA_H_ */
