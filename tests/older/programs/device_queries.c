// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What a device of DOCA 1.5 tells: both sides of the PCIe export and import.
#include "bdf.h"

int main(void)
{
    const char *const addresses[] = {"03:00.0", "0b:00.0"};
    uint32_t i;
    for (i = 0; i < 2; i++) {
        struct doca_dev *const dev = open_by_address(addresses[i]);
        const struct doca_devinfo *const info = doca_dev_as_devinfo(dev);
        uint8_t yes = 0;
        WORKS(doca_devinfo_get_is_mmap_export_supported(info, &yes));
        CHECK(yes == 1);
        yes = 0;
        WORKS(doca_devinfo_get_is_mmap_from_export_supported(info, &yes));
        CHECK(yes == 1);
        WORKS(doca_dev_close(dev));
    }
    return 0;
}
