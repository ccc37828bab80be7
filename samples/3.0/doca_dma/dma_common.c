// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_common.h"

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(DMA_COMMON);

#define NUM_TASKS 1
#define NUM_BUFFERS 2

int can_copy(const struct doca_devinfo *devinfo)
{
    return doca_dma_cap_task_memcpy_is_supported(devinfo) == DOCA_SUCCESS;
}

int can_export(const struct doca_devinfo *devinfo)
{
    uint8_t is_supported = 0;

    return doca_mmap_cap_is_export_pci_supported(devinfo, &is_supported) == DOCA_SUCCESS && is_supported != 0;
}

/* Both kinds of end: the task tells which one it is. It is the program's again, and freed. */
static void memcpy_ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data,
                         union doca_data ctx_user_data)
{
    struct dma_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    resources->status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));
    resources->is_done = 1;
    doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void state_changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
                          enum doca_ctx_states next_state)
{
    (void)user_data;
    (void)ctx;
    DOCA_LOG_INFO("The DMA context was %s and is %s", state_name(prev_state), state_name(next_state));
}

doca_error_t create_dma_resources(const char *pci_addr, struct dma_resources *resources)
{
    union doca_data user_data = {.ptr = resources};
    struct doca_ctx *ctx;
    doca_error_t result = open_device(pci_addr, can_copy, &resources->dev);

    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NUM_BUFFERS, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_pe_create(&resources->pe);
    if (result == DOCA_SUCCESS)
        result = doca_dma_create(resources->dev, &resources->dma);
    if (result == DOCA_SUCCESS)
        result = doca_dma_task_memcpy_set_conf(resources->dma, memcpy_ended, memcpy_ended, NUM_TASKS);
    if (result != DOCA_SUCCESS)
        return result;
    ctx = doca_dma_as_ctx(resources->dma);
    result = doca_ctx_set_user_data(ctx, user_data);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_state_changed_cb(ctx, state_changed);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(resources->pe, ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(ctx);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to set up DMA: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_dma_resources(struct dma_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    if (resources->dma != NULL) {
        result = stop_ctx(doca_dma_as_ctx(resources->dma), resources->pe, NULL);
        result = first_error(result, doca_dma_destroy(resources->dma));
    }
    if (resources->pe != NULL)
        result = first_error(result, doca_pe_destroy(resources->pe));
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up: %s", doca_error_get_descr(result));
    return result;
}

static doca_error_t run_task(struct dma_resources *resources, struct doca_buf *src, struct doca_buf *dst)
{
    struct doca_dma_task_memcpy *task = NULL;
    union doca_data none = {0};
    doca_error_t result = doca_dma_task_memcpy_alloc_init(resources->dma, src, dst, none, &task);

    if (result != DOCA_SUCCESS)
        return result;
    resources->is_done = 0;
    result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
    if (result != DOCA_SUCCESS) {
        doca_task_free(doca_dma_task_memcpy_as_task(task));
        return result;
    }
    while (result == DOCA_SUCCESS && !resources->is_done)
        result = progress(resources->pe);
    return first_error(result, resources->status);
}

doca_error_t copy_memory(struct dma_resources *resources, struct doca_mmap *src_mmap, void *src,
                         struct doca_mmap *dst_mmap, void *dst, size_t len)
{
    struct doca_buf *src_buf = NULL;
    struct doca_buf *dst_buf = NULL;
    doca_error_t result;

    result = doca_buf_inventory_buf_get_by_data(resources->inventory, src_mmap, src, len, &src_buf);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_addr(resources->inventory, dst_mmap, dst, len, &dst_buf);
    if (result == DOCA_SUCCESS)
        result = run_task(resources, src_buf, dst_buf);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to copy %zu bytes: %s", len, doca_error_get_descr(result));
    if (dst_buf != NULL)
        result = first_error(result, doca_buf_dec_refcount(dst_buf, NULL));
    if (src_buf != NULL)
        result = first_error(result, doca_buf_dec_refcount(src_buf, NULL));
    return result;
}
