// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "storage_memory.h"

#include <stdlib.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(STORAGE_MEMORY);

doca_error_t create_memory(struct doca_dev *dev, size_t size, uint32_t permissions, struct memory *memory)
{
    doca_error_t result;

    memory->bytes = calloc(1, size);
    if (memory->bytes == NULL) {
        DOCA_LOG_ERR("No memory for %zu bytes", size);
        return DOCA_ERROR_NO_MEMORY;
    }
    memory->size = size;
    result = map_memory(dev, memory->bytes, size, permissions, &memory->mmap);
    if (result != DOCA_SUCCESS)
        (void)destroy_memory(memory);
    return result;
}

doca_error_t destroy_memory(struct memory *memory)
{
    doca_error_t result = DOCA_SUCCESS;

    if (memory->mmap != NULL)
        result = doca_mmap_destroy(memory->mmap);
    free(memory->bytes);
    *memory = (struct memory){0};
    return result;
}

struct range range_of(const struct memory *memory, size_t offset, size_t len)
{
    return (struct range){.mmap = memory->mmap, .addr = memory->bytes + offset, .len = len};
}
