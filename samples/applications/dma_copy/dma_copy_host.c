// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The host's side: shares memory with the DPU, and moves pieces between it and the file.
#include "dma_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <doca_log.h>
#include <doca_mmap.h>

#include "../../common.h"

DOCA_LOG_REGISTER(DMA_COPY::HOST);

#define MEMORY_SIZE ((size_t)PIECE_SIZE * NUM_SLOTS)

struct host_side {
    struct cc_end end;
    struct copy_file file;
    struct doca_mmap *mmap;
    uint8_t *memory;
};

static doca_error_t move_between_file_and_slot(void *context, uint64_t index, size_t len)
{
    struct host_side *const host = context;

    return file_move(&host->file, host->memory + index % NUM_SLOTS * PIECE_SIZE, len);
}

/* Memory that the DPU may read, and write only when the file comes from there. */
static doca_error_t share_memory(struct host_side *host, struct doca_dev *dev, enum direction direction,
                                 struct offer *offer)
{
    const uint32_t rights = direction == TO_DPU ? DOCA_ACCESS_DPU_READ_ONLY : DOCA_ACCESS_DPU_READ_WRITE;
    const void *descriptor;
    size_t len;
    doca_error_t result;

    host->memory = mmap(NULL, MEMORY_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (host->memory == MAP_FAILED) {
        DOCA_LOG_ERR("No memory of %zu bytes: %s", MEMORY_SIZE, strerror(errno));
        host->memory = NULL;
        return DOCA_ERROR_NO_MEMORY;
    }
    result = map_memory(dev, host->memory, MEMORY_SIZE, DOCA_ACCESS_LOCAL_READ_WRITE | rights, &host->mmap);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_mmap_export_dpu(host->mmap, dev, &descriptor, &len);
    if (result != DOCA_SUCCESS || len > sizeof(offer->descriptor)) {
        DOCA_LOG_ERR("The memory cannot be exported: %s", doca_get_error_string(result));
        return result != DOCA_SUCCESS ? result : DOCA_ERROR_UNEXPECTED;
    }
    memcpy(offer->descriptor, descriptor, len);
    offer->descriptor_len = (uint32_t)len;
    offer->addr = (uintptr_t)host->memory;
    offer->direction = direction;
    return DOCA_SUCCESS;
}

static doca_error_t copy(struct host_side *host, struct doca_dev *dev, const char *path)
{
    const enum direction direction = access(path, F_OK) == 0 ? TO_DPU : TO_HOST;
    struct offer offer = {.magic = "DMACOPY1"};
    uint64_t size;
    doca_error_t result = DOCA_SUCCESS;

    DOCA_LOG_INFO("The file '%s' is %s: copying it %s the DPU", path, direction == TO_DPU ? "here" : "not here",
                  direction == TO_DPU ? "to" : "from");
    if (direction == TO_DPU)
        result = file_open(&host->file, path);
    if (result == DOCA_SUCCESS)
        result = share_memory(host, dev, direction, &offer);
    if (result != DOCA_SUCCESS)
        return result;
    offer.file_size = host->file.size;
    result = cc_send(&host->end, &offer, sizeof(offer));
    if (result == DOCA_SUCCESS)
        result = expect_note(&host->end, NOTE_READY, &size);
    if (result != DOCA_SUCCESS)
        return result;
    if (direction == TO_DPU)
        return send_pieces(&host->end, &host->file, move_between_file_and_slot, host);
    result = file_create(&host->file, path, size);
    return result == DOCA_SUCCESS ? receive_pieces(&host->end, &host->file, move_between_file_and_slot, host) : result;
}

doca_error_t dma_copy_host(struct doca_dev *dev, const struct dma_copy_config *config)
{
    struct host_side host = {.file = {.fd = -1}};
    doca_error_t result;

    result = cc_connect(&host.end, dev, "dma copy server");
    if (result == DOCA_SUCCESS) {
        result = copy(&host, dev, config->path);
        if (result != DOCA_SUCCESS && result != DOCA_ERROR_CONNECTION_RESET)
            (void)send_note(&host.end, NOTE_FAILED, 0);
        result = file_close(&host.file, result);
    }
    result = first_error(result, cc_close(&host.end));
    if (host.mmap != NULL)
        result = first_error(result, doca_mmap_destroy(host.mmap));
    if (host.memory != NULL)
        (void)munmap(host.memory, MEMORY_SIZE);
    return result;
}
