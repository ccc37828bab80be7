// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_bufpool.h
 * Buffer pools: buffers of one size and alignment over one memory map, at addresses that the pool chooses.
 *
 * Order: create, start, take buffers, give each back with doca_buf_refcount_rm(), stop, destroy.
 *
 * NULL: as doca_error.h says for all headers.
 * Outputs are written only on success.
 * Threads: one thread at a time per pool, and per buffer taken from it.
 */
#ifndef DOCA_BUFPOOL_H_
#define DOCA_BUFPOOL_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_mmap;
struct doca_buf;

/** A pool of equal buffers. */
struct doca_bufpool;

/**
 * Create a pool, not started.
 *
 * @param [in] user_data Kept for doca_bufpool_get_user_data(). NULL is allowed and means zero.
 * @param [in] num_elements Number of buffers; 1 or more (opendoca: at most 67,108,864).
 * @param [in] extensions DOCA_BUF_EXTENSION_NONE.
 * @param [in] element_size Bytes of each buffer; 1 or more.
 * @param [in] element_alignment Each buffer's address is a multiple of this power of two; 0 for any address.
 * @param [in] mmap The map whose range is divided up; its range must be set, it need not be started. It should
 *   outlive the pool. opendoca: a pool whose map was destroyed gives no buffers any more.
 * @param [out] bufpool The pool. Free it with doca_bufpool_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap or bufpool is NULL, num_elements or element_size is 0, extensions is not
 *   DOCA_BUF_EXTENSION_NONE, or element_alignment is neither 0 nor a power of two. opendoca: or the buffers
 *   do not fit in the range, where the last one needs no gap behind it.
 * - DOCA_ERROR_BAD_STATE: the map has no range.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_bufpool_create(const union doca_data *user_data, size_t num_elements,
                                                     uint32_t extensions, size_t element_size, size_t element_alignment,
                                                     const struct doca_mmap *mmap, struct doca_bufpool **bufpool);

/**
 * Destroy a pool.
 *
 * State: any, with every buffer given back.
 *
 * @param [in] bufpool The pool.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: bufpool is NULL.
 * - DOCA_ERROR_IN_USE: buffers have not been given back; nothing has changed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_bufpool_destroy(struct doca_bufpool *bufpool);

/**
 * Allow buffers to be taken.
 *
 * State: the memory map started. opendoca: in a started pool nothing changes.
 *
 * @param [in] bufpool The pool.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: bufpool is NULL.
 * - DOCA_ERROR_BAD_STATE: the memory map is not started.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_bufpool_start(struct doca_bufpool *bufpool);

/**
 * Refuse further buffers. Buffers that are out stay valid, and can be given back.
 *
 * State: any. opendoca: in a pool that is not started nothing changes.
 *
 * @param [in] bufpool The pool.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: bufpool is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_bufpool_stop(struct doca_bufpool *bufpool);

/**
 * Take a buffer. It is empty: its data address is its first byte, its data length 0.
 *
 * State: started.
 *
 * @param [in] bufpool The pool.
 * @param [out] buf The buffer, with a reference count of 1. Give it back with doca_buf_refcount_rm().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the pool is not started (opendoca: or its memory map no longer is).
 * - DOCA_ERROR_NO_MEMORY: every buffer is out.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_bufpool_buf_alloc(struct doca_bufpool *bufpool, struct doca_buf **buf);

/**
 * How many buffers the pool has, taken or not. State: any.
 *
 * @param [in] bufpool The pool.
 * @param [out] num_of_elements The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_bufpool_get_num_elements(const struct doca_bufpool *bufpool,
                                                               uint32_t *num_of_elements);

/**
 * How many buffers can still be taken. State: any.
 *
 * @param [in] bufpool The pool.
 * @param [out] num_of_free_elements The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_bufpool_get_num_free_elements(const struct doca_bufpool *bufpool,
                                                                    uint32_t *num_of_free_elements);

/**
 * The user data given at creation. State: any.
 *
 * @param [in] bufpool The pool.
 * @param [out] user_data The value; zero if none was given.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_bufpool_get_user_data(const struct doca_bufpool *bufpool,
                                                            union doca_data *user_data);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUFPOOL_H_ */
