// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_rdma_bridge.h
 * The way between DOCA and rdma-core: a device as a protection domain and back, and memory keys.
 *
 * A program that has its own queue pairs can use them on the memory of a memory map: either on the protection
 * domain of a device, or with a device made of the program's own protection domain.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 */
#ifndef DOCA_RDMA_BRIDGE_H_
#define DOCA_RDMA_BRIDGE_H_

#include <stdint.h>

#include <infiniband/verbs.h>

#include <doca_error.h>
#include <doca_types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_buf;
struct doca_dev;
struct doca_mmap;

/**
 * The protection domain that a device uses.
 *
 * State: device open. Threads: any.
 *
 * @param [in] dev The device.
 * @param [out] pd The protection domain, valid until the device's last close. The device owns it: do not
 * deallocate it, and destroy all that was made on it before that close. Of a device from
 * doca_rdma_bridge_open_dev_from_pd() it is the one that the program gave.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_BAD_STATE: the device has no usable protection domain.
 * - DOCA_ERROR_NOT_SUPPORTED: the device is not a libibverbs device, as a software device (opendoca).
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_get_dev_pd(const struct doca_dev *dev, struct ibv_pd **pd);

/**
 * Make a device of a protection domain that the caller allocated with rdma-core.
 *
 * Such a device has no devinfo. It can be added to memory maps, which register their memory in the protection
 * domain when they start. It can do nothing else: contexts, sync events, exports, imports and lists of
 * representors answer DOCA_ERROR_NOT_SUPPORTED.
 *
 * Threads: any.
 *
 * @param [in] pd The protection domain; not one from doca_rdma_bridge_get_dev_pd(). It must outlive the
 * device.
 * @param [out] dev The device; opendoca: another one at each call. Close it with doca_dev_close(), which
 * leaves the protection domain alone.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL, or pd came from DOCA; opendoca: or the RDMA device of pd
 *   does not answer, because it was removed.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_open_dev_from_pd(struct ibv_pd *pd, struct doca_dev **dev);

/**
 * The key by which a device knows a buffer's memory. It allows what the memory map's permissions allow:
 * without DOCA_ACCESS_FLAG_LOCAL_READ_WRITE local reads only, and to peers what DOCA_ACCESS_FLAG_RDMA_* say.
 *
 * opendoca: in the byte order of the CPU, as struct ibv_sge takes it. Of memory of this process it is the
 * lkey, which for memory with DOCA_ACCESS_FLAG_RDMA_* is the rkey as well on all devices that we know
 * (Soft-RoCE, ConnectX); of imported memory it is the peer's rkey. Addresses that go with it are the
 * buffer's. It is valid until the map is stopped or destroyed.
 *
 * State: buffer taken, its map started. Threads: one thread at a time per buffer.
 *
 * @param [in] buf The buffer.
 * @param [in] dev A device of the buffer's memory map.
 * @param [out] mkey The key.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: the memory map does not know the device.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no such key, as a software device.
 */
DOCA_STABLE doca_error_t doca_rdma_bridge_get_buf_mkey(const struct doca_buf *buf, struct doca_dev *dev,
                                                       uint32_t *mkey);

/**
 * The key by which a protection domain knows a memory map's memory; otherwise as
 * doca_rdma_bridge_get_buf_mkey().
 *
 * State: map started. Threads: one thread at a time per map.
 *
 * @param [in] mmap The map.
 * @param [in] pd The protection domain of one of its devices.
 * @param [out] mkey The key, in the byte order of the CPU.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_FOUND: no device of the map uses pd.
 * - DOCA_ERROR_OPERATING_SYSTEM: a system call failed.
 */
DOCA_EXPERIMENTAL doca_error_t doca_rdma_bridge_get_mmap_mkey_from_pd(const struct doca_mmap *mmap, struct ibv_pd *pd,
                                                                      uint32_t *mkey);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_RDMA_BRIDGE_H_ */
