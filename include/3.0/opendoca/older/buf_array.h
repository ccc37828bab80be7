// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/buf_array.h
 * What doca_buf_array.h has other at a level up to 20600. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_BUF_ARRAY_H_
#define OPENDOCA_OLDER_BUF_ARRAY_H_

struct doca_mmap;

/** An array of buffers, as code on a DPA has it. */
struct doca_dpa_dev_buf_arr;

/**
 * Create an array, not started.
 *
 * @param [in] mmap The memory map of its buffers.
 * @param [out] buf_arr The new array.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_create(struct doca_mmap *mmap, struct doca_buf_arr **buf_arr)
    OPENDOCA_BOUND_TO(opendoca_buf_arr_create_2_5);

/**
 * Set how the buffers lie in the range of the memory map.
 *
 * @param [in] buf_arr The array.
 * @param [in] elem_size Bytes of a buffer; not 0.
 * @param [in] num_elem Number of buffers; not 0.
 * @param [in] start_offset Offset of the first buffer in the range.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_arr is NULL, elem_size or num_elem is 0.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_set_params(struct doca_buf_arr *buf_arr, size_t size, uint32_t num_elem,
                                                       uint32_t start_offset)
    OPENDOCA_BOUND_TO(opendoca_buf_arr_set_params_2_5);

/** As doca_buf_arr_get_dpa_handle() of DOCA 3.0. */
DOCA_EXPERIMENTAL doca_error_t doca_buf_arr_get_dpa_handle(const struct doca_buf_arr *buf_arr,
                                                           struct doca_dpa_dev_buf_arr **dpa_buf_arr)
    OPENDOCA_BOUND_TO(opendoca_buf_arr_get_dpa_handle_2_5);

#endif /* OPENDOCA_OLDER_BUF_ARRAY_H_ */
