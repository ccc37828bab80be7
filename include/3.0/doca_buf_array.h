// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_buf_array.h
 * Buffer arrays: equal buffers over one memory map, set up by the CPU and used by code on a GPU or a DPA.
 *
 * Order: create, set target and parameters, start, get the target's handle, stop, destroy.
 *
 * opendoca: no device has a GPU or a DPA. An array can be created, described and destroyed, but not be given
 * a target: that answers DOCA_ERROR_NOT_SUPPORTED, and so it never starts.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: one thread at a time per array.
 */
#ifndef DOCA_BUF_ARRAY_H_
#define DOCA_BUF_ARRAY_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_buf.h>
#include <doca_mmap.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_mmap;

/** An array of buffers, as the CPU sees it. */
struct doca_buf_arr;

/** A DPA (data path accelerator). */
struct doca_dpa;

/** A GPU. */
struct doca_gpu;

/** An array of buffers, as code on a GPU sees it. */
struct doca_gpu_buf_arr;

/** An array of buffers, as code on a DPA knows it. */
typedef uint64_t doca_dpa_dev_buf_arr_t;

#if OPENDOCA_LEVEL >= 20700
/**
 * Create an array, not started.
 *
 * @param [in] num_elem Number of buffers; 1 or more.
 * @param [out] buf_arr The array. Free it with doca_buf_arr_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL, or num_elem is 0.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_create(size_t num_elem, struct doca_buf_arr **buf_arr);
#endif

/**
 * Set the GPU whose code will use the array. A target is needed before the start.
 *
 * State: not started.
 *
 * @param [in] buf_arr The array.
 * @param [in] gpu_handler The GPU.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the array is started.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always, after the checks above.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_set_target_gpu(struct doca_buf_arr *buf_arr, struct doca_gpu *gpu_handler);

/**
 * Set the DPA whose code will use the array. A target is needed before the start.
 *
 * State: not started.
 *
 * @param [in] buf_arr The array.
 * @param [in] dpa_handler The DPA.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the array is started.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always, after the checks above.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_set_target_dpa(struct doca_buf_arr *buf_arr, struct doca_dpa *dpa_handler);

#if OPENDOCA_LEVEL >= 20700
/**
 * Set how the buffers lie in the range of a memory map.
 *
 * State: not started.
 *
 * @param [in] buf_arr The array.
 * @param [in] mmap The map; it need not be started.
 * @param [in] elem_size Bytes of each buffer; 1 or more.
 * @param [in] start_offset First byte of the first buffer, counted from the start of the map's range.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or elem_size is 0.
 * - DOCA_ERROR_BAD_STATE: the array is started.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, struct doca_mmap *mmap,
                                                       size_t elem_size, uint64_t start_offset);
#endif

/**
 * Make the buffers and allow the target to use them.
 *
 * State: not started, target and parameters set; the memory map started.
 *
 * @param [in] buf_arr The array.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL.
 * - DOCA_ERROR_BAD_STATE: the array is started already, or has no target or parameters.
 * - DOCA_ERROR_NOT_PERMITTED: the memory map is not started.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_start(struct doca_buf_arr *buf_arr);

/**
 * Take the buffers away from the target; its handle becomes invalid.
 *
 * State: started. opendoca: in an array that is not started nothing changes.
 *
 * @param [in] buf_arr The array.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_stop(struct doca_buf_arr *buf_arr);

/**
 * Destroy an array. State: not started, or stopped.
 *
 * @param [in] buf_arr The array.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_destroy(struct doca_buf_arr *buf_arr);

/**
 * The handle by which code on the GPU uses the array.
 *
 * State: started, with a GPU as target.
 *
 * @param [in] buf_arr The array.
 * @param [out] gpu_buf_arr The handle, owned by the array and valid until it is stopped.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the array is not started, or its target is no GPU.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_get_gpu_handle(const struct doca_buf_arr *buf_arr,
                                                           struct doca_gpu_buf_arr **gpu_buf_arr);

#if OPENDOCA_LEVEL >= 20700
/**
 * The handle by which code on the DPA uses the array.
 *
 * State: started, with a DPA as target.
 *
 * @param [in] buf_arr The array.
 * @param [out] dpa_buf_arr The handle, valid until the array is stopped.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the array is not started, or its target is no DPA.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr,
                                                           doca_dpa_dev_buf_arr_t *dpa_buf_arr);
#endif

#if OPENDOCA_LEVEL < 20700
#include <opendoca/older/buf_array.h>
#endif

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_ARRAY_H_ */
