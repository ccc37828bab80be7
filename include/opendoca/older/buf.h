// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/buf.h
 * What doca_buf.h has more, and other, at a level up to 10500. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_BUF_H_
#define OPENDOCA_OLDER_BUF_H_

struct doca_dev;

/**
 * Set the data section of a buffer.
 *
 * @param [in] buf The buffer.
 * @param [in] data First byte.
 * @param [in] data_len Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: buf is NULL, or [data, data + data_len) is not inside of the buffer, which then has
 *   not changed.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_set_data(struct doca_buf *buf, void *data, size_t data_len)
    OPENDOCA_BOUND_TO(opendoca_buf_set_data_1_3);

/**
 * The key of a buffer's memory for one's own work requests on a device.
 *
 * @param [in] buf The buffer.
 * @param [in] dev A device of its memory map.
 * @param [in] doca_access_flags What the key is wanted for: bits of enum doca_access_flags.
 * @param [out] lkey The key.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, a bit is undefined, or the memory map does not have the device.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no keys.
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_get_lkey(const struct doca_buf *buf, struct doca_dev *dev,
                                                   uint32_t doca_access_flags, uint32_t *lkey)
    OPENDOCA_BOUND_TO(opendoca_buf_get_lkey_1_5);

#endif /* OPENDOCA_OLDER_BUF_H_ */
