// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_buf_array.h
 * Buffer arrays: equal buffers over one memory map, set up by the CPU and used by code on a GPU.
 *
 * Order: create, set target and parameters, start, get the GPU's handle, stop, destroy.
 *
 * opendoca: no device has a GPU in this release. An array can be created, described and destroyed, but not be
 * given a target: doca_buf_arr_set_target_gpu() answers DOCA_ERROR_NOT_SUPPORTED, and so it never starts.
 *
 * NULL: as doca_error.h says for all headers.
 * Outputs are written only on success.
 * Threads: one thread at a time per array.
 */
#ifndef DOCA_BUF_ARRAY_H_
#define DOCA_BUF_ARRAY_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_compat.h>
#include <doca_error.h>
#include <doca_mmap.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A GPU. */
struct doca_gpu;

/** A DPA (data path accelerator). */
struct doca_dpa;

/** An array of buffers, as the CPU sees it. */
struct doca_buf_arr;

/** An array of buffers, as code on a GPU sees it. */
struct doca_gpu_buf_arr;

/**
 * Create an array over a memory map, not started.
 *
 * @param [in] mmap The map; it need not be started.
 * @param [out] buf_arr The array. Free it with doca_buf_arr_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_create(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr);

/**
 * Set the GPU whose code will use the array. Needed before the start.
 *
 * State: not started.
 *
 * @param [in] buf_arr The array.
 * @param [in] gpu_handler The GPU.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the array is started.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always in this release, after the checks above.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr,
                                                             struct doca_gpu *gpu_handler);

/**
 * Set how the map's range is divided up.
 *
 * State: not started.
 *
 * @param [in] buf_arr The array.
 * @param [in] size Bytes of each buffer; 1 or more.
 * @param [in] num_elem Number of buffers; 1 or more.
 * @param [in] start_offset First byte of the first buffer, counted from the start of the map's range.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL, or size or num_elem is 0.
 * - DOCA_ERROR_BAD_STATE: the array is started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, size_t size, uint32_t num_elem,
                                                         uint32_t start_offset);

/**
 * Make the buffers and allow the target to use them.
 *
 * State: not started, target set; the memory map started.
 *
 * @param [in] buf_arr The array.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL.
 * - DOCA_ERROR_BAD_STATE: the array is started already, or has no target.
 * - DOCA_ERROR_NOT_PERMITTED: the memory map is not started.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr);

/**
 * Take the buffers away from the target; its handle becomes invalid.
 *
 * State: started. opendoca: in an array that is not started nothing changes.
 *
 * @param [in] buf_arr The array.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr);

/**
 * Destroy an array. State: not started, or stopped.
 *
 * @param [in] buf_arr The array.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr);

/**
 * The handle by which code on the GPU uses the array.
 *
 * State: started.
 *
 * @param [in] buf_arr The array.
 * @param [out] gpu_buf_arr The handle, owned by the array and valid until it is stopped.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the array is not started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr,
                                                             struct doca_gpu_buf_arr **gpu_buf_arr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_ARRAY_H_ */
