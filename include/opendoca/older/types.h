// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/**
 * @file opendoca/older/types.h
 * What doca_types.h has more at a level up to 20002.
 */
#ifndef OPENDOCA_OLDER_TYPES_H_
#define OPENDOCA_OLDER_TYPES_H_

#include <stdint.h>

/** Functions of a PCI device, devices of a bus, and buses: one more than the highest number. */
#define PCI_FUNCTION_MAX_VALUE 8
#define PCI_DEVICE_MAX_VALUE 32
#define PCI_BUS_MAX_VALUE 256

/**
 * A PCI address without its domain. Programs fill one from text and compare raw with what
 * doca_devinfo_get_pci_addr() gives.
 */
__extension__ struct doca_pci_bdf {
    __extension__ union {
        uint16_t raw; /**< All of it. */
        __extension__ struct {
            uint16_t bus : 8;      /**< Below PCI_BUS_MAX_VALUE. */
            uint16_t device : 5;   /**< Below PCI_DEVICE_MAX_VALUE. */
            uint16_t function : 3; /**< Below PCI_FUNCTION_MAX_VALUE. */
        };
    };
};

#endif /* OPENDOCA_OLDER_TYPES_H_ */
