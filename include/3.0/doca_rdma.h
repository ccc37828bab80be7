// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_rdma.h
 * RDMA between connected instances: send and receive, read and write of the peer's memory, atomics, and sync
 * events of other nodes.
 *
 * docs/rdma-3.0.md tells how an instance behaves as a whole. An instance is a context (doca_rdma_as_ctx())
 * and is used as doca_ctx.h and doca_pe.h describe. It has up to doca_rdma_set_max_num_connections()
 * connections. A task names its connection; but a receive belongs to the instance, and takes the next message
 * of any. opendoca: on an RDMA device without shared receive queues, the first connection has them.
 *
 * Two ways to a connection, both while the context runs:
 * - Details carried by the program: doca_rdma_export(), hand the bytes to the peer, doca_rdma_connect() with
 *   the peer's. Tasks may be submitted at once. Neither side waits for the other's call. opendoca: the next
 *   doca_pe_progress() calls the established callback, if one is set.
 * - Addresses: one side doca_rdma_start_listen_to_port(), the other doca_rdma_connect_to_addr(); the
 *   callbacks of doca_rdma_set_connection_state_callbacks() tell what comes of it. By rdma_cm, so that any
 *   program of rdma_cm can be at the other end. opendoca: where a device has no rdma_cm, as software devices,
 *   by a handshake over TCP, between programs of opendoca alone; on software devices within the machine.
 *
 * A connection takes traffic only from the peer that it was made with. It ends with
 * doca_rdma_connection_disconnect() on either side, or with the context's stop; then its tasks in flight are
 * flushed. opendoca: when these have come back, what the connection took of device and system is given back.
 * The struct doca_rdma_connection stays valid until the context is idle, but for connections that clients have
 * asked for by address: of these one that was rejected, could not be accepted or was never established is gone
 * with the next doca_pe_progress() after the call, or after doca_rdma_connection_failure_cb_t; and of those that
 * were established and have ended, as many as doca_rdma_set_max_num_connections() allows stay valid, the newest.
 * While it is valid, it answers as a connection that has ended: doca_rdma_connection_disconnect() succeeds, its word
 * and its number are those that it had, it has no address (DOCA_ERROR_NOT_FOUND), doca_rdma_connect(),
 * doca_rdma_connection_accept() and _reject() give DOCA_ERROR_BAD_STATE, and a task ends with DOCA_ERROR_SHUTDOWN.
 *
 * A task ends with
 * - DOCA_ERROR_INVALID_VALUE: a buffer is missing, a list or message too long, a write longer than its
 *   destination's room, an atomic that is not aligned, memory of another device, a local buffer where a
 *   remote one belongs or the reverse.
 * - DOCA_ERROR_NOT_PERMITTED: a memory map lacks the right that the task needs; or the peer's memory is
 *   unknown or revoked, or its memory map or instance does not give the right.
 * - DOCA_ERROR_NOT_SUPPORTED: a local buffer is of memory that doca_mmap_export_pci() exported (opendoca):
 *   copy it by DMA to or from memory of this process.
 * - DOCA_ERROR_NOT_CONNECTED: the connection is not connected yet.
 * - DOCA_ERROR_FULL: the message is longer than the receive that it met. The send ends with it, too, unless
 *   it has succeeded before the receive was there (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the peer has died, has disconnected, or does not answer.
 * - DOCA_ERROR_SHUTDOWN: flushed: it was in flight when another task of the connection failed, or when the
 *   connection or the context was being ended; or it was submitted to a connection that has ended (opendoca).
 * - DOCA_ERROR_IO_FAILED: any other failure of the device.
 *
 * opendoca: these codes. What this side can know is the task's end as well; doca_task_submit() answers
 * DOCA_ERROR_AGAIN when the connection's queue is full. A task that fails at the peer or on its way ends its
 * connection, and the context goes on running, with its other connections.
 *
 * Buffers. A source gives its data section; a destination takes data in its tailroom, behind the data
 * section, and its data length grows, buffer by buffer in a list. opendoca: a destination whose whole list
 * has no tailroom counts as empty, so that data lands at its data address and the data length becomes the new
 * length. A remote buffer is never a list, and its memory map was made by doca_mmap_create_from_export().
 *
 * Rights (enum doca_access_flag). Every local memory map needs DOCA_ACCESS_FLAG_LOCAL_READ_WRITE. The side
 * whose memory is reached needs, on its memory map and on its instance, DOCA_ACCESS_FLAG_RDMA_READ for reads,
 * DOCA_ACCESS_FLAG_RDMA_WRITE for writes, DOCA_ACCESS_FLAG_RDMA_ATOMIC for atomics; it exports the memory map
 * with doca_mmap_export_rdma().
 *
 * Immediate data is 32 bits in network byte order.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts; capabilities of a device: any.
 */
#ifndef DOCA_RDMA_H_
#define DOCA_RDMA_H_

#include <stdbool.h>
#include <stdint.h>

/* Programs rely on what it brings. Only the users of doca_rdma_bridge_prepare_connection() need it. */
#ifdef __has_include
#if __has_include(<rdma/rdma_cma.h>)
#include <rdma/rdma_cma.h>
#endif
#endif

#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#include <doca_sync_event.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct rdma_cm_id;

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** A queue of completions for code on a DPA. */
struct doca_dpa_completion;

/** An instance, as code on a GPU sees it. */
struct doca_gpu_dev_rdma;

/** An RDMA instance. */
struct doca_rdma;

/** An address to connect to. */
struct doca_rdma_addr;

/** A connection of an instance, owned by it. */
struct doca_rdma_connection;

/** A task that compares 8 bytes of the peer's memory, and if they are equal exchanges them. */
struct doca_rdma_task_atomic_cmp_swp;

/** A task that adds to 8 bytes of the peer's memory. */
struct doca_rdma_task_atomic_fetch_add;

/** A task that copies from the peer's memory. */
struct doca_rdma_task_read;

/** A task that takes the next message, or the immediate data of the next write with it. */
struct doca_rdma_task_receive;

/** A task that reads the counter of another node's event. */
struct doca_rdma_task_remote_net_sync_event_get;

/** A task that adds to the counter of another node's event. */
struct doca_rdma_task_remote_net_sync_event_notify_add;

/** A task that sets the counter of another node's event. */
struct doca_rdma_task_remote_net_sync_event_notify_set;

/** A task that completes one receive of the peer with a message. */
struct doca_rdma_task_send;

/** A task that completes one receive of the peer with a message and immediate data. */
struct doca_rdma_task_send_imm;

/** A task that copies to the peer's memory. */
struct doca_rdma_task_write;

/** A task that copies to the peer's memory and completes one receive of the peer with immediate data. */
struct doca_rdma_task_write_imm;

/** A handle of another node's event, see doca_sync_event.h. */
struct doca_sync_event_remote_net;

/** Transport. */
enum doca_rdma_transport_type {
    DOCA_RDMA_TRANSPORT_TYPE_RC = 0, /**< Reliable connection. */
    DOCA_RDMA_TRANSPORT_TYPE_DC = 1, /**< Dynamically connected. opendoca: no device has it. */
};

/** What an address is. */
enum doca_rdma_addr_type {
    DOCA_RDMA_ADDR_TYPE_IPv4 = 0, /**< An IPv4 address, "192.0.2.1". */
    DOCA_RDMA_ADDR_TYPE_IPv6 = 1, /**< An IPv6 address, "2001:db8::1". */
    DOCA_RDMA_ADDR_TYPE_GID = 2,  /**< A GID, written as an IPv6 address. */
};

/** What the peer did to complete a receive. */
enum doca_rdma_opcode {
    DOCA_RDMA_OPCODE_RECV_SEND = 0,           /**< A send. */
    DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM = 1,  /**< A send with immediate data. */
    DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM = 2, /**< A write with immediate data; the data is where the peer put it. */
};

/** Global identifier of a port, in network byte order. */
struct doca_rdma_gid {
    uint8_t raw[16]; /**< Its bytes. */
};

/** An instance, as code on a DPA knows it. */
typedef uint64_t doca_dpa_dev_rdma_t;

/**
 * Called on a side that listens when a peer asks for a connection: doca_rdma_connection_accept() or
 * doca_rdma_connection_reject(), here or later.
 *
 * @param [in] rdma_connection The connection to be.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_connection_request_cb_t)(struct doca_rdma_connection *rdma_connection,
                                                  union doca_data ctx_user_data);

/**
 * Called when a connection is up: once for each connection, by whatever way it was made, and always from
 * doca_pe_progress(). It comes before the first message by the connection, and before
 * doca_rdma_connection_disconnection_cb_t.
 *
 * opendoca: for a connection by details, this side is connected when doca_rdma_connect() has succeeded, and
 * the callback is called in the next doca_pe_progress() that has time for it (doca_pe_request_notification()
 * announces it). It reports nothing about the peer's doca_rdma_connect(). Tasks that were submitted before it
 * may complete before it. A program that starts its work after doca_rdma_connect() must not start it here a
 * second time. The connection's word is 0 unless doca_rdma_connection_set_user_data() has set it. The callback is not
 * called if the program has disconnected the connection, or stopped the context, before.
 *
 * @param [in] rdma_connection The connection.
 * @param [in] connection_user_data The connection's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_connection_established_cb_t)(struct doca_rdma_connection *rdma_connection,
                                                      union doca_data connection_user_data,
                                                      union doca_data ctx_user_data);

/**
 * Called when a connection could not be made. opendoca: for connections by address only; what
 * doca_rdma_connect() returns is all that is reported of a failure to connect by details. On a server that has
 * accepted the connection it is called when the client has not confirmed it within 10 seconds (by the handshake over
 * TCP), has gone, or was the oldest such client when another asked for a connection and all connections of the
 * instance were in use.
 *
 * @param [in] rdma_connection The connection. It stays valid until the context is idle; opendoca: on a server until
 * this function has returned.
 * @param [in] connection_user_data The connection's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_connection_failure_cb_t)(struct doca_rdma_connection *rdma_connection,
                                                  union doca_data connection_user_data, union doca_data ctx_user_data);

/**
 * Called when a connection has ended.
 *
 * @param [in] rdma_connection The connection, which stays valid as the beginning of this header says.
 * doca_rdma_connection_disconnect() succeeds and changes nothing.
 * @param [in] connection_user_data The connection's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_connection_disconnection_cb_t)(struct doca_rdma_connection *rdma_connection,
                                                        union doca_data connection_user_data,
                                                        union doca_data ctx_user_data);

/**
 * Called when a task that takes the next message, or the immediate data of the next write with it has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_receive_completion_cb_t)(struct doca_rdma_task_receive *task,
                                                       union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Called when a task that completes one receive of the peer with a message has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_send_completion_cb_t)(struct doca_rdma_task_send *task, union doca_data task_user_data,
                                                    union doca_data ctx_user_data);

/**
 * Called when a task that completes one receive of the peer with a message and immediate data has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_send_imm_completion_cb_t)(struct doca_rdma_task_send_imm *task,
                                                        union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Called when a task that copies from the peer's memory has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_read_completion_cb_t)(struct doca_rdma_task_read *task, union doca_data task_user_data,
                                                    union doca_data ctx_user_data);

/**
 * Called when a task that copies to the peer's memory has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_write_completion_cb_t)(struct doca_rdma_task_write *task, union doca_data task_user_data,
                                                     union doca_data ctx_user_data);

/**
 * Called when a task that copies to the peer's memory and completes one receive of the peer with immediate
 * data has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_write_imm_completion_cb_t)(struct doca_rdma_task_write_imm *task,
                                                         union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Called when a task that compares 8 bytes of the peer's memory, and if they are equal exchanges them has
 * ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_atomic_cmp_swp_completion_cb_t)(struct doca_rdma_task_atomic_cmp_swp *task,
                                                              union doca_data task_user_data,
                                                              union doca_data ctx_user_data);

/**
 * Called when a task that adds to 8 bytes of the peer's memory has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_atomic_fetch_add_completion_cb_t)(struct doca_rdma_task_atomic_fetch_add *task,
                                                                union doca_data task_user_data,
                                                                union doca_data ctx_user_data);

/**
 * Called when a task that reads the counter of another node's event has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_remote_net_sync_event_get_completion_cb_t)(
    struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data task_user_data,
    union doca_data ctx_user_data);

/**
 * Called when a task that sets the counter of another node's event has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t)(
    struct doca_rdma_task_remote_net_sync_event_notify_set *task, union doca_data task_user_data,
    union doca_data ctx_user_data);

/**
 * Called when a task that adds to the counter of another node's event has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t)(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, union doca_data task_user_data,
    union doca_data ctx_user_data);

#if OPENDOCA_LEVEL >= 20700
/**
 * Create an instance, with the defaults named at the setters. Its context is idle and connected to no
 * progress engine.
 *
 * @param [in] dev The device; it must stay open until the instance is destroyed.
 * @param [out] rdma The instance. Free it with doca_rdma_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_INITIALIZATION: the instance could not be set up.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no RDMA (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_create(struct doca_dev *dev, struct doca_rdma **rdma);
#endif

/**
 * Destroy an instance and its context.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle; nothing has changed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_destroy(struct doca_rdma *rdma);

/**
 * The context of an instance. State: any.
 *
 * @param [in] rdma The instance.
 * @return The context, always the same one, which lives as long as the instance; or NULL when rdma is NULL.
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_rdma_as_ctx(struct doca_rdma *rdma);

/* Connections. State of all: context running, where nothing else is said. */

#if OPENDOCA_LEVEL >= 20700
/**
 * Make a connection, and the details of it that the peer's doca_rdma_connect() needs; to be carried there by
 * any means. Each call makes another one; several may be made before the first is connected.
 *
 * @param [in] rdma The instance.
 * @param [out] local_rdma_conn_details The details. Owned by the instance, valid until the connection or the
 * context ends.
 * @param [out] local_rdma_conn_details_size Their length in bytes; opendoca: at most 256.
 * @param [out] rdma_connection The connection.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_FULL: there are doca_rdma_set_max_num_connections() connections already.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_export(struct doca_rdma *rdma, const void **local_rdma_conn_details,
                                                size_t *local_rdma_conn_details_size,
                                                struct doca_rdma_connection **rdma_connection);

/**
 * Connect to the connection whose details are given. Both sides call it, in any order; neither waits for the
 * other's call. The bytes are copied and not trusted. After it, tasks may be submitted; they wait for the
 * peer's call. opendoca: doca_rdma_connection_established_cb_t is called in a later doca_pe_progress(), never
 * within this call. If this call fails, no callback is called, and it may be repeated.
 *
 * @param [in] rdma The instance.
 * @param [in] remote_rdma_conn_details What the peer's doca_rdma_export() gave.
 * @param [in] remote_rdma_conn_details_size Their length in bytes; not 0.
 * @param [in] rdma_connection The connection, from doca_rdma_export().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL or the length is 0.
 * - DOCA_ERROR_BAD_STATE: the context is not running, or the connection is connected already.
 * - DOCA_ERROR_CONNECTION_ABORTED: the details are damaged, the peer is gone, or connecting failed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connect(struct doca_rdma *rdma, const void *remote_rdma_conn_details,
                                                 size_t remote_rdma_conn_details_size,
                                                 struct doca_rdma_connection *rdma_connection);
#endif

/**
 * Make an address. State: any.
 *
 * @param [in] addr_type What it is.
 * @param [in] address The address, NUL terminated; copied.
 * @param [in] port The port that the peer listens to.
 * @param [out] addr The address. Free it with doca_rdma_addr_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, addr_type is none, or address has not its form.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_addr_create(enum doca_rdma_addr_type addr_type, const char *address,
                                                     uint16_t port, struct doca_rdma_addr **addr);

/**
 * Free an address. State: any. opendoca: doca_rdma_connect_to_addr() has copied it, so it may be freed as soon
 * as that has returned.
 *
 * @param [in] addr The address, from doca_rdma_addr_create().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: addr is NULL.
 * - DOCA_ERROR_BAD_STATE: it belongs to a connection (doca_rdma_connection_get_addr()), which frees it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_addr_destroy(struct doca_rdma_addr *addr);

/**
 * Take requests for connections, by all addresses of the machine that lead to the instance's device; on
 * software devices by its loopback. Without a callback for requests, all are rejected.
 *
 * @param [in] rdma The instance.
 * @param [in] port The port.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL, or the port is 0.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: the instance listens to a port already.
 * - DOCA_ERROR_CONNECTION_ABORTED: the port is taken, or listening failed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_start_listen_to_port(struct doca_rdma *rdma, uint16_t port);

/**
 * Take no more requests. Connections that were made stay.
 *
 * @param [in] rdma The instance.
 * @param [in] port As given to doca_rdma_start_listen_to_port().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL, or the instance does not listen to port; opendoca: nor does one
 *   whose context is not running.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_stop_listen_to_port(struct doca_rdma *rdma, uint16_t port);

/**
 * Take a request. doca_rdma_connection_established_cb_t tells when the connection is up.
 *
 * State: within or after the callback of the request.
 *
 * @param [in] rdma_connection The connection.
 * @param [in] private_data Bytes for the peer, which a program of rdma_cm finds in its event; NULL for none.
 * No function of DOCA gives them to a peer.
 * @param [in] private_data_len Their number; 0 with NULL, at most 196.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma_connection is NULL, or private_data_len does not go with private_data.
 * - DOCA_ERROR_BAD_STATE: there is no request.
 * - DOCA_ERROR_CONNECTION_ABORTED: the peer is gone, or accepting failed. opendoca: the connection is gone.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_accept(struct doca_rdma_connection *rdma_connection,
                                                           void *private_data, uint8_t private_data_len);

/**
 * Refuse a request. The connection is gone.
 *
 * State: within or after the callback of the request.
 *
 * @param [in] rdma_connection The connection.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma_connection is NULL.
 * - DOCA_ERROR_BAD_STATE: there is no request.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_reject(struct doca_rdma_connection *rdma_connection);

/**
 * Ask for a connection. doca_rdma_connection_established_cb_t or doca_rdma_connection_failure_cb_t tells what
 * comes of it.
 *
 * @param [in] rdma The instance.
 * @param [in] addr Where the peer listens. It is copied: the program may free it when this call has returned.
 * @param [in] connection_user_data The connection's word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_FULL: there are doca_rdma_set_max_num_connections() connections already.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: a GID on an InfiniBand port, whose servers have IPoIB addresses.
 * - DOCA_ERROR_CONNECTION_ABORTED: the address cannot be reached from the device.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connect_to_addr(struct doca_rdma *rdma, struct doca_rdma_addr *addr,
                                                         union doca_data connection_user_data);

/**
 * End a connection. Its tasks in flight are flushed; the peer is told.
 *
 * @param [in] rdma_connection The connection. opendoca: one that has ended, or was never connected, is no
 * error.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma_connection is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_disconnect(struct doca_rdma_connection *rdma_connection);

/*
 * Connections by rdma_cm identifiers of the program's own. The program owns the identifier and its event channel,
 * resolves or listens, and reads the events; the connection has the queue pair. All of this is opendoca's choice where
 * the documentation of DOCA is silent:
 *
 *   server                                       client
 *                                                rdma_create_id, _resolve_addr, _resolve_route
 *                                                prepare_connection, then rdma_connect
 *   CONNECT_REQUEST: prepare_connection, accept
 *                                                ESTABLISHED: established
 *   ESTABLISHED: established
 *   DISCONNECTED: doca_rdma_connection_disconnect, on either side, and then rdma_destroy_id
 *
 * The peer may be any program of rdma_cm. Events are the program's: opendoca calls neither the callback for requests
 * nor that for failures, and DISCONNECTED alone ends no connection. The callback for ends is called when a task has
 * failed or the device reports the end. Retries and the number of reads in flight are those of the rdma_conn_param of
 * both sides. With an identifier that has no event channel of the program (a NULL one), calls wait for the peer.
 *
 * Threads: the functions below as all of a context. While one of them, or anything else that may end the connection,
 * runs, no other thread may use the identifier, nor be in rdma_get_cm_event() of its channel.
 */

/**
 * Make a connection for an rdma_cm identifier of the program's own: one with a resolved route, for a client before it
 * calls rdma_connect(), or one of a RDMA_CM_EVENT_CONNECT_REQUEST, for a server. opendoca: cm_id->qp is set to the
 * queue pair, so that rdma_connect() takes its number and librdmacm connects it. A client that sets cm_id->qp to NULL
 * again, after it has copied cm_id->qp->qp_num for rdma_connect(), gets RDMA_CM_EVENT_CONNECT_RESPONSE in place of
 * ESTABLISHED, and doca_rdma_bridge_established() connects the queue pair and confirms; in the other case the peer's
 * rights on the connection are those that librdmacm sets until that call, and those of
 * doca_rdma_set_permissions() from then on. Those of the memory maps apply always.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] cm_id The identifier. It must exist until the connection has ended: until
 * doca_rdma_connection_disconnect(), its callback, a failed accept or established, or the stop of the context. It is
 * not used any more then, and cm_id->qp is NULL.
 * @param [out] rdma_connection The connection. Tasks can be submitted when it was accepted or is established. One that
 * has ended stays valid as that of a server's client: the newest doca_rdma_set_max_num_connections() of them.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL; opendoca: cm_id is not bound to the instance's device and port, or
 *   has a queue pair already.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_FULL: there are doca_rdma_set_max_num_connections() connections already.
 * - DOCA_ERROR_NO_MEMORY: no memory, also of the device.
 * - DOCA_ERROR_DRIVER, DOCA_ERROR_INITIALIZATION: the device refuses another queue pair.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: a software device, which has no identifiers of rdma_cm.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_bridge_prepare_connection(struct doca_rdma *rdma, struct rdma_cm_id *cm_id,
                                                                   struct doca_rdma_connection **rdma_connection);

/**
 * Accept the client of a prepared connection: connects its queue pair and calls rdma_accept(). To refuse a client,
 * call rdma_reject() and then doca_rdma_connection_disconnect().
 *
 * State: the connection is prepared, and neither accepted nor established.
 *
 * @param [in] rdma The instance.
 * @param [in] private_data Bytes for the peer, which finds them in its event; NULL for none.
 * @param [in] private_data_len Their number; 0 with NULL, at most 196.
 * @param [in] rdma_connection The connection.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or rdma_connection is NULL, private_data_len does not go with private_data, or the
 *   connection is another instance's.
 * - DOCA_ERROR_BAD_STATE: the connection is in another state, has ended, or was made in another way.
 * - DOCA_ERROR_CONNECTION_ABORTED: the peer is gone, or cm_id is not that of a request. The connection has ended.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_bridge_accept(struct doca_rdma *rdma, void *private_data,
                                                       uint8_t private_data_len,
                                                       struct doca_rdma_connection *rdma_connection);

/**
 * Report that an rdma_cm identifier of the program's own is connected, after RDMA_CM_EVENT_ESTABLISHED (or
 * CONNECT_RESPONSE, see doca_rdma_bridge_prepare_connection()). opendoca: if the program has set connection callbacks,
 * the next doca_pe_progress() calls doca_rdma_connection_established_cb_t, unless the peer's first message came
 * before: then it was called before that one.
 *
 * State: the connection is accepted, or prepared by a client; once.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the connection is another instance's.
 * - DOCA_ERROR_BAD_STATE: the connection was reported before, has ended, or was made in another way.
 * - DOCA_ERROR_CONNECTION_ABORTED: the identifier is not connected, or the peer is gone. The connection has ended.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_bridge_established(struct doca_rdma *rdma,
                                                            struct doca_rdma_connection *rdma_connection);

/* What a device can do. */

/**
 * Most receives that can be in flight, also beside the largest send queue. The first question may take some
 * milliseconds, because it is tried on the device.
 *
 * @param [in] devinfo The device.
 * @param [out] max_recv_queue_size Number of receives.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no RDMA (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo,
                                                                     uint32_t *max_recv_queue_size);

/**
 * Most tasks other than receives that can be in flight on a connection; as
 * doca_rdma_cap_get_max_recv_queue_size().
 *
 * @param [in] devinfo The device.
 * @param [out] max_send_queue_size Number of tasks.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no RDMA (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_max_send_queue_size(const struct doca_devinfo *devinfo,
                                                                     uint32_t *max_send_queue_size);

/**
 * Most buffers that the local list of a task other than a receive can have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_send_buf_list_len Number of buffers; 1 means no lists.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no RDMA (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_max_send_buf_list_len(const struct doca_devinfo *devinfo,
                                                                       uint32_t *max_send_buf_list_len);

/**
 * Most bytes that one task can move. A task moves at most 2 GiB, whatever this says.
 *
 * @param [in] devinfo The device.
 * @param [out] max_message_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no RDMA (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_max_message_size(const struct doca_devinfo *devinfo,
                                                                  uint32_t *max_message_size);

#if OPENDOCA_LEVEL >= 20700
/**
 * Number of entries in the device's table of GIDs.
 *
 * @param [in] devinfo The device.
 * @param [out] gid_table_size Number of entries.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no RDMA (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_gid_table_size(const struct doca_devinfo *devinfo,
                                                                uint32_t *gid_table_size);

/**
 * Read entries of the device's table of GIDs. Empty entries read as all zero.
 *
 * @param [in] devinfo The device.
 * @param [in] start_index First entry.
 * @param [in] num_entries Number of entries. opendoca: at least 1.
 * @param [out] gid_array Room for num_entries.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or the entries asked for are not all in the table.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_get_gid(const struct doca_devinfo *devinfo, uint32_t start_index,
                                                     uint32_t num_entries, struct doca_rdma_gid *gid_array);
#endif

/**
 * Whether a device has a transport.
 *
 * @param [in] devinfo The device.
 * @param [in] transport_type The transport.
 * @return DOCA_SUCCESS: it has, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL or the transport is unknown.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it has not.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_transport_type_is_supported(const struct doca_devinfo *devinfo,
                                                                         enum doca_rdma_transport_type transport_type);

/* Properties. State: context idle, where nothing else is said. */

/**
 * Number of tasks other than receives that may be in flight on a connection. Optional: by default what the
 * set_conf functions ask for.
 *
 * @param [in] rdma The instance.
 * @param [in] send_queue_size At least 1; rounded up to a power of two.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the size is 0.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the size is above what the device can do.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_send_queue_size(struct doca_rdma *rdma, uint32_t send_queue_size);

/**
 * Number of receives that code on a GPU or a DPA may have in flight. With the CPU,
 * doca_rdma_task_receive_set_conf() says it.
 *
 * @param [in] rdma The instance.
 * @param [in] recv_queue_size At least 1.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the size is 0.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the instance is used by the CPU; opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_recv_queue_size(struct doca_rdma *rdma, uint32_t recv_queue_size);

/**
 * Most buffers in the local list of a task other than a receive. opendoca: default is the most
 * that the device can do.
 *
 * @param [in] rdma The instance.
 * @param [in] max_send_buf_list_len At least 1, at most doca_rdma_cap_get_max_send_buf_list_len().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the length is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_max_send_buf_list_len(struct doca_rdma *rdma,
                                                                   uint32_t max_send_buf_list_len);

/**
 * Transport. opendoca: default DOCA_RDMA_TRANSPORT_TYPE_RC.
 *
 * @param [in] rdma The instance.
 * @param [in] transport_type The transport.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the transport is unknown.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has not got the transport.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_transport_type(struct doca_rdma *rdma,
                                                            enum doca_rdma_transport_type transport_type);

/**
 * Largest packet on the wire. opendoca: default is the port's active MTU. Connecting settles on the smaller
 * of the two sides; of a connection by rdma_cm the network's path alone decides.
 *
 * @param [in] rdma The instance.
 * @param [in] mtu DOCA_MTU_SIZE_256_BYTES to DOCA_MTU_SIZE_4K_BYTES.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the value is unknown.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the port cannot do it (DOCA_MTU_SIZE_RAW_ETHERNET: none can).
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_mtu(struct doca_rdma *rdma, enum doca_mtu_size mtu);

/**
 * What the peers may do to memory through this instance. opendoca: default DOCA_ACCESS_FLAG_LOCAL_READ_WRITE,
 * which lets them do nothing but send.
 *
 * @param [in] rdma The instance.
 * @param [in] permissions Bitwise or of DOCA_ACCESS_FLAG_RDMA_READ, _RDMA_WRITE and _RDMA_ATOMIC;
 * DOCA_ACCESS_FLAG_LOCAL_READ_WRITE is accepted and changes nothing.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or another bit is set.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_permissions(struct doca_rdma *rdma, uint32_t permissions);

#if OPENDOCA_LEVEL >= 20700
/**
 * Whether packets carry a global route header. Ethernet (RoCE) ports always do. opendoca: default 1.
 *
 * @param [in] rdma The instance.
 * @param [in] grh_enabled 1 for a header, 0 for none.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the port cannot do it: 0 on an Ethernet port.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_grh_enabled(struct doca_rdma *rdma, uint8_t grh_enabled);
#endif

/**
 * Entry of the device's table of GIDs that the instance uses as its address. opendoca: until it is set, the
 * instance takes the entry that suits the peer best when it connects, and reads as 0.
 *
 * @param [in] rdma The instance.
 * @param [in] gid_index Below doca_rdma_cap_get_gid_table_size().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the table has no such entry.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_gid_index(struct doca_rdma *rdma, uint32_t gid_index);

/**
 * Service level. opendoca: default 0.
 *
 * @param [in] rdma The instance.
 * @param [in] sl 0 to 15.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the level is above 15.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_sl(struct doca_rdma *rdma, uint32_t sl);

/**
 * How long doca_rdma_connect_to_addr() waits for an answer before it fails. opendoca: default 2000.
 *
 * @param [in] rdma The instance.
 * @param [in] timeout Milliseconds; not 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or timeout is 0.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_connection_request_timeout(struct doca_rdma *rdma, uint16_t timeout);

/**
 * Set the word that callbacks of the connection get. State: any.
 *
 * @param [in] rdma_connection The connection.
 * @param [in] connection_user_data The word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma_connection is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_set_user_data(struct doca_rdma_connection *rdma_connection,
                                                                  union doca_data connection_user_data);

/**
 * Most connections at a time. opendoca: default 1024.
 *
 * @param [in] rdma The instance.
 * @param [in] max_num_connections At least 1.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the number is 0, or the device cannot have as many.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_max_num_connections(struct doca_rdma *rdma, uint16_t max_num_connections);

/**
 * How often a message that finds no receive is sent again before the connection breaks. opendoca: default 7;
 * the number is kept and has no effect: such a message always waits without end.
 *
 * @param [in] rdma The instance.
 * @param [in] rnr_retry_count 0 to 6, or 7 for ever.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the number is above 7.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_rnr_retry_count(struct doca_rdma *rdma, uint8_t rnr_retry_count);

/* Properties, read. State: any. */

/**
 * Number of tasks other than receives that may be in flight on a connection.
 *
 * @param [in] rdma The instance.
 * @param [out] send_queue_size The number in effect.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_send_queue_size(const struct doca_rdma *rdma, uint32_t *send_queue_size);

/**
 * Number of receives that may be in flight.
 *
 * @param [in] rdma The instance.
 * @param [out] recv_queue_size The number in effect.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_recv_queue_size(const struct doca_rdma *rdma, uint32_t *recv_queue_size);

/**
 * Most buffers in the local list of a task other than a receive.
 *
 * @param [in] rdma The instance.
 * @param [out] max_send_buf_list_len Number of buffers.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_send_buf_list_len(const struct doca_rdma *rdma,
                                                                   uint32_t *max_send_buf_list_len);

/**
 * Transport.
 *
 * @param [in] rdma The instance.
 * @param [out] transport_type The transport.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_transport_type(const struct doca_rdma *rdma,
                                                            enum doca_rdma_transport_type *transport_type);

/**
 * Largest packet on the wire.
 *
 * @param [in] rdma The instance.
 * @param [out] mtu The MTU that was set, or the port's; connections may use a smaller one.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_mtu(const struct doca_rdma *rdma, enum doca_mtu_size *mtu);

/**
 * What the peers may do to memory.
 *
 * @param [in] rdma The instance.
 * @param [out] permissions As it was set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_permissions(struct doca_rdma *rdma, uint32_t *permissions);

#if OPENDOCA_LEVEL >= 20700
/**
 * Whether packets carry a global route header.
 *
 * @param [in] rdma The instance.
 * @param [out] grh_enabled 1 when they do, else 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_grh_enabled(const struct doca_rdma *rdma, uint8_t *grh_enabled);
#endif

/**
 * Entry of the device's table of GIDs.
 *
 * @param [in] rdma The instance.
 * @param [out] gid_index The entry.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_gid_index(const struct doca_rdma *rdma, uint32_t *gid_index);

/**
 * Service level.
 *
 * @param [in] rdma The instance.
 * @param [out] sl The level.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_sl(const struct doca_rdma *rdma, uint32_t *sl);

#if OPENDOCA_LEVEL >= 20700
/**
 * The handle by which code on a DPA uses the instance.
 *
 * State: context running on a DPA.
 *
 * @param [in] rdma The instance.
 * @param [out] dpa_rdma The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context does not run on a DPA; opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_dpa_handle(struct doca_rdma *rdma, doca_dpa_dev_rdma_t *dpa_rdma);
#endif

/**
 * The handle by which code on a GPU uses the instance.
 *
 * State: context running on a GPU.
 *
 * @param [in] rdma The instance.
 * @param [out] gpu_rdma The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context does not run on a GPU; opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_gpu_handle(struct doca_rdma *rdma, struct doca_gpu_dev_rdma **gpu_rdma);

/**
 * How long doca_rdma_connect_to_addr() waits for an answer.
 *
 * @param [in] rdma The instance.
 * @param [out] timeout Milliseconds.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_connection_request_timeout(const struct doca_rdma *rdma,
                                                                        uint16_t *timeout);

/**
 * The address that a connection was made with. One that a peer has requested has none.
 *
 * @param [in] rdma_connection The connection.
 * @param [out] addr A copy of the address that doca_rdma_connect_to_addr() was called with (opendoca). The
 * connection owns it; it stays valid until the context is idle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_FOUND: it was not made by doca_rdma_connect_to_addr(), or has ended (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_get_addr(const struct doca_rdma_connection *rdma_connection,
                                                             struct doca_rdma_addr **addr);

/**
 * What an address consists of.
 *
 * @param [in] addr The address.
 * @param [out] addr_type What it is.
 * @param [out] address The text of it, valid as long as addr is.
 * @param [out] port The port.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_addr_get_params(struct doca_rdma_addr *addr,
                                                         enum doca_rdma_addr_type *addr_type, const char **address,
                                                         uint16_t *port);

/**
 * The connection's word. State: any.
 *
 * @param [in] rdma_connection The connection.
 * @param [out] connection_user_data The word; zero if none was set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_get_user_data(const struct doca_rdma_connection *rdma_connection,
                                                                  union doca_data *connection_user_data);

/**
 * The number of a connection in its instance. State: any.
 *
 * @param [in] rdma_connection The connection.
 * @param [out] connection_id The number; opendoca: from 0 on, in the order in which they were made
 * since the context's start.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_connection_get_id(const struct doca_rdma_connection *rdma_connection,
                                                           uint32_t *connection_id);

/**
 * Most connections at a time.
 *
 * @param [in] rdma The instance.
 * @param [out] max_num_connections The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_max_num_connections(struct doca_rdma *rdma, uint16_t *max_num_connections);

/**
 * How often a message that finds no receive is sent again.
 *
 * @param [in] rdma The instance.
 * @param [out] rnr_retry_count 0 to 7.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_get_rnr_retry_count(const struct doca_rdma *rdma, uint8_t *rnr_retry_count);

/**
 * Set what is called for changes of a connection's state. All are called from doca_pe_progress(). Connections
 * by address and by details report that they are established, and their end; requests and failures are of
 * connections by address only (opendoca).
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] doca_rdma_connect_request_cb Called for requests; NULL on a side that does not listen.
 * @param [in] doca_rdma_connect_established_cb Called when a connection is up.
 * @param [in] doca_rdma_connect_failure_cb Called when one could not be made.
 * @param [in] doca_rdma_disconnect_cb Called when the peer has ended one, or a failure has.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or another callback than the first is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_set_connection_state_callbacks(
    struct doca_rdma *rdma, doca_rdma_connection_request_cb_t doca_rdma_connect_request_cb,
    doca_rdma_connection_established_cb_t doca_rdma_connect_established_cb,
    doca_rdma_connection_failure_cb_t doca_rdma_connect_failure_cb,
    doca_rdma_connection_disconnection_cb_t doca_rdma_disconnect_cb);

/* Tasks: receives. */

/**
 * Whether a device can do receives. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_receive_is_supported(const struct doca_devinfo *devinfo);

/**
 * Most buffers that the list of a receive can have.
 *
 * @param [in] devinfo The device.
 * @param [in] transport_type The transport.
 * @param [out] max_buf_list_len Number of buffers; 1 means no lists.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or the transport is unknown or unsupported.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no receives.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_receive_get_max_dst_buf_list_len(
    const struct doca_devinfo *devinfo, enum doca_rdma_transport_type transport_type, uint32_t *max_buf_list_len);

/**
 * Configure receives: the callbacks and the number. Needed before one can be allocated; a second call
 * replaces the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_receive_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_receive_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_receive_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

/**
 * Most buffers in the list of a receive. opendoca: default 1.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] buf_list_len At least 1, at most doca_rdma_cap_task_receive_get_max_dst_buf_list_len().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma is NULL or the length is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_receive_set_dst_buf_list_len(struct doca_rdma *rdma,
                                                                           uint32_t buf_list_len);

/**
 * Most buffers in the list of a receive. State: any.
 *
 * @param [in] rdma The instance.
 * @param [out] buf_list_len Number of buffers.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_receive_get_dst_buf_list_len(const struct doca_rdma *rdma,
                                                                           uint32_t *buf_list_len);

/**
 * Allocate a task that takes the next message, or the immediate data of the next write with it.
 *
 * A message that finds no receive waits for one. At most doca_rdma_task_receive_set_dst_buf_list_len()
 * buffers in the list.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] dst_buf Local list; NULL to take an empty message or the immediate data of a write.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_receive_allocate_init(struct doca_rdma *rdma, struct doca_buf *dst_buf,
                                                                    union doca_data user_data,
                                                                    struct doca_rdma_task_receive **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_receive_as_task(struct doca_rdma_task_receive *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Local list; NULL to take an empty message or the immediate data of a write.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_receive_set_dst_buf(struct doca_rdma_task_receive *task,
                                                          struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_rdma_task_receive_get_dst_buf(const struct doca_rdma_task_receive *task);

/**
 * What the peer did. State: from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return The operation.
 */
DOCA_EXPERIMENTAL enum doca_rdma_opcode
doca_rdma_task_receive_get_result_opcode(const struct doca_rdma_task_receive *task);

/**
 * How long the message is; of a write with immediate data, how many bytes the peer wrote (opendoca). State:
 * from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return Bytes.
 */
DOCA_EXPERIMENTAL uint32_t doca_rdma_task_receive_get_result_len(const struct doca_rdma_task_receive *task);

/**
 * The immediate data. State: from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return The data, in network byte order; undefined when doca_rdma_task_receive_get_result_opcode() says
 * that there is none.
 */
DOCA_EXPERIMENTAL doca_be32_t
doca_rdma_task_receive_get_result_immediate_data(const struct doca_rdma_task_receive *task);

/**
 * The connection that the message came by. State: from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_receive_get_result_rdma_connection(const struct doca_rdma_task_receive *task);

/* Tasks: sends. */

/**
 * Whether a device can do sends. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_send_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure sends: the callbacks and the number. Needed before one can be allocated; a second call replaces
 * the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_task_send_set_conf(struct doca_rdma *rdma, doca_rdma_task_send_completion_cb_t successful_task_completion_cb,
                             doca_rdma_task_send_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that completes one receive of the peer with a message.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] src_buf Local list; NULL sends an empty message.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_allocate_init(struct doca_rdma *rdma,
                                                                 struct doca_rdma_connection *rdma_connection,
                                                                 const struct doca_buf *src_buf,
                                                                 union doca_data user_data,
                                                                 struct doca_rdma_task_send **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_send_as_task(struct doca_rdma_task_send *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf Local list; NULL sends an empty message.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_send_set_src_buf(struct doca_rdma_task_send *task,
                                                       const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *doca_rdma_task_send_get_src_buf(const struct doca_rdma_task_send *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_send_set_rdma_connection(struct doca_rdma_task_send *task,
                                                               struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_send_get_rdma_connection(const struct doca_rdma_task_send *task);

/* Tasks: sends with immediate data. */

/**
 * Whether a device can do sends with immediate data. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_send_imm_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure sends with immediate data: the callbacks and the number. Needed before one can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_imm_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_send_imm_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_send_imm_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that completes one receive of the peer with a message and immediate data.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] src_buf Local list; NULL sends an empty message.
 * @param [in] immediate_data The immediate data, in network byte order.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_send_imm_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, const struct doca_buf *src_buf,
    doca_be32_t immediate_data, union doca_data user_data, struct doca_rdma_task_send_imm **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_send_imm_as_task(struct doca_rdma_task_send_imm *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf Local list; NULL sends an empty message.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_send_imm_set_src_buf(struct doca_rdma_task_send_imm *task,
                                                           const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_send_imm_get_src_buf(const struct doca_rdma_task_send_imm *task);

/**
 * Change the immediate data.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] immediate_data The immediate data, in network byte order.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_send_imm_set_immediate_data(struct doca_rdma_task_send_imm *task,
                                                                  doca_be32_t immediate_data);

/**
 * The immediate data. State: any.
 *
 * @param [in] task The task.
 * @return As it was set.
 */
DOCA_EXPERIMENTAL doca_be32_t doca_rdma_task_send_imm_get_immediate_data(const struct doca_rdma_task_send_imm *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_send_imm_set_rdma_connection(struct doca_rdma_task_send_imm *task,
                                                                   struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_send_imm_get_rdma_connection(const struct doca_rdma_task_send_imm *task);

/* Tasks: reads. */

/**
 * Whether a device can do reads. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_read_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure reads: the callbacks and the number. Needed before one can be allocated; a second call replaces
 * the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_task_read_set_conf(struct doca_rdma *rdma, doca_rdma_task_read_completion_cb_t successful_task_completion_cb,
                             doca_rdma_task_read_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that copies from the peer's memory.
 *
 * Moves the smaller of the source's data length and the destination's room.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] src_buf Remote. With NULL no byte moves, and dst_buf may be NULL too.
 * @param [in] dst_buf Local list.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_read_allocate_init(struct doca_rdma *rdma,
                                                                 struct doca_rdma_connection *rdma_connection,
                                                                 const struct doca_buf *src_buf,
                                                                 struct doca_buf *dst_buf, union doca_data user_data,
                                                                 struct doca_rdma_task_read **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_read_as_task(struct doca_rdma_task_read *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf Remote. With NULL no byte moves, and dst_buf may be NULL too.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_src_buf(struct doca_rdma_task_read *task,
                                                       const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *doca_rdma_task_read_get_src_buf(const struct doca_rdma_task_read *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Local list.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_dst_buf(struct doca_rdma_task_read *task, struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_rdma_task_read_get_dst_buf(const struct doca_rdma_task_read *task);

/**
 * How many bytes were read. State: from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return Bytes.
 */
DOCA_EXPERIMENTAL uint32_t doca_rdma_task_read_get_result_len(const struct doca_rdma_task_read *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_read_set_rdma_connection(struct doca_rdma_task_read *task,
                                                               struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_read_get_rdma_connection(const struct doca_rdma_task_read *task);

/* Tasks: writes. */

/**
 * Whether a device can do writes. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_write_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure writes: the callbacks and the number. Needed before one can be allocated; a second call replaces
 * the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_write_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_write_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that copies to the peer's memory.
 *
 * Its end does not say that the peer's program has seen the data.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] src_buf Local list. With NULL no byte moves, and dst_buf may be NULL too.
 * @param [in] dst_buf Remote; its room must be enough.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_allocate_init(struct doca_rdma *rdma,
                                                                  struct doca_rdma_connection *rdma_connection,
                                                                  const struct doca_buf *src_buf,
                                                                  struct doca_buf *dst_buf, union doca_data user_data,
                                                                  struct doca_rdma_task_write **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_write_as_task(struct doca_rdma_task_write *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf Local list. With NULL no byte moves, and dst_buf may be NULL too.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_src_buf(struct doca_rdma_task_write *task,
                                                        const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *doca_rdma_task_write_get_src_buf(const struct doca_rdma_task_write *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Remote; its room must be enough.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_dst_buf(struct doca_rdma_task_write *task, struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_rdma_task_write_get_dst_buf(const struct doca_rdma_task_write *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_set_rdma_connection(struct doca_rdma_task_write *task,
                                                                struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_write_get_rdma_connection(const struct doca_rdma_task_write *task);

/* Tasks: writes with immediate data. */

/**
 * Whether a device can do writes with immediate data. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_write_imm_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure writes with immediate data: the callbacks and the number. Needed before one can be allocated; a
 * second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_imm_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_write_imm_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_write_imm_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that copies to the peer's memory and completes one receive of the peer with immediate data.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] src_buf Local list. With NULL no byte moves, and dst_buf may be NULL too.
 * @param [in] dst_buf Remote; its room must be enough.
 * @param [in] immediate_data The immediate data, in network byte order.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_write_imm_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, const struct doca_buf *src_buf,
    struct doca_buf *dst_buf, doca_be32_t immediate_data, union doca_data user_data,
    struct doca_rdma_task_write_imm **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_write_imm_as_task(struct doca_rdma_task_write_imm *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf Local list. With NULL no byte moves, and dst_buf may be NULL too.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_imm_set_src_buf(struct doca_rdma_task_write_imm *task,
                                                            const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *
doca_rdma_task_write_imm_get_src_buf(const struct doca_rdma_task_write_imm *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Remote; its room must be enough.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_imm_set_dst_buf(struct doca_rdma_task_write_imm *task,
                                                            struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_rdma_task_write_imm_get_dst_buf(const struct doca_rdma_task_write_imm *task);

/**
 * Change the immediate data.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] immediate_data The immediate data, in network byte order.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_imm_set_immediate_data(struct doca_rdma_task_write_imm *task,
                                                                   doca_be32_t immediate_data);

/**
 * The immediate data. State: any.
 *
 * @param [in] task The task.
 * @return As it was set.
 */
DOCA_EXPERIMENTAL doca_be32_t doca_rdma_task_write_imm_get_immediate_data(const struct doca_rdma_task_write_imm *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_write_imm_set_rdma_connection(struct doca_rdma_task_write_imm *task,
                                                                    struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_write_imm_get_rdma_connection(const struct doca_rdma_task_write_imm *task);

/* Tasks: compares and swaps. */

/**
 * Whether a device can do compares and swaps. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_atomic_cmp_swp_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure compares and swaps: the callbacks and the number. Needed before one can be allocated; a second
 * call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_cmp_swp_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_atomic_cmp_swp_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_atomic_cmp_swp_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that compares 8 bytes of the peer's memory, and if they are equal exchanges them.
 *
 * Atomic against RDMA atomics of every process on the same word, not against plain stores. The 8 bytes are in
 * the peer's byte order.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] dst_buf Remote; the 8 bytes at its data address, aligned to 8.
 * @param [in] result_buf Local; the 8 bytes at its data address get the old value. opendoca: no alignment
 * needed, data length unchanged.
 * @param [in] cmp_data What the 8 bytes are compared with.
 * @param [in] swap_data What they become if they are equal.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_cmp_swp_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_buf *dst_buf,
    struct doca_buf *result_buf, uint64_t cmp_data, uint64_t swap_data, union doca_data user_data,
    struct doca_rdma_task_atomic_cmp_swp **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *doca_rdma_task_atomic_cmp_swp_as_task(struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Remote; the 8 bytes at its data address, aligned to 8.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_atomic_cmp_swp_set_dst_buf(struct doca_rdma_task_atomic_cmp_swp *task,
                                                                 struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_atomic_cmp_swp_get_dst_buf(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Change where the old value goes.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] result_buf Local; the 8 bytes at its data address get the old value. opendoca: no alignment
 * needed, data length unchanged.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_atomic_cmp_swp_set_result_buf(struct doca_rdma_task_atomic_cmp_swp *task,
                                                                    struct doca_buf *result_buf);

/**
 * Where the old value goes. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_atomic_cmp_swp_get_result_buf(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Change what is compared with.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] cmp_data What the 8 bytes are compared with.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_atomic_cmp_swp_set_cmp_data(struct doca_rdma_task_atomic_cmp_swp *task,
                                                                  uint64_t cmp_data);

/**
 * What is compared with. State: any.
 *
 * @param [in] task The task.
 * @return As it was set.
 */
DOCA_EXPERIMENTAL uint64_t doca_rdma_task_atomic_cmp_swp_get_cmp_data(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Change the new value.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] swap_data What they become if they are equal.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_atomic_cmp_swp_set_swap_data(struct doca_rdma_task_atomic_cmp_swp *task,
                                                                   uint64_t swap_data);

/**
 * The new value. State: any.
 *
 * @param [in] task The task.
 * @return As it was set.
 */
DOCA_EXPERIMENTAL uint64_t
doca_rdma_task_atomic_cmp_swp_get_swap_data(const struct doca_rdma_task_atomic_cmp_swp *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_atomic_cmp_swp_set_rdma_connection(struct doca_rdma_task_atomic_cmp_swp *task,
                                                                         struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_atomic_cmp_swp_get_rdma_connection(const struct doca_rdma_task_atomic_cmp_swp *task);

/* Tasks: fetches and adds. */

/**
 * Whether a device can do fetches and adds. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_cap_task_atomic_fetch_add_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure fetches and adds: the callbacks and the number. Needed before one can be allocated; a second call
 * replaces the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_atomic_fetch_add_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_atomic_fetch_add_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_atomic_fetch_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that adds to 8 bytes of the peer's memory.
 *
 * Atomic against RDMA atomics of every process on the same word, not against plain stores. The 8 bytes are in
 * the peer's byte order.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] dst_buf Remote; the 8 bytes at its data address, aligned to 8.
 * @param [in] result_buf Local; the 8 bytes at its data address get the old value. opendoca: no alignment
 * needed, data length unchanged.
 * @param [in] add_data What is added (modulo 2^64).
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_task_atomic_fetch_add_allocate_init(struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
                                              struct doca_buf *dst_buf, struct doca_buf *result_buf, uint64_t add_data,
                                              union doca_data user_data, struct doca_rdma_task_atomic_fetch_add **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_atomic_fetch_add_as_task(struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Remote; the 8 bytes at its data address, aligned to 8.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_atomic_fetch_add_set_dst_buf(struct doca_rdma_task_atomic_fetch_add *task,
                                                                   struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_atomic_fetch_add_get_dst_buf(const struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Change where the old value goes.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] result_buf Local; the 8 bytes at its data address get the old value. opendoca: no alignment
 * needed, data length unchanged.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_atomic_fetch_add_set_result_buf(struct doca_rdma_task_atomic_fetch_add *task,
                                                                      struct doca_buf *result_buf);

/**
 * Where the old value goes. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_atomic_fetch_add_get_result_buf(const struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Change what is added.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] add_data What is added (modulo 2^64).
 */
DOCA_EXPERIMENTAL void doca_rdma_task_atomic_fetch_add_set_add_data(struct doca_rdma_task_atomic_fetch_add *task,
                                                                    uint64_t add_data);

/**
 * What is added. State: any.
 *
 * @param [in] task The task.
 * @return As it was set.
 */
DOCA_EXPERIMENTAL uint64_t
doca_rdma_task_atomic_fetch_add_get_add_data(const struct doca_rdma_task_atomic_fetch_add *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_atomic_fetch_add_set_rdma_connection(struct doca_rdma_task_atomic_fetch_add *task,
                                                    struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_atomic_fetch_add_get_rdma_connection(const struct doca_rdma_task_atomic_fetch_add *task);

/* Tasks: reads of another node's event. */

/**
 * Whether a device can do reads of another node's event. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_remote_net_sync_event_get_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure reads of another node's event: the callbacks and the number. Needed before one can be allocated;
 * a second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_get_set_conf(
    struct doca_rdma *rdma, doca_rdma_task_remote_net_sync_event_get_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_remote_net_sync_event_get_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that reads the counter of another node's event.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] event The event.
 * @param [in] dst_buf Local; the 8 bytes at its data address get the counter.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_get_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection,
    const struct doca_sync_event_remote_net *event, struct doca_buf *dst_buf, union doca_data user_data,
    struct doca_rdma_task_remote_net_sync_event_get **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_remote_net_sync_event_get_as_task(struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * Change the event.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] event The event.
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_remote_net_sync_event_get_set_sync_event(struct doca_rdma_task_remote_net_sync_event_get *task,
                                                        const struct doca_sync_event_remote_net *event);

/**
 * The event. State: any.
 *
 * @param [in] task The task.
 * @return The event.
 */
DOCA_EXPERIMENTAL const struct doca_sync_event_remote_net *
doca_rdma_task_remote_net_sync_event_get_get_sync_event(const struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] dst_buf Local; the 8 bytes at its data address get the counter.
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_remote_net_sync_event_get_set_dst_buf(struct doca_rdma_task_remote_net_sync_event_get *task,
                                                     struct doca_buf *dst_buf);

/**
 * The destination. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_rdma_task_remote_net_sync_event_get_get_dst_buf(const struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * How many bytes were read. State: from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return Bytes.
 */
DOCA_EXPERIMENTAL uint32_t
doca_rdma_task_remote_net_sync_event_get_get_result_len(const struct doca_rdma_task_remote_net_sync_event_get *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void
doca_rdma_task_remote_net_sync_event_get_set_rdma_connection(struct doca_rdma_task_remote_net_sync_event_get *task,
                                                             struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *doca_rdma_task_remote_net_sync_event_get_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_get *task);

/* Tasks: settings of another node's event. */

/**
 * Whether a device can do settings of another node's event. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure settings of another node's event: the callbacks and the number. Needed before one can be
 * allocated; a second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_set_conf(
    struct doca_rdma *rdma,
    doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_remote_net_sync_event_notify_set_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that sets the counter of another node's event.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] event The event.
 * @param [in] src_buf Local; the 8 bytes at its data address are the new value.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
    const struct doca_buf *src_buf, union doca_data user_data,
    struct doca_rdma_task_remote_net_sync_event_notify_set **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_set_as_task(struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/**
 * Change the event.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] event The event.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_set_set_sync_event(
    struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_sync_event_remote_net *event);

/**
 * The event. State: any.
 *
 * @param [in] task The task.
 * @return The event.
 */
DOCA_EXPERIMENTAL struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_set_get_sync_event(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_set_set_rdma_connection(
    struct doca_rdma_task_remote_net_sync_event_notify_set *task, struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_set_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] src_buf Local; the 8 bytes at its data address are the new value.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_set_set_src_buf(
    struct doca_rdma_task_remote_net_sync_event_notify_set *task, const struct doca_buf *src_buf);

/**
 * The source. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL const struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_set_get_src_buf(
    const struct doca_rdma_task_remote_net_sync_event_notify_set *task);

/* Tasks: additions to another node's event. */

/**
 * Whether a device can do additions to another node's event. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_rdma_cap_task_remote_net_sync_event_notify_add_is_supported(const struct doca_devinfo *devinfo);

/**
 * Configure additions to another node's event: the callbacks and the number. Needed before one can be
 * allocated; a second call replaces the first.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] successful_task_completion_cb Called for one that has succeeded.
 * @param [in] error_task_completion_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time; up to what the device can have in flight.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_set_conf(
    struct doca_rdma *rdma,
    doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t successful_task_completion_cb,
    doca_rdma_task_remote_net_sync_event_notify_add_completion_cb_t error_task_completion_cb, uint32_t num_tasks);

#if OPENDOCA_LEVEL >= 20700
/**
 * Allocate a task that adds to the counter of another node's event.
 *
 * State: context running.
 *
 * @param [in] rdma The instance.
 * @param [in] rdma_connection The connection. NULL is allowed; the task is refused unless it has one when
 * it is submitted.
 * @param [in] event The event.
 * @param [in] result_buf Local; the 8 bytes at its data address get the old value. opendoca: no alignment
 * needed, data length unchanged.
 * @param [in] add_data What is added (modulo 2^64).
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: rdma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks of this kind are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_task_remote_net_sync_event_notify_add_allocate_init(
    struct doca_rdma *rdma, struct doca_rdma_connection *rdma_connection, struct doca_sync_event_remote_net *event,
    struct doca_buf *result_buf, uint64_t add_data, union doca_data user_data,
    struct doca_rdma_task_remote_net_sync_event_notify_add **task);
#endif

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_rdma_task_remote_net_sync_event_notify_add_as_task(struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Change the event.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] event The event.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_add_set_sync_event(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_sync_event_remote_net *event);

/**
 * The event. State: any.
 *
 * @param [in] task The task.
 * @return The event.
 */
DOCA_EXPERIMENTAL struct doca_sync_event_remote_net *doca_rdma_task_remote_net_sync_event_notify_add_get_sync_event(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Change where the old value goes.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] result_buf Local; the 8 bytes at its data address get the old value. opendoca: no alignment
 * needed, data length unchanged.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_add_set_result_buf(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_buf *result_buf);

/**
 * Where the old value goes. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *doca_rdma_task_remote_net_sync_event_notify_add_get_result_buf(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Change what is added.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] add_data What is added (modulo 2^64).
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_add_set_add_data(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, uint64_t add_data);

/**
 * What is added. State: any.
 *
 * @param [in] task The task.
 * @return As it was set.
 */
DOCA_EXPERIMENTAL uint64_t doca_rdma_task_remote_net_sync_event_notify_add_get_add_data(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Change the connection.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] rdma_connection The connection.
 */
DOCA_EXPERIMENTAL void doca_rdma_task_remote_net_sync_event_notify_add_set_rdma_connection(
    struct doca_rdma_task_remote_net_sync_event_notify_add *task, struct doca_rdma_connection *rdma_connection);

/**
 * The connection. State: any.
 *
 * @param [in] task The task.
 * @return The connection.
 */
DOCA_EXPERIMENTAL const struct doca_rdma_connection *
doca_rdma_task_remote_net_sync_event_notify_add_get_rdma_connection(
    const struct doca_rdma_task_remote_net_sync_event_notify_add *task);

/**
 * Let code on a DPA take the completions of an instance.
 *
 * State: context idle.
 *
 * @param [in] rdma The instance.
 * @param [in] dpa_comp The queue of completions.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_dpa_completion_attach(struct doca_rdma *rdma,
                                                               struct doca_dpa_completion *dpa_comp);

#if OPENDOCA_LEVEL < 20700
#include <opendoca/older/rdma.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_H_ */
