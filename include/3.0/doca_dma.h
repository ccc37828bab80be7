// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_dma.h
 * DMA: copying memory, within this side and between this side and memory imported from another.
 *
 * A DMA object is a context (doca_dma_as_ctx()) with tasks of one kind, and is used as doca_ctx.h and
 * doca_pe.h describe.
 *
 * A copy moves the data sections of the source, one after the other, to the destination's tailroom, buffer by
 * buffer, after the data that is there; each buffer's data length grows by what it got. opendoca: a
 * destination that has no tailroom at all, in its whole list, counts as empty: data lands at the data
 * addresses, and the data lengths become those of the new data. Both sides may be lists, given by their
 * heads, and either may lie in an imported memory map. The ranges must not overlap. Tasks that are in flight
 * at the same time must not have a destination in common.
 *
 * A copy ends with
 * - DOCA_ERROR_INVALID_VALUE: a buffer is NULL or not a list's head; the source has no data; the data does
 *   not fit in the destination; more bytes than doca_dma_cap_task_memcpy_get_max_buf_size(); a list longer
 *   than doca_dma_cap_task_memcpy_get_max_buf_list_len(); a memory map without the object's device
 *   (opendoca).
 * - DOCA_ERROR_NOT_PERMITTED: the destination's memory map does not allow writing; or the exporter has
 *   stopped or destroyed its memory map.
 * - DOCA_ERROR_CONNECTION_RESET: the exporter's process has gone.
 * - DOCA_ERROR_IO_FAILED: the exporter's memory cannot be accessed any more.
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses the access.
 * - DOCA_ERROR_SHUTDOWN: flushed, because the context is stopping (opendoca).
 *
 * After a failed copy the context goes to STOPPING by itself: the other tasks in flight are flushed, and it
 * is idle when all were freed. A destination of a failed copy has its data length as before and undefined
 * content.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: as doca_ctx.h says for contexts.
 */
#ifndef DOCA_DMA_H_
#define DOCA_DMA_H_

#include <inttypes.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_buf.h>
#include <doca_ctx.h>
#include <doca_pe.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_ctx;
struct doca_dev;
struct doca_devinfo;
struct doca_task;

/** A DMA object. */
struct doca_dma;

/** A task that copies. */
struct doca_dma_task_memcpy;

/** A DMA object, as code on a GPU sees it. */
struct doca_gpu_dma;

/**
 * Called when a copy has ended.
 *
 * @param [in] task The task, which is the program's again.
 * @param [in] task_user_data The task's word.
 * @param [in] ctx_user_data The context's word.
 */
typedef void (*doca_dma_task_memcpy_completion_cb_t)(struct doca_dma_task_memcpy *task, union doca_data task_user_data,
                                                     union doca_data ctx_user_data);

/**
 * Create a DMA object. Its context is idle and connected to no progress engine.
 *
 * @param [in] dev The device that copies; it must stay open until the object is destroyed.
 * @param [out] dma The object. Free it with doca_dma_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_INITIALIZATION: the context cannot be set up.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot copy (opendoca).
 */
DOCA_STABLE doca_error_t doca_dma_create(struct doca_dev *dev, struct doca_dma **dma);

/**
 * Destroy a DMA object and its context.
 *
 * State: context idle.
 *
 * @param [in] dma The object.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dma is NULL.
 * - DOCA_ERROR_IN_USE: the context is not idle; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_dma_destroy(struct doca_dma *dma);

/**
 * Whether a device can copy. Threads: any.
 *
 * @param [in] devinfo The device.
 * @return DOCA_SUCCESS: it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: it cannot.
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_is_supported(const struct doca_devinfo *devinfo);

/**
 * The context of a DMA object. State: any.
 *
 * @param [in] dma The object.
 * @return The context, always the same one, which lives as long as the object; or NULL when dma is NULL.
 */
DOCA_STABLE struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

/**
 * Ask that copies come back in the order in which they were submitted. Without it they may overtake each
 * other. State: any (opendoca).
 *
 * Since DOCA 3.2.
 *
 * @param [in] dma The object.
 * @param [in] ordered_completions 1 to ask for it, 0 not to.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dma is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_dma_set_ordered_completions(struct doca_dma *dma, uint8_t ordered_completions);

/**
 * How many copies an object can have at most, for doca_dma_task_memcpy_set_conf(). State: any.
 *
 * @param [in] dma The object.
 * @param [out] max_num_tasks The number of tasks.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_dma_cap_get_max_num_tasks(struct doca_dma *dma, uint32_t *max_num_tasks);

/**
 * How many buffers a list can have, on either side of a copy. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] max_buf_list_len The number; 1 when lists are not supported. The software device gives 1024
 * (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot copy.
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_get_max_buf_list_len(const struct doca_devinfo *devinfo,
                                                                       uint32_t *max_buf_list_len);

/**
 * How much one task can copy. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] buf_size Bytes. The software device gives 2147483648, 2 GiB (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_DRIVER: the device could not be queried.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot copy.
 */
DOCA_STABLE doca_error_t doca_dma_cap_task_memcpy_get_max_buf_size(const struct doca_devinfo *devinfo,
                                                                   uint64_t *buf_size);

/**
 * Configure copies: their callbacks and their number. Needed before copies can be allocated; a second call
 * replaces the first.
 *
 * State: context idle.
 *
 * @param [in] dma The object.
 * @param [in] task_completion_cb Called for a copy that has succeeded.
 * @param [in] task_error_cb Called for one that has failed; may be the same.
 * @param [in] num_memcpy_tasks How many can be allocated at a time; up to doca_dma_cap_get_max_num_tasks().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or num_memcpy_tasks is out of range.
 * - DOCA_ERROR_BAD_STATE: the context is not idle.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot copy.
 */
DOCA_STABLE doca_error_t doca_dma_task_memcpy_set_conf(struct doca_dma *dma,
                                                       doca_dma_task_memcpy_completion_cb_t task_completion_cb,
                                                       doca_dma_task_memcpy_completion_cb_t task_error_cb,
                                                       uint32_t num_memcpy_tasks);

/**
 * Allocate a copy. A data path function: nothing is checked but the state.
 *
 * State: context running.
 *
 * @param [in] dma The object.
 * @param [in] src What to copy.
 * @param [in] dst Where to.
 * @param [in] user_data The task's word.
 * @param [out] task The task. Give it back with doca_task_free().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dma or task is NULL.
 * - DOCA_ERROR_BAD_STATE: the context is not running.
 * - DOCA_ERROR_NO_MEMORY: all copies are allocated.
 */
DOCA_STABLE doca_error_t doca_dma_task_memcpy_alloc_init(struct doca_dma *dma, const struct doca_buf *src,
                                                         struct doca_buf *dst, union doca_data user_data,
                                                         struct doca_dma_task_memcpy **task);

/**
 * The task of a copy, to be submitted.
 *
 * @param [in] task The copy.
 * @return The same object, as a task.
 */
DOCA_STABLE struct doca_task *doca_dma_task_memcpy_as_task(struct doca_dma_task_memcpy *task);

/**
 * Change the source.
 *
 * State: not submitted.
 *
 * @param [in] task The copy.
 * @param [in] src What to copy.
 */
DOCA_STABLE void doca_dma_task_memcpy_set_src(struct doca_dma_task_memcpy *task, const struct doca_buf *src);

/**
 * The source. State: any.
 *
 * @param [in] task The copy.
 * @return The buffer.
 */
DOCA_STABLE const struct doca_buf *doca_dma_task_memcpy_get_src(const struct doca_dma_task_memcpy *task);

/**
 * Change the destination.
 *
 * State: not submitted.
 *
 * @param [in] task The copy.
 * @param [in] dst Where to.
 */
DOCA_STABLE void doca_dma_task_memcpy_set_dst(struct doca_dma_task_memcpy *task, struct doca_buf *dst);

/**
 * The destination. State: any.
 *
 * @param [in] task The copy.
 * @return The buffer.
 */
DOCA_STABLE struct doca_buf *doca_dma_task_memcpy_get_dst(const struct doca_dma_task_memcpy *task);

/**
 * The handle by which code on a GPU copies.
 *
 * State: running, with doca_ctx_set_datapath_on_gpu().
 *
 * @param [in] dma The object.
 * @param [out] gpu_dma The handle.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the context does not run on a GPU; opendoca: always.
 */
DOCA_EXPERIMENTAL doca_error_t doca_dma_get_gpu_handle(struct doca_dma *dma, struct doca_gpu_dma **gpu_dma);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DMA_H_ */
