// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The host's part of a copy to the DPU, written for DOCA 1.5: exports a text, and leaves its descriptor and its address
// in two files until its user presses Enter.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../dma_common_1_5.h"

DOCA_LOG_REGISTER(DMA_COPY_HOST);

static doca_error_t can_export(struct doca_devinfo *devinfo)
{
    uint8_t yes = 0;
    const doca_error_t result = doca_devinfo_get_is_mmap_export_supported(devinfo, &yes);

    return result == DOCA_SUCCESS && yes == 0 ? DOCA_ERROR_NOT_SUPPORTED : result;
}

static doca_error_t save(const char *path, const void *bytes, size_t size)
{
    FILE *const file = fopen(path, "w");
    int failed;

    if (file == NULL) {
        DOCA_LOG_ERR("Cannot write '%s'", path);
        return DOCA_ERROR_IO_FAILED;
    }
    failed = fwrite(bytes, 1, size, file) != size;
    failed |= fclose(file) != 0;
    return failed ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

static doca_error_t export_text(const struct dma_config *config, struct doca_dev *dev)
{
    static char memory[MAX_TEXT_SIZE];
    const size_t size = strlen(config->text) + 1;
    struct doca_mmap *mmap;
    void *descriptor = NULL;
    size_t descriptor_size = 0;
    char info[64];
    doca_error_t result;

    memcpy(memory, config->text, size);
    result = map_memory(dev, memory, size, &mmap);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_mmap_export(mmap, dev, &descriptor, &descriptor_size);
    if (result == DOCA_SUCCESS) {
        (void)snprintf(info, sizeof(info), "%llu\n%zu", (unsigned long long)(uintptr_t)memory, size);
        result = save(config->descriptor_path, descriptor, descriptor_size);
        if (result == DOCA_SUCCESS)
            result = save(config->buffer_info_path, info, strlen(info));
        free(descriptor);
    }
    if (result == DOCA_SUCCESS) {
        DOCA_LOG_INFO("Please copy %s and %s to the DPU, and run its sample there", config->descriptor_path,
                      config->buffer_info_path);
        DOCA_LOG_INFO("Press Enter when the DPU has finished");
        (void)getchar();
    }
    unmap_memory(dev, mmap);
    return result;
}

int main(int argc, char **argv)
{
    struct dma_config config = {"0b:00.0", "This text has travelled by DMA", "/tmp/export_desc.txt",
                                "/tmp/buffer_info.txt"};
    struct doca_dev *dev = NULL;
    doca_error_t result;

    DOCA_LOG_INFO("Starting the sample");
    result = parse_arguments("doca_dma_copy_host_1_5", argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = open_device(config.pci_addr, can_export, &dev);
    if (result == DOCA_SUCCESS) {
        result = export_text(&config, dev);
        (void)doca_dev_close(dev);
    }
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors: %s", doca_get_error_string(result));
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
