// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
// What a device of DOCA 1.5 tells: both sides export and import, and no emulated functions are there.
#include "bdf.h"

int main(void)
{
    const char *const addresses[] = {"03:00.0", "0b:00.0"};
    struct doca_devinfo_rep **reps;
    uint32_t count, i;
    for (i = 0; i < 2; i++) {
        struct doca_dev *const dev = open_by_address(addresses[i]);
        const struct doca_devinfo *const info = doca_dev_as_devinfo(dev);
        uint8_t yes = 0;
        WORKS(doca_devinfo_get_is_mmap_export_supported(info, &yes));
        CHECK(yes == 1);
        yes = 0;
        WORKS(doca_devinfo_get_is_mmap_from_export_supported(info, &yes));
        CHECK(yes == 1);
        WORKS(doca_devinfo_rep_get_is_list_virtio_fs_supported(info, &yes));
        CHECK(yes == 0);
        yes = 1;
        WORKS(doca_devinfo_rep_get_is_list_virtio_net_supported(info, &yes));
        CHECK(yes == 0);
        yes = 1;
        WORKS(doca_devinfo_rep_get_is_list_virtio_blk_supported(info, &yes));
        CHECK(yes == 0);
        yes = 1;
        WORKS(doca_devinfo_rep_get_is_list_nvme_supported(info, &yes));
        CHECK(yes == 0);
        GIVES(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_VIRTIO_FS, &reps, &count), DOCA_ERROR_NOT_SUPPORTED);
        GIVES(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_VIRTIO_NET, &reps, &count), DOCA_ERROR_NOT_SUPPORTED);
        GIVES(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_VIRTIO_BLK, &reps, &count), DOCA_ERROR_NOT_SUPPORTED);
        GIVES(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NVME, &reps, &count), DOCA_ERROR_NOT_SUPPORTED);
        WORKS(doca_dev_close(dev));
    }
    return 0;
}
