// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// At 2.0.2 the queries of 1.5 answer as those of 2.2: the host exports, the DPU imports.
#include "bdf.h"

int main(void)
{
    struct doca_dev *const host = open_by_address("0b:00.0");
    struct doca_dev *const dpu = open_by_address("03:00.0");
    uint8_t yes = 0;
    WORKS(doca_devinfo_get_is_mmap_export_supported(doca_dev_as_devinfo(host), &yes));
    CHECK(yes == 1);
    WORKS(doca_devinfo_get_is_mmap_from_export_supported(doca_dev_as_devinfo(host), &yes));
    CHECK(yes == 0);
    WORKS(doca_devinfo_get_is_mmap_from_export_supported(doca_dev_as_devinfo(dpu), &yes));
    CHECK(yes == 1);
    WORKS(doca_dev_close(host));
    WORKS(doca_dev_close(dpu));
    return 0;
}
