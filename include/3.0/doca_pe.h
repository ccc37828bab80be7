// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_pe.h
 * Progress engines and tasks: how work gets to a context and how its end comes back.
 *
 * A progress engine serves any number of contexts. doca_pe_progress() looks what they have done and calls the
 * callbacks: of tasks that have ended, of events, of changes of state. Nothing else calls a task's callback;
 * no submit does.
 *
 * A task is an object of a context: its library's alloc_init function hands one out of a pool, whose size the
 * set_conf function has fixed, and doca_task_free() puts it back. A task allocated belongs to the program,
 * which may change it by the library's setters. From doca_task_submit() to its callback it belongs to the
 * library: do not touch it, nor the buffers that it names. Then one of the two callbacks of its kind is
 * called, once, and the task is the program's again: also within the callback it may be freed, changed, and
 * submitted again.
 *
 * Polling: call doca_pe_progress() as long as there is work. Event-driven: call it until it gives 0,
 * doca_pe_request_notification(), wait until the handle is readable, doca_pe_clear_notification(), and again.
 * What happens between the last call and the request makes the handle readable: no wake-up is lost.
 *
 * A request holds until doca_pe_clear_notification(), or the next request. Calling doca_pe_progress() in between
 * does not end it: after a call that returns 0 the handle is readable, or becomes so with the next event. So
 * "request, check once more, wait" works on every device, and so does a wait without the check. The handle may
 * become readable for something that is already done; then doca_pe_progress() returns 0 and the program
 * requests again.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Fork: objects belong to the process that made them. A forked child may create its own, and may destroy its copies of
 * its parent's, which has no effect on the parent; any other use of the copies is undefined.
 *
 * Threads: a progress engine, its contexts and their tasks belong to one thread at a time. Several progress
 * engines may run in several threads. doca_pe_progress() must not be called in a callback.
 */
#ifndef DOCA_PE_H_
#define DOCA_PE_H_

#include <stdint.h>
#include <stdlib.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_ctx.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_ctx;

/** A progress engine. */
struct doca_pe;

/** A task of any library. The library's as_task function gives it. */
struct doca_task;

/**
 * Tasks that are submitted together. opendoca: no library hands one out, so doca_task_batch_submit(),
 * doca_task_batch_try_submit() and doca_task_batch_get_status() answer DOCA_ERROR_NOT_SUPPORTED to whatever
 * they get, also NULL, and the other functions for batches do nothing and return 0 or NULL.
 */
struct doca_task_batch;

/** How many tasks a batch can have. */
enum doca_task_batch_max_tasks_number {
    DOCA_TASK_BATCH_MAX_TASKS_NUMBER_16 = 0,  /**< 16. */
    DOCA_TASK_BATCH_MAX_TASKS_NUMBER_32 = 1,  /**< 32. */
    DOCA_TASK_BATCH_MAX_TASKS_NUMBER_64 = 2,  /**< 64. */
    DOCA_TASK_BATCH_MAX_TASKS_NUMBER_128 = 3, /**< 128. */
};

/** How many events one callback of a batch tells of. */
enum doca_event_batch_events_number {
    DOCA_EVENT_BATCH_EVENTS_NUMBER_1 = 0,   /**< 1. */
    DOCA_EVENT_BATCH_EVENTS_NUMBER_2 = 1,   /**< 2. */
    DOCA_EVENT_BATCH_EVENTS_NUMBER_4 = 2,   /**< 4. */
    DOCA_EVENT_BATCH_EVENTS_NUMBER_8 = 3,   /**< 8. */
    DOCA_EVENT_BATCH_EVENTS_NUMBER_16 = 4,  /**< 16. */
    DOCA_EVENT_BATCH_EVENTS_NUMBER_32 = 5,  /**< 32. */
    DOCA_EVENT_BATCH_EVENTS_NUMBER_64 = 6,  /**< 64. */
    DOCA_EVENT_BATCH_EVENTS_NUMBER_128 = 7, /**< 128. */
};

/** Flags of doca_task_submit_ex(): a mask. */
enum doca_task_submit_flag {
    DOCA_TASK_SUBMIT_FLAG_NONE = 0,             /**< The task may be held back until others are flushed. */
    DOCA_TASK_SUBMIT_FLAG_FLUSH = 1,            /**< Hand this task and those before it to the device now. */
    DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS = 2, /**< Its end may be told with that of a later task. */
};

/** What an armed progress engine looks at when it was woken. opendoca: both look at all contexts. */
enum doca_pe_event_mode {
    DOCA_PE_EVENT_MODE_PROGRESS_SELECTIVE = 0, /**< Contexts that have raised an event. The default. */
    DOCA_PE_EVENT_MODE_PROGRESS_ALL = 1,       /**< All contexts. */
};

/**
 * Called when a task has ended. The libraries have such a type for each kind of task, with the kind's own
 * pointer.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_task_completion_cb_t)(struct doca_task *task, union doca_data task_user_data,
                                          union doca_data ctx_user_data);

/**
 * Create a progress engine.
 *
 * @param [out] pe The progress engine. Free it with doca_pe_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory. opendoca: also when the process can open no more files.
 */
DOCA_STABLE doca_error_t doca_pe_create(struct doca_pe **pe);

/**
 * Destroy a progress engine. Its notification handle is closed.
 *
 * State: every context that was connected to it has been destroyed.
 *
 * @param [in] pe The progress engine.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL.
 * - DOCA_ERROR_IN_USE: contexts that were connected to it exist; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_pe_destroy(struct doca_pe *pe);

/**
 * Look once what the contexts have done, and call back. Not to be called in a callback.
 *
 * opendoca: at most one task comes back per call, so that a program can stop between two. A context in which some
 * thousand calls have found nothing is left out of the following ones until it has something to do, where the device
 * can tell the engine: the time of a call then does not grow with the number of such contexts.
 *
 * @param [in] pe The progress engine.
 * @return 1 when something was done: a task came back, an event was told, a state changed. 0 when there was
 * nothing to do, or pe is NULL.
 */
DOCA_STABLE uint8_t doca_pe_progress(struct doca_pe *pe);

/**
 * The handle to wait on. It is the same for as long as the progress engine exists, which owns it: do not
 * close it.
 *
 * @param [in] pe The progress engine.
 * @param [out] handle A file descriptor for poll or epoll: readable (EPOLLIN) when there is something to
 * progress.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_pe_get_notification_handle(const struct doca_pe *pe, doca_notification_handle_t *handle);

/**
 * Take back a notification, after waking.
 *
 * @param [in] pe The progress engine.
 * @param [in] handle Not used on Linux; 0 will do.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL.
 * - DOCA_ERROR_OPERATING_SYSTEM: a system call failed.
 */
DOCA_STABLE doca_error_t doca_pe_clear_notification(struct doca_pe *pe, doca_notification_handle_t handle);

/**
 * Arm the progress engine: its handle becomes readable when there is something to progress, also when that
 * was so before the call. To be called before each wait. The engine stays armed until the handle is readable:
 * doca_pe_progress() may be called before the wait, and when it returns 0 the wait loses nothing. When it
 * returns 1, call it until it returns 0, or request again.
 *
 * @param [in] pe The progress engine.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL.
 * - DOCA_ERROR_OPERATING_SYSTEM: a system call failed.
 */
DOCA_STABLE doca_error_t doca_pe_request_notification(struct doca_pe *pe);

/**
 * How many tasks are submitted and have not come back, in all contexts of the progress engine.
 *
 * @param [in] pe The progress engine.
 * @param [out] num_inflight_tasks The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_pe_get_num_inflight_tasks(const struct doca_pe *pe, size_t *num_inflight_tasks);

/**
 * Submit a task. Its fields are not checked: a wrong one shows as the task's error, or as an error here. The
 * same as doca_task_submit_ex() with DOCA_TASK_SUBMIT_FLAG_FLUSH.
 *
 * State: context running.
 *
 * @param [in] task The task, which is not submitted.
 * @return DOCA_SUCCESS: the task is the library's until its callback, or
 * - DOCA_ERROR_INVALID_VALUE: task is NULL; or a field is wrong, where a library finds that out here, and
 *   its header says which.
 * - DOCA_ERROR_AGAIN: the queue is full: submit again later. Does not happen as long as a device takes as
 *   many tasks as set_conf has asked for.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 */
DOCA_STABLE doca_error_t doca_task_submit(struct doca_task *task);

/**
 * Submit a task, with flags. On any error the task stays the program's.
 *
 * opendoca: every task is handed over at once, and its end told by itself, whatever the flags are.
 *
 * State: context running.
 *
 * @param [in] task The task, which is not submitted.
 * @param [in] flags Bits of enum doca_task_submit_flag. After tasks with
 * DOCA_TASK_SUBMIT_FLAG_OPTIMIZE_REPORTS there has to come one without it, or they might never be told of;
 * after tasks without DOCA_TASK_SUBMIT_FLAG_FLUSH one with it, or doca_ctx_flush_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: as doca_task_submit(); or flags has an undefined bit.
 * - DOCA_ERROR_AGAIN: as doca_task_submit().
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_submit_ex(struct doca_task *task, uint32_t flags);

/**
 * Submit the tasks of a batch. opendoca: no library hands out a batch, so there is none to call this with.
 *
 * @param [in] task_batch The batch.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always, also for NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_submit(struct doca_task_batch *task_batch);

/**
 * doca_task_submit() after a check of the task's fields. For trying things out; costs time.
 *
 * State: context running.
 *
 * @param [in] task The task, which is not submitted.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a field of the task is missing or wrong, see the library's header; nothing was
 *   submitted.
 * - DOCA_ERROR_AGAIN: as doca_task_submit().
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 */
DOCA_STABLE doca_error_t doca_task_try_submit(struct doca_task *task);

/**
 * doca_task_batch_submit() after a check of the tasks. opendoca: no library hands out a batch, so there is
 * none to call this with.
 *
 * @param [in] task_batch The batch.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always, also for NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_try_submit(struct doca_task_batch *task_batch);

/**
 * Give a task back to its context. What it points to stays as it is.
 *
 * State: not submitted; also in its callback. opendoca: a task that is submitted is freed when it ends, and
 * neither of its callbacks is called; and what its getters give stays readable until the next alloc_init.
 *
 * @param [in] task The task.
 */
DOCA_STABLE void doca_task_free(struct doca_task *task);

/**
 * Give a batch back. opendoca: no library hands out a batch, so there is none to call this with.
 *
 * @param [in] task_batch The batch.
 */
DOCA_EXPERIMENTAL void doca_task_batch_free(struct doca_task_batch *task_batch);

/**
 * How a task has ended, or why it was not taken.
 *
 * State: from its callback, or a submit that has failed, until the next submit.
 *
 * @param [in] task The task.
 * @return DOCA_SUCCESS, or the cause of the failure, which the library's header lists. opendoca:
 * DOCA_ERROR_SHUTDOWN for a task that was flushed by a stop; after a submit what that has given, and after
 * doca_task_try_submit() the status with which the task would have ended.
 */
DOCA_STABLE doca_error_t doca_task_get_status(const struct doca_task *task);

/**
 * How a batch has ended. opendoca: no library hands out a batch, so there is none to call this with.
 *
 * @param [in] task_batch The batch.
 * @return opendoca: DOCA_ERROR_NOT_SUPPORTED, always, also for NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_task_batch_get_status(const struct doca_task_batch *task_batch);

/**
 * Set the word that the task's callback gets.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] user_data The word.
 */
DOCA_STABLE void doca_task_set_user_data(struct doca_task *task, union doca_data user_data);

/**
 * Set the word that the batch's callback gets. opendoca: no library hands out a batch, so there is none to
 * call this with.
 *
 * @param [in] task_batch The batch.
 * @param [in] user_data The word.
 */
DOCA_EXPERIMENTAL void doca_task_batch_set_user_data(struct doca_task_batch *task_batch, union doca_data user_data);

/**
 * The task's word. State: any.
 *
 * @param [in] task The task.
 * @return As given to alloc_init or to doca_task_set_user_data(); zero if neither.
 */
DOCA_STABLE union doca_data doca_task_get_user_data(const struct doca_task *task);

/**
 * The batch's word. opendoca: no library hands out a batch, so there is none to call this with.
 *
 * @param [in] task_batch The batch.
 * @return opendoca: zero.
 */
DOCA_EXPERIMENTAL union doca_data doca_task_batch_get_user_data(const struct doca_task_batch *task_batch);

/**
 * The context of a task. State: any.
 *
 * @param [in] task The task.
 * @return The context that it was allocated from.
 */
DOCA_STABLE struct doca_ctx *doca_task_get_ctx(const struct doca_task *task);

/**
 * The context of a batch. opendoca: no library hands out a batch, so there is none to call this with.
 *
 * @param [in] task_batch The batch.
 * @return opendoca: NULL.
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_task_batch_get_ctx(const struct doca_task_batch *task_batch);

/**
 * The word of the batch's context. opendoca: no library hands out a batch, so there is none to call this
 * with.
 *
 * @param [in] task_batch The batch.
 * @return opendoca: zero.
 */
DOCA_EXPERIMENTAL union doca_data doca_task_batch_get_ctx_user_data(const struct doca_task_batch *task_batch);

/**
 * How many tasks a batch has. opendoca: no library hands out a batch, so there is none to call this with.
 *
 * @param [in] task_batch The batch.
 * @return opendoca: 0.
 */
DOCA_EXPERIMENTAL uint16_t doca_task_batch_get_tasks_num(struct doca_task_batch *task_batch);

/**
 * Let a progress engine serve a context, for as long as the context exists.
 *
 * State: context idle, connected to none.
 *
 * @param [in] pe The progress engine.
 * @param [in] ctx The context.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the context is connected already.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_STABLE doca_error_t doca_pe_connect_ctx(struct doca_pe *pe, struct doca_ctx *ctx);

/**
 * Choose what is looked at after waking. Not to be called in a callback.
 *
 * @param [in] pe The progress engine.
 * @param [in] event_mode The mode. opendoca: no difference.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: pe is NULL, or event_mode is none.
 */
DOCA_EXPERIMENTAL doca_error_t doca_pe_set_event_mode(struct doca_pe *pe, enum doca_pe_event_mode event_mode);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_PE_H_ */
