// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <string.h>

#include "dma_common.h"

static doca_error_t set_pci_addr(void *param, void *config)
{
    struct dma_config *dma = config;

    return set_text(dma->pci_addr, sizeof(dma->pci_addr), "PCI address", param);
}

static doca_error_t set_copied_text(void *param, void *config)
{
    struct dma_config *dma = config;

    return set_text(dma->text, sizeof(dma->text), "text", param);
}

static doca_error_t set_descriptor_path(void *param, void *config)
{
    struct dma_config *dma = config;

    return set_text(dma->descriptor_path, sizeof(dma->descriptor_path), "path", param);
}

static doca_error_t set_buffer_path(void *param, void *config)
{
    struct dma_config *dma = config;

    return set_text(dma->buffer_path, sizeof(dma->buffer_path), "path", param);
}

doca_error_t parse_arguments(const char *program, const char *default_pci_addr, int with_files, int argc, char **argv,
                             struct dma_config *config)
{
    doca_error_t result;

    strcpy(config->pci_addr, default_pci_addr);
    strcpy(config->text, "This is a sample piece of text");
    strcpy(config->descriptor_path, "/tmp/export_desc.txt");
    strcpy(config->buffer_path, "/tmp/buffer_info.txt");
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("p", "pci-addr", "PCI address of the device", DOCA_ARGP_TYPE_STRING, set_pci_addr);
    if (result == DOCA_SUCCESS)
        result = add_argument("t", "text", "Text to copy", DOCA_ARGP_TYPE_STRING, set_copied_text);
    if (result == DOCA_SUCCESS && with_files)
        result = add_argument("d", "descriptor-path", "File with the export descriptor", DOCA_ARGP_TYPE_STRING,
                              set_descriptor_path);
    if (result == DOCA_SUCCESS && with_files)
        result = add_argument("b", "buffer-path", "File with the buffer's address and length", DOCA_ARGP_TYPE_STRING,
                              set_buffer_path);
    return read_arguments(result, argc, argv);
}
