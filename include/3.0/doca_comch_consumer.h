// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_comch_consumer.h
 * Comch consumers: buffers that the peer of a connection fills.
 *
 * A consumer is a context on a connection of doca_comch.h. Its tasks are buffers that wait for data; a
 * producer of the peer (doca_comch_producer.h) sends to it by its number, which the peer's callback for new
 * consumers tells. It may have a progress engine and a thread of its own. doca_ctx_start() gives
 * DOCA_ERROR_IN_PROGRESS until the peer knows the consumer. What it has to tell the peer goes by the
 * connection: opendoca: a consumer that polls carries it itself; where the program sleeps, the connection's
 * progress engine has to be progressed, too, as it has for the callbacks of server and client.
 *
 * What a producer has sent is put behind the buffer's data section, whose data length grows.
 * doca_buf_reset_data_len() before a buffer is used again.
 *
 * A task ends with
 * - DOCA_ERROR_INVALID_VALUE: the buffer is not one of the consumer's memory map, or part of a list
 *   (opendoca).
 * - DOCA_ERROR_NOT_SUPPORTED: the buffer is of memory that was imported (opendoca).
 * - DOCA_ERROR_FULL: the data is longer than its room (opendoca). Sends of that producer to this consumer
 *   fail from then on. Also for immediate data that is longer than doca_comch_consumer_set_imm_data_len()
 *   says, which only producers of earlier versions send; they can go on.
 * - DOCA_ERROR_SHUTDOWN: flushed, because the context is stopping (opendoca). The end of the connection ends
 *   no task: they wait for the stop.
 *
 * opendoca: on devices whose connections can share receives. A buffer may be NULL, for immediate data alone.
 * There is no DPA: functions for it answer DOCA_ERROR_NOT_SUPPORTED.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts; capabilities of a device: any.
 */
#ifndef DOCA_COMCH_CONSUMER_H_
#define DOCA_COMCH_CONSUMER_H_

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
struct doca_mmap;
struct doca_task;

/** A consumer. */
struct doca_comch_consumer;

/** A queue where code on a DPA finds what consumers got. */
struct doca_comch_consumer_completion;

/** A task that waits for data. */
struct doca_comch_consumer_task_post_recv;

/** A thread of a DPA. */
struct doca_dpa_thread;

/** Handle of such a queue for code on a DPA. */
typedef uint64_t doca_dpa_dev_comch_consumer_completion_t;

/** Handle of a consumer for code on a DPA. */
typedef uint64_t doca_dpa_dev_comch_consumer_t;

/**
 * Called when a wait for data has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_comch_consumer_task_post_recv_completion_cb_t)(struct doca_comch_consumer_task_post_recv *task,
                                                                   union doca_data task_user_data,
                                                                   union doca_data ctx_user_data);

/**
 * Create a consumer. Its context is idle and connected to no progress engine.
 *
 * @param [in] comch_connection The connection, which is up; it must stay until the consumer is destroyed.
 * @param [in] buf_mmap The memory map of its buffers: started, of this process, with
 * DOCA_ACCESS_FLAG_PCI_READ_WRITE (opendoca: which is not asked for).
 * @param [out] consumer The consumer. Free it with doca_comch_consumer_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_BAD_STATE: the connection is not up.
 * - DOCA_ERROR_NOT_PERMITTED: the peer uses Comm Channel, which has no producers.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_create(struct doca_comch_connection *comch_connection,
                                                    struct doca_mmap *buf_mmap, struct doca_comch_consumer **consumer);

/**
 * Destroy a consumer and its context.
 *
 * State: context idle.
 *
 * @param [in] consumer The consumer.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer is NULL.
 * - DOCA_ERROR_IN_USE: the context is not idle; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_destroy(struct doca_comch_consumer *consumer);

/**
 * Whether a device can have consumers. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_is_supported(const struct doca_devinfo *devinfo);

/**
 * The number of a consumer on its connection. State: context not idle.
 *
 * @param [in] consumer The consumer.
 * @param [out] id The number; above 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is idle (opendoca).
 */
DOCA_STABLE doca_error_t doca_comch_consumer_get_id(const struct doca_comch_consumer *consumer, uint32_t *id);

/**
 * Most tasks that a consumer can have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_num_tasks Tasks.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_num_tasks(const struct doca_devinfo *devinfo,
                                                                   uint32_t *max_num_tasks);

/**
 * How large a buffer can be.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                  uint32_t *max_buf_size);

/**
 * How many buffers a list can have.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_list_len Buffers; 1 means no lists.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                                      uint32_t *max_buf_list_len);

/**
 * Most consumers that a connection can have, on each side.
 *
 * @param [in] devinfo The device.
 * @param [out] max_consumers Consumers.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_consumers(const struct doca_devinfo *devinfo,
                                                                   uint32_t *max_consumers);

/**
 * Most bytes of immediate data.
 *
 * @param [in] devinfo The device.
 * @param [out] max_imm_data_len Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot have consumers.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_cap_get_max_imm_data_len(const struct doca_devinfo *devinfo,
                                                                      uint32_t *max_imm_data_len);

/**
 * Most bytes of immediate data that the consumer takes. State: any.
 *
 * @param [in] consumer The consumer.
 * @param [out] imm_data_len Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_get_imm_data_len(const struct doca_comch_consumer *consumer,
                                                              uint32_t *imm_data_len);

/**
 * Set how many bytes of immediate data the consumer takes. opendoca: default is the most. Producers are told:
 * a send with more fails there.
 *
 * State: context idle.
 *
 * @param [in] consumer The consumer.
 * @param [in] imm_data_len Bytes; up to doca_comch_consumer_cap_get_max_imm_data_len().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer is NULL, or imm_data_len is too large.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_set_imm_data_len(struct doca_comch_consumer *consumer,
                                                              uint32_t imm_data_len);

/**
 * The context of a consumer. State: any.
 *
 * @param [in] consumer The consumer.
 * @return The context, always the same one, which lives as long as the consumer; or NULL when consumer is
 * NULL.
 */
DOCA_STABLE struct doca_ctx *doca_comch_consumer_as_ctx(struct doca_comch_consumer *consumer);

/* For code on a DPA. opendoca: none of these does anything but check for NULL. */

/**
 * Create a queue.
 *
 * @param [out] consumer_comp The queue.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer_comp is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_comch_consumer_completion_create(struct doca_comch_consumer_completion **consumer_comp);

/**
 * Choose the thread that is woken.
 *
 * @param [in] consumer_comp The queue.
 * @param [in] dpa_thread The thread.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_completion_set_dpa_thread(
    struct doca_comch_consumer_completion *consumer_comp, struct doca_dpa_thread *dpa_thread);

/**
 * Destroy a queue.
 *
 * @param [in] consumer_comp The queue.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer_comp is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_comch_consumer_completion_destroy(struct doca_comch_consumer_completion *consumer_comp);

/**
 * Start a queue.
 *
 * @param [in] consumer_comp The queue.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer_comp is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_comch_consumer_completion_start(struct doca_comch_consumer_completion *consumer_comp);

/**
 * Stop a queue.
 *
 * @param [in] consumer_comp The queue.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer_comp is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_comch_consumer_completion_stop(struct doca_comch_consumer_completion *consumer_comp);

/**
 * The handle of a queue for code on the DPA.
 *
 * @param [in] consumer_comp The queue.
 * @param [out] consumer_comp_handle The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_comch_consumer_completion_get_dpa_handle(struct doca_comch_consumer_completion *consumer_comp,
                                              doca_dpa_dev_comch_consumer_completion_t *consumer_comp_handle);

/**
 * Set how many consumers a queue serves.
 *
 * @param [in] consumer_comp The queue.
 * @param [in] max_num_consumers Consumers.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer_comp is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_completion_set_max_num_consumers(
    struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_consumers);

/**
 * How many consumers a queue serves.
 *
 * @param [in] consumer_comp The queue.
 * @param [out] max_num_consumers Consumers.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_completion_get_max_num_consumers(
    const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_consumers);

/**
 * Set how many completions a queue holds.
 *
 * @param [in] consumer_comp The queue.
 * @param [in] max_num_recv Completions.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer_comp is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_completion_set_max_num_recv(
    struct doca_comch_consumer_completion *consumer_comp, uint32_t max_num_recv);

/**
 * How many completions a queue holds.
 *
 * @param [in] consumer_comp The queue.
 * @param [out] max_num_recv Completions.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_completion_get_max_num_recv(
    const struct doca_comch_consumer_completion *consumer_comp, uint32_t *max_num_recv);

/**
 * Set how many bytes of immediate data a completion has.
 *
 * @param [in] consumer_comp The queue.
 * @param [in] imm_data_len Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer_comp is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_completion_set_imm_data_len(
    struct doca_comch_consumer_completion *consumer_comp, uint32_t imm_data_len);

/**
 * How many bytes of immediate data a completion has.
 *
 * @param [in] consumer_comp The queue.
 * @param [out] imm_data_len Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_completion_get_imm_data_len(
    const struct doca_comch_consumer_completion *consumer_comp, uint32_t *imm_data_len);

/**
 * Set how many buffers code on the DPA can post.
 *
 * @param [in] consumer The consumer.
 * @param [in] dev_num_recv Buffers.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_set_dev_max_num_recv(struct doca_comch_consumer *consumer,
                                                                        uint32_t dev_num_recv);

/**
 * Let a queue take what a consumer gets.
 *
 * @param [in] consumer The consumer.
 * @param [in] consumer_comp The queue.
 * @param [in] user_data A word that comes with each completion.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_set_completion(struct doca_comch_consumer *consumer,
                                                                  struct doca_comch_consumer_completion *consumer_comp,
                                                                  uint32_t user_data);

/**
 * The handle of a consumer for code on the DPA.
 *
 * @param [in] consumer The consumer.
 * @param [out] dpa_consumer The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_comch_consumer_get_dpa_handle(struct doca_comch_consumer *consumer,
                                                                  doca_dpa_dev_comch_consumer_t *dpa_consumer);

/* Tasks. */

/**
 * Configure waits for data: the callbacks and the number. Needed before one can be allocated; a second call
 * replaces the first.
 *
 * State: context idle.
 *
 * @param [in] consumer The consumer.
 * @param [in] task_completion_cb Called for one that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] num_post_recv_tasks How many can be allocated at a time; up to
 * doca_comch_consumer_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_post_recv_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_task_post_recv_set_conf(
    struct doca_comch_consumer *consumer, doca_comch_consumer_task_post_recv_completion_cb_t task_completion_cb,
    doca_comch_consumer_task_post_recv_completion_cb_t task_error_cb, uint32_t num_post_recv_tasks);

/**
 * Allocate a wait for data. The task's word is zero: doca_task_set_user_data().
 *
 * State: context running.
 *
 * @param [in] consumer The consumer.
 * @param [in] buf Where the data goes; of the consumer's memory map.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: consumer or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all tasks are allocated.
 */
DOCA_STABLE doca_error_t doca_comch_consumer_task_post_recv_alloc_init(
    struct doca_comch_consumer *consumer, struct doca_buf *buf, struct doca_comch_consumer_task_post_recv **task);

/**
 * The buffer. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_STABLE struct doca_buf *
doca_comch_consumer_task_post_recv_get_buf(const struct doca_comch_consumer_task_post_recv *task);

/**
 * Change the buffer.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] buf Where the data goes.
 */
DOCA_STABLE void doca_comch_consumer_task_post_recv_set_buf(struct doca_comch_consumer_task_post_recv *task,
                                                            struct doca_buf *buf);

/**
 * Who has sent the data. State: from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return The producer's number on the connection.
 */
DOCA_STABLE uint32_t
doca_comch_consumer_task_post_recv_get_producer_id(const struct doca_comch_consumer_task_post_recv *task);

/**
 * The immediate data. State: from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return Its first byte, valid until then; NULL when there is none.
 */
DOCA_STABLE const uint8_t *
doca_comch_consumer_task_post_recv_get_imm_data(const struct doca_comch_consumer_task_post_recv *task);

/**
 * How much immediate data there is. State: from a successful callback until the next submit.
 *
 * @param [in] task The task.
 * @return Bytes; 0 when there is none.
 */
DOCA_STABLE uint32_t
doca_comch_consumer_task_post_recv_get_imm_data_len(const struct doca_comch_consumer_task_post_recv *task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_STABLE struct doca_task *
doca_comch_consumer_task_post_recv_as_task(struct doca_comch_consumer_task_post_recv *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_COMCH_CONSUMER_H_ */
