// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Representors by the name that they had in DOCA 1.3.
#include "bdf.h"

int main(void)
{
    struct doca_dev *const dev = open_by_address("03:00.0");
    struct doca_devinfo_remote **list;
    struct doca_dev_remote *remote;
    const enum doca_dev_remote_filter filter = DOCA_DEV_REMOTE_FILTER_NET;
    const enum doca_devinfo_remote_property property = DOCA_DEVINFO_REMOTE_PROPERTY_PCI_FUNC_TYPE;
    enum doca_pci_func_type type = DOCA_PCI_FUNC_SF;
    struct doca_pci_bdf bdf;
    char vuid[DOCA_DEVINFO_REMOTE_VUID_SIZE], again[DOCA_DEVINFO_REMOTE_VUID_SIZE];
    uint32_t count;
    GIVES(doca_devinfo_remote_list_create(dev, 8, &list, &count), DOCA_ERROR_NOT_SUPPORTED);
    WORKS(doca_devinfo_remote_list_create(dev, DOCA_DEV_REMOTE_FILTER_ALL, &list, &count));
    WORKS(doca_devinfo_remote_list_destroy(list));
    WORKS(doca_devinfo_remote_list_create(dev, filter, &list, &count));
    CHECK(count > 0);
    WORKS(doca_devinfo_remote_property_get(list[0], DOCA_DEVINFO_REMOTE_PROPERTY_VUID, (uint8_t *)vuid, sizeof(vuid)));
    WORKS(
        doca_devinfo_remote_property_get(list[0], DOCA_DEVINFO_REMOTE_PROPERTY_PCI_ADDR, (uint8_t *)&bdf, sizeof(bdf)));
    WORKS(doca_devinfo_remote_property_get(list[0], property, (uint8_t *)&type, sizeof(type)));
    CHECK(type == DOCA_PCI_FUNC_PF);
    CHECK(vuid[0] != '\0' && bdf.raw == parse("0b:00.0").raw);
    WORKS(doca_dev_remote_open(list[0], &remote));
    WORKS(doca_devinfo_remote_list_destroy(list));
    WORKS(doca_devinfo_remote_property_get(doca_dev_remote_as_devinfo(remote), DOCA_DEVINFO_REMOTE_PROPERTY_VUID,
                                           (uint8_t *)again, sizeof(again)));
    CHECK(strcmp(vuid, again) == 0);
    WORKS(doca_dev_remote_close(remote));
    WORKS(doca_dev_close(dev));
    return 0;
}
