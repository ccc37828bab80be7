// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_umem.h
 * User memory: memory that a device knows by a number, for queues that the program makes itself.
 *
 * opendoca: mlx5 devices have it, by DEVX: the number is that of a UMEM, which commands for queues, keys and
 * other objects of the device take. Give such commands to the device's own context, that of its protection
 * domain (doca_rdma_bridge_get_dev_pd()): it knows no number of another one. Software devices and other RDMA
 * devices have none.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: one thread at a time per object.
 */
#ifndef DOCA_UMEM_H_
#define DOCA_UMEM_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_compat.h>
#include <doca_error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct doca_dev;

/** A DPA (data path accelerator). */
struct doca_dpa;

/** A GPU. */
struct doca_gpu;

/** Memory registered with a device. */
struct doca_umem;

/**
 * Register memory of this process.
 *
 * @param [in] dev The device; it must stay open until the object is destroyed.
 * @param [in] address First byte of the memory, which stays the caller's and must stay mapped.
 * @param [in] size Bytes; not 0.
 * @param [in] access_flags Bits of enum doca_access_flag. opendoca: without one that writes, locally or from
 * afar, the device only reads the memory; DOCA_ACCESS_FLAG_PCI_RELAXED_ORDERING changes nothing.
 * @param [out] umem_obj The object. Free it with doca_umem_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is 0. opendoca: flags that are none or exclude each
 *   other, or memory that this process does not have.
 * - DOCA_ERROR_NO_MEMORY: no memory. opendoca: or the limit of locked memory is reached.
 * - DOCA_ERROR_DRIVER: the device refuses the memory.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no such objects.
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_create(const struct doca_dev *dev, void *address, size_t size,
                                                uint32_t access_flags, struct doca_umem **umem_obj);

/**
 * Register memory of a DPA.
 *
 * @param [in] dpa The DPA.
 * @param [in] address First byte, an address of the DPA.
 * @param [in] size Bytes; not 0.
 * @param [in] access_flags Bits of enum doca_access_flag.
 * @param [out] umem_obj The object. Free it with doca_umem_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is 0.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_DRIVER: the device refuses the memory.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_dpa_create(struct doca_dpa *dpa, uint64_t address, size_t size,
                                                    uint32_t access_flags, struct doca_umem **umem_obj);

/**
 * Register memory of a GPU.
 *
 * @param [in] gpu The GPU.
 * @param [in] dev The device that the memory is for.
 * @param [in] address First byte, an address of the GPU.
 * @param [in] size Bytes; not 0.
 * @param [in] access_flags Bits of enum doca_access_flag.
 * @param [out] umem_obj The object. Free it with doca_umem_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or size is 0.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_DRIVER: the device refuses the memory.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_gpu_create(struct doca_gpu *gpu, struct doca_dev *dev, void *address,
                                                    size_t size, uint32_t access_flags, struct doca_umem **umem_obj);

/**
 * Take the memory away from the device.
 *
 * @param [in] umem_obj The object, which nothing uses any more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: umem_obj is NULL.
 * - DOCA_ERROR_DRIVER: the device failed; opendoca: as it does while a queue or a key uses the memory. The
 *   object is as it was.
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_destroy(struct doca_umem *umem_obj);

/**
 * The number by which the device knows the memory.
 *
 * @param [in] umem_obj The object.
 * @param [out] umem_id The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_get_id(const struct doca_umem *umem_obj, uint32_t *umem_id);

/**
 * The length of the memory.
 *
 * @param [in] umem_obj The object.
 * @param [out] umem_size Bytes.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_TOO_BIG: it has more bytes than 32 bits tell (opendoca).
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_get_size(const struct doca_umem *umem_obj, uint32_t *umem_size);

/**
 * The start of the memory.
 *
 * @param [in] umem_obj The object.
 * @param [out] umem_addr Its first byte, as it was given.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_umem_get_address(const struct doca_umem *umem_obj, void **umem_addr);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_UMEM_H_ */
