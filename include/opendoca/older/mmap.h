// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/mmap.h
 * What doca_mmap.h has more, and other, at a level up to 20002. Included by it, inside of extern "C".
 *
 * Life of a local map: create; doca_mmap_start(); doca_mmap_dev_add() and doca_mmap_populate(), in any order and
 * any number; use; doca_mmap_dev_rm(); doca_mmap_destroy(). Up to 10500 the memory may be read and written by the
 * local devices and by whoever imports it. At 20002 one range can be set before the start as well, with
 * permissions, as in DOCA 2.2.
 *
 * While devices or ranges come and go, no other thread uses the map.
 */
#ifndef OPENDOCA_OLDER_MMAP_H_
#define OPENDOCA_OLDER_MMAP_H_

#if OPENDOCA_LEVEL < 10500

/** What doca_mmap_property_set() sets. The values are ours: no header of that time is known. */
enum doca_mmap_property {
    DOCA_MMAP_MAX_NUM_CHUNKS = 0, /**< uint32_t, or size_t; see doca_mmap_set_max_num_chunks(). */
};

/**
 * Set a property of a map.
 *
 * State: before the first start.
 *
 * @param [in] mmap The map.
 * @param [in] property Which one.
 * @param [in] value Its bytes.
 * @param [in] size How many: 4 or 8.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, there is no such property, size is another, or the value is out
 *   of range.
 * - DOCA_ERROR_NOT_PERMITTED: the map was started before, or is imported.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_property_set(struct doca_mmap *mmap, enum doca_mmap_property property,
                                                        const uint8_t *value, uint32_t size)
    OPENDOCA_BOUND_TO(opendoca_mmap_property_set_1_3);

/**
 * Create a map, not started, without memory or device.
 *
 * @param [in] name Of the map; not kept. NULL is allowed.
 * @param [out] mmap The map. Free it with doca_mmap_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_create(const char *name, struct doca_mmap **mmap)
    OPENDOCA_BOUND_TO(opendoca_mmap_create_1_3);

/**
 * Make a descriptor with which the other side of the PCIe can use the memory: a JSON object, sent by its strlen() + 1.
 * Its member "addr" is the address of the range and "len" its bytes, both decimal numbers. Programs read them, and then
 * pass the text to doca_mmap_create_from_export() (opendoca: also if a JSON library has written it anew).
 *
 * opendoca: in C++ the descriptor can be a pointer to any other type as well: void, char.
 *
 * State: started, with one range.
 *
 * @param [in] mmap The map.
 * @param [in] dev A device that was added.
 * @param [out] export_desc The descriptor, of malloc(): the caller frees it.
 * @param [out] export_desc_len Its bytes with the terminating NUL; at most 512 (opendoca).
 * @return As doca_mmap_export() of the level 10500.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev,
                                                  uint8_t **export_desc, size_t *export_desc_len)
    OPENDOCA_BOUND_TO(opendoca_mmap_export_1_3);

#ifdef __cplusplus
extern "C++" {
template <typename Byte>
inline doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev, Byte **export_desc,
                                     size_t *export_desc_len)
{
    uint8_t *bytes = nullptr;
    const doca_error_t status = doca_mmap_export(mmap, dev, export_desc == nullptr ? nullptr : &bytes, export_desc_len);
    if (status == DOCA_SUCCESS)
        *export_desc = reinterpret_cast<Byte *>(bytes);
    return status;
}
}
#endif

/**
 * Create a map of memory that another process exported, at any level.
 *
 * @param [in] name Of the map; not kept. NULL is allowed.
 * @param [in] export_desc From doca_mmap_export(). It is not needed after the call.
 * @param [in] export_desc_len Its bytes; not 0. Those behind the end of a text are not looked at.
 * @param [in] dev An open device through which the memory will be used.
 * @param [out] mmap The map. Free it with doca_mmap_destroy().
 * @return As doca_mmap_create_from_export() of DOCA 2.2.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_create_from_export(const char *name, const void *export_desc,
                                                              size_t export_desc_len, struct doca_dev *dev,
                                                              struct doca_mmap **mmap)
    OPENDOCA_BOUND_TO(opendoca_mmap_create_from_export_1_3);

#else /* 10500 and 20002 */

__DOCA_EXPERIMENTAL doca_error_t doca_mmap_create(const union doca_data *user_data, struct doca_mmap **mmap)
#if OPENDOCA_LEVEL == 10500
    OPENDOCA_BOUND_TO(opendoca_mmap_create_1_5);
#else
    OPENDOCA_BOUND_TO(opendoca_mmap_create_2_0);
#endif

/**
 * Make a descriptor with which the other side of the PCIe can use the memory.
 *
 * State: started, with one range.
 *
 * @param [in] mmap The map.
 * @param [in] dev A device that was added.
 * @param [out] export_desc The descriptor, of malloc(): the caller frees it.
 * @param [out] export_desc_len Its bytes; at most 256 (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or dev was not added to the map.
 * - DOCA_ERROR_NOT_SUPPORTED: the device cannot export memory, or the map has several ranges.
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported, not started, without a range; or, of a range that was set
 *   before the start, it has no DOCA_ACCESS_DPU_* permission.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_DRIVER: the device failed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_export(struct doca_mmap *mmap, const struct doca_dev *dev,
                                                  void **export_desc, size_t *export_desc_len)
    OPENDOCA_BOUND_TO(opendoca_mmap_export_1_5);

#if OPENDOCA_LEVEL == 10500
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_create_from_export(const union doca_data *user_data, const void *export_desc,
                                                              size_t export_desc_len, struct doca_dev *dev,
                                                              struct doca_mmap **mmap)
    OPENDOCA_BOUND_TO(opendoca_mmap_create_from_export_1_5);
#endif

#endif

/**
 * Set how many ranges doca_mmap_populate() can add.
 *
 * State: before the first start.
 *
 * @param [in] mmap The map.
 * @param [in] max_num_chunks The limit; not 0.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap is NULL, or the limit is 0.
 * - DOCA_ERROR_NOT_PERMITTED: the map was started before, or is imported.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_set_max_num_chunks(struct doca_mmap *mmap, uint32_t max_num_chunks)
    OPENDOCA_BOUND_TO(opendoca_mmap_set_max_num_chunks_1_3);

/**
 * How many ranges doca_mmap_populate() can add. State: any.
 *
 * @param [in] mmap The map.
 * @param [out] max_num_chunks The limit; 1024 unless set otherwise (opendoca).
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_get_max_num_chunks(struct doca_mmap *mmap, uint32_t *max_num_chunks)
    OPENDOCA_BOUND_TO(opendoca_mmap_get_max_num_chunks_1_3);

/**
 * Add a range of memory. May be repeated; a buffer lies in one range.
 *
 * State: started.
 *
 * @param [in] mmap The map.
 * @param [in] addr First byte; no alignment is needed.
 * @param [in] len Bytes; not 0.
 * @param [in] pg_sz Bytes of a page of the memory: a power of two, 4096 or more. Only checked.
 * @param [in] free_cb Called by doca_mmap_destroy() with addr, len and opaque; NULL means none.
 * @param [in] opaque Passed to free_cb.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: mmap or addr is NULL, len is 0, addr + len overflows, pg_sz is none of those, or
 *   the range is not mapped readable and writable.
 * - DOCA_ERROR_BAD_STATE: the map is not started.
 * - DOCA_ERROR_NOT_PERMITTED: the map is imported.
 * - DOCA_ERROR_NO_MEMORY: the limit of doca_mmap_set_max_num_chunks() is reached, no memory, or a device can
 *   register no more.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_mmap_populate(struct doca_mmap *mmap, void *addr, size_t len, size_t pg_sz,
                                                    doca_mmap_memrange_free_cb_t *free_cb, void *opaque)
    OPENDOCA_BOUND_TO(opendoca_mmap_populate_1_3);

#endif /* OPENDOCA_OLDER_MMAP_H_ */
