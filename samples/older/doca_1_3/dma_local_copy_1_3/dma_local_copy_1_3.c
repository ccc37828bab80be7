// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Local copy, written for DOCA 1.3: both buffers are ranges of one memory map, and the job names the length.
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../dma_common_1_3.h"

DOCA_LOG_REGISTER(DMA_LOCAL_COPY);

static doca_error_t copy_locally(struct copy_resources *resources, const struct arguments *arguments)
{
    static char src[MAX_TEXT_SIZE], dst[MAX_TEXT_SIZE];
    const size_t size = strlen(arguments->text) + 1;
    doca_error_t result;

    memcpy(src, arguments->text, size);
    result = open_device_and_map(arguments->pci_addr, 2, resources);
    if (result == DOCA_SUCCESS)
        result = add_memory(resources, src, size);
    if (result == DOCA_SUCCESS)
        result = add_memory(resources, dst, size);
    if (result == DOCA_SUCCESS)
        result = start_dma(resources);
    if (result == DOCA_SUCCESS)
        result = copy(resources, resources->mmap, dst, resources->mmap, src, size);
    if (result != DOCA_SUCCESS)
        return result;
    if (memcmp(src, dst, size) != 0) {
        DOCA_LOG_ERR("The two buffers differ");
        return DOCA_ERROR_UNEXPECTED;
    }
    DOCA_LOG_INFO("The two buffers are equal: %s", dst);
    return DOCA_SUCCESS;
}

int main(int argc, char **argv)
{
    struct arguments arguments = {.pci_addr = "03:00.0", .text = "This text has travelled by DMA"};
    struct copy_resources resources = {0};
    doca_error_t result;

    parse_arguments(argc, argv, &arguments);
    DOCA_LOG_INFO("Starting the sample");
    result = copy_locally(&resources, &arguments);
    destroy_resources(&resources);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors: %s", doca_get_error_string(result));
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
