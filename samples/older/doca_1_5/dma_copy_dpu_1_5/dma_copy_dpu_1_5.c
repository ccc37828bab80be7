// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The DPU's part of a copy from the host, written for DOCA 1.5: reads the two files of the host's part, and copies what
// they describe.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_log.h>

#include "../dma_common_1_5.h"

DOCA_LOG_REGISTER(DMA_COPY_DPU);

struct dma_state {
    struct doca_dev *dev;
    struct doca_buf_inventory *inventory;
    struct doca_dma *dma;
    struct doca_ctx *ctx;
    struct doca_workq *workq;
};

static doca_error_t can_copy(struct doca_devinfo *devinfo)
{
    return doca_dma_job_get_supported(devinfo, DOCA_DMA_JOB_MEMCPY);
}

static doca_error_t load(const char *path, char *bytes, size_t max_size, size_t *size)
{
    FILE *const file = fopen(path, "r");

    if (file == NULL) {
        DOCA_LOG_ERR("Cannot read '%s'", path);
        return DOCA_ERROR_IO_FAILED;
    }
    *size = fread(bytes, 1, max_size, file);
    (void)fclose(file);
    return *size == 0 ? DOCA_ERROR_IO_FAILED : DOCA_SUCCESS;
}

static doca_error_t create_state(const char *pci_addr, struct dma_state *state)
{
    doca_error_t result = open_device(pci_addr, can_copy, &state->dev);

    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &state->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(state->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_dma_create(&state->dma);
    if (result != DOCA_SUCCESS)
        return result;
    state->ctx = doca_dma_as_ctx(state->dma);
    result = doca_ctx_dev_add(state->ctx, state->dev);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(state->ctx);
    if (result == DOCA_SUCCESS)
        result = doca_workq_create(32, &state->workq);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_workq_add(state->ctx, state->workq);
    return result;
}

static void destroy_state(struct dma_state *state)
{
    if (state->workq != NULL) {
        (void)doca_ctx_workq_rm(state->ctx, state->workq);
        (void)doca_workq_destroy(state->workq);
    }
    if (state->dma != NULL) {
        (void)doca_ctx_stop(state->ctx);
        (void)doca_ctx_dev_rm(state->ctx, state->dev);
        (void)doca_dma_destroy(state->dma);
    }
    if (state->inventory != NULL)
        (void)doca_buf_inventory_destroy(state->inventory);
    if (state->dev != NULL)
        (void)doca_dev_close(state->dev);
}

static doca_error_t submit_and_wait(struct dma_state *state, struct doca_buf *dst, struct doca_buf *src)
{
    struct doca_dma_job_memcpy job = {0};
    struct doca_event event = {0};
    doca_error_t result;

    job.base.type = DOCA_DMA_JOB_MEMCPY;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = state->ctx;
    job.dst_buff = dst;
    job.src_buff = src;
    result = doca_workq_submit(state->workq, &job.base);
    if (result != DOCA_SUCCESS)
        return result;
    while ((result = doca_workq_progress_retrieve(state->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
           DOCA_ERROR_AGAIN)
        ;
    return result == DOCA_SUCCESS ? (doca_error_t)event.result.u64 : result;
}

static doca_error_t copy(struct dma_state *state, struct doca_mmap *dst_mmap, char *dst, struct doca_mmap *src_mmap,
                         char *src, size_t len)
{
    struct doca_buf *dst_buf, *src_buf;
    doca_error_t result = doca_buf_inventory_buf_by_addr(state->inventory, src_mmap, src, len, &src_buf);

    if (result != DOCA_SUCCESS)
        return result;
    result = doca_buf_inventory_buf_by_addr(state->inventory, dst_mmap, dst, len, &dst_buf);
    if (result == DOCA_SUCCESS) {
        result = doca_buf_set_data(src_buf, src, len);
        if (result == DOCA_SUCCESS)
            result = submit_and_wait(state, dst_buf, src_buf);
        (void)doca_buf_refcount_rm(dst_buf, NULL);
    }
    (void)doca_buf_refcount_rm(src_buf, NULL);
    return result;
}

static doca_error_t copy_from_host(struct dma_state *state, const struct dma_config *config)
{
    static char memory[MAX_TEXT_SIZE];
    char descriptor[MAX_DESCRIPTOR_SIZE], info[64] = "";
    size_t descriptor_size = 0, info_size = 0, len = 0;
    unsigned long long addr = 0;
    struct doca_mmap *local, *remote;
    doca_error_t result = load(config->descriptor_path, descriptor, sizeof(descriptor), &descriptor_size);

    if (result == DOCA_SUCCESS)
        result = load(config->buffer_info_path, info, sizeof(info) - 1, &info_size);
    if (result != DOCA_SUCCESS)
        return result;
    if (sscanf(info, "%llu\n%zu", &addr, &len) != 2 || len == 0 || len > sizeof(memory)) {
        DOCA_LOG_ERR("'%s' does not tell where the host's memory is", config->buffer_info_path);
        return DOCA_ERROR_INVALID_VALUE;
    }
    result = map_memory(state->dev, memory, len, &local);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_mmap_create_from_export(NULL, descriptor, descriptor_size, state->dev, &remote);
    if (result == DOCA_SUCCESS) {
        result = copy(state, local, memory, remote, (char *)(uintptr_t)addr, len);
        (void)doca_mmap_destroy(remote);
    }
    unmap_memory(state->dev, local);
    memory[sizeof(memory) - 1] = '\0';
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Copied %zu bytes from the host: %s", len, memory);
    return result;
}

int main(int argc, char **argv)
{
    struct dma_config config = {"03:00.0", "", "/tmp/export_desc.txt", "/tmp/buffer_info.txt"};
    struct dma_state state = {0};
    doca_error_t result;

    DOCA_LOG_INFO("Starting the sample");
    result = parse_arguments("doca_dma_copy_dpu_1_5", argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_state(config.pci_addr, &state);
    if (result == DOCA_SUCCESS)
        result = copy_from_host(&state, &config);
    destroy_state(&state);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors: %s", doca_get_error_string(result));
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
