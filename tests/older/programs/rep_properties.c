// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties of representors, as bytes and their size.
#include "bdf.h"

int main(void)
{
    struct doca_dev *const dev = open_by_address("03:00.0");
    struct doca_devinfo_rep **list;
    const enum doca_devinfo_rep_property property = DOCA_DEVINFO_REP_PROPERTY_PCI_FUNC_TYPE;
    enum doca_pci_func_type type = DOCA_PCI_FUNC_SF;
    struct doca_pci_bdf bdf;
    char vuid[DOCA_DEVINFO_REP_VUID_SIZE];
    uint32_t count;
    WORKS(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &list, &count));
    WORKS(doca_devinfo_rep_property_get(list[0], DOCA_DEVINFO_REP_PROPERTY_VUID, (uint8_t *)vuid, sizeof(vuid)));
    WORKS(doca_devinfo_rep_property_get(list[0], DOCA_DEVINFO_REP_PROPERTY_PCI_ADDR, (uint8_t *)&bdf, sizeof(bdf)));
    WORKS(doca_devinfo_rep_property_get(list[0], property, (uint8_t *)&type, sizeof(type)));
    CHECK(vuid[0] != '\0' && bdf.raw == parse("0b:00.0").raw && type == DOCA_PCI_FUNC_PF);
    WORKS(doca_devinfo_rep_list_destroy(list));
    WORKS(doca_dev_close(dev));
    return 0;
}
