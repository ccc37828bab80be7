// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_dma.h
 * DMA: copying memory, within this side and between this side and memory imported from another.
 *
 * A DMA object is a context (doca_dma_as_ctx()) and is used as doca_ctx.h describes: one device, any number
 * of work queues, both polling and event-driven where doca_ctx_get_event_driven_supported() says so.
 *
 * NULL: as doca_error.h says for all headers.
 * Outputs are written only on success.
 * Threads: as doca_ctx.h says for contexts; create and destroy one object from one thread.
 */
#ifndef DOCA_DMA_H_
#define DOCA_DMA_H_

#include <inttypes.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A DMA object. */
struct doca_dma;

/** Jobs that a DMA context takes. */
enum doca_dma_job_types {
    DOCA_DMA_JOB_MEMCPY = DOCA_ACTION_DMA_FIRST + 1, /**< Copy; struct doca_dma_job_memcpy. */
};

/**
 * Copy the source's data to the destination.
 *
 * Both sides may be lists, given by their heads, and either may lie in an imported memory map. The ranges
 * must not overlap. Zero bytes may be copied; that succeeds.
 *
 * Read: the data sections of the source, one after the other.
 * Written: the destination's tailroom, buffer by buffer, after the data that is there; each buffer's data
 * length grows by what it got. opendoca: a destination that has no tailroom at all, in its whole list, counts
 * as empty: data lands at the data addresses, and the data lengths become those of the new data. Whatever
 * else does not fit is refused.
 *
 * Jobs that are in flight at the same time must not have a destination in common: on devices of libibverbs
 * (opendoca) they would be given the same place in it.
 *
 * doca_workq_submit() refuses a job, and changes nothing, with
 * - DOCA_ERROR_INVALID_VALUE: a buffer is NULL or not a list's head; the job type is unknown; the data does
 *   not fit in the destination; more bytes than doca_dma_get_max_buf_size(); a list longer than
 *   doca_dma_get_max_list_buf_num_elem(); a memory map without the context's device (opendoca).
 * - DOCA_ERROR_NOT_PERMITTED: the destination's memory map does not allow local writing, or was imported for
 *   reading only (opendoca).
 * - what doca_workq_submit() lists.
 *
 * The event has the job's type and user data. result.u64 is a doca_error_t: DOCA_SUCCESS, with the
 * destination's data lengths up to date; or, when doca_workq_progress_retrieve() gives DOCA_ERROR_IO_FAILED,
 * with the data lengths as they were and the destination's content undefined (opendoca):
 * - DOCA_ERROR_NOT_PERMITTED: the exporter has stopped or destroyed its memory map.
 * - DOCA_ERROR_CONNECTION_RESET: the exporter's process has gone.
 * - DOCA_ERROR_IO_FAILED: the exporter's memory cannot be accessed any more.
 * - DOCA_ERROR_OPERATING_SYSTEM: the kernel refuses the access.
 * A failed job does not harm the context; other jobs go on.
 */
struct doca_dma_job_memcpy {
    struct doca_job base;            /**< type is DOCA_DMA_JOB_MEMCPY, ctx the DMA object's context. */
    struct doca_buf *dst_buff;       /**< Destination. */
    const struct doca_buf *src_buff; /**< Source. */
#if OPENDOCA_LEVEL < 10500
    uint64_t num_bytes_to_copy; /* From the source's data address on; its data section becomes these bytes. */
#endif
};

/** The result of a copy, as it stands in the event's result.u64. */
struct doca_dma_memcpy_result {
    doca_error_t result; /**< DOCA_SUCCESS or the cause of the failure, see struct doca_dma_job_memcpy. */
};

#if OPENDOCA_LEVEL < 20200
#include <opendoca/older/dma.h>
#endif

/**
 * Create a DMA object. Its context is not started and has no device.
 *
 * @param [out] dma The object. Free it with doca_dma_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dma is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_INITIALIZATION: the context cannot be set up.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dma_create(struct doca_dma **dma);

/**
 * Destroy a DMA object and its context.
 *
 * State: context stopped. The device may have been closed before.
 *
 * @param [in] dma The object.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: dma is NULL (opendoca).
 * - DOCA_ERROR_IN_USE: the object is busy, or a work queue is on its context; nothing has changed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dma_destroy(struct doca_dma *dma);

/**
 * Whether a device can do a kind of job. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [in] job_type The kind of job.
 * @return DOCA_SUCCESS when it can, or
 * - DOCA_ERROR_INVALID_VALUE: devinfo is NULL, or there is no such job type.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dma_job_get_supported(struct doca_devinfo *devinfo,
                                                            enum doca_dma_job_types job_type);

/**
 * The context of a DMA object. State: any.
 *
 * @param [in] dma The object.
 * @return The context, always the same one, which lives as long as the object; or NULL when dma is NULL.
 */
__DOCA_EXPERIMENTAL struct doca_ctx *doca_dma_as_ctx(struct doca_dma *dma);

/**
 * How many buffers a list can have, on either side of a copy. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] max_list_num_elem The number; 1 when lists are not supported. The software device gives 1024
 * (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dma_get_max_list_buf_num_elem(const struct doca_devinfo *devinfo,
                                                                    uint32_t *max_list_num_elem);

/**
 * How much one job can copy. Threads: any.
 *
 * @param [in] devinfo The device.
 * @param [out] buf_size Bytes. The software device gives 2147483648, 2 GiB (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dma_get_max_buf_size(const struct doca_devinfo *devinfo, uint64_t *buf_size);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_DMA_H_ */
