// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The DPU's side: copies pieces between the host's memory and its own by DMA, and moves them between that and
// the file.
#include "dma_copy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../../common.h"
#include "../../doca_dma/dma_common.h"

DOCA_LOG_REGISTER(DMA_COPY::DPU);

#define JOB_SIZE (1U << 20) /* of a copy */

struct dpu_side {
    struct cc_end end;
    struct copy_file file;
    struct dma_resources dma;
    struct doca_mmap *host_mmap;
    struct doca_mmap *own_mmap;
    uint8_t *host_memory; /* an address of the host */
    uint8_t *memory;      /* for one piece */
};

static doca_error_t copy_piece(struct dpu_side *dpu, uint64_t index, size_t len, bool to_dpu)
{
    uint8_t *const slot = dpu->host_memory + index % NUM_SLOTS * PIECE_SIZE;
    doca_error_t result = DOCA_SUCCESS;

    for (size_t at = 0; at < len && result == DOCA_SUCCESS; at += JOB_SIZE) {
        const size_t job = len - at < JOB_SIZE ? len - at : JOB_SIZE;

        result = to_dpu ? copy_memory(&dpu->dma, dpu->host_mmap, slot + at, dpu->own_mmap, dpu->memory + at, job)
                        : copy_memory(&dpu->dma, dpu->own_mmap, dpu->memory + at, dpu->host_mmap, slot + at, job);
    }
    return result;
}

static doca_error_t take_piece(void *context, uint64_t index, size_t len)
{
    struct dpu_side *const dpu = context;
    const doca_error_t result = copy_piece(dpu, index, len, true);

    return result == DOCA_SUCCESS ? file_move(&dpu->file, dpu->memory, len) : result;
}

static doca_error_t give_piece(void *context, uint64_t index, size_t len)
{
    struct dpu_side *const dpu = context;
    const doca_error_t result = file_move(&dpu->file, dpu->memory, len);

    return result == DOCA_SUCCESS ? copy_piece(dpu, index, len, false) : result;
}

static doca_error_t receive_offer(struct cc_end *end, struct offer *offer)
{
    char message[CC_MAX_MSG_SIZE];
    size_t len = sizeof(message);
    const doca_error_t result = cc_receive(end, message, &len);

    if (result != DOCA_SUCCESS)
        return result;
    if (len == sizeof(*offer))
        memcpy(offer, message, sizeof(*offer));
    if (len != sizeof(*offer) || memcmp(offer->magic, "DMACOPY1", sizeof(offer->magic)) != 0 ||
        (offer->direction != TO_DPU && offer->direction != TO_HOST) ||
        offer->descriptor_len > sizeof(offer->descriptor)) {
        DOCA_LOG_ERR("A message of %zu bytes is no offer of this program", len);
        return DOCA_ERROR_UNEXPECTED;
    }
    return DOCA_SUCCESS;
}

/* The host's memory, as it is described, and as much of our own. */
static doca_error_t map_memories(struct dpu_side *dpu, struct doca_dev *dev, struct offer *offer)
{
    void *addr;
    size_t len;
    doca_error_t result;

    result = doca_mmap_create_from_export(NULL, offer->descriptor, offer->descriptor_len, dev, &dpu->host_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_get_memrange(dpu->host_mmap, &addr, &len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The host's memory cannot be imported: %s", doca_get_error_string(result));
        return result;
    }
    if (offer->addr != (uintptr_t)addr || len != (size_t)PIECE_SIZE * NUM_SLOTS) {
        DOCA_LOG_ERR("The host speaks of memory that it has not exported");
        return DOCA_ERROR_INVALID_VALUE;
    }
    dpu->host_memory = addr;
    dpu->memory = malloc(PIECE_SIZE);
    if (dpu->memory == NULL)
        return DOCA_ERROR_NO_MEMORY;
    return map_memory(dev, dpu->memory, PIECE_SIZE, DOCA_ACCESS_LOCAL_READ_WRITE, &dpu->own_mmap);
}

static doca_error_t copy(struct dpu_side *dpu, struct doca_dev *dev, const char *path)
{
    struct offer offer;
    doca_error_t result;

    result = receive_offer(&dpu->end, &offer);
    if (result != DOCA_SUCCESS)
        return result;
    DOCA_LOG_INFO("The host asks to copy the file '%s' %s the DPU", path, offer.direction == TO_DPU ? "to" : "from");
    result = offer.direction == TO_DPU ? file_create(&dpu->file, path, offer.file_size) : file_open(&dpu->file, path);
    if (result == DOCA_SUCCESS)
        result = map_memories(dpu, dev, &offer);
    if (result == DOCA_SUCCESS)
        result = send_note(&dpu->end, NOTE_READY, dpu->file.size);
    if (result != DOCA_SUCCESS)
        return result;
    return offer.direction == TO_DPU ? receive_pieces(&dpu->end, &dpu->file, take_piece, dpu)
                                     : send_pieces(&dpu->end, &dpu->file, give_piece, dpu);
}

doca_error_t dma_copy_dpu(struct doca_dev *dev, const struct dma_copy_config *config)
{
    struct dpu_side dpu = {.file = {.fd = -1}};
    doca_error_t result;

    if (config->rep_pci_addr[0] == '\0') {
        DOCA_LOG_ERR("On the DPU, -r has to name the host's function");
        return DOCA_ERROR_INVALID_VALUE;
    }
    result = create_dma_resources(config->pci_addr, DMA_ABILITY_COPY | DMA_ABILITY_IMPORT, &dpu.dma);
    if (result == DOCA_SUCCESS)
        result = cc_listen(&dpu.end, dev, config->rep_pci_addr, "dma copy server");
    if (result == DOCA_SUCCESS) {
        result = copy(&dpu, dev, config->path);
        if (result != DOCA_SUCCESS && result != DOCA_ERROR_CONNECTION_RESET && dpu.end.peer != NULL)
            (void)send_note(&dpu.end, NOTE_FAILED, 0);
        result = file_close(&dpu.file, result);
    }
    result = first_error(result, cc_close(&dpu.end));
    result = first_error(result, destroy_dma_resources(&dpu.dma));
    if (dpu.host_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(dpu.host_mmap));
    if (dpu.own_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(dpu.own_mmap));
    free(dpu.memory);
    return result;
}
