// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies text by DMA from one buffer of this process to another.
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../../common.h"
#include "../dma_common.h"

DOCA_LOG_REGISTER(DMA_LOCAL_COPY);

doca_error_t dma_local_copy(const struct dma_config *config);

/* Copies len bytes between two ranges that do not overlap. */
static doca_error_t copy_buffer(struct dma_resources *resources, char *src, char *dst, size_t len)
{
    struct doca_mmap *src_mmap = NULL;
    struct doca_mmap *dst_mmap = NULL;
    doca_error_t result;

    result = map_memory(resources->dev, src, len, DOCA_ACCESS_LOCAL_READ_ONLY, &src_mmap);
    if (result == DOCA_SUCCESS)
        result = map_memory(resources->dev, dst, len, DOCA_ACCESS_LOCAL_READ_WRITE, &dst_mmap);
    if (result == DOCA_SUCCESS)
        result = copy_memory(resources, src_mmap, src, dst_mmap, dst, len);
    if (dst_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(dst_mmap));
    if (src_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(src_mmap));
    return result;
}

static doca_error_t copy_text(struct dma_resources *resources, const char *text)
{
    const size_t len = strlen(text) + 1;
    char *src = strdup(text);
    char *dst = calloc(1, len);
    doca_error_t result;

    if (src == NULL || dst == NULL) {
        DOCA_LOG_ERR("No memory for two buffers of %zu bytes", len);
        result = DOCA_ERROR_NO_MEMORY;
    } else {
        DOCA_LOG_INFO("Source buffer, at %p: %s", (void *)src, src);
        result = copy_buffer(resources, src, dst, len);
    }
    if (result == DOCA_SUCCESS) {
        DOCA_LOG_INFO("Destination buffer, at %p: %s", (void *)dst, dst);
        if (memcmp(src, dst, len) != 0) {
            DOCA_LOG_ERR("The two buffers differ");
            result = DOCA_ERROR_UNEXPECTED;
        } else {
            DOCA_LOG_INFO("Copied %zu bytes; the two buffers are equal", len);
        }
    }
    free(dst);
    free(src);
    return result;
}

doca_error_t dma_local_copy(const struct dma_config *config)
{
    struct dma_resources resources = {0};
    doca_error_t result;

    result = create_dma_resources(config->pci_addr, DMA_ABILITY_COPY, &resources);
    if (result == DOCA_SUCCESS)
        result = copy_text(&resources, config->text);
    result = first_error(result, destroy_dma_resources(&resources));
    return result;
}
