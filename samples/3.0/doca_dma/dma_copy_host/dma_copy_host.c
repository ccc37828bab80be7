// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Exports text of the host to the DPU, whose dma_copy_dpu copies it. Enter ends it.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../dma_common.h"

DOCA_LOG_REGISTER(DMA_COPY_HOST);

static doca_error_t publish(struct doca_mmap *mmap, struct doca_dev *dev, const struct dma_config *config)
{
    const void *descriptor = NULL;
    size_t len = 0;
    char where[64];
    doca_error_t result = doca_mmap_export_pci(mmap, dev, &descriptor, &len);

    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to export the text: %s", doca_error_get_descr(result));
        return result;
    }
    result = save_file(config->descriptor_path, descriptor, len);
    snprintf(where, sizeof(where), "%" PRIuPTR "\n%zu\n", (uintptr_t)config->text, strlen(config->text) + 1);
    if (result == DOCA_SUCCESS)
        result = save_file(config->buffer_path, where, strlen(where));
    return result;
}

int main(int argc, char **argv)
{
    static struct dma_config config;
    struct doca_dev *dev = NULL;
    struct doca_mmap *mmap = NULL;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_dma_copy_host", "0b:00.0", 1, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = open_device(config.pci_addr, can_export, &dev);
    if (result == DOCA_SUCCESS)
        result = map_memory(dev, config.text, sizeof(config.text), DOCA_ACCESS_FLAG_PCI_READ_ONLY, &mmap);
    if (result == DOCA_SUCCESS)
        result = publish(mmap, dev, &config);
    if (result == DOCA_SUCCESS) {
        DOCA_LOG_INFO("Start dma_copy_dpu on the DPU with %s and %s; press Enter when it has ended",
                      config.descriptor_path, config.buffer_path);
        (void)getchar();
    }
    if (mmap != NULL)
        result = first_error(result, doca_mmap_destroy(mmap));
    if (dev != NULL)
        result = first_error(result, doca_dev_close(dev));
    return finish(result);
}
