// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies the text that the host's dma_copy_host has exported.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <doca_log.h>

#include "../dma_common.h"

DOCA_LOG_REGISTER(DMA_COPY_DPU);

/* Nothing that the host wrote is trusted: its text has to fit, and the memory map knows its range. */
static doca_error_t read_where(const char *path, uintptr_t *addr, size_t *len)
{
    char where[64] = {0};
    size_t size = 0;
    doca_error_t result = load_file(path, where, sizeof(where) - 1, &size);

    if (result == DOCA_SUCCESS &&
        (sscanf(where, "%" SCNuPTR " %zu", addr, len) != 2 || *len == 0 || *len > MAX_TEXT_SIZE)) {
        DOCA_LOG_ERR("%s does not tell where 1 to %d bytes are", path, MAX_TEXT_SIZE);
        result = DOCA_ERROR_INVALID_VALUE;
    }
    return result;
}

static doca_error_t copy_text(struct dma_resources *resources, const struct dma_config *config)
{
    static char descriptor[MAX_DESCRIPTOR_SIZE];
    static char text[MAX_TEXT_SIZE];
    struct doca_mmap *remote = NULL;
    struct doca_mmap *local = NULL;
    size_t descriptor_len = 0;
    size_t len = 0;
    uintptr_t addr = 0;
    doca_error_t result = load_file(config->descriptor_path, descriptor, sizeof(descriptor), &descriptor_len);

    if (result == DOCA_SUCCESS)
        result = read_where(config->buffer_path, &addr, &len);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_create_from_export(NULL, descriptor, descriptor_len, resources->dev, &remote);
    if (result == DOCA_SUCCESS)
        result = map_memory(resources->dev, text, sizeof(text), DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &local);
    if (result == DOCA_SUCCESS)
        result = copy_memory(resources, remote, (void *)addr, local, text, len);
    if (result == DOCA_SUCCESS) {
        text[len - 1] = '\0';
        DOCA_LOG_INFO("Copied %zu bytes of the host: %s", len, text);
    }
    if (local != NULL)
        result = first_error(result, doca_mmap_destroy(local));
    if (remote != NULL)
        result = first_error(result, doca_mmap_destroy(remote));
    return result;
}

int main(int argc, char **argv)
{
    static struct dma_config config;
    struct dma_resources resources = {0};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_dma_copy_dpu", "03:00.0", 1, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_dma_resources(config.pci_addr, &resources);
    if (result == DOCA_SUCCESS)
        result = copy_text(&resources, &config);
    result = first_error(result, destroy_dma_resources(&resources));
    return finish(result);
}
