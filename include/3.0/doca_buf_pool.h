// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_buf_pool.h
 * Buffer pools: buffers of one size that divide up the range of one memory map.
 *
 * Order: create, start, take buffers, give each back with doca_buf_dec_refcount(), stop, destroy.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: one thread at a time per pool, and per buffer taken from it.
 */
#ifndef DOCA_BUF_POOL_H_
#define DOCA_BUF_POOL_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_mmap;

/** A pool of equal buffers. */
struct doca_buf_pool;

/**
 * Create a pool, not started. Its buffers begin at any address until doca_buf_pool_set_element_alignment()
 * says more.
 *
 * @param [in] num_elements Number of buffers; 1 or more (opendoca: at most 67,108,864).
 * @param [in] element_size Bytes of each buffer; 1 or more.
 * @param [in] mmap The map whose range is divided up. It should outlive the pool. opendoca: a pool whose map
 * was destroyed gives no buffers any more.
 * @param [out] buf_pool The pool. Free it with doca_buf_pool_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap or buf_pool is NULL, num_elements or element_size is 0, or num_elements is
 *   too large.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_STABLE doca_error_t doca_buf_pool_create(size_t num_elements, size_t element_size, const struct doca_mmap *mmap,
                                              struct doca_buf_pool **buf_pool);

/**
 * Destroy a pool. It is stopped before, if need be.
 *
 * State: any, with every buffer given back.
 *
 * @param [in] buf_pool The pool.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL.
 * - DOCA_ERROR_IN_USE: buffers have not been given back; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_buf_pool_destroy(struct doca_buf_pool *buf_pool);

/**
 * Allow buffers to be taken.
 *
 * State: the memory map started. opendoca: in a started pool nothing changes.
 *
 * @param [in] buf_pool The pool.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL.
 * - DOCA_ERROR_INITIALIZATION: the buffers do not fit in the map's range, where the last one needs no gap
 *   behind it.
 * - DOCA_ERROR_BAD_STATE: the memory map is not started.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_STABLE doca_error_t doca_buf_pool_start(struct doca_buf_pool *buf_pool);

/**
 * Refuse further buffers.
 *
 * State: any, with every buffer given back. opendoca: in a pool that is not started nothing changes.
 *
 * @param [in] buf_pool The pool.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL.
 * - DOCA_ERROR_IN_USE: buffers have not been given back; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_buf_pool_stop(struct doca_buf_pool *buf_pool);

/**
 * Take a buffer. It is empty: its data address is its first byte, its data length 0.
 *
 * State: started.
 *
 * @param [in] buf_pool The pool.
 * @param [out] buf The buffer, with a reference count of 1. Give it back with doca_buf_dec_refcount().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the pool is not started (opendoca: or its memory map no longer is).
 * - DOCA_ERROR_EMPTY: every buffer is out.
 */
DOCA_STABLE doca_error_t doca_buf_pool_buf_alloc(struct doca_buf_pool *buf_pool, struct doca_buf **buf);

/**
 * Set a word for doca_buf_pool_get_user_data().
 *
 * State: not started.
 *
 * @param [in] buf_pool The pool.
 * @param [in] user_data The word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL.
 * - DOCA_ERROR_BAD_STATE: the pool is started.
 */
DOCA_STABLE doca_error_t doca_buf_pool_set_user_data(struct doca_buf_pool *buf_pool, union doca_data user_data);

/**
 * Set of what the address of each buffer is a multiple.
 *
 * State: not started.
 *
 * @param [in] buf_pool The pool.
 * @param [in] element_alignment Bytes, a power of two; 1, which is any address, unless set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf_pool is NULL, or element_alignment is not a power of two.
 * - DOCA_ERROR_BAD_STATE: the pool is started.
 */
DOCA_STABLE doca_error_t doca_buf_pool_set_element_alignment(struct doca_buf_pool *buf_pool, size_t element_alignment);

/**
 * How many buffers the pool has, taken or not. State: any.
 *
 * @param [in] buf_pool The pool.
 * @param [out] num_of_elements The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_pool_get_num_elements(const struct doca_buf_pool *buf_pool,
                                                        uint32_t *num_of_elements);

/**
 * How many buffers can still be taken. State: any.
 *
 * @param [in] buf_pool The pool.
 * @param [out] num_of_free_elements The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_pool_get_num_free_elements(const struct doca_buf_pool *buf_pool,
                                                             uint32_t *num_of_free_elements);

/**
 * The word set by doca_buf_pool_set_user_data(). State: any.
 *
 * @param [in] buf_pool The pool.
 * @param [out] user_data The word; zero if none was set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_pool_get_user_data(const struct doca_buf_pool *buf_pool, union doca_data *user_data);

/**
 * The alignment of the buffers. State: any.
 *
 * @param [in] buf_pool The pool.
 * @param [out] element_alignment Bytes; 1 unless set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_pool_get_element_alignment(const struct doca_buf_pool *buf_pool,
                                                             size_t *element_alignment);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_POOL_H_ */
