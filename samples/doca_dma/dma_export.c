// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Text in the host's memory: exported on the host, copied by the DPU.
#include "dma_common.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../common.h"

DOCA_LOG_REGISTER(SAMPLES::DMA_EXPORT);

#define MAX_SHOWN 4096 /* bytes of text on the terminal */

doca_error_t export_text(const char *pci_addr, const char *text, struct exported_text *exported)
{
    const size_t len = strlen(text) + 1;
    const void *descriptor;
    size_t descriptor_len;
    doca_error_t result;

    result = open_dma_device(pci_addr, DMA_ABILITY_EXPORT, &exported->dev);
    if (result != DOCA_SUCCESS)
        return result;
    exported->text = strdup(text);
    if (exported->text == NULL) {
        DOCA_LOG_ERR("No memory for %zu bytes of text", len);
        return DOCA_ERROR_NO_MEMORY;
    }
    result = map_memory(exported->dev, exported->text, len, DOCA_ACCESS_DPU_READ_ONLY, &exported->mmap);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_mmap_export_dpu(exported->mmap, exported->dev, &descriptor, &descriptor_len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The text cannot be exported: %s", doca_get_error_string(result));
        return result;
    }
    if (descriptor_len > sizeof(exported->memory.descriptor)) {
        DOCA_LOG_ERR("The export descriptor has %zu bytes, more than %d", descriptor_len, MAX_DESCRIPTOR_SIZE);
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    memcpy(exported->memory.descriptor, descriptor, descriptor_len);
    exported->memory.descriptor_len = descriptor_len;
    exported->memory.addr = (uintptr_t)exported->text;
    exported->memory.len = len;
    DOCA_LOG_INFO("Exported %zu bytes of text: %s", len - 1, text);
    return DOCA_SUCCESS;
}

doca_error_t unexport_text(struct exported_text *exported)
{
    doca_error_t result = DOCA_SUCCESS;

    /* From here on the DPU cannot reach the text any more. */
    if (exported->mmap != NULL)
        result = doca_mmap_destroy(exported->mmap);
    if (result == DOCA_SUCCESS)
        free(exported->text);
    if (exported->dev != NULL)
        result = first_error(result, doca_dev_close(exported->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The export cannot be taken back: %s", doca_get_error_string(result));
    memset(exported, 0, sizeof(*exported));
    return result;
}

/* Whether the host's buffer lies in what it has exported, and can be copied by one job. */
static doca_error_t check_range(const struct dma_resources *resources, const struct doca_mmap *host_mmap,
                                const struct exported_memory *memory)
{
    void *start = NULL;
    size_t size = 0;
    uint64_t max_len = 0;
    uint64_t offset;
    doca_error_t result;

    result = doca_mmap_get_memrange(host_mmap, &start, &size);
    if (result == DOCA_SUCCESS)
        result = doca_dma_get_max_buf_size(doca_dev_as_devinfo(resources->dev), &max_len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The host's memory cannot be looked at: %s", doca_get_error_string(result));
        return result;
    }
    offset = memory->addr - (uintptr_t)start; /* an address before the start becomes a huge offset */
    if (memory->len == 0 || offset > size || memory->len > size - offset) {
        DOCA_LOG_ERR("The host's buffer of %" PRIu64 " bytes at 0x%" PRIx64
                     " is not in the %zu bytes at %p that it has exported",
                     memory->len, memory->addr, size, start);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (memory->len > max_len) {
        DOCA_LOG_ERR("The host's buffer of %" PRIu64 " bytes is larger than the %" PRIu64 " of one copy", memory->len,
                     max_len);
        return DOCA_ERROR_INVALID_VALUE;
    }
    return DOCA_SUCCESS;
}

/* The bytes come from elsewhere: shows them up to the first NUL, if there is one. */
static void show_text(char *bytes, size_t len)
{
    const size_t text_len = strnlen(bytes, len);
    const size_t shown = text_len < MAX_SHOWN ? text_len : MAX_SHOWN;

    make_printable(bytes, shown);
    DOCA_LOG_INFO("Copied %zu bytes from the host's memory; the text is: %.*s%s", len, (int)shown, bytes,
                  shown < text_len ? "..." : "");
}

static doca_error_t copy_from(struct dma_resources *resources, struct doca_mmap *host_mmap,
                              const struct exported_memory *memory)
{
    struct doca_mmap *mmap = NULL;
    char *copy;
    doca_error_t result;

    result = check_range(resources, host_mmap, memory);
    if (result != DOCA_SUCCESS)
        return result;
    copy = calloc(1, memory->len);
    if (copy == NULL) {
        DOCA_LOG_ERR("No memory for %" PRIu64 " bytes", memory->len);
        return DOCA_ERROR_NO_MEMORY;
    }
    result = map_memory(resources->dev, copy, memory->len, DOCA_ACCESS_LOCAL_READ_WRITE, &mmap);
    if (result == DOCA_SUCCESS) {
        /* The source's address is the host's: it means nothing in this process, and goes to the device as it
         * is. */
        result = copy_memory(resources, host_mmap, (void *)(uintptr_t)memory->addr, mmap, copy, memory->len);
        result = first_error(result, doca_mmap_destroy(mmap));
    }
    if (result == DOCA_SUCCESS)
        show_text(copy, memory->len);
    free(copy);
    return result;
}

doca_error_t copy_exported_text(struct dma_resources *resources, const struct exported_memory *memory)
{
    struct doca_mmap *host_mmap = NULL;
    doca_error_t result;

    result = doca_mmap_create_from_export(NULL, memory->descriptor, memory->descriptor_len, resources->dev, &host_mmap);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The host's memory cannot be imported: %s", doca_get_error_string(result));
        return result;
    }
    result = copy_from(resources, host_mmap, memory);
    result = first_error(result, doca_mmap_destroy(host_mmap));
    return result;
}
