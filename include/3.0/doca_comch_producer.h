// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_comch_producer.h
 * Comch producers: filling the buffers of a consumer of the peer.
 *
 * A producer is a context on a connection of doca_comch.h. Each of its tasks sends a buffer's data, immediate
 * data or both to one of the peer's consumers (doca_comch_consumer.h), and takes one of the buffers that wait
 * there. It may have a progress engine and a thread of its own. opendoca: its first send to a consumer waits
 * for that one's answer, which goes by the connection: a producer that polls carries it itself; where the
 * program sleeps, the connection's progress engine has to be progressed, too.
 *
 * doca_task_submit() gives DOCA_ERROR_AGAIN when the queue is full: submit again later. opendoca: a send that
 * no buffer waits for is kept at the consumer, and counts as sent; if it is too long for the buffer that
 * comes, only the consumer is told.
 *
 * A task ends with
 * - DOCA_ERROR_INVALID_VALUE: a buffer that is part of a list, or of a memory map that the device may not
 *   read; more than 32 bytes of immediate data, or than the consumer takes
 *   (doca_comch_consumer_set_imm_data_len()) (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the buffer is of memory that was imported (opendoca).
 * - DOCA_ERROR_FULL: the data is longer than the room of the buffer that it met (opendoca).
 * - DOCA_ERROR_NOT_FOUND: the connection has no consumer of that number, or no longer (opendoca).
 * - DOCA_ERROR_CONNECTION_RESET: the connection has ended; or the consumer has stopped, or had a buffer that
 *   was too small (opendoca).
 * - DOCA_ERROR_SHUTDOWN: flushed, because the context is stopping (opendoca).
 *
 * opendoca: on devices whose connections can share receives. There is no DPA: functions for it answer
 * DOCA_ERROR_NOT_SUPPORTED.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts; capabilities of a device: any.
 */
#ifndef DOCA_COMCH_PRODUCER_H_
#define DOCA_COMCH_PRODUCER_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_comch_connection;
struct doca_ctx;
struct doca_devinfo;
struct doca_task;

/** A producer. */
struct doca_comch_producer;

/** A task that sends data to a consumer. */
struct doca_comch_producer_task_send;

/** A queue of completions for code on a DPA. */
struct doca_dpa_completion;

/** Handle of a producer for code on a DPA. */
typedef uint64_t doca_dpa_dev_comch_producer_t;

/**
 * Called when a send to a consumer has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_comch_producer_task_send_completion_cb_t)(struct doca_comch_producer_task_send *task,
                                                              union doca_data task_user_data,
                                                              union doca_data ctx_user_data);

/**
 * Create a producer. Its context is idle and connected to no progress engine.
 *
 * @param [in] comch_connection The connection, which is up; it must stay until the producer is destroyed.
 * @param [out] producer The producer. Free it with doca_comch_producer_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_BAD_STATE: the connection is not up.
 * - DOCA_ERROR_NOT_PERMITTED: the peer uses Comm Channel, which has no consumers.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers.
 */
DOCA_STABLE doca_error_t doca_comch_producer_create(struct doca_comch_connection *comch_connection,
                                                    struct doca_comch_producer **producer);

/**
 * Destroy a producer and its context.
 *
 * State: context idle.
 *
 * @param [in] producer The producer.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: producer is NULL.
 * - DOCA_ERROR_IN_USE: the context is not idle; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_comch_producer_destroy(struct doca_comch_producer *producer);

/**
 * Whether a device can have producers. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * The number of a producer on its connection. State: context not idle.
 *
 * @param [in] producer The producer.
 * @param [out] id The number; above 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is idle (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_producer_get_id(const struct doca_comch_producer *producer, uint32_t *id);

/**
 * Most tasks that a producer can have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_num_tasks Tasks.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers.
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
                                                                   uint32_t *max_num_tasks);

/**
 * How much one task can send.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers.
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                  uint32_t *max_buf_size);

/**
 * How many buffers a list can have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_list_len Buffers; 1 means no lists.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers.
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                                      uint32_t *max_buf_list_len);

/**
 * Most producers that a connection can have, on each side.
 *
 * @param [in] devinfo The device.
 * @param [out] max_producers Producers.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have producers.
 */
DOCA_STABLE doca_error_t doca_comch_producer_cap_get_max_producers(const struct doca_devinfo *devinfo,
                                                                   uint32_t *max_producers);

/**
 * The context of a producer. State: any.
 *
 * @param [in] producer The producer.
 * @return The context, always the same one, which lives as long as the producer; or NULL when producer is
 * NULL.
 */
DOCA_STABLE struct doca_ctx *doca_comch_producer_as_ctx(struct doca_comch_producer *producer);

/* For code on a DPA. opendoca: none of these does anything but check for NULL. */

/**
 * Set how many sends code on the DPA can have in flight.
 *
 * @param [in] producer The producer.
 * @param [in] dev_num_send Sends.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: producer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_producer_set_dev_max_num_send(struct doca_comch_producer *producer,
                                                                        uint32_t dev_num_send);

/**
 * Let code on the DPA take the completions.
 *
 * @param [in] producer The producer.
 * @param [in] dpa_comp The queue of completions.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_producer_dpa_completion_attach(struct doca_comch_producer *producer,
                                                                         struct doca_dpa_completion *dpa_comp);

/**
 * The handle of a producer for code on the DPA.
 *
 * @param [in] producer The producer.
 * @param [out] dpa_producer The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_producer_get_dpa_handle(struct doca_comch_producer *producer,
                                                                  doca_dpa_dev_comch_producer_t *dpa_producer);

/* Tasks. */

/**
 * Configure sends: the callbacks and the number. Needed before one can be allocated; a second call replaces
 * the first.
 *
 * State: context idle.
 *
 * @param [in] producer The producer.
 * @param [in] task_completion_cb Called for one that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] num_send_tasks How many can be allocated at a time; up to
 * doca_comch_producer_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_send_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_producer_task_send_set_conf(
    struct doca_comch_producer *producer, doca_comch_producer_task_send_completion_cb_t task_completion_cb,
    doca_comch_producer_task_send_completion_cb_t task_error_cb, uint32_t num_send_tasks);

/**
 * Allocate a send. The task's word is zero: doca_task_set_user_data().
 *
 * State: context running.
 *
 * @param [in] producer The producer.
 * @param [in] buf What to send: its data section. opendoca: no list; NULL to send immediate data
 * alone.
 * @param [in] imm_data Immediate data; NULL for none. It is read by doca_task_submit().
 * @param [in] imm_data_len Its bytes; 0 with NULL, at most what the consumer takes. opendoca: at most 32
 * here; the task ends with DOCA_ERROR_INVALID_VALUE where the consumer takes less.
 * @param [in] consumer_id The number of a consumer of the peer.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: producer or task is NULL, or imm_data_len does not go with imm_data.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated.
 */
DOCA_STABLE doca_error_t doca_comch_producer_task_send_alloc_init(struct doca_comch_producer *producer,
                                                                  const struct doca_buf *buf, uint8_t *imm_data,
                                                                  uint32_t imm_data_len, uint32_t consumer_id,
                                                                  struct doca_comch_producer_task_send **task);

/**
 * The buffer. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_STABLE const struct doca_buf *
doca_comch_producer_task_send_get_buf(const struct doca_comch_producer_task_send *task);

/**
 * Change the buffer.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] buf What to send.
 */
DOCA_STABLE void doca_comch_producer_task_send_set_buf(struct doca_comch_producer_task_send *task,
                                                       const struct doca_buf *buf);

/**
 * The consumer. State: any.
 *
 * @param [in] task The task.
 * @return Its number.
 */
DOCA_STABLE uint32_t doca_comch_producer_task_send_get_consumer_id(const struct doca_comch_producer_task_send *task);

/**
 * Change the consumer.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] consumer_id Its number.
 */
DOCA_STABLE void doca_comch_producer_task_send_set_consumer_id(struct doca_comch_producer_task_send *task,
                                                               const uint32_t consumer_id);

/**
 * The immediate data. State: any.
 *
 * @param [in] task The task.
 * @return Its first byte; NULL when there is none.
 */
DOCA_STABLE uint8_t *doca_comch_producer_task_send_get_imm_data(const struct doca_comch_producer_task_send *task);

/**
 * How much immediate data there is. State: any.
 *
 * @param [in] task The task.
 * @return Bytes.
 */
DOCA_STABLE uint32_t doca_comch_producer_task_send_get_imm_data_len(const struct doca_comch_producer_task_send *task);

/**
 * Change the immediate data.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] imm_data The data; NULL for none.
 * @param [in] imm_data_len Its bytes, as of doca_comch_producer_task_send_alloc_init().
 */
DOCA_STABLE void doca_comch_producer_task_send_set_imm_data(struct doca_comch_producer_task_send *task,
                                                            uint8_t *imm_data, uint32_t imm_data_len);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_STABLE struct doca_task *doca_comch_producer_task_send_as_task(struct doca_comch_producer_task_send *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_PRODUCER_H_ */
