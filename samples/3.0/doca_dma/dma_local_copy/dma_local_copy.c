// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies text by a DMA task from one buffer of this process to another.
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../dma_common.h"

DOCA_LOG_REGISTER(DMA_LOCAL_COPY);

static doca_error_t copy_text(struct dma_resources *resources, char *src, char *dst, size_t len)
{
    struct doca_mmap *src_mmap = NULL;
    struct doca_mmap *dst_mmap = NULL;
    doca_error_t result;

    result = map_memory(resources->dev, src, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &src_mmap);
    if (result == DOCA_SUCCESS)
        result = map_memory(resources->dev, dst, len, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &dst_mmap);
    if (result == DOCA_SUCCESS)
        result = copy_memory(resources, src_mmap, src, dst_mmap, dst, len);
    if (result == DOCA_SUCCESS && memcmp(src, dst, len) != 0) {
        DOCA_LOG_ERR("The two buffers differ");
        result = DOCA_ERROR_UNEXPECTED;
    }
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Copied %zu bytes: %s", len, dst);
    if (dst_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(dst_mmap));
    if (src_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(src_mmap));
    return result;
}

int main(int argc, char **argv)
{
    static struct dma_config config;
    static char dst[MAX_TEXT_SIZE];
    struct dma_resources resources = {0};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_dma_local_copy", "03:00.0", 0, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_dma_resources(config.pci_addr, &resources);
    if (result == DOCA_SUCCESS)
        result = copy_text(&resources, config.text, dst, strlen(config.text) + 1);
    result = first_error(result, destroy_dma_resources(&resources));
    return finish(result);
}
