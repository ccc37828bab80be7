// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The DPU's part of a remote copy, written for DOCA 1.3: makes a memory map of what the sender describes, and copies it
// here.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_log.h>

#include "../dma_common_1_3.h"

DOCA_LOG_REGISTER(DMA_REMOTE_COPY_RECEIVER);

static doca_error_t copy_from_sender(struct copy_resources *resources, int connection)
{
    static char memory[MAX_TEXT_SIZE];
    char descriptor[MAX_DESCRIPTOR_SIZE];
    uint64_t place[2] = {0, 0}; /* address and bytes */
    size_t descriptor_size = 0, place_size = 0;
    struct doca_mmap *remote;
    doca_error_t result;

    if (receive_message(connection, descriptor, sizeof(descriptor), &descriptor_size) != 0 ||
        receive_message(connection, place, sizeof(place), &place_size) != 0 || place_size != sizeof(place) ||
        place[1] == 0 || place[1] > sizeof(memory))
        return DOCA_ERROR_IO_FAILED;
    result = add_memory(resources, memory, place[1]);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_mmap_create_from_export("remote_mmap", descriptor, descriptor_size, resources->dev, &remote);
    if (result != DOCA_SUCCESS)
        return result;
    result = copy(resources, resources->mmap, memory, remote, (void *)(uintptr_t)place[0], place[1]);
    (void)doca_mmap_destroy(remote);
    if (result != DOCA_SUCCESS)
        return result;
    memory[sizeof(memory) - 1] = '\0';
    DOCA_LOG_INFO("Copied %llu bytes from the sender: %s", (unsigned long long)place[1], memory);
    return send_message(connection, "copied", 7) == 0 ? DOCA_SUCCESS : DOCA_ERROR_IO_FAILED;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.pci_addr = "03:00.0", .address = "127.0.0.1", .port = "7777"};
    struct copy_resources resources = {0};
    int connection = -1;
    doca_error_t result;

    parse_arguments(argc, argv, &arguments);
    DOCA_LOG_INFO("Starting the sample");
    result = open_device_and_map(arguments.pci_addr, 1, &resources);
    if (result == DOCA_SUCCESS)
        result = start_dma(&resources);
    if (result == DOCA_SUCCESS) {
        connection = wait_for_sender(&arguments);
        result = connection < 0 ? DOCA_ERROR_IO_FAILED : copy_from_sender(&resources, connection);
    }
    if (connection >= 0)
        close(connection);
    destroy_resources(&resources);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors: %s", doca_get_error_string(result));
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
