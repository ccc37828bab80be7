// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One side of a sync event, compiled for each generation of the API:
//
//     event export FILE    makes the event, leaves its export in the file, waits for 1, sets 2, waits for 3
//     event import FILE    makes a handle of the file's export, sets 1, waits for 2, adds 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_sync_event.h>

#ifdef IS_V3
#define publish_from_other_side doca_sync_event_add_publisher_location_remote_pci
#define subscribe_here doca_sync_event_add_subscriber_location_cpu
#define can_export doca_sync_event_cap_is_export_to_remote_pci_supported
#define can_import doca_sync_event_cap_is_create_from_export_supported
#define export_event doca_sync_event_export_to_remote_pci
#define list_devices doca_devinfo_create_list
#define free_list doca_devinfo_destroy_list
#define name_of doca_error_get_name
#else
#define publish_from_other_side doca_sync_event_publisher_add_location_dpu
#define subscribe_here doca_sync_event_subscriber_add_location_cpu
#define can_export doca_sync_event_get_export_to_dpu_supported
#define can_import doca_sync_event_get_create_from_export_supported
#define export_event doca_sync_event_export_to_dpu
#define list_devices doca_devinfo_list_create
#define free_list doca_devinfo_list_destroy
#define name_of doca_get_error_name
#endif

static void must(doca_error_t result, const char *what)
{
    if (result == DOCA_SUCCESS)
        return;
    printf("%s: %s\n", what, name_of(result));
    exit(EXIT_FAILURE);
}

static struct doca_dev *open_device(int is_exporter)
{
    struct doca_devinfo **list = NULL;
    struct doca_dev *dev = NULL;
    uint32_t count = 0;

    must(list_devices(&list, &count), "list of devices");
    for (uint32_t i = 0; i < count && dev == NULL; i++) {
        if ((is_exporter ? can_export(list[i]) : can_import(list[i])) == DOCA_SUCCESS)
            must(doca_dev_open(list[i], &dev), "device");
    }
    must(dev != NULL ? DOCA_SUCCESS : DOCA_ERROR_NOT_FOUND, "device");
    must(free_list(list), "list of devices");
    return dev;
}

static struct doca_sync_event *make_event(struct doca_dev *dev)
{
    struct doca_sync_event *event = NULL;

    must(doca_sync_event_create(&event), "event");
    must(publish_from_other_side(event), "publisher");
    must(subscribe_here(event, dev), "subscriber");
    must(doca_sync_event_start(event), "start");
    return event;
}

static void publish(struct doca_sync_event *event, struct doca_dev *dev, const char *path)
{
    const uint8_t *data = NULL;
    size_t len = 0;
    FILE *file = fopen(path, "wb");

    must(export_event(event, dev, &data, &len), "export");
    if (file == NULL || fwrite(data, 1, len, file) != len || fclose(file) != 0)
        must(DOCA_ERROR_IO_FAILED, path);
    printf("exported\n");
    fflush(stdout);
}

static struct doca_sync_event *import(struct doca_dev *dev, const char *path)
{
    struct doca_sync_event *event = NULL;
    uint8_t data[1024];
    FILE *file = fopen(path, "rb");
    const size_t len = file != NULL ? fread(data, 1, sizeof(data), file) : 0;

    if (len == 0 || fclose(file) != 0)
        must(DOCA_ERROR_IO_FAILED, path);
    must(doca_sync_event_create_from_export(dev, data, len, &event), "import");
    must(doca_sync_event_start(event), "start");
    return event;
}

int main(int argc, char **argv)
{
    const int is_exporter = argc == 3 && strcmp(argv[1], "export") == 0;
    struct doca_sync_event *event;
    struct doca_dev *dev;
    uint64_t before = 0;

    if (argc != 3)
        return EXIT_FAILURE;
    dev = open_device(is_exporter);
    if (is_exporter) {
        event = make_event(dev);
        publish(event, dev, argv[2]);
        must(doca_sync_event_wait_gt_yield(event, 0, UINT64_MAX), "wait for 1");
        must(doca_sync_event_update_set(event, 2), "set");
        must(doca_sync_event_wait_gt_yield(event, 2, UINT64_MAX), "wait for 3");
        must(doca_sync_event_get(event, &before), "get");
        must(before == 3 ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "value at the end");
    } else {
        event = import(dev, argv[2]);
        must(doca_sync_event_update_set(event, 1), "set");
        must(doca_sync_event_wait_gt_yield(event, 1, UINT64_MAX), "wait for 2");
        must(doca_sync_event_update_add(event, 1, &before), "add");
        must(before == 2 ? DOCA_SUCCESS : DOCA_ERROR_UNEXPECTED, "value before the addition");
    }
    must(doca_sync_event_stop(event), "stop");
    must(doca_sync_event_destroy(event), "destroy");
    must(doca_dev_close(dev), "close");
    printf("done\n");
    return EXIT_SUCCESS;
}
