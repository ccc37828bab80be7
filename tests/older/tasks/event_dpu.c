// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// event_dpu ADDRESS: updates the sync event whose descriptor is on stdin.
#include <doca_sync_event.h>

#include "engine.h"

int main(int argc, char **argv)
{
    struct doca_dev *dev = open_device(doca_sync_event_cap_is_create_from_export_supported, argv[argc - 1]);
    struct doca_sync_event *event;
    uint8_t descriptor[1024];
    size_t size;
    CHECK(scanf("%zu", &size) == 1 && getchar() == '\n' && size <= sizeof(descriptor));
    CHECK(fread(descriptor, 1, size, stdin) == size);
    WORKS(doca_sync_event_create_from_export(dev, descriptor, size, &event));
    WORKS(doca_sync_event_start(event));
    WORKS(doca_sync_event_update_set(event, 3));
    WORKS(doca_sync_event_stop(event));
    WORKS(doca_sync_event_destroy(event));
    WORKS(doca_dev_close(dev));
    return 0;
}
