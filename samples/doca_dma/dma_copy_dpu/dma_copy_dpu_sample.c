// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies text from the host's memory into this process. Two files from the host tell where it is.
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../../common.h"
#include "../dma_common.h"

DOCA_LOG_REGISTER(DMA_COPY_DPU);

#define MAX_INFO_SIZE 64 /* two decimal numbers of up to 20 digits, and their line ends */

doca_error_t dma_copy_dpu(const struct dma_config *config);

/* Reads a number of digits alone, and moves *text behind it. */
static bool read_number(const char **text, uint64_t *number)
{
    char *end;

    if (**text < '0' || **text > '9')
        return false;
    errno = 0;
    *number = strtoull(*text, &end, 10);
    *text = end;
    return errno == 0;
}

/* "<address>\n<length>", with or without a line end, and nothing else. */
static bool parse_buffer_info(const char *text, struct exported_memory *memory)
{
    if (!read_number(&text, &memory->addr) || *text++ != '\n' || !read_number(&text, &memory->len))
        return false;
    if (*text == '\n')
        text++;
    return *text == '\0';
}

static doca_error_t load_buffer_info(const char *path, struct exported_memory *memory)
{
    char text[MAX_INFO_SIZE + 1] = {0};
    size_t len;
    doca_error_t result;

    result = load_file(path, text, MAX_INFO_SIZE, &len);
    if (result != DOCA_SUCCESS)
        return result;
    if (strlen(text) != len || !parse_buffer_info(text, memory)) {
        DOCA_LOG_ERR("'%s' does not hold an address, a line end and a length, both in decimal", path);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

doca_error_t dma_copy_dpu(const struct dma_config *config)
{
    struct dma_resources resources = {0};
    struct exported_memory memory;
    doca_error_t result;

    result = load_file(config->descriptor_path, memory.descriptor, sizeof(memory.descriptor), &memory.descriptor_len);
    if (result == DOCA_SUCCESS)
        result = load_buffer_info(config->buffer_info_path, &memory);
    if (result == DOCA_ERROR_NOT_FOUND)
        DOCA_LOG_ERR("doca_dma_copy_host writes the files on the host: is it running, and have they been "
                     "copied here?");
    if (result != DOCA_SUCCESS)
        return result;
    result = create_dma_resources(config->pci_addr, DMA_ABILITY_COPY | DMA_ABILITY_IMPORT, &resources);
    if (result == DOCA_SUCCESS)
        result = copy_exported_text(&resources, &memory);
    result = first_error(result, destroy_dma_resources(&resources));
    return result;
}
