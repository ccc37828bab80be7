// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_buf.h
 * Buffers: descriptors of a region of a memory map, and of the data in it.
 *
 *     head           data                  data + data_len       head + len
 *     |-- headroom --|------ dataroom -----|------ tailroom -----|
 *
 * As a source, a buffer stands for its dataroom. As a destination, it takes new data in its tailroom, after
 * the data that is there, and its data length grows by the amount. The headroom is the caller's and never
 * touched.
 *
 * Buffers can be chained to a list, which is handed to a task by its head. A source list is the sequence of
 * its datarooms; a destination list is filled tailroom by tailroom. A single buffer is a list of one: its
 * head and its end.
 *
 * A buffer comes from an inventory or a pool, does not own the memory, and starts with a reference count of
 * 1. Who shares it adds a reference, and each one drops his own. A task does not hold a reference: the buffer
 * must stay until the task's callback, and neither its data nor its list may be changed before.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * State: any buffer that has not returned to its inventory.
 *
 * Threads: one thread at a time per list, and per inventory that the buffers come from.
 */
#ifndef DOCA_BUF_H_
#define DOCA_BUF_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL == 20500
#include <stdbool.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** A buffer. */
struct doca_buf;

/**
 * Add a reference.
 *
 * @param [in] buf The buffer: a list's head, or a single one.
 * @param [out] refcount The count as it was before the call. NULL is allowed.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: buf is in a list and not its head; the count of a list's other members stays 1.
 * - DOCA_ERROR_TOO_BIG: the count is 65535 already.
 */
DOCA_STABLE doca_error_t doca_buf_inc_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * Drop a reference. At zero the buffer returns to its inventory and must not be used any more; with the
 * head of a list, all buffers of the list do.
 *
 * @param [in] buf The buffer: a list's head, or a single one.
 * @param [out] refcount The count as it was before the call. NULL is allowed.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL.
 * - DOCA_ERROR_BAD_STATE: the count is 0 already.
 * - DOCA_ERROR_NOT_PERMITTED: buf is in a list and not its head; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_buf_dec_refcount(struct doca_buf *buf, uint16_t *refcount);

/**
 * The reference count.
 *
 * @param [in] buf The buffer.
 * @param [out] refcount The count.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_get_refcount(const struct doca_buf *buf, uint16_t *refcount);

/**
 * The length of the whole region.
 *
 * @param [in] buf The buffer.
 * @param [out] len Bytes of headroom, dataroom and tailroom together; of this buffer alone, not of its list.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_get_len(const struct doca_buf *buf, size_t *len);

/**
 * The start of the region.
 *
 * @param [in] buf The buffer.
 * @param [out] head Its first byte. In an imported memory map, an address of the exporter, not for the CPU to
 * read.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_get_head(const struct doca_buf *buf, void **head);

/**
 * The length of the data.
 *
 * @param [in] buf The buffer.
 * @param [out] data_len Bytes of the dataroom; of this buffer alone, not of its list.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_get_data_len(const struct doca_buf *buf, size_t *data_len);

/**
 * The start of the data.
 *
 * @param [in] buf The buffer.
 * @param [out] data First byte of the dataroom. In an imported memory map, an address of the exporter, not
 * for the CPU to read.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_get_data(const struct doca_buf *buf, void **data);

/**
 * Set where the data is. The memory is not touched.
 *
 * @param [in] buf The buffer.
 * @param [in] data First byte of the dataroom; undefined behaviour if it is outside of the buffer's region.
 * @param [in] data_len Its bytes. data to data + data_len must lie in the buffer's region; this is not
 * checked, and the behaviour is undefined otherwise.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len);

/**
 * Set the length of the data and leave the data address as it is. The memory is not touched.
 *
 * @param [in] buf The buffer.
 * @param [in] data_len Bytes of the dataroom, which must lie in the buffer's region; this is not checked, and
 * the behaviour is undefined otherwise.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_set_data_len(struct doca_buf *buf, size_t data_len);

/**
 * Set the data length to 0 and leave the data address as it is, so that the next task that writes to the
 * buffer overwrites the data instead of adding to it.
 *
 * @param [in] buf The buffer; of a list, this element alone.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_reset_data_len(struct doca_buf *buf);

/**
 * The next buffer in the list.
 *
 * @param [in] buf The buffer.
 * @param [out] next_buf The one after it; NULL when buf is the last.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_get_next_in_list(struct doca_buf *buf, struct doca_buf **next_buf);

/**
 * The last buffer of the list.
 *
 * @param [in] buf Any buffer of the list.
 * @param [out] last_buf The last one; buf itself when it is single.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_get_last_in_list(struct doca_buf *buf, struct doca_buf **last_buf);

/**
 * Whether a buffer is the last of its list.
 *
 * @param [in] buf The buffer.
 * @param [out] is_last 1 when none comes after it, also when it is single; else 0.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_is_last_in_list(const struct doca_buf *buf, uint8_t *is_last);

/**
 * Whether a buffer is the head of its list.
 *
 * @param [in] buf The buffer.
 * @param [out] is_first 1 when none comes before it, also when it is single; else 0.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_is_first_in_list(const struct doca_buf *buf, uint8_t *is_first);

/**
 * Whether a buffer is chained to another one.
 *
 * @param [in] buf The buffer.
 * @param [out] is_in_list 1 when it has a neighbour, 0 when it is single.
 * @return DOCA_SUCCESS.
 */
DOCA_STABLE doca_error_t doca_buf_is_in_list(const struct doca_buf *buf, uint8_t *is_in_list);

/**
 * How many buffers the list has.
 *
 * @param [in] buf The head of the list.
 * @param [out] num_elements The number; 1 when buf is single.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: buf is not the head.
 */
DOCA_STABLE doca_error_t doca_buf_get_list_len(const struct doca_buf *buf, uint32_t *num_elements);

/**
 * Append one list to another. The data sections stay as they are.
 *
 * @param [in] list1 Head of the list that grows; it is the head of the result.
 * @param [in] list2 Head of the list that is appended; another one than list1.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is not a list's head, or both are the same (opendoca); nothing has
 *   changed.
 * - DOCA_ERROR_NOT_PERMITTED: list2 has another reference count than 1.
 */
DOCA_STABLE doca_error_t doca_buf_chain_list(struct doca_buf *list1, struct doca_buf *list2);

/**
 * As doca_buf_chain_list(), for who knows the last buffer of the first list.
 *
 * @param [in] list1_head Head of the list that grows; it is the head of the result.
 * @param [in] list1_tail The last buffer of that list.
 * @param [in] list2 Head of the list that is appended; another one than list1_head.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: list1_head or list2 is not a list's head, both are the same, or list1_tail is
 *   not the last of a list; nothing has changed (opendoca).
 * - DOCA_ERROR_NOT_PERMITTED: list2 has another reference count than 1.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_chain_list_tail(struct doca_buf *list1_head, struct doca_buf *list1_tail,
                                                        struct doca_buf *list2);

/**
 * Cut a list in two: what comes before list2, and list2 with what comes after it.
 *
 * @param [in] list1 Head of the list; it keeps the first part.
 * @param [in] list2 A buffer of the same list, not its head; it becomes the head of the second part, with a
 * reference count of 1.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: list2 is list1, or not in its list; opendoca: list1 is not a head. Nothing has
 *   changed.
 */
DOCA_STABLE doca_error_t doca_buf_unchain_list(struct doca_buf *list1, struct doca_buf *list2);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_H_ */
