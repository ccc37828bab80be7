// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Prints the PCI address of each device that can copy by DMA.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>

int main(void)
{
    struct doca_devinfo **devices;
    uint32_t num_devices;
    doca_error_t result = doca_devinfo_create_list(&devices, &num_devices);

    if (result != DOCA_SUCCESS) {
        fprintf(stderr, "The devices could not be listed: %s\n", doca_error_get_descr(result));
        return EXIT_FAILURE;
    }
    for (uint32_t i = 0; i < num_devices; i++) {
        char address[DOCA_DEVINFO_PCI_ADDR_SIZE];

        if (doca_dma_cap_task_memcpy_is_supported(devices[i]) != DOCA_SUCCESS)
            continue;
        result = doca_devinfo_get_pci_addr_str(devices[i], address);
        if (result != DOCA_SUCCESS) {
            fprintf(stderr, "A device has no PCI address: %s\n", doca_error_get_descr(result));
            break;
        }
        printf("%s can copy by DMA\n", address);
    }
    doca_devinfo_destroy_list(devices);
    return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
