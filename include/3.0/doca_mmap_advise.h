// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_mmap_advise.h
 * Advice about memory: what the device may forget.
 *
 * An object of this library is a context with tasks of one kind, which make the device's caches forget what
 * they hold of a buffer, so that they read it anew. On a coherent machine, such as one with a software
 * device, they hold nothing that differs from the memory, and a task succeeds without doing anything
 * (opendoca).
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts.
 */
#ifndef DOCA_MMAP_ADVISE_H_
#define DOCA_MMAP_ADVISE_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** An object that gives advice about memory. */
struct doca_mmap_advise;

/** A task that makes caches forget a buffer. */
struct doca_mmap_advise_task_invalidate_cache;

/**
 * Called when an invalidation has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_mmap_advise_task_invalidate_cache_completion_cb_t)(
    struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_user_data, union doca_data ctx_user_data);

/**
 * Create an object, whose context is idle and connected to no progress engine.
 *
 * @param [in] dev The device whose caches are meant; it must stay open until the object is destroyed.
 * @param [out] mmap_advise The object. Free it with doca_mmap_advise_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_create(struct doca_dev *dev, struct doca_mmap_advise **mmap_advise);

/**
 * Destroy an object and its context.
 *
 * State: context idle.
 *
 * @param [in] mmap_advise The object.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap_advise is NULL.
 * - DOCA_ERROR_IN_USE: the context is not idle; nothing has changed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_destroy(struct doca_mmap_advise *mmap_advise);

/**
 * The context of an object. State: any.
 *
 * @param [in] mmap_advise The object.
 * @return The context, always the same one, which lives as long as the object; or NULL when mmap_advise is
 * NULL.
 */
DOCA_EXPERIMENTAL struct doca_ctx *doca_mmap_advise_as_ctx(struct doca_mmap_advise *mmap_advise);

/**
 * Whether a device can invalidate its caches. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_mmap_advise_cap_task_cache_invalidate_is_supported(const struct doca_devinfo *devinfo);

/**
 * How large a buffer can be. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] buf_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot invalidate its caches.
 */
DOCA_EXPERIMENTAL doca_error_t
doca_mmap_advise_task_cache_invalidate_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size);

/**
 * Configure invalidations: the callbacks and the number. Needed before one can be allocated; a second call
 * replaces the first.
 *
 * State: context idle.
 *
 * @param [in] mmap_advise The object.
 * @param [in] completion_cb Called for one that has succeeded.
 * @param [in] error_cb Called for one that has failed; may be the same.
 * @param [in] num_tasks How many can be allocated at a time.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_tasks is out of range.
 * - DOCA_ERROR_NOT_PERMITTED: the context is not idle.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_task_invalidate_cache_set_conf(
    struct doca_mmap_advise *mmap_advise, doca_mmap_advise_task_invalidate_cache_completion_cb_t completion_cb,
    doca_mmap_advise_task_invalidate_cache_completion_cb_t error_cb, uint32_t num_tasks);

/**
 * Allocate an invalidation.
 *
 * State: context running.
 *
 * @param [in] mmap_advise The object.
 * @param [in] buf The buffer, whose data section is meant.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all invalidations are allocated.
 */
DOCA_EXPERIMENTAL doca_error_t doca_mmap_advise_task_invalidate_cache_alloc_init(
    struct doca_mmap_advise *mmap_advise, struct doca_buf *buf, union doca_data user_data,
    struct doca_mmap_advise_task_invalidate_cache **task);

/**
 * The task, to be submitted.
 *
 * @param [in] task The task.
 * @return The same object, as a task of any kind.
 */
DOCA_EXPERIMENTAL struct doca_task *
doca_mmap_advise_task_invalidate_cache_as_doca_task(struct doca_mmap_advise_task_invalidate_cache *task);

/**
 * Change the buffer.
 *
 * State: not submitted.
 *
 * @param [in] task The task.
 * @param [in] buf The buffer.
 */
DOCA_EXPERIMENTAL void
doca_mmap_advise_task_invalidate_cache_set_buf(struct doca_mmap_advise_task_invalidate_cache *task,
                                               struct doca_buf *buf);

/**
 * The buffer. State: any.
 *
 * @param [in] task The task.
 * @return The buffer.
 */
DOCA_EXPERIMENTAL struct doca_buf *
doca_mmap_advise_task_invalidate_cache_get_buf(const struct doca_mmap_advise_task_invalidate_cache *task);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_MMAP_ADVISE_H_ */
