// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The command line, and files between host and DPU.
#include <stdio.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_log.h>

#include "dma_common.h"

DOCA_LOG_REGISTER(DMA_ARGUMENTS);

static doca_error_t set_text(char *field, size_t size, const char *what, const char *value)
{
    const size_t len = strnlen(value, size);

    if (len == 0 || len == size) {
        DOCA_LOG_ERR("The %s has to have 1 to %zu characters", what, size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    memcpy(field, value, len + 1);
    return DOCA_SUCCESS;
}

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

static doca_error_t add_parameter(const char *short_name, const char *long_name, const char *description,
                                  doca_argp_param_cb_t callback)
{
    struct doca_argp_param *param = NULL;
    doca_error_t result = doca_argp_param_create(&param);

    if (result != DOCA_SUCCESS)
        return result;
    doca_argp_param_set_short_name(param, short_name);
    doca_argp_param_set_long_name(param, long_name);
    doca_argp_param_set_description(param, description);
    doca_argp_param_set_callback(param, callback);
    doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
    return doca_argp_register_param(param);
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
    result = add_parameter("p", "pci-addr", "PCI address of the device", set_pci_addr);
    if (result == DOCA_SUCCESS)
        result = add_parameter("t", "text", "Text to copy", set_copied_text);
    if (result == DOCA_SUCCESS && with_files)
        result = add_parameter("d", "descriptor-path", "File with the export descriptor", set_descriptor_path);
    if (result == DOCA_SUCCESS && with_files)
        result = add_parameter("b", "buffer-path", "File with the buffer's address and length", set_buffer_path);
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    return first_error(result, doca_argp_destroy());
}

doca_error_t save_file(const char *path, const void *data, size_t len)
{
    char part[MAX_PATH_SIZE + 8];
    FILE *file;
    size_t written;

    snprintf(part, sizeof(part), "%s.part", path);
    file = fopen(part, "wb");
    if (file == NULL) {
        DOCA_LOG_ERR("Failed to write %s", part);
        return DOCA_ERROR_IO_FAILED;
    }
    written = fwrite(data, 1, len, file);
    if (fclose(file) != 0 || written != len || rename(part, path) != 0) {
        DOCA_LOG_ERR("Failed to write %s", path);
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}

doca_error_t load_file(const char *path, void *data, size_t max_len, size_t *len)
{
    FILE *file = fopen(path, "rb");
    int is_whole;

    if (file == NULL) {
        DOCA_LOG_ERR("Failed to read %s", path);
        return DOCA_ERROR_IO_FAILED;
    }
    *len = fread(data, 1, max_len, file);
    is_whole = ferror(file) == 0 && fgetc(file) == EOF;
    fclose(file);
    if (!is_whole || *len == 0) {
        DOCA_LOG_ERR("%s is empty, or longer than %zu bytes", path, max_len);
        return DOCA_ERROR_IO_FAILED;
    }
    return DOCA_SUCCESS;
}
