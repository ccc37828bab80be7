// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Properties of DOCA 1.3 and 1.4, as bytes and their size; and a device chosen by its capabilities.
#include <doca_dma.h>

#include "bdf.h"

int main(void)
{
    struct doca_devinfo **list;
    uint32_t count, i, num_named = 0;
    WORKS(doca_devinfo_list_create(&list, &count));
    for (i = 0; i < count; i++) {
        char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE] = {0};
        char iface[DOCA_DEVINFO_IFACE_NAME_SIZE] = {0};
        uint8_t vuid[DOCA_DEVINFO_VUID_SIZE], ipv4[DOCA_DEVINFO_IPV4_ADDR_SIZE], ipv6[DOCA_DEVINFO_IPV6_ADDR_SIZE];
        struct doca_pci_bdf bdf = {{0}};
        uint32_t caps = DOCA_DMA_CAP_NONE;
        doca_error_t result;
        const enum doca_devinfo_property name = DOCA_DEVINFO_PROPERTY_IBDEV_NAME;
        WORKS(doca_devinfo_property_get(list[i], name, (uint8_t *)ibdev, sizeof(ibdev)));
        WORKS(doca_devinfo_property_get(list[i], DOCA_DEVINFO_PROPERTY_IFACE_NAME, (uint8_t *)iface, sizeof(iface)));
        WORKS(doca_devinfo_property_get(list[i], DOCA_DEVINFO_PROPERTY_PCI_ADDR, (uint8_t *)&bdf, sizeof(bdf)));
        GIVES(doca_devinfo_property_get(list[i], DOCA_DEVINFO_PROPERTY_PCI_ADDR, (uint8_t *)&bdf, 1),
              DOCA_ERROR_INVALID_VALUE);
        GIVES(doca_devinfo_property_get(list[i], DOCA_DEVINFO_PROPERTY_VUID, vuid, sizeof(vuid)),
              DOCA_ERROR_NOT_SUPPORTED);
        result = doca_devinfo_property_get(list[i], DOCA_DEVINFO_PROPERTY_IPV4_ADDR, ipv4, sizeof(ipv4));
        CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_OPERATING_SYSTEM);
        result = doca_devinfo_property_get(list[i], DOCA_DEVINFO_PROPERTY_IPV6_ADDR, ipv6, sizeof(ipv6));
        CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_OPERATING_SYSTEM);
        WORKS(doca_dma_devinfo_caps_get(list[i], &caps));
        CHECK((caps & DOCA_DMA_CAP_HW_OFFLOAD) != 0);
        if (strcmp(ibdev, "soft_p0") == 0) {
            CHECK(bdf.raw == parse("03:00.0").raw);
            num_named++;
        }
    }
    CHECK(num_named == 1);
    WORKS(doca_devinfo_list_destroy(list));
    return 0;
}
