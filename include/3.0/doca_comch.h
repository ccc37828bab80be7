// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_comch.h
 * Comch: messages between a server on the DPU and its clients on the host.
 *
 * Both are contexts. Server, on the DPU: doca_comch_server_create() with the representor of the host's
 * function, set_conf, the register functions, doca_ctx_start(); it runs at once, and tells of clients that
 * come and go. Client, on the host: doca_comch_client_create(), the same, doca_ctx_start(), which gives
 * DOCA_ERROR_IN_PROGRESS; it runs when the server has taken it in, and then has its connection
 * (doca_comch_client_get_connection()). Only the host function that the representor stands for can connect.
 * opendoca: a client waits up to 10 s for a server that is not there yet, and is idle again after that.
 *
 * Messages are sent by tasks, and come in the callback of doca_comch_server_event_msg_recv_register() or its
 * sibling. Message boundaries are kept, and so is the order of the messages of one connection. What was sent
 * before a disconnect still arrives.
 *
 * A client whose server goes away is stopping by itself, and then idle. A server goes on.
 *
 * For bulk data, make consumers and producers on a connection: doca_comch_consumer.h, doca_comch_producer.h.
 *
 * A send ends with
 * - DOCA_ERROR_INVALID_VALUE: the message is empty or longer than the peer takes, or the connection is not
 *   one of the context (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the peer has gone; or the server is stopping (opendoca).
 * - DOCA_ERROR_SHUTDOWN: flushed, because the client is stopping (opendoca).
 *
 * opendoca: doca_task_submit() copies the message. One that finds the peer's queue full waits in its task;
 * DOCA_ERROR_AGAIN is never given. docs/comch.md tells how both sides behave as a whole.
 *
 * opendoca: defaults are messages of 4080 bytes and receive queues of 512 messages; messages of 4080 bytes
 * and queues of 8192 messages can be had everywhere. Comch works on software devices, and on mlx5
 * devices whose other side can be reached by TCP (docs/comm-channel.md); on any other, capabilities and create
 * functions answer DOCA_ERROR_NOT_SUPPORTED.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts, and their connections; capabilities of a device: any.
 */
#ifndef DOCA_COMCH_H_
#define DOCA_COMCH_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_task;

/** A client. */
struct doca_comch_client;

/** A connection between a server and a client, owned by them; valid until it has ended. */
struct doca_comch_connection;

/** The event that a client comes or goes. */
struct doca_comch_event_connection_status_changed;

/** The event that a consumer of the peer comes or goes. */
struct doca_comch_event_consumer;

/** The event that a message has come. */
struct doca_comch_event_msg_recv;

/** A server. */
struct doca_comch_server;

/** A task that sends a message. */
struct doca_comch_task_send;

/** What a connection counts: the program's own messages, and none that the libraries have for consumers and producers.
 */
enum doca_comch_counter {
    DOCA_COMCH_COUNTER_SENT_MESSAGES = 1, /**< Messages sent. */
    DOCA_COMCH_COUNTER_SENT_BYTES = 2,    /**< Bytes sent. */
    DOCA_COMCH_COUNTER_RECV_MESSAGES = 3, /**< Messages received. */
    DOCA_COMCH_COUNTER_RECV_BYTES = 4,    /**< Bytes received. */
};

/**
 * Called when a send has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_comch_task_send_completion_cb_t)(struct doca_comch_task_send *task, union doca_data task_user_data,
                                                     union doca_data ctx_user_data);

/**
 * Called when a message has come.
 *
 * @param [in] event The event; valid during the call.
 * @param [in] recv_buffer The message; valid during the call.
 * @param [in] msg_len Its bytes.
 * @param [in] comch_connection Where it came from.
 */
typedef void (*doca_comch_event_msg_recv_cb_t)(struct doca_comch_event_msg_recv *event, uint8_t *recv_buffer,
                                               uint32_t msg_len, struct doca_comch_connection *comch_connection);

/**
 * Called when a client has come, or has gone.
 *
 * @param [in] event The event; valid during the call.
 * @param [in] comch_connection Its connection; after it has gone, valid during the call.
 * @param [in] change_successful 1 when it did; 0 when it tried to and failed.
 */
typedef void (*doca_comch_event_connection_status_changed_cb_t)(
    struct doca_comch_event_connection_status_changed *event, struct doca_comch_connection *comch_connection,
    uint8_t change_successful);

/**
 * Called when a consumer of the peer can be sent to, or no longer.
 *
 * @param [in] event The event; valid during the call.
 * @param [in] comch_connection The connection that it is on.
 * @param [in] id Its number on that connection; above 0.
 */
typedef void (*doca_comch_event_consumer_cb_t)(struct doca_comch_event_consumer *event,
                                               struct doca_comch_connection *comch_connection, uint32_t id);

/**
 * Set a word for doca_comch_connection_get_user_data(). State: any.
 *
 * @param [in] connection The connection.
 * @param [in] user_data The word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: connection is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_connection_set_user_data(struct doca_comch_connection *connection,
                                                             union doca_data user_data);

/**
 * The connection's word. State: any.
 *
 * @param [in] connection The connection.
 * @return The word; zero if none was set.
 */
DOCA_STABLE union doca_data doca_comch_connection_get_user_data(const struct doca_comch_connection *connection);

/**
 * The server of a connection. State: any.
 *
 * @param [in] connection The connection.
 * @return The server; NULL when the connection is a client's, or NULL.
 */
DOCA_STABLE struct doca_comch_server *doca_comch_server_get_server_ctx(const struct doca_comch_connection *connection);

/**
 * The client of a connection. State: any.
 *
 * @param [in] connection The connection.
 * @return The client; NULL when the connection is a server's, or NULL.
 */
DOCA_STABLE struct doca_comch_client *doca_comch_client_get_client_ctx(const struct doca_comch_connection *connection);

/**
 * Longest name of a server.
 *
 * @param [in] devinfo The device.
 * @param [out] max_name_len Bytes, with the final NUL.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no Comch (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len);

/**
 * Longest message.
 *
 * @param [in] devinfo The device.
 * @param [out] size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no Comch (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size);

/**
 * Longest receive queue.
 *
 * @param [in] devinfo The device.
 * @param [out] size Messages.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no Comch (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size);

/**
 * Most clients that a server can have at a time.
 *
 * @param [in] devinfo The device.
 * @param [out] num_clients Clients.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no Comch (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients);

/**
 * Create a server. Its context is idle and connected to no progress engine.
 *
 * @param [in] dev The DPU's device; it must stay open until the server is destroyed.
 * @param [in] repr Representor of the host function whose clients it takes; must stay open, too.
 * @param [in] name Its name; copied. 1 to doca_comch_cap_get_max_name_len() bytes with the final NUL.
 * @param [out] comch_server The server. Free it with doca_comch_server_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or name is empty or too long.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_INITIALIZATION: the server could not be set up.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have servers (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
                                                  struct doca_comch_server **comch_server);

/**
 * Destroy a server and its context.
 *
 * State: context idle.
 *
 * @param [in] comch_server The server.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: comch_server is NULL.
 * - DOCA_ERROR_IN_USE: the context is not idle; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_comch_server_destroy(struct doca_comch_server *comch_server);

/**
 * Whether a device can have servers. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_STABLE doca_error_t doca_comch_cap_server_is_supported(const struct doca_devinfo *devinfo);

/**
 * Longest message that can be sent and received. opendoca: default 4080; that of a connection is the smaller
 * of both sides.
 *
 * State: context idle.
 *
 * @param [in] comch_server The server.
 * @param [in] size Bytes; 1 to doca_comch_cap_get_max_msg_size().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: comch_server is NULL, or size is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_server_set_max_msg_size(struct doca_comch_server *comch_server, uint32_t size);

/**
 * Longest message. State: any.
 *
 * @param [in] comch_server The server.
 * @param [out] size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_server_get_max_msg_size(const struct doca_comch_server *comch_server,
                                                            uint32_t *size);

/**
 * How many messages can be here, of each connection, before the sender has to wait. opendoca: default 512.
 *
 * State: context idle.
 *
 * @param [in] comch_server The server.
 * @param [in] size Messages; 1 to doca_comch_cap_get_max_recv_queue_size().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: comch_server is NULL, or size is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_server_set_recv_queue_size(struct doca_comch_server *comch_server, uint32_t size);

/**
 * How many messages can be here. State: any.
 *
 * @param [in] comch_server The server.
 * @param [out] size Messages.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_server_get_recv_queue_size(const struct doca_comch_server *comch_server,
                                                               uint32_t *size);

/**
 * The device of a server. State: any.
 *
 * @param [in] comch_server The server.
 * @param [out] dev The device.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_server_get_device(const struct doca_comch_server *comch_server,
                                                      struct doca_dev **dev);

/**
 * The representor of a server. State: any.
 *
 * @param [in] comch_server The server.
 * @param [out] rep The representor.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_server_get_device_rep(const struct doca_comch_server *comch_server,
                                                          struct doca_dev_rep **rep);

/**
 * The context of a server. State: any.
 *
 * @param [in] comch_server The server.
 * @return The context, always the same one, which lives as long as the server; or NULL when comch_server is
 * NULL.
 */
DOCA_STABLE struct doca_ctx *doca_comch_server_as_ctx(struct doca_comch_server *comch_server);

/**
 * End the connection with a client. Allowed in a callback, also in that of its coming.
 *
 * State: context running; no consumer or producer is on the connection.
 *
 * @param [in] comch_server The server.
 * @param [in] connection The connection.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or the connection is not the server's.
 * - DOCA_ERROR_IN_USE: a consumer or producer is on the connection.
 * - DOCA_ERROR_AGAIN: the queue is full: call again later.
 */
DOCA_STABLE doca_error_t doca_comch_server_disconnect(struct doca_comch_server *comch_server,
                                                      struct doca_comch_connection *connection);

/**
 * Create a client. Its context is idle and connected to no progress engine.
 *
 * @param [in] dev The host's device; it must stay open until the client is destroyed.
 * @param [in] name Name of the server; copied.
 * @param [out] comch_client The client. Free it with doca_comch_client_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or name is empty or too long.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_INITIALIZATION: the client could not be set up.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have clients (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_client_create(struct doca_dev *dev, const char *name,
                                                  struct doca_comch_client **comch_client);

/**
 * Destroy a client and its context.
 *
 * State: context idle.
 *
 * @param [in] comch_client The client.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: comch_client is NULL.
 * - DOCA_ERROR_IN_USE: the context is not idle; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_comch_client_destroy(struct doca_comch_client *comch_client);

/**
 * Whether a device can have clients. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_STABLE doca_error_t doca_comch_cap_client_is_supported(const struct doca_devinfo *devinfo);

/**
 * Longest message that can be sent and received. opendoca: default 4080; that of a connection is the smaller
 * of both sides.
 *
 * State: context idle.
 *
 * @param [in] comch_client The client.
 * @param [in] size Bytes; 1 to doca_comch_cap_get_max_msg_size().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: comch_client is NULL, or size is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_client_set_max_msg_size(struct doca_comch_client *comch_client, uint32_t size);

/**
 * Longest message. State: any.
 *
 * @param [in] comch_client The client.
 * @param [out] size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_client_get_max_msg_size(const struct doca_comch_client *comch_client,
                                                            uint32_t *size);

/**
 * How many messages can be here, of each connection, before the sender has to wait. opendoca: default 512.
 *
 * State: context idle.
 *
 * @param [in] comch_client The client.
 * @param [in] size Messages; 1 to doca_comch_cap_get_max_recv_queue_size().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: comch_client is NULL, or size is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_client_set_recv_queue_size(struct doca_comch_client *comch_client, uint32_t size);

/**
 * How many messages can be here. State: any.
 *
 * @param [in] comch_client The client.
 * @param [out] size Messages.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_client_get_recv_queue_size(const struct doca_comch_client *comch_client,
                                                               uint32_t *size);

/**
 * The device of a client. State: any.
 *
 * @param [in] comch_client The client.
 * @param [out] dev The device.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_client_get_device(const struct doca_comch_client *comch_client,
                                                      struct doca_dev **dev);

/**
 * The context of a client. State: any.
 *
 * @param [in] comch_client The client.
 * @return The context, always the same one, which lives as long as the client; or NULL when comch_client is
 * NULL.
 */
DOCA_STABLE struct doca_ctx *doca_comch_client_as_ctx(struct doca_comch_client *comch_client);

/**
 * The connection of a client.
 *
 * State: context running.
 *
 * @param [in] comch_client The client.
 * @param [out] connection The connection.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the client is not connected.
 */
DOCA_STABLE doca_error_t doca_comch_client_get_connection(const struct doca_comch_client *comch_client,
                                                          struct doca_comch_connection **connection);

/**
 * Most sends that a server or client can have, for set_conf.
 *
 * @param [in] devinfo The device.
 * @param [out] max_send_tasks Tasks.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no Comch (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
                                                           uint32_t *max_send_tasks);

/**
 * Configure sends: the callbacks and the number. Needed before one can be allocated; a second call replaces
 * the first.
 *
 * State: context idle.
 *
 * @param [in] comch_server The server.
 * @param [in] task_completion_cb Called for one that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] num_send_tasks How many can be allocated at a time; up to doca_comch_cap_get_max_send_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_send_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_server_task_send_set_conf(struct doca_comch_server *comch_server,
                                                              doca_comch_task_send_completion_cb_t task_completion_cb,
                                                              doca_comch_task_send_completion_cb_t task_error_cb,
                                                              uint32_t num_send_tasks);

/**
 * Configure sends: the callbacks and the number. Needed before one can be allocated; a second call replaces
 * the first.
 *
 * State: context idle.
 *
 * @param [in] comch_client The client.
 * @param [in] task_completion_cb Called for one that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] num_send_tasks How many can be allocated at a time; up to doca_comch_cap_get_max_send_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_send_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_client_task_send_set_conf(struct doca_comch_client *comch_client,
                                                              doca_comch_task_send_completion_cb_t task_completion_cb,
                                                              doca_comch_task_send_completion_cb_t task_error_cb,
                                                              uint32_t num_send_tasks);

/**
 * Allocate a send. The message is read by doca_task_submit(), and is the caller's again after it. The task's
 * word is zero: doca_task_set_user_data().
 *
 * State: context running.
 *
 * @param [in] comch_server The server.
 * @param [in] peer The connection to send to.
 * @param [in] msg The message.
 * @param [in] len Its bytes; 1 to the longest message.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or len is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all sends are allocated.
 */
DOCA_STABLE doca_error_t doca_comch_server_task_send_alloc_init(struct doca_comch_server *comch_server,
                                                                struct doca_comch_connection *peer, const void *msg,
                                                                uint32_t len, struct doca_comch_task_send **task);

/**
 * Allocate a send. The message is read by doca_task_submit(), and is the caller's again after it. The task's
 * word is zero: doca_task_set_user_data().
 *
 * State: context running.
 *
 * @param [in] comch_client The client.
 * @param [in] peer The connection to send to.
 * @param [in] msg The message.
 * @param [in] len Its bytes; 1 to the longest message.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or len is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all sends are allocated.
 */
DOCA_STABLE doca_error_t doca_comch_client_task_send_alloc_init(struct doca_comch_client *comch_client,
                                                                struct doca_comch_connection *peer, const void *msg,
                                                                uint32_t len, struct doca_comch_task_send **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_STABLE struct doca_task *doca_comch_task_send_as_task(struct doca_comch_task_send *task);

/**
 * Set what is called when a message has come. Needed before the start.
 *
 * State: context idle.
 *
 * @param [in] comch_server The server.
 * @param [in] recv_event_cb The callback.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_server_event_msg_recv_register(struct doca_comch_server *comch_server,
                                                                   doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Set what is called when a message has come. Needed before the start.
 *
 * State: context idle.
 *
 * @param [in] comch_client The client.
 * @param [in] recv_event_cb The callback.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_client_event_msg_recv_register(struct doca_comch_client *comch_client,
                                                                   doca_comch_event_msg_recv_cb_t recv_event_cb);

/**
 * Set what is called when clients come and go. Needed before the start.
 *
 * State: context idle.
 *
 * @param [in] comch_server The server.
 * @param [in] connect_event_cb Called when one has come.
 * @param [in] disconnect_event_cb Called when one has gone.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_server_event_connection_status_changed_register(
    struct doca_comch_server *comch_server, doca_comch_event_connection_status_changed_cb_t connect_event_cb,
    doca_comch_event_connection_status_changed_cb_t disconnect_event_cb);

/**
 * Bring the counters of a connection up to date.
 *
 * @param [in] comch_connection The connection.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: comch_connection is NULL.
 * - DOCA_ERROR_CONNECTION_INPROGRESS: the connection is being made: call again.
 * - DOCA_ERROR_CONNECTION_ABORTED: the connection failed or was broken.
 */
DOCA_STABLE doca_error_t doca_comch_connection_update_info(struct doca_comch_connection *comch_connection);

/**
 * A counter of a connection, as of the last doca_comch_connection_update_info().
 *
 * @param [in] comch_connection The connection.
 * @param [in] counter_type Which one.
 * @param [out] counter_value Its value.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or there is no such counter.
 */
DOCA_STABLE doca_error_t doca_comch_connection_get_counter(const struct doca_comch_connection *comch_connection,
                                                           enum doca_comch_counter counter_type,
                                                           uint64_t *counter_value);

/**
 * Set what is called when consumers of the peer come and go. Needed by who has producers.
 *
 * State: context idle.
 *
 * @param [in] comch_server The server.
 * @param [in] new_consumer_event_cb Called when one can be sent to.
 * @param [in] expired_consumer_event_cb Called when it no longer can: it has stopped, or its connection has ended.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_server_event_consumer_register(
    struct doca_comch_server *comch_server, doca_comch_event_consumer_cb_t new_consumer_event_cb,
    doca_comch_event_consumer_cb_t expired_consumer_event_cb);

/**
 * Set what is called when consumers of the peer come and go. Needed by who has producers.
 *
 * State: context idle.
 *
 * @param [in] comch_client The client.
 * @param [in] new_consumer_event_cb Called when one can be sent to.
 * @param [in] expired_consumer_event_cb Called when it no longer can: it has stopped, or its connection has ended.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_client_event_consumer_register(
    struct doca_comch_client *comch_client, doca_comch_event_consumer_cb_t new_consumer_event_cb,
    doca_comch_event_consumer_cb_t expired_consumer_event_cb);

#if OPENDOCA_LEVEL < 20900
#include <opendoca/older/comch.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_H_ */
