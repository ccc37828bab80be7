// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_ctx.h
 * Contexts: instances of a library (DMA, RDMA, SHA, ...) that run tasks on a device.
 *
 * A context is made with its library's object (doca_dma_create() and the like, which take the device) and
 * lives as long as that object; doca_dma_as_ctx() and the like give it. It is connected to one progress
 * engine, which calls all of its callbacks.
 *
 * Order: create the library's object; doca_pe_connect_ctx(), doca_ctx_set_user_data(),
 * doca_ctx_set_state_changed_cb(), the library's set_conf functions for the tasks that are to be used, and
 * its properties; doca_ctx_start(); tasks; doca_ctx_stop(), and doca_pe_progress() until the context is idle;
 * destroy the library's object.
 *
 *     IDLE       Configuration. No task can be allocated, no event comes.
 *     STARTING   doca_ctx_start() gave DOCA_ERROR_IN_PROGRESS: something, as a connection, is
 *                being made. No task can be allocated or submitted.
 *     RUNNING    Tasks can be allocated and submitted. The configuration is frozen.
 *     STOPPING   doca_ctx_stop() gave DOCA_ERROR_IN_PROGRESS, or the context failed. Tasks in
 *                flight end, as a rule with an error; new ones are refused. It becomes IDLE
 *                when every task was freed.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Fork: objects belong to the process that made them. A forked child may create its own, and may destroy its copies of
 * its parent's, which has no effect on the parent; any other use of the copies is undefined.
 *
 * Threads: a context, its tasks and its progress engine belong to one thread at a time. doca_pe_progress()
 * must not be called in a callback; everything else may.
 */
#ifndef DOCA_CTX_H_
#define DOCA_CTX_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_dev.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_devinfo;

/** A context. */
struct doca_ctx;

/** A DPA (data path accelerator). */
struct doca_dpa;

/** A GPU. */
struct doca_gpu;

/** States of a context, see above. */
enum doca_ctx_states {
    DOCA_CTX_STATE_IDLE = 0,     /**< Not started, or stopped. */
    DOCA_CTX_STATE_STARTING = 1, /**< On its way to running. */
    DOCA_CTX_STATE_RUNNING = 2,  /**< Takes tasks. */
    DOCA_CTX_STATE_STOPPING = 3, /**< On its way to idle. */
};

/**
 * Told of each change of a context's state; the context is in its next state already. It may stop the
 * context, allocate and submit tasks, and connect. opendoca: a change within doca_ctx_start() or
 * doca_ctx_stop() is told before that call returns; every other within doca_pe_progress().
 *
 * @param [in] user_data The context's, see doca_ctx_set_user_data().
 * @param [in] ctx The context.
 * @param [in] prev_state The state before.
 * @param [in] next_state The state now.
 */
typedef void (*doca_ctx_state_changed_callback_t)(const union doca_data user_data, struct doca_ctx *ctx,
                                                  enum doca_ctx_states prev_state, enum doca_ctx_states next_state);

/**
 * Start a context. Its configuration is frozen until it is idle again.
 *
 * DMA, SHA, sync events, RDMA, memory advice, and the server and producers of comch are running at once. A
 * client or consumer of comch is starting until the peer has answered.
 *
 * State: idle.
 *
 * @param [in] ctx The context.
 * @return DOCA_SUCCESS: the context is running, or
 * - DOCA_ERROR_IN_PROGRESS: the context is starting; doca_pe_progress() takes it to running, or back to idle
 *   when that fails.
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL.
 * - DOCA_ERROR_NOT_CONNECTED: the context is not connected to a progress engine.
 * - DOCA_ERROR_BAD_STATE: the context is not idle; opendoca: or a property that its library needs is missing.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot do it.
 * - DOCA_ERROR_INITIALIZATION: something needed could not be set up.
 * - DOCA_ERROR_NO_MEMORY: no memory for the tasks (opendoca).
 * - DOCA_ERROR_UNEXPECTED: anything else failed.
 */
DOCA_STABLE doca_error_t doca_ctx_start(struct doca_ctx *ctx);

/**
 * Stop a context. Tasks in flight are flushed: they end in their error callbacks, unless they were done
 * already. The context is idle when no task is left, neither submitted nor merely allocated. A context with
 * connections ends them.
 *
 * State: any. opendoca: of an idle context nothing changes, and it is a success; of one that is stopping the
 * answer is DOCA_ERROR_IN_PROGRESS.
 *
 * @param [in] ctx The context.
 * @return DOCA_SUCCESS: the context is idle, or
 * - DOCA_ERROR_IN_PROGRESS: the context is stopping; doca_pe_progress() takes it to idle. Always so in a
 *   callback of one of its tasks: that task still counts.
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL.
 * - DOCA_ERROR_NOT_CONNECTED: the context is not connected to a progress engine.
 * - DOCA_ERROR_UNEXPECTED: anything else failed.
 */
DOCA_STABLE doca_error_t doca_ctx_stop(struct doca_ctx *ctx);

/**
 * How many tasks are submitted and have not come back. Tasks that are merely allocated do not count. State:
 * any.
 *
 * @param [in] ctx The context.
 * @param [out] num_inflight_tasks The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_ctx_get_num_inflight_tasks(const struct doca_ctx *ctx, size_t *num_inflight_tasks);

/**
 * Let code on a GPU use the context, in place of tasks.
 *
 * State: idle.
 *
 * @param [in] ctx The context.
 * @param [in] gpu_dev The GPU.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the library cannot do it. opendoca: always.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_datapath_on_gpu(struct doca_ctx *ctx, struct doca_gpu *gpu_dev);

/**
 * Set the word that the callbacks of the context and of its tasks get. State: any.
 *
 * @param [in] ctx The context.
 * @param [in] user_data The word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL.
 */
DOCA_STABLE doca_error_t doca_ctx_set_user_data(struct doca_ctx *ctx, union doca_data user_data);

/**
 * The word set by doca_ctx_set_user_data(). State: any.
 *
 * @param [in] ctx The context.
 * @param [out] user_data The word; zero if none was set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_ctx_get_user_data(const struct doca_ctx *ctx, union doca_data *user_data);

/**
 * Set what is told of changes of the state. It replaces the one before. State: any (opendoca).
 *
 * @param [in] ctx The context.
 * @param [in] cb The callback. opendoca: NULL for none.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL.
 */
DOCA_STABLE doca_error_t doca_ctx_set_state_changed_cb(struct doca_ctx *ctx, doca_ctx_state_changed_callback_t cb);

/**
 * The state of a context. State: any.
 *
 * @param [in] ctx The context.
 * @param [out] state The state.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_ctx_get_state(const struct doca_ctx *ctx, enum doca_ctx_states *state);

/**
 * Hand over to the device the tasks that were submitted without DOCA_TASK_SUBMIT_FLAG_FLUSH. opendoca: every
 * submit has done so already.
 *
 * State: any but idle.
 *
 * @param [in] ctx The context.
 */
DOCA_EXPERIMENTAL void doca_ctx_flush_tasks(struct doca_ctx *ctx);

/**
 * Let code on a DPA use the context, in place of tasks.
 *
 * State: idle.
 *
 * @param [in] ctx The context.
 * @param [in] dpa_dev The DPA.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the library cannot do it. opendoca: always.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_datapath_on_dpa(struct doca_ctx *ctx, struct doca_dpa *dpa_dev);

/**
 * Choose the interrupt by which the device tells of completions, so as to spread contexts over CPUs.
 *
 * State: idle.
 *
 * @param [in] ctx The context.
 * @param [in] comp_vector 0 to one below doca_ctx_cap_get_num_completion_vectors().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: ctx is NULL, or comp_vector is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the library or its device cannot choose. opendoca: never; there is 1 vector.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_set_completion_vector(struct doca_ctx *ctx, uint32_t comp_vector);

/**
 * How many completion vectors a device has. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] num_comp_vectors The number; opendoca: 1.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has none.
 */
DOCA_EXPERIMENTAL doca_error_t doca_ctx_cap_get_num_completion_vectors(const struct doca_devinfo *devinfo,
                                                                       uint32_t *num_comp_vectors);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_CTX_H_ */
