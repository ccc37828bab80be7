// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Representors of emulated functions, which no device here has.
#include "bdf.h"

int main(void)
{
    struct doca_dev *const dev = open_by_address("03:00.0");
    const struct doca_devinfo *const info = doca_dev_as_devinfo(dev);
    struct doca_devinfo_rep **reps;
    uint32_t count;
    uint8_t yes = 1;
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
    return 0;
}
