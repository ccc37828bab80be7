// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// event_host ADDRESS: exports a sync event to the DPU, and waits for the DPU's update.
#include <doca_sync_event.h>

#include "engine.h"

int main(int argc, char **argv)
{
    struct doca_dev *dev = open_device(doca_sync_event_cap_is_export_to_dpu_supported, argv[argc - 1]);
    struct doca_sync_event *event;
    const uint8_t *descriptor;
    uint64_t value = 0;
    size_t size;
    WORKS(doca_sync_event_create(&event));
    WORKS(doca_sync_event_add_publisher_location_dpu(event));
    WORKS(doca_sync_event_add_subscriber_location_cpu(event, dev));
    WORKS(doca_sync_event_start(event));
    WORKS(doca_sync_event_export_to_dpu(event, dev, &descriptor, &size));
    printf("%zu\n", size);
    fwrite(descriptor, 1, size, stdout);
    fflush(stdout);
    WORKS(doca_sync_event_wait_gt(event, 1, UINT64_MAX));
    WORKS(doca_sync_event_get(event, &value));
    CHECK(value == 3);
    CHECK(getchar() != EOF);
    WORKS(doca_sync_event_stop(event));
    WORKS(doca_sync_event_destroy(event));
    WORKS(doca_dev_close(dev));
    return 0;
}
