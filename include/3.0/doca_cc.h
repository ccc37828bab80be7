// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_cc.h
 * Comm Channel by a progress engine, as DOCA 2.5 and 2.6 have it: Comch under its first name.
 *
 * Servers, clients and connections are those of doca_comch.h, whose text holds here: doca_cc_x is doca_comch_x. A
 * client of one name reaches a server of the other.
 *
 * For programs of the levels 20500 to 20800 alone (opendoca/level.h).
 */
#ifndef DOCA_CC_H_
#define DOCA_CC_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL >= 20900
#error "doca_cc.h is for programs of DOCA 2.5 and 2.6: -DDOCA_API=20500 or 20600; DOCA 2.9 and later have doca_comch.h"
#elif OPENDOCA_LEVEL == 20500
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_dev_rep;
struct doca_devinfo;
struct doca_mmap;
struct doca_task;

/** A connection between a server and a client. */
struct doca_cc_connection;

/** A server. */
struct doca_cc_server;

/** A client. */
struct doca_cc_client;

/** The event that a message has come. */
struct doca_cc_event_msg_recv;

/** The event that a client comes or goes. */
struct doca_cc_event_connection_status_changed;

/** The event that a consumer of the peer comes or goes. */
struct doca_cc_event_consumer;

/** What a connection counts. */
enum doca_cc_counter {
    DOCA_CC_COUNTER_SENT_MESSAGES = 1, /**< Messages sent. */
    DOCA_CC_COUNTER_SENT_BYTES = 2,    /**< Bytes sent. */
    DOCA_CC_COUNTER_RECV_MESSAGES = 3, /**< Messages received. */
    DOCA_CC_COUNTER_RECV_BYTES = 4,    /**< Bytes received. */
};

#if OPENDOCA_LEVEL == 20500

/** A task. */
struct doca_cc_send_task;

/* Callbacks, as those of DOCA 3.0. */
typedef void (*doca_cc_send_task_comp_handler)(struct doca_cc_send_task *task, union doca_data task_user_data,
                                               union doca_data ctx_user_data);

typedef void (*doca_cc_event_msg_recv_cb_t)(struct doca_cc_event_msg_recv *event, uint8_t *recv_buffer, size_t msg_len,
                                            struct doca_cc_connection *cc_connection);

typedef void (*doca_cc_event_connection_status_changed_cb_t)(struct doca_cc_event_connection_status_changed *event,
                                                             struct doca_cc_connection *cc_connection,
                                                             bool change_successful);

typedef void (*doca_cc_event_consumer_cb_t)(struct doca_cc_event_consumer *event,
                                            struct doca_cc_connection *cc_connection, uint32_t id);

/** As doca_comch_cap_get_max_msg_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_msg_size(const struct doca_devinfo *devinfo, size_t *size)
    OPENDOCA_BOUND_TO(opendoca_cc_cap_get_max_msg_size_2_5);

/** As doca_comch_cap_get_max_recv_queue_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, size_t *size)
    OPENDOCA_BOUND_TO(opendoca_cc_cap_get_max_recv_queue_size_2_5);

/** As doca_comch_cap_get_max_clients(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_clients(const struct doca_devinfo *devinfo, size_t *num_clients)
    OPENDOCA_BOUND_TO(opendoca_cc_cap_get_max_clients_2_5);

/** As doca_comch_server_set_max_msg_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_set_max_msg_size(struct doca_cc_server *cc_server, size_t size)
    OPENDOCA_BOUND_TO(opendoca_cc_server_set_max_msg_size_2_5);

/** As doca_comch_server_get_max_msg_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_get_max_msg_size(const struct doca_cc_server *cc_server, size_t *size)
    OPENDOCA_BOUND_TO(opendoca_cc_server_get_max_msg_size_2_5);

/** As doca_comch_server_set_recv_queue_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_set_recv_queue_size(struct doca_cc_server *cc_server, size_t size)
    OPENDOCA_BOUND_TO(opendoca_cc_server_set_recv_queue_size_2_5);

/** As doca_comch_server_get_recv_queue_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_get_recv_queue_size(const struct doca_cc_server *cc_server, size_t *size)
    OPENDOCA_BOUND_TO(opendoca_cc_server_get_recv_queue_size_2_5);

/** As doca_comch_client_set_max_msg_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_set_max_msg_size(struct doca_cc_client *cc_client, size_t size)
    OPENDOCA_BOUND_TO(opendoca_cc_client_set_max_msg_size_2_5);

/** As doca_comch_client_get_max_msg_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_get_max_msg_size(const struct doca_cc_client *cc_client, size_t *size)
    OPENDOCA_BOUND_TO(opendoca_cc_client_get_max_msg_size_2_5);

/** As doca_comch_client_set_recv_queue_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_set_recv_queue_size(struct doca_cc_client *cc_client, size_t size)
    OPENDOCA_BOUND_TO(opendoca_cc_client_set_recv_queue_size_2_5);

/** As doca_comch_client_get_recv_queue_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_get_recv_queue_size(const struct doca_cc_client *cc_client, size_t *size)
    OPENDOCA_BOUND_TO(opendoca_cc_client_get_recv_queue_size_2_5);

/** As doca_comch_cap_get_max_send_tasks(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
                                                              size_t *max_send_tasks)
    OPENDOCA_BOUND_TO(opendoca_cc_cap_get_max_send_tasks_2_5);

/** As doca_comch_server_send_task_set_conf(). The number of tasks is given as its power of two, up to 2^31. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_send_task_set_conf(struct doca_cc_server *cc_server,
                                                                 doca_cc_send_task_comp_handler task_completion_cb,
                                                                 doca_cc_send_task_comp_handler task_error_cb,
                                                                 uint8_t log_num_tasks)
    OPENDOCA_BOUND_TO(opendoca_cc_server_send_task_set_conf_2_5);

/** As doca_comch_client_send_task_set_conf(). The number of tasks is given as its power of two, up to 2^31. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_send_task_set_conf(struct doca_cc_client *cc_client,
                                                                 doca_cc_send_task_comp_handler task_completion_cb,
                                                                 doca_cc_send_task_comp_handler task_error_cb,
                                                                 uint8_t log_num_tasks)
    OPENDOCA_BOUND_TO(opendoca_cc_client_send_task_set_conf_2_5);

/** As doca_comch_server_send_task_alloc_init(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_send_task_alloc_init(struct doca_cc_server *cc_server,
                                                                   struct doca_cc_connection *peer, const void *msg,
                                                                   size_t len, struct doca_cc_send_task **task)
    OPENDOCA_BOUND_TO(opendoca_cc_server_send_task_alloc_init_2_5);

/** As doca_comch_client_send_task_alloc_init(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_send_task_alloc_init(struct doca_cc_client *cc_client,
                                                                   struct doca_cc_connection *peer, const void *msg,
                                                                   size_t len, struct doca_cc_send_task **task)
    OPENDOCA_BOUND_TO(opendoca_cc_client_send_task_alloc_init_2_5);

/** As doca_comch_task_send_as_task(). */
DOCA_EXPERIMENTAL struct doca_task *doca_cc_send_task_as_task(struct doca_cc_send_task *task)
    OPENDOCA_BOUND_TO(doca_comch_task_send_as_task);

/** As doca_comch_server_event_msg_recv_register(). The length that the callback gets is a size_t. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_event_msg_recv_register(struct doca_cc_server *cc_server,
                                                                      doca_cc_event_msg_recv_cb_t recv_event_cb)
    OPENDOCA_BOUND_TO(opendoca_cc_server_event_msg_recv_register_2_5);

/** As doca_comch_client_event_msg_recv_register(). The length that the callback gets is a size_t. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_event_msg_recv_register(struct doca_cc_client *cc_client,
                                                                      doca_cc_event_msg_recv_cb_t recv_event_cb)
    OPENDOCA_BOUND_TO(opendoca_cc_client_event_msg_recv_register_2_5);

#else

/** A task. */
struct doca_cc_task_send;

/* Callbacks, as those of DOCA 3.0. */
typedef void (*doca_cc_task_send_completion_cb_t)(struct doca_cc_task_send *task, union doca_data task_user_data,
                                                  union doca_data ctx_user_data);

typedef void (*doca_cc_event_msg_recv_cb_t)(struct doca_cc_event_msg_recv *event, uint8_t *recv_buffer,
                                            uint32_t msg_len, struct doca_cc_connection *cc_connection);

typedef void (*doca_cc_event_connection_status_changed_cb_t)(struct doca_cc_event_connection_status_changed *event,
                                                             struct doca_cc_connection *cc_connection,
                                                             uint8_t change_successful);

typedef void (*doca_cc_event_consumer_cb_t)(struct doca_cc_event_consumer *event,
                                            struct doca_cc_connection *cc_connection, uint32_t id);

/** As doca_comch_cap_get_max_msg_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_msg_size(const struct doca_devinfo *devinfo, uint32_t *size)
    OPENDOCA_BOUND_TO(doca_comch_cap_get_max_msg_size);

/** As doca_comch_cap_get_max_recv_queue_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_recv_queue_size(const struct doca_devinfo *devinfo, uint32_t *size)
    OPENDOCA_BOUND_TO(doca_comch_cap_get_max_recv_queue_size);

/** As doca_comch_cap_get_max_clients(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_clients(const struct doca_devinfo *devinfo, uint32_t *num_clients)
    OPENDOCA_BOUND_TO(doca_comch_cap_get_max_clients);

/** As doca_comch_server_set_max_msg_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_set_max_msg_size(struct doca_cc_server *cc_server, uint32_t size)
    OPENDOCA_BOUND_TO(doca_comch_server_set_max_msg_size);

/** As doca_comch_server_get_max_msg_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_get_max_msg_size(const struct doca_cc_server *cc_server, uint32_t *size)
    OPENDOCA_BOUND_TO(doca_comch_server_get_max_msg_size);

/** As doca_comch_server_set_recv_queue_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_set_recv_queue_size(struct doca_cc_server *cc_server, uint32_t size)
    OPENDOCA_BOUND_TO(doca_comch_server_set_recv_queue_size);

/** As doca_comch_server_get_recv_queue_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_get_recv_queue_size(const struct doca_cc_server *cc_server,
                                                                  uint32_t *size)
    OPENDOCA_BOUND_TO(doca_comch_server_get_recv_queue_size);

/** As doca_comch_client_set_max_msg_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_set_max_msg_size(struct doca_cc_client *cc_client, uint32_t size)
    OPENDOCA_BOUND_TO(doca_comch_client_set_max_msg_size);

/** As doca_comch_client_get_max_msg_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_get_max_msg_size(const struct doca_cc_client *cc_client, uint32_t *size)
    OPENDOCA_BOUND_TO(doca_comch_client_get_max_msg_size);

/** As doca_comch_client_set_recv_queue_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_set_recv_queue_size(struct doca_cc_client *cc_client, uint32_t size)
    OPENDOCA_BOUND_TO(doca_comch_client_set_recv_queue_size);

/** As doca_comch_client_get_recv_queue_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_get_recv_queue_size(const struct doca_cc_client *cc_client,
                                                                  uint32_t *size)
    OPENDOCA_BOUND_TO(doca_comch_client_get_recv_queue_size);

/** As doca_comch_cap_get_max_send_tasks(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_send_tasks(const struct doca_devinfo *devinfo,
                                                              uint32_t *max_send_tasks)
    OPENDOCA_BOUND_TO(doca_comch_cap_get_max_send_tasks);

/** As doca_comch_server_task_send_set_conf(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_task_send_set_conf(struct doca_cc_server *cc_server,
                                                                 doca_cc_task_send_completion_cb_t task_completion_cb,
                                                                 doca_cc_task_send_completion_cb_t task_error_cb,
                                                                 uint32_t num_send_tasks)
    OPENDOCA_BOUND_TO(doca_comch_server_task_send_set_conf);

/** As doca_comch_client_task_send_set_conf(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_task_send_set_conf(struct doca_cc_client *cc_client,
                                                                 doca_cc_task_send_completion_cb_t task_completion_cb,
                                                                 doca_cc_task_send_completion_cb_t task_error_cb,
                                                                 uint32_t num_send_tasks)
    OPENDOCA_BOUND_TO(doca_comch_client_task_send_set_conf);

/** As doca_comch_server_task_send_alloc_init(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_task_send_alloc_init(struct doca_cc_server *cc_server,
                                                                   struct doca_cc_connection *peer, const void *msg,
                                                                   uint32_t len, struct doca_cc_task_send **task)
    OPENDOCA_BOUND_TO(doca_comch_server_task_send_alloc_init);

/** As doca_comch_client_task_send_alloc_init(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_task_send_alloc_init(struct doca_cc_client *cc_client,
                                                                   struct doca_cc_connection *peer, const void *msg,
                                                                   uint32_t len, struct doca_cc_task_send **task)
    OPENDOCA_BOUND_TO(doca_comch_client_task_send_alloc_init);

/** As doca_comch_task_send_as_task(). */
DOCA_EXPERIMENTAL struct doca_task *doca_cc_task_send_as_task(struct doca_cc_task_send *task)
    OPENDOCA_BOUND_TO(doca_comch_task_send_as_task);

/** As doca_comch_server_event_msg_recv_register(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_event_msg_recv_register(struct doca_cc_server *cc_server,
                                                                      doca_cc_event_msg_recv_cb_t recv_event_cb)
    OPENDOCA_BOUND_TO(doca_comch_server_event_msg_recv_register);

/** As doca_comch_client_event_msg_recv_register(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_event_msg_recv_register(struct doca_cc_client *cc_client,
                                                                      doca_cc_event_msg_recv_cb_t recv_event_cb)
    OPENDOCA_BOUND_TO(doca_comch_client_event_msg_recv_register);

#endif

/** As doca_comch_connection_set_user_data(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_connection_set_user_data(struct doca_cc_connection *connection,
                                                                union doca_data user_data)
    OPENDOCA_BOUND_TO(doca_comch_connection_set_user_data);

/** As doca_comch_connection_get_user_data(). */
DOCA_EXPERIMENTAL union doca_data doca_cc_connection_get_user_data(const struct doca_cc_connection *connection)
    OPENDOCA_BOUND_TO(doca_comch_connection_get_user_data);

/** As doca_comch_server_get_server_ctx(). */
DOCA_EXPERIMENTAL struct doca_cc_server *doca_cc_server_get_server_ctx(const struct doca_cc_connection *connection)
    OPENDOCA_BOUND_TO(doca_comch_server_get_server_ctx);

/** As doca_comch_client_get_client_ctx(). */
DOCA_EXPERIMENTAL struct doca_cc_client *doca_cc_client_get_client_ctx(const struct doca_cc_connection *connection)
    OPENDOCA_BOUND_TO(doca_comch_client_get_client_ctx);

/** As doca_comch_cap_get_max_name_len(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_get_max_name_len(const struct doca_devinfo *devinfo, uint32_t *max_name_len)
    OPENDOCA_BOUND_TO(doca_comch_cap_get_max_name_len);

/** As doca_comch_server_create(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_create(struct doca_dev *dev, struct doca_dev_rep *repr, const char *name,
                                                     struct doca_cc_server **cc_server)
    OPENDOCA_BOUND_TO(doca_comch_server_create);

/** As doca_comch_server_destroy(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_destroy(struct doca_cc_server *cc_server)
    OPENDOCA_BOUND_TO(doca_comch_server_destroy);

/** As doca_comch_cap_server_is_supported(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_server_is_supported(const struct doca_devinfo *devinfo)
    OPENDOCA_BOUND_TO(doca_comch_cap_server_is_supported);

/** As doca_comch_server_get_device(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_get_device(const struct doca_cc_server *cc_server, struct doca_dev **dev)
    OPENDOCA_BOUND_TO(doca_comch_server_get_device);

/** As doca_comch_server_get_device_rep(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_get_device_repr(const struct doca_cc_server *cc_server,
                                                              struct doca_dev_rep **repr)
    OPENDOCA_BOUND_TO(doca_comch_server_get_device_rep);

/** As doca_comch_server_as_ctx(). */
DOCA_EXPERIMENTAL struct doca_ctx *doca_cc_server_as_ctx(struct doca_cc_server *cc_server)
    OPENDOCA_BOUND_TO(doca_comch_server_as_ctx);

/** As doca_comch_client_create(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_create(struct doca_dev *dev, const char *name,
                                                     struct doca_cc_client **cc_client)
    OPENDOCA_BOUND_TO(doca_comch_client_create);

/** As doca_comch_client_destroy(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_destroy(struct doca_cc_client *cc_client)
    OPENDOCA_BOUND_TO(doca_comch_client_destroy);

/** As doca_comch_cap_client_is_supported(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_client_is_supported(const struct doca_devinfo *devinfo)
    OPENDOCA_BOUND_TO(doca_comch_cap_client_is_supported);

/** As doca_comch_client_get_device(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_get_device(const struct doca_cc_client *cc_client, struct doca_dev **dev)
    OPENDOCA_BOUND_TO(doca_comch_client_get_device);

/** As doca_comch_client_as_ctx(). */
DOCA_EXPERIMENTAL struct doca_ctx *doca_cc_client_as_ctx(struct doca_cc_client *cc_client)
    OPENDOCA_BOUND_TO(doca_comch_client_as_ctx);

/** As doca_comch_client_get_connection(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_get_connection(const struct doca_cc_client *cc_client,
                                                             struct doca_cc_connection **connection)
    OPENDOCA_BOUND_TO(doca_comch_client_get_connection);

/** As doca_comch_server_event_connection_status_changed_register(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_event_connection_register(
    struct doca_cc_server *cc_server, doca_cc_event_connection_status_changed_cb_t connect_event_cb,
    doca_cc_event_connection_status_changed_cb_t disconnect_event_cb)
    OPENDOCA_BOUND_TO(doca_comch_server_event_connection_status_changed_register);

/** As doca_comch_connection_update_info(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_connection_update_info(struct doca_cc_connection *cc_connection)
    OPENDOCA_BOUND_TO(doca_comch_connection_update_info);

/** As doca_comch_connection_get_counter(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_connection_get_counter(const struct doca_cc_connection *cc_connection,
                                                              enum doca_cc_counter counter_type,
                                                              uint64_t *counter_value)
    OPENDOCA_BOUND_TO(doca_comch_connection_get_counter);

/** As doca_comch_server_event_consumer_register(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_server_event_consumer_register(
    struct doca_cc_server *cc_server, doca_cc_event_consumer_cb_t new_consumer_event_cb,
    doca_cc_event_consumer_cb_t expired_consumer_event_cb) OPENDOCA_BOUND_TO(doca_comch_server_event_consumer_register);

/** As doca_comch_client_event_consumer_register(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_client_event_consumer_register(
    struct doca_cc_client *cc_client, doca_cc_event_consumer_cb_t new_consumer_event_cb,
    doca_cc_event_consumer_cb_t expired_consumer_event_cb) OPENDOCA_BOUND_TO(doca_comch_client_event_consumer_register);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CC_H_ */
