// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The host's part of a remote copy, written for DOCA 1.3: exports a text and sends its descriptor, which is a text as
// well, to the DPU; then waits until the DPU has copied it.
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_log.h>

#include "../dma_common_1_3.h"

DOCA_LOG_REGISTER(DMA_REMOTE_COPY_SENDER);

/* The descriptor, where the memory is, and the answer. */
static doca_error_t send_to_receiver(const struct arguments *arguments, const char *descriptor, void *memory,
                                     size_t size)
{
    const uint64_t place[2] = {(uint64_t)(uintptr_t)memory, size};
    char answer[16] = "";
    size_t answer_size = 0;
    const int connection = connect_to_receiver(arguments);
    const int failed = connection < 0 || send_message(connection, descriptor, strlen(descriptor) + 1) != 0 ||
                       send_message(connection, place, sizeof(place)) != 0 ||
                       receive_message(connection, answer, sizeof(answer) - 1, &answer_size) != 0;

    if (connection >= 0)
        close(connection);
    return failed || strcmp(answer, "copied") != 0 ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

static doca_error_t let_receiver_copy(struct copy_resources *resources, const struct arguments *arguments)
{
    static char memory[MAX_TEXT_SIZE];
    const size_t size = strlen(arguments->text) + 1;
    uint8_t *descriptor = NULL;
    size_t descriptor_size = 0;
    doca_error_t result;

    memcpy(memory, arguments->text, size);
    result = open_device_and_map(arguments->pci_addr, 1, resources);
    if (result == DOCA_SUCCESS)
        result = add_memory(resources, memory, size);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_export(resources->mmap, resources->dev, &descriptor, &descriptor_size);
    if (result != DOCA_SUCCESS)
        return result;
    result = send_to_receiver(arguments, (const char *)descriptor, memory, size);
    free(descriptor);
    return result;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .pci_addr = "0b:00.0", .text = "This text has travelled by DMA", .address = "127.0.0.1", .port = "7777"};
    struct copy_resources resources = {0};
    doca_error_t result;

    parse_arguments(argc, argv, &arguments);
    DOCA_LOG_INFO("Starting the sample");
    result = let_receiver_copy(&resources, &arguments);
    destroy_resources(&resources);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors: %s", doca_get_error_string(result));
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
