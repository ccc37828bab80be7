// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/ctx.h
 * What doca_ctx.h has more, and other, at a level up to 20002. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_CTX_H_
#define OPENDOCA_OLDER_CTX_H_

/**
 * Create a work queue. It holds the larger of depth and 1024 jobs (opendoca): programs of these levels submit
 * more than they asked for, and doca_workq_get_depth() tells the number.
 *
 * @param [in] depth How many jobs can be in flight at least; 1 to 65536 (opendoca).
 * @param [out] workq The queue. Free it with doca_workq_destroy().
 * @return As doca_workq_create() of DOCA 2.2.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_create(uint32_t depth, struct doca_workq **workq)
    OPENDOCA_BOUND_TO(opendoca_workq_create_1_3);

#if OPENDOCA_LEVEL >= 10500

/**
 * Let a work queue hold more jobs. It never holds fewer than before (opendoca).
 *
 * State: on no context.
 *
 * @param [in] workq The queue.
 * @param [in] depth How many jobs can be in flight at least; 1 to 65536 (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: workq is NULL, or depth is out of range.
 * - DOCA_ERROR_BAD_STATE: the queue would have to grow, and is on a context.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_set_depth(struct doca_workq *workq, uint32_t depth)
    OPENDOCA_BOUND_TO(opendoca_workq_set_depth_1_5);

#else

/** Jobs are those of these levels: see struct doca_dma_job_memcpy. */
__DOCA_EXPERIMENTAL doca_error_t doca_workq_submit(struct doca_workq *workq, const struct doca_job *job)
    OPENDOCA_BOUND_TO(opendoca_workq_submit_1_3);

#endif

#endif /* OPENDOCA_OLDER_CTX_H_ */
