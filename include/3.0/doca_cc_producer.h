// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_cc_producer.h
 * Producers, as DOCA 2.5 and 2.6 have them: those of doca_comch_producer.h under their first name.
 *
 * For programs of the levels 20500 to 20800 alone (opendoca/level.h).
 */
#ifndef DOCA_CC_PRODUCER_H_
#define DOCA_CC_PRODUCER_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL >= 20900
#error                                                                                                                 \
    "doca_cc_producer.h is for programs of DOCA 2.5 and 2.6: -DDOCA_API=20500 or 20600; DOCA 2.9 and later have doca_comch_producer.h"
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

/** A producer. */
struct doca_cc_producer;

#if OPENDOCA_LEVEL == 20500

/** A task. */
struct doca_cc_producer_send_task;

/* Callbacks, as those of DOCA 3.0. */
typedef void (*doca_cc_producer_send_task_comp_handler)(struct doca_cc_producer_send_task *task,
                                                        union doca_data task_user_data, union doca_data ctx_user_data);

/** As doca_comch_producer_cap_is_supported(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_cap_is_producer_supported(const struct doca_devinfo *devinfo)
    OPENDOCA_BOUND_TO(doca_comch_producer_cap_is_supported);

/** As doca_comch_producer_cap_get_max_num_tasks(). The number is given as its power of two, rounded down. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_cap_get_max_log_num_tasks(const struct doca_devinfo *devinfo,
                                                                          size_t *max_log_num_tasks)
    OPENDOCA_BOUND_TO(opendoca_cc_producer_cap_get_max_log_num_tasks_2_5);

/** As doca_comch_producer_cap_get_max_buf_size(). Sizes are size_t; one above 2^32 - 1 is DOCA_ERROR_INVALID_VALUE. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                     size_t *max_buf_size)
    OPENDOCA_BOUND_TO(opendoca_cc_producer_cap_get_max_buf_size_2_5);

/** As doca_comch_producer_task_send_set_conf(). The number of tasks is given as its power of two, up to 2^31. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_send_task_set_conf(
    struct doca_cc_producer *producer, doca_cc_producer_send_task_comp_handler task_completion_cb,
    doca_cc_producer_send_task_comp_handler task_error_cb, size_t log_num_tasks)
    OPENDOCA_BOUND_TO(opendoca_cc_producer_send_task_set_conf_2_5);

/** As doca_comch_producer_task_send_alloc_init(). The message has no immediate data. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_send_task_alloc_init(struct doca_cc_producer *producer,
                                                                     struct doca_buf *buf, int consumer_id,
                                                                     struct doca_cc_producer_send_task **task)
    OPENDOCA_BOUND_TO(opendoca_cc_producer_send_task_alloc_init_2_5);

/** As doca_comch_producer_task_send_get_buf(). */
DOCA_EXPERIMENTAL struct doca_buf *doca_cc_producer_send_task_get_buf(struct doca_cc_producer_send_task *task)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_get_buf);

/** As doca_comch_producer_task_send_set_buf(). */
DOCA_EXPERIMENTAL void doca_cc_producer_send_task_set_buf(struct doca_cc_producer_send_task *task, struct doca_buf *buf)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_set_buf);

/** As doca_comch_producer_task_send_get_consumer_id(). */
DOCA_EXPERIMENTAL int doca_cc_producer_send_task_get_consumer_id(struct doca_cc_producer_send_task *task)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_get_consumer_id);

/** As doca_comch_producer_task_send_set_consumer_id(). */
DOCA_EXPERIMENTAL void doca_cc_producer_send_task_set_consumer_id(struct doca_cc_producer_send_task *task,
                                                                  const int consumer_id)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_set_consumer_id);

/** As doca_comch_producer_task_send_as_task(). */
DOCA_EXPERIMENTAL struct doca_task *doca_cc_producer_send_task_as_task(struct doca_cc_producer_send_task *task)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_as_task);

#else

/** A task. */
struct doca_cc_producer_task_send;

/* Callbacks, as those of DOCA 3.0. */
typedef void (*doca_cc_producer_task_send_completion_cb_t)(struct doca_cc_producer_task_send *task,
                                                           union doca_data task_user_data,
                                                           union doca_data ctx_user_data);

/** As doca_comch_producer_cap_is_supported(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_cap_is_supported(const struct doca_devinfo *devinfo)
    OPENDOCA_BOUND_TO(doca_comch_producer_cap_is_supported);

/** As doca_comch_producer_get_id(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_get_id(const struct doca_cc_producer *producer, uint32_t *id)
    OPENDOCA_BOUND_TO(doca_comch_producer_get_id);

/** As doca_comch_producer_cap_get_max_num_tasks(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
                                                                      uint32_t *max_num_tasks)
    OPENDOCA_BOUND_TO(doca_comch_producer_cap_get_max_num_tasks);

/** As doca_comch_producer_cap_get_max_buf_size(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                     uint32_t *max_buf_size)
    OPENDOCA_BOUND_TO(doca_comch_producer_cap_get_max_buf_size);

/** As doca_comch_producer_cap_get_max_producers(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
                                                                      uint32_t *max_producers)
    OPENDOCA_BOUND_TO(doca_comch_producer_cap_get_max_producers);

/** As doca_comch_producer_task_send_set_conf(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_task_send_set_conf(
    struct doca_cc_producer *producer, doca_cc_producer_task_send_completion_cb_t task_completion_cb,
    doca_cc_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_set_conf);

/** As doca_comch_producer_task_send_alloc_init(). The message has no immediate data. */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_task_send_alloc_init(struct doca_cc_producer *producer,
                                                                     struct doca_buf *buf, uint32_t consumer_id,
                                                                     struct doca_cc_producer_task_send **task)
    OPENDOCA_BOUND_TO(opendoca_cc_producer_task_send_alloc_init_2_6);

/** As doca_comch_producer_task_send_get_buf(). */
DOCA_EXPERIMENTAL struct doca_buf *doca_cc_producer_task_send_get_buf(struct doca_cc_producer_task_send *task)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_get_buf);

/** As doca_comch_producer_task_send_set_buf(). */
DOCA_EXPERIMENTAL void doca_cc_producer_task_send_set_buf(struct doca_cc_producer_task_send *task, struct doca_buf *buf)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_set_buf);

/** As doca_comch_producer_task_send_get_consumer_id(). */
DOCA_EXPERIMENTAL uint32_t doca_cc_producer_task_send_get_consumer_id(struct doca_cc_producer_task_send *task)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_get_consumer_id);

/** As doca_comch_producer_task_send_set_consumer_id(). */
DOCA_EXPERIMENTAL void doca_cc_producer_task_send_set_consumer_id(struct doca_cc_producer_task_send *task,
                                                                  const uint32_t consumer_id)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_set_consumer_id);

/** As doca_comch_producer_task_send_as_task(). */
DOCA_EXPERIMENTAL struct doca_task *doca_cc_producer_task_send_as_task(struct doca_cc_producer_task_send *task)
    OPENDOCA_BOUND_TO(doca_comch_producer_task_send_as_task);

#endif

/** As doca_comch_producer_create(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_create(struct doca_cc_connection *cc_connection,
                                                       struct doca_cc_producer **producer)
    OPENDOCA_BOUND_TO(doca_comch_producer_create);

/** As doca_comch_producer_destroy(). */
DOCA_EXPERIMENTAL doca_error_t doca_cc_producer_destroy(struct doca_cc_producer *producer)
    OPENDOCA_BOUND_TO(doca_comch_producer_destroy);

/** As doca_comch_producer_as_ctx(). */
DOCA_EXPERIMENTAL struct doca_ctx *doca_cc_producer_as_ctx(struct doca_cc_producer *producer)
    OPENDOCA_BOUND_TO(doca_comch_producer_as_ctx);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CC_PRODUCER_H_ */
