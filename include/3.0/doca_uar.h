// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file doca_uar.h
 * User access regions (UAR): pages of a device through which a program rings the doorbells of queues that it
 * makes itself.
 *
 * opendoca: mlx5 devices have them, by DEVX. As the numbers of doca_umem.h, that of a page is for commands to
 * the device's own context. Software devices and other RDMA devices have none.
 *
 * NULL, and outputs: as doca_error.h says for all headers.
 *
 * Threads: one thread at a time per object.
 */
#ifndef DOCA_UAR_H_
#define DOCA_UAR_H_

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

/** A user access region. */
struct doca_uar;

/** How the CPU reaches the page. */
enum doca_uar_allocation_type {
    DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME = 0, /**< Write combining, for work requests written with the doorbell. */
    DOCA_UAR_ALLOCATION_TYPE_NONCACHE = 1,  /**< Not cached. */
    DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED = 2, /**< Not cached, and shared with nobody. */
};

/**
 * Allocate a page of a device.
 *
 * @param [in] dev The device; it must stay open until the object is destroyed.
 * @param [in] allocation_type How the CPU reaches it.
 * @param [out] uar The object. Free it with doca_uar_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: a pointer is NULL, or allocation_type is none.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_DRIVER: the device has no page left.
 * - DOCA_ERROR_NOT_SUPPORTED: the device has no such pages, or none of the type. opendoca:
 *   DOCA_UAR_ALLOCATION_TYPE_NONCACHE_DEDICATED where the libmlx5 that the library was compiled with does not
 *   know it, as in Debian 12; DOCA_UAR_ALLOCATION_TYPE_BLUEFLAME where the CPU does no write combining.
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_create(const struct doca_dev *dev,
                                               enum doca_uar_allocation_type allocation_type, struct doca_uar **uar);

/**
 * Allocate a page for code on a DPA.
 *
 * @param [in] dpa The DPA.
 * @param [out] uar The object. Free it with doca_uar_destroy().
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NO_MEMORY: no memory.
 * - DOCA_ERROR_DRIVER: the device has no page left.
 * - DOCA_ERROR_NOT_SUPPORTED: opendoca: always otherwise.
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_dpa_create(struct doca_dpa *dpa, struct doca_uar **uar);

/**
 * Give a page back.
 *
 * @param [in] uar The object, which nothing uses any more.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: uar is NULL.
 * - DOCA_ERROR_DRIVER: the device failed; opendoca: never, as the driver does not say.
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_destroy(struct doca_uar *uar);

/**
 * The number by which the device knows the page.
 *
 * @param [in] uar The object.
 * @param [out] id The number.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_id_get(const struct doca_uar *uar, uint32_t *id);

/**
 * The page in this process.
 *
 * @param [in] uar The object.
 * @param [out] page Its first byte.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the page is that of a DPA.
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_page_get(const struct doca_uar *uar, void **page);

/**
 * The register for doorbells in this process.
 *
 * @param [in] uar The object.
 * @param [out] reg Its address.
 * @return DOCA_SUCCESS, or
 * - DOCA_ERROR_INVALID_VALUE: an argument is NULL.
 * - DOCA_ERROR_NOT_SUPPORTED: the page is that of a DPA.
 */
DOCA_EXPERIMENTAL doca_error_t doca_uar_reg_addr_get(const struct doca_uar *uar, void **reg);

#ifdef __cplusplus
}
#endif

#endif /* DOCA_UAR_H_ */
