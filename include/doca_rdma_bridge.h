// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_rdma_bridge.h
 * The way between DOCA and rdma-core: a device as a protection domain and back, and a buffer's memory key.
 *
 * opendoca: in this release the functions of this header answer DOCA_ERROR_NOT_SUPPORTED, see
 * docs/not-built.md.
 *
 * NULL: every function answers DOCA_ERROR_INVALID_VALUE to a NULL pointer, unless it says otherwise.
 * Outputs are written only on success.
 */
#ifndef DOCA_RDMA_BRIDGE_H_
#define DOCA_RDMA_BRIDGE_H_

#include <stdint.h>

#include <infiniband/verbs.h>

#include <doca_compat.h>
#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;
struct doca_buf;

/**
 * The protection domain that a device uses.
 *
 * State: device open. Threads: any.
 *
 * @param [in] dev The device.
 * @param [out] pd The protection domain, owned by the device and valid until its last close. Do not
 * deallocate it.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the device has no usable protection domain.
 * - DOCA_ERROR_NOT_SUPPORTED: always, in this release (opendoca; see docs/not-built.md).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dev_get_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/**
 * Make a device of a protection domain that the caller allocated with rdma-core.
 *
 * Such a device can be given to doca_dev_close(), doca_dev_get_pd() and doca_buf_get_mkey() only. It has no
 * devinfo, and memory maps and contexts refuse it with DOCA_ERROR_NOT_SUPPORTED.
 *
 * Threads: any.
 *
 * @param [in] pd The protection domain; not one from doca_dev_get_pd(). It must outlive the device.
 * @param [out] dev The device. Close it with doca_dev_close(), which leaves the protection domain alone.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or pd came from DOCA.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_NOT_SUPPORTED: always, in this release (opendoca; see docs/not-built.md).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_dev_open_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

/**
 * The key by which a device knows a buffer's memory. It allows what the memory map's permissions allow.
 *
 * State: buffer taken, its map started. Threads: one thread at a time per buffer.
 *
 * @param [in] buf The buffer; must not be NULL, or the behaviour is undefined.
 * @param [in] dev A device of the buffer's memory map; must not be NULL, or the behaviour is undefined.
 * @param [out] mkey The key; must not be NULL, or the behaviour is undefined.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: the memory map does not know the device.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no such key; always, in this release (opendoca; see
 *   docs/not-built.md).
 */
__DOCA_EXPERIMENTAL doca_error_t doca_buf_get_mkey(const struct doca_buf *buf, struct doca_dev *dev,
                                                   uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_BRIDGE_H_ */
