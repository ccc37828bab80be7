// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/buf_inventory.h
 * What doca_buf_inventory.h has other at a level up to 20002. Included by it, inside of extern "C".
 */
#ifndef OPENDOCA_OLDER_BUF_INVENTORY_H_
#define OPENDOCA_OLDER_BUF_INVENTORY_H_

/**
 * Create an inventory, not started, and all its descriptors.
 *
 * @param [in] name Up to 10400: of the inventory; not kept. NULL is allowed.
 * @param [in] user_data From 10500 on: kept for doca_buf_inventory_get_user_data(). NULL is allowed.
 * @param [in] num_elements Number of descriptors.
 * @param [in] extensions Bits of enum doca_buf_extension; lists are there with or without.
 * @param [out] buf_inventory The inventory. Free it with doca_buf_inventory_destroy().
 * @return As doca_buf_inventory_create() of DOCA 2.2.
 */
#if OPENDOCA_LEVEL < 10500
__DOCA_EXPERIMENTAL doca_error_t doca_buf_inventory_create(const char *name, size_t num_elements, uint32_t extensions,
                                                           struct doca_buf_inventory **buf_inventory)
    OPENDOCA_BOUND_TO(opendoca_buf_inventory_create_1_3);
#else
__DOCA_EXPERIMENTAL doca_error_t doca_buf_inventory_create(const union doca_data *user_data, size_t num_elements,
                                                           uint32_t extensions,
                                                           struct doca_buf_inventory **buf_inventory)
    OPENDOCA_BOUND_TO(opendoca_buf_inventory_create_1_5);
#endif

#endif /* OPENDOCA_OLDER_BUF_INVENTORY_H_ */
