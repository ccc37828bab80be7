// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors

/**
 * @file doca_rdma.h
 * RDMA between two connected instances: send and receive, read and write of the peer's memory, atomics.
 *
 * docs/rdma.md tells how an instance behaves as a whole.
 *
 * Life of an instance:
 * - doca_rdma_create(): DOCA_RDMA_STATE_RESET.
 * - doca_ctx_dev_add(), set properties, doca_ctx_start(): DOCA_RDMA_STATE_INIT.
 * - doca_rdma_export(), hand the details to the peer, doca_rdma_connect() with the peer's details:
 *   DOCA_RDMA_STATE_CONNECTED, jobs may be submitted.
 * - A job fails: DOCA_RDMA_STATE_ERROR, the jobs in flight are flushed.
 * - doca_ctx_workq_rm(), doca_ctx_stop(): DOCA_RDMA_STATE_RESET; start, export and connect bring it back to
 *   work.
 *
 * A context takes exactly one work queue: doca_ctx_workq_add of a second one gives DOCA_ERROR_IN_USE.
 * An instance accepts traffic only from the peer whose details it was connected with.
 *
 * Completion. Before doca_workq_progress_retrieve the caller stores the address of its own
 * struct doca_rdma_result in doca_event::result.ptr; the library fills that structure. With NULL there,
 * nothing but the event itself is written. While retrieve gives DOCA_ERROR_AGAIN, neither is touched.
 *
 * Errors of a job. What the caller's side can know fails in doca_workq_submit() and changes nothing:
 * - DOCA_ERROR_INVALID_VALUE: unknown type, a buffer missing, chain or message too long, a WRITE longer than
 *   its destination's room, misaligned atomic, memory of another device, a local buffer where a remote one
 *   belongs or the reverse.
 * - DOCA_ERROR_NOT_PERMITTED: a memory map lacks the right that the job needs.
 * - DOCA_ERROR_BAD_STATE: the instance is not connected.
 * - DOCA_ERROR_NO_MEMORY: the work queue, or the instance's send or receive queue, is full.
 * - DOCA_ERROR_NOT_SUPPORTED: the device can't do the job; doca_rdma_job_get_supported() tells. opendoca: or
 *   a local buffer is of memory that doca_mmap_export_dpu() exported: copy it by DMA to or from memory of this
 *   process.
 *
 * What only the peer can know fails in retrieve: that returns DOCA_ERROR_IO_FAILED, the instance goes to
 * DOCA_RDMA_STATE_ERROR, and doca_rdma_result::result says why (opendoca: these codes):
 * - DOCA_ERROR_NOT_PERMITTED: the peer's memory is unknown or revoked, or its mmap or RDMA instance does not
 *   give the right.
 * - DOCA_ERROR_FULL: the message is longer than the receive that it met (reported on both sides).
 * - DOCA_ERROR_CONNECTION_RESET: the peer has died, stopped its instance, or does not answer.
 * - DOCA_ERROR_SHUTDOWN: flushed; the job was in flight when another one failed or was being cancelled.
 * - DOCA_ERROR_IO_FAILED: any other failure of the device.
 *
 * Every job submitted is reported exactly once. Receives that will never complete are cancelled by
 * doca_ctx_workq_rm: it gives DOCA_ERROR_NOT_PERMITTED and starts to flush; once all has been retrieved, call
 * it again.
 *
 * Buffers. A source gives its data section; a destination takes data in its tailroom, behind the data
 * section, and its data length grows, buffer by buffer in a chain. opendoca: a destination whose whole chain
 * has no tailroom counts as empty, so that data lands at its data address and the data length becomes the new
 * length. Buffers belong to the library from submit until the job was retrieved.
 *
 * Rights (enum doca_access_flags). Every local mmap needs DOCA_ACCESS_LOCAL_READ_WRITE. The side whose memory
 * is reached needs, on its mmap and on its RDMA instance, DOCA_ACCESS_RDMA_READ for READ,
 * DOCA_ACCESS_RDMA_WRITE for WRITE and WRITE_IMM, DOCA_ACCESS_RDMA_ATOMIC for atomics; it exports the mmap
 * with doca_mmap_export_rdma.
 *
 * Outputs are written only on success.
 * "Threads: any" below means that any threads may call at the same time, "Threads: one" that calls on the
 * same instance must not overlap.
 */

#ifndef DOCA_RDMA_H_
#define DOCA_RDMA_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One RDMA instance: a context that connects to one peer. Opaque. */
struct doca_rdma;

/** Address of a datagram peer. Opaque; of no use with DOCA_RDMA_TRANSPORT_RC: leave such fields NULL. */
struct doca_rdma_addr;

/** State of an instance. */
enum doca_rdma_state {
    DOCA_RDMA_STATE_RESET = 0,     /**< Created or stopped: properties may be set. */
    DOCA_RDMA_STATE_INIT = 1,      /**< Started: may be exported and connected. */
    DOCA_RDMA_STATE_CONNECTED = 2, /**< Jobs may be submitted. */
    DOCA_RDMA_STATE_ERROR = 3,     /**< A job failed: retrieve what was in flight, then stop. */
};

/** Transport. */
enum doca_rdma_transport_type {
    DOCA_RDMA_TRANSPORT_RC = 0, /**< Reliable connection. */
    DOCA_RDMA_TRANSPORT_DC = 1, /**< Dynamically connected: named only, supported by no device. */
};

/** Values of doca_job::type. */
enum doca_rdma_job_types {
    DOCA_RDMA_JOB_RECV = DOCA_ACTION_RDMA_FIRST + 1, /**< struct doca_rdma_job_recv */
    DOCA_RDMA_JOB_SEND,                              /**< struct doca_rdma_job_send */
    DOCA_RDMA_JOB_SEND_IMM,                          /**< struct doca_rdma_job_send */
    DOCA_RDMA_JOB_READ,                              /**< struct doca_rdma_job_read_write */
    DOCA_RDMA_JOB_WRITE,                             /**< struct doca_rdma_job_read_write */
    DOCA_RDMA_JOB_WRITE_IMM,                         /**< struct doca_rdma_job_read_write */
    DOCA_RDMA_JOB_ATOMIC_CMP_SWP,                    /**< struct doca_rdma_job_atomic */
    DOCA_RDMA_JOB_ATOMIC_FETCH_ADD,                  /**< struct doca_rdma_job_atomic */
};

/** What the peer did to complete a receive. */
enum doca_rdma_opcode_t {
    DOCA_RDMA_OPCODE_RECV_SEND = 0,           /**< SEND */
    DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM = 1,  /**< SEND_IMM */
    DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM = 2, /**< WRITE_IMM; the data is where the peer put it. */
};

/** Global identifier of a port, in network byte order. */
struct doca_rdma_gid {
    uint8_t raw[DOCA_GID_BYTE_LENGTH];
};

/**
 * DOCA_RDMA_JOB_RECV: take the next message, or the immediate of the next WRITE_IMM. A message that finds no
 * receive waits for one. At most doca_rdma_get_recv_buf_chain_len buffers in the chain.
 */
struct doca_rdma_job_recv {
    struct doca_job base;
    struct doca_buf *dst_buff; /**< Local chain; NULL to take an empty message or WRITE_IMM. */
};

/** DOCA_RDMA_JOB_SEND and DOCA_RDMA_JOB_SEND_IMM: complete one receive of the peer with a message. */
struct doca_rdma_job_send {
    struct doca_job base;
    const struct doca_buf *src_buff;             /**< Local chain; NULL sends an empty message. */
    doca_be32_t immediate_data;                  /**< Big endian; SEND_IMM only. */
    const struct doca_rdma_addr *rdma_peer_addr; /**< Ignored with DOCA_RDMA_TRANSPORT_RC. */
};

/**
 * DOCA_RDMA_JOB_READ, DOCA_RDMA_JOB_WRITE and DOCA_RDMA_JOB_WRITE_IMM.
 *
 * READ copies from the peer's memory (src_buff) into a local chain (dst_buff), the smaller of the source's
 * data length and the destination's room. WRITE copies a local chain (src_buff) into the peer's memory
 * (dst_buff); it must fit. WRITE_IMM also completes one receive of the peer. The remote buffer is never a
 * chain, and its memory map was made by doca_mmap_create_from_export. With src_buff NULL no byte moves, and
 * dst_buff may be NULL too. Completion of a WRITE does not say that the peer's program has seen the data.
 */
struct doca_rdma_job_read_write {
    struct doca_job base;
    struct doca_buf *dst_buff;                   /**< Local for READ, remote for WRITE. */
    const struct doca_buf *src_buff;             /**< Remote for READ, local for WRITE. */
    doca_be32_t immediate_data;                  /**< Big endian; WRITE_IMM only. */
    const struct doca_rdma_addr *rdma_peer_addr; /**< Ignored with DOCA_RDMA_TRANSPORT_RC. */
};

/**
 * DOCA_RDMA_JOB_ATOMIC_CMP_SWP and DOCA_RDMA_JOB_ATOMIC_FETCH_ADD on 8 bytes of the peer's memory, in the
 * peer's byte order. Atomic against RDMA atomics of every process on the same word, not against plain stores.
 */
struct doca_rdma_job_atomic {
    struct doca_job base;
    struct doca_buf *cmp_or_add_dest_buff;       /**< Remote; the 8 bytes at its data address, aligned to 8. */
    struct doca_buf *result_buff;                /**< Local; the 8 bytes at its data address get the old value.
                                                      opendoca: no alignment needed, data length unchanged. */
    uint64_t swap_or_add_data;                   /**< The new value, or what to add (modulo 2^64). */
    uint64_t cmp_data;                           /**< CMP_SWP: swap only if equal. FETCH_ADD: ignored. */
    const struct doca_rdma_addr *rdma_peer_addr; /**< Ignored with DOCA_RDMA_TRANSPORT_RC. */
};

/** The caller's record of a completion, reached through doca_event::result.ptr. */
struct doca_rdma_result {
    doca_error_t result;            /**< DOCA_SUCCESS, or the reason (list at the top of this file). */
    enum doca_rdma_opcode_t opcode; /**< Valid for a successful RECV only. */
    /** RECV: bytes received; SEND and WRITE: 0. opendoca: RECV of a WRITE_IMM: bytes that the peer wrote;
        READ: bytes read; any other job: 0. */
    uint32_t length;
    struct doca_rdma_addr *rdma_peer_addr; /**< NULL with DOCA_RDMA_TRANSPORT_RC. */
    doca_be32_t immediate_data;            /**< Big endian; valid only when opcode says that there is an immediate. */
};

/* Life */

/**
 * Create an instance in DOCA_RDMA_STATE_RESET, with the defaults named at the setters.
 *
 * State: any. Threads: any.
 *
 * @param [out] rdma The new instance; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL.
 * - DOCA_ERROR_NO_MEMORY: out of memory.
 * - DOCA_ERROR_INITIALIZATION: the instance could not be set up.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_create(struct doca_rdma **rdma);

/**
 * Destroy a stopped instance. Its context is gone with it.
 *
 * State: RESET. A device that is still added is let go. Threads: one.
 *
 * @param [in] rdma The instance; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not stopped.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);

/**
 * The context of an instance, for doca_ctx_* and doca_job::ctx. Owned by the instance; always the same
 * pointer.
 *
 * State: any. Threads: any.
 *
 * @param [in] rdma The instance.
 * @return The context; NULL if rdma is NULL or the context cannot be had.
 */
__DOCA_EXPERIMENTAL struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/**
 * Details that the peer's doca_rdma_connect needs; to be carried there by any means.
 *
 * State: started; may be repeated. Threads: one.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] local_rdma_conn_details The details; not NULL. Owned by the instance, valid until
 *   doca_ctx_stop.
 * @param [out] local_rdma_conn_details_size Their length in bytes; not NULL. opendoca: at most 256.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_export(const struct doca_rdma *rdma, const void **local_rdma_conn_details,
                                                  size_t *local_rdma_conn_details_size);

/**
 * Connect to the instance whose details are given. Both sides call it, in any order; neither waits for the
 * other's call. The instance's own details connect it to itself. The bytes are copied and not trusted.
 *
 * State: INIT; on success CONNECTED, on failure unchanged. Threads: one.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] remote_rdma_conn_details What the peer's doca_rdma_export gave; not NULL.
 * @param [in] remote_rdma_conn_details_size Their length in bytes; not 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL or the length is 0.
 * - DOCA_ERROR_BAD_STATE: not started, or already connected.
 * - DOCA_ERROR_CONNECTION_ABORTED: the details are damaged, the peer is gone, or connecting failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
                                                   size_t remote_rdma_conn_details_size);

/* What a device can do. Threads: any, for all of these. */

/**
 * Whether a device can do a job type.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] job_type One of enum doca_rdma_job_types.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL or the type is unknown.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_job_get_supported(const struct doca_devinfo *devinfo,
                                                             enum doca_rdma_job_types job_type);

/**
 * Largest receive queue that doca_rdma_set_recv_queue_size can give on a device, also beside the largest send queue.
 * The first question may take some milliseconds, because it is tried on the device.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_recv_queue_size Number of receives; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
                                                                   uint32_t *max_recv_queue_size);

/**
 * Largest send queue that doca_rdma_set_send_queue_size can give on a device; as
 * doca_rdma_get_max_recv_queue_size().
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_send_queue_size Number of jobs other than receives; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_send_queue_size(const struct doca_devinfo *devinfo,
                                                                   uint32_t *max_send_queue_size);

/**
 * Most bytes that one job can move on a device. A job moves at most 2 GiB, whatever this says.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] max_message_size Bytes; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_message_size(const struct doca_devinfo *devinfo,
                                                                uint32_t *max_message_size);

/**
 * Most buffers that the local chain of a job can have on a device; 1 means no chains.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] job_type One of enum doca_rdma_job_types.
 * @param [in] transport_type One of enum doca_rdma_transport_type.
 * @param [out] max_buf_chain_len Number of buffers; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or the job type or the transport is unknown or unsupported.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_buf_chain_len(const struct doca_devinfo *devinfo,
                                                                 enum doca_rdma_job_types job_type,
                                                                 enum doca_rdma_transport_type transport_type,
                                                                 uint32_t *max_buf_chain_len);

/**
 * Number of entries in the device's table of GIDs.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [out] gid_table_size Number of entries; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_gid_table_size(struct doca_devinfo *devinfo, uint32_t *gid_table_size);

/**
 * Read entries of the device's table of GIDs. Empty entries read as all zero.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] start_index First entry.
 * @param [in] num_entries Number of entries. opendoca: at least 1.
 * @param [out] gid_array Room for num_entries; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or the entries asked for are not all in the table.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_gid(struct doca_devinfo *devinfo, uint32_t start_index,
                                                   uint32_t num_entries, struct doca_rdma_gid *gid_array);

/**
 * Whether a device has a transport. DOCA_RDMA_TRANSPORT_DC is supported by none.
 *
 * @param [in] devinfo The device; not NULL.
 * @param [in] transport_type One of enum doca_rdma_transport_type.
 * @return DOCA_SUCCESS: it has, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL or the transport is unknown.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it has not.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_transport_type_supported(const struct doca_devinfo *devinfo,
                                                                        enum doca_rdma_transport_type transport_type);

/*
 * Properties, set. Threads: one, for all of these. A value set stays over stop and start. opendoca: what
 * only the device can tell is checked by doca_ctx_start if no device was added before.
 */

/**
 * Number of jobs other than receives that may be in flight. opendoca: default 1024.
 *
 * State: before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] send_queue_size At least 1; rounded up to a power of two.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the size is 0.
 * - DOCA_ERROR_NOT_SUPPORTED: the size is above what the device can do.
 * - DOCA_ERROR_BAD_STATE: the context is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size);

/**
 * Number of receives that may be in flight. opendoca: default 1024.
 *
 * State: before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] recv_queue_size At least 1; rounded up to a power of two.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the size is 0.
 * - DOCA_ERROR_NOT_SUPPORTED: the size is above what the device can do.
 * - DOCA_ERROR_BAD_STATE: the context is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size);

/**
 * Transport. opendoca: default DOCA_RDMA_TRANSPORT_RC.
 *
 * State: before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] transport_type One of enum doca_rdma_transport_type.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the transport is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has not got the transport (DC: none has).
 * - DOCA_ERROR_BAD_STATE: the context is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
                                                              enum doca_rdma_transport_type transport_type);

/**
 * Largest packet on the wire. opendoca: default is the port's active MTU. Connecting settles on the smaller
 * of the two sides.
 *
 * State: before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] mtu DOCA_MTU_SIZE_256_BYTES to DOCA_MTU_SIZE_4K_BYTES.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the value is unknown.
 * - DOCA_ERROR_NOT_SUPPORTED: the port cannot do it (DOCA_MTU_SIZE_RAW_ETHERNET: none can).
 * - DOCA_ERROR_BAD_STATE: the context is started.
 * - DOCA_ERROR_UNEXPECTED: the port could not be queried.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu);

/**
 * What the peer may do to memory through this instance. opendoca: default DOCA_ACCESS_LOCAL_READ_WRITE, which
 * lets the peer do nothing but send.
 *
 * State: after doca_ctx_dev_add, before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] permissions Bitwise or of DOCA_ACCESS_RDMA_READ, _RDMA_WRITE and _RDMA_ATOMIC;
 *   DOCA_ACCESS_LOCAL_READ_WRITE is accepted and changes nothing.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or another bit is set.
 * - DOCA_ERROR_BAD_STATE: no device was added, or the context is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions);

/**
 * Whether packets carry a global route header. Ethernet (RoCE) ports always do. opendoca: default true.
 *
 * State: after doca_ctx_dev_add, before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] grh_enabled true for a header.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL.
 * - DOCA_ERROR_BAD_STATE: no device was added, or the context is started.
 * - DOCA_ERROR_NOT_SUPPORTED: the port cannot do it: false on an Ethernet port.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, bool grh_enabled);

/**
 * Entry of the device's table of GIDs that the instance uses as its address. opendoca: until it is set, the
 * instance takes the entry that suits the peer best when it connects, and reads as 0.
 *
 * State: after doca_ctx_dev_add, before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] gid_index Below doca_rdma_get_gid_table_size.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the table has no such entry.
 * - DOCA_ERROR_BAD_STATE: no device was added, or the context is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);

/**
 * Most buffers in the chain of a receive. The library may raise the value. opendoca: default 1.
 *
 * State: before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] recv_buf_chain_len At least 1, at most doca_rdma_get_max_buf_chain_len of DOCA_RDMA_JOB_RECV.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the length is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_recv_buf_chain_len(struct doca_rdma *rdma, uint32_t recv_buf_chain_len);

/**
 * Service level. opendoca: default 0.
 *
 * State: before start.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [in] sl 0 to 15.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the level is above 15.
 * - DOCA_ERROR_BAD_STATE: the context is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl);

/* Properties, read. State: a device was added. Threads: one, unless stated. */

/**
 * Actual size of the send queue.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] send_queue_size Number of jobs, a power of two; not NULL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: no device was added.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size);

/**
 * Actual size of the receive queue.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] recv_queue_size Number of receives, a power of two; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size);

/**
 * Transport of an instance.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] transport_type The transport; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
                                                              enum doca_rdma_transport_type *transport_type);

/**
 * MTU of an instance. A value that was not set may change when the instance connects.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] mtu The MTU; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu);

/**
 * Permissions of an instance, as last set.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] permissions Bitwise or of enum doca_access_flags; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions);

/**
 * Whether packets carry a global route header.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] grh_enabled true if they do; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, bool *grh_enabled);

/**
 * Entry of the table of GIDs that the instance uses.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] gid_index The entry; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index);

/**
 * Most buffers in the chain of a receive.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] recv_buf_chain_len Number of buffers, at least what was set; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_recv_buf_chain_len(const struct doca_rdma *rdma,
                                                                  uint32_t *recv_buf_chain_len);

/**
 * Service level of an instance.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] sl The level; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl);

/**
 * State of an instance. Threads: any.
 *
 * @param [in] rdma The instance; not NULL.
 * @param [out] state The state at the time of the call; not NULL.
 * @return As doca_rdma_get_send_queue_size().
 */
__DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_state(const struct doca_rdma *rdma, enum doca_rdma_state *state);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_H_ */
