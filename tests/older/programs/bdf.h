// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A PCI address from text, and the device that has it: as each program of DOCA 1.3 to 2.0.2 does it for itself.
#ifndef BDF_H_
#define BDF_H_

#include <doca_dev.h>
#include <doca_types.h>

#include "check.h"

static inline struct doca_pci_bdf parse(const char *text)
{
    struct doca_pci_bdf bdf;
    unsigned bus, device, function;
    CHECK(strlen(text) == 7 && sscanf(text, "%2x:%2x.%1x", &bus, &device, &function) == 3);
    CHECK(bus < PCI_BUS_MAX_VALUE && device < PCI_DEVICE_MAX_VALUE && function < PCI_FUNCTION_MAX_VALUE);
    bdf.bus = (uint16_t)bus;
    bdf.device = (uint16_t)device;
    bdf.function = (uint16_t)function;
    return bdf;
}

#if DOCA_API >= 10500
#define GET_PCI_ADDR(info, bdf) doca_devinfo_get_pci_addr(info, &(bdf))
#else
#define GET_PCI_ADDR(info, bdf)                                                                                        \
    doca_devinfo_property_get(info, DOCA_DEVINFO_PROPERTY_PCI_ADDR, (uint8_t *)&(bdf), sizeof(bdf))
#endif

static inline struct doca_dev *open_by_address(const char *text)
{
    const struct doca_pci_bdf wanted = parse(text);
    struct doca_devinfo **list;
    struct doca_pci_bdf found;
    struct doca_dev *dev = NULL;
    uint32_t count, i;
    WORKS(doca_devinfo_list_create(&list, &count));
    for (i = 0; i < count && dev == NULL; i++) {
        if (GET_PCI_ADDR(list[i], found) == DOCA_SUCCESS && found.raw == wanted.raw)
            WORKS(doca_dev_open(list[i], &dev));
    }
    WORKS(doca_devinfo_list_destroy(list));
    return dev;
}

#endif
