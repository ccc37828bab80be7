// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_buf_inventory.h
 * Inventories: stocks of buffer descriptors, allocated once, from which buffers of any size over any started
 * memory map are taken without further allocation.
 *
 * Order: create, start, take buffers, give each back with doca_buf_dec_refcount(), stop (not required),
 * destroy.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: one thread at a time per inventory, and per buffer taken from it. Several inventories may serve
 * one memory map in several threads.
 */
#ifndef DOCA_BUF_INVENTORY_H_
#define DOCA_BUF_INVENTORY_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>
#include <opendoca/level.h>

#if OPENDOCA_LEVEL < 20900
#include <doca_buf.h>
#include <doca_mmap.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_mmap;

/** A stock of buffer descriptors. */
struct doca_buf_inventory;

/**
 * Create an inventory, not started, and all its descriptors.
 *
 * @param [in] num_elements Number of descriptors; 1 to 67108864, 2^26 (opendoca).
 * @param [out] inventory The inventory. Free it with doca_buf_inventory_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL, or num_elements is out of range.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_create(size_t num_elements, struct doca_buf_inventory **inventory);

/**
 * Destroy an inventory. It is stopped before, if need be.
 *
 * State: any, with every buffer given back.
 *
 * @param [in] inventory The inventory.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL.
 * - DOCA_ERROR_IN_USE: buffers have not been given back; nothing has changed.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_destroy(struct doca_buf_inventory *inventory);

/**
 * Allow buffers to be taken. opendoca: succeeds also when the inventory is started already.
 *
 * State: any.
 *
 * @param [in] inventory The inventory.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_start(struct doca_buf_inventory *inventory);

/**
 * Refuse further buffers. Buffers that are out stay valid; the inventory can be started again. opendoca:
 * succeeds also when the inventory is not started.
 *
 * State: any.
 *
 * @param [in] inventory The inventory.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_stop(struct doca_buf_inventory *inventory);

/**
 * Take a buffer, with its region and its data section.
 *
 * State: the inventory started; the memory map started, or imported and not stopped. A data path function.
 *
 * @param [in] inventory The inventory.
 * @param [in] mmap The map that the memory belongs to.
 * @param [in] addr First byte of the region. For an imported map, an address in the exporter's range.
 * @param [in] len Bytes of the region, which must lie in the map's range.
 * @param [in] data First byte of the data section.
 * @param [in] data_len Bytes of the data section, which must lie in the region.
 * @param [out] buf The buffer, single, with a reference count of 1. Give it back with
 * doca_buf_dec_refcount().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: the region is not in the map's range; opendoca: the data section is not in the
 *   region. Or inventory, mmap or buf is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the inventory or the map is not started (opendoca).
 * - DOCA_ERROR_NO_MEMORY: every buffer of the inventory is out.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_buf_get_by_args(struct doca_buf_inventory *inventory,
                                                            struct doca_mmap *mmap, void *addr, size_t len, void *data,
                                                            size_t data_len, struct doca_buf **buf);

/**
 * Take a buffer without data: its data address is the region's first byte, its data length 0. The usual
 * destination. State and threads as doca_buf_inventory_buf_get_by_args().
 *
 * @param [in] inventory The inventory.
 * @param [in] mmap The map that the memory belongs to.
 * @param [in] addr First byte of the region.
 * @param [in] len Bytes of the region, which must lie in the map's range.
 * @param [out] buf The buffer.
 * @return As doca_buf_inventory_buf_get_by_args().
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_addr(struct doca_buf_inventory *inventory,
                                                              struct doca_mmap *mmap, void *addr, size_t len,
                                                              struct doca_buf **buf)
{
    return doca_buf_inventory_buf_get_by_args(inventory, mmap, addr, len, addr, 0, buf);
}

/**
 * Take a buffer that is full of data: region and data section are the same. The usual source. State and
 * threads as doca_buf_inventory_buf_get_by_args().
 *
 * @param [in] inventory The inventory.
 * @param [in] mmap The map that the memory belongs to.
 * @param [in] data First byte of the region and of the data section.
 * @param [in] data_len Bytes of both, which must lie in the map's range.
 * @param [out] buf The buffer.
 * @return As doca_buf_inventory_buf_get_by_args().
 */
static inline doca_error_t doca_buf_inventory_buf_get_by_data(struct doca_buf_inventory *inventory,
                                                              struct doca_mmap *mmap, void *data, size_t data_len,
                                                              struct doca_buf **buf)
{
    return doca_buf_inventory_buf_get_by_args(inventory, mmap, data, data_len, data, data_len, buf);
}

/**
 * Take a buffer with the map, region and data section of another one. The memory is not copied, and the new
 * buffer is single, whatever list the other one is in (opendoca).
 *
 * State: the inventory started; the map of src_buf started, or imported and not stopped.
 *
 * @param [in] inventory The inventory that the new buffer comes from; not necessarily that of src_buf.
 * @param [in] src_buf The buffer to copy: a list's head, or a single one.
 * @param [out] dst_buf The new buffer, with a reference count of 1. Give it back with
 * doca_buf_dec_refcount().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the inventory or the map is not started.
 * - DOCA_ERROR_NOT_PERMITTED: src_buf is in a list and not its head.
 * - DOCA_ERROR_NO_MEMORY: every buffer of the inventory is out.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_buf_dup(struct doca_buf_inventory *inventory,
                                                    const struct doca_buf *src_buf, struct doca_buf **dst_buf);

/**
 * Point a buffer that was taken at another region of the same memory map, with another data section. Its
 * reference count and its list stay as they are. A data path function.
 *
 * State: no task that uses the buffer is submitted.
 *
 * Since DOCA 3.2.
 *
 * @param [in] buf The buffer.
 * @param [in] addr First byte of the region.
 * @param [in] len Bytes of the region, which must lie in the map's range.
 * @param [in] data First byte of the data section.
 * @param [in] data_len Bytes of the data section, which must lie in the region.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL, or the region or the data section is outside of its range; nothing
 *   has changed (opendoca).
 * - DOCA_ERROR_NOT_PERMITTED: its memory map is not started (opendoca). A buffer of a pool is no error
 *   (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_inventory_buf_reuse_by_args(struct doca_buf *buf, void *addr, size_t len,
                                                                    void *data, size_t data_len);

/* No warning from here where experimental symbols are not accepted: it is for the caller's own calls. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/**
 * doca_buf_inventory_buf_reuse_by_args() for a buffer without data: its data address becomes the region's
 * first byte, its data length 0.
 *
 * Since DOCA 3.2.
 *
 * @param [in] buf The buffer.
 * @param [in] addr First byte of the region.
 * @param [in] len Bytes of the region, which must lie in the map's range.
 * @return As doca_buf_inventory_buf_reuse_by_args().
 */
static inline doca_error_t doca_buf_inventory_buf_reuse_by_addr(struct doca_buf *buf, void *addr, size_t len)
{
    return doca_buf_inventory_buf_reuse_by_args(buf, addr, len, addr, 0);
}

/**
 * doca_buf_inventory_buf_reuse_by_args() for a buffer that is full of data: region and data section are the
 * same.
 *
 * Since DOCA 3.2.
 *
 * @param [in] buf The buffer.
 * @param [in] data First byte of the region and of the data section.
 * @param [in] data_len Bytes of both, which must lie in the map's range.
 * @return As doca_buf_inventory_buf_reuse_by_args().
 */
static inline doca_error_t doca_buf_inventory_buf_reuse_by_data(struct doca_buf *buf, void *data, size_t data_len)
{
    return doca_buf_inventory_buf_reuse_by_args(buf, data, data_len, data, data_len);
}

#pragma GCC diagnostic pop

/**
 * Set a word for doca_buf_inventory_get_user_data().
 *
 * State: not started.
 *
 * @param [in] inventory The inventory.
 * @param [in] user_data The word.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL.
 * - DOCA_ERROR_BAD_STATE: the inventory is started.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_set_user_data(struct doca_buf_inventory *inventory,
                                                          union doca_data user_data);

/**
 * How many buffers the inventory has, taken or not. State: any.
 *
 * @param [in] inventory The inventory.
 * @param [out] num_of_elements The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_num_elements(const struct doca_buf_inventory *inventory,
                                                             uint32_t *num_of_elements);

/**
 * How many buffers can still be taken. State: any.
 *
 * @param [in] inventory The inventory.
 * @param [out] num_of_free_elements The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_num_free_elements(const struct doca_buf_inventory *inventory,
                                                                  uint32_t *num_of_free_elements);

/**
 * The word set by doca_buf_inventory_set_user_data(). State: any.
 *
 * @param [in] inventory The inventory.
 * @param [out] user_data The word; zero if none was set.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_STABLE doca_error_t doca_buf_inventory_get_user_data(const struct doca_buf_inventory *inventory,
                                                          union doca_data *user_data);

/**
 * Add descriptors. Buffers that are out stay valid. Allocates; not for a data path.
 *
 * State: started.
 *
 * @param [in] inventory The inventory.
 * @param [in] num_elements Descriptors to add; 1 or more, and no more than 67108864 together (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: inventory is NULL, or num_elements is out of range.
 * - DOCA_ERROR_BAD_STATE: the inventory is not started.
 * - DOCA_ERROR_NO_MEMORY: no memory; the inventory is as before.
 */
DOCA_EXPERIMENTAL doca_error_t doca_buf_inventory_expand(struct doca_buf_inventory *inventory, uint32_t num_elements);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_BUF_INVENTORY_H_ */
