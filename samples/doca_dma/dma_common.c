// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_common.h"

#include <string.h>

#include <doca_log.h>

#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::DMA_COMMON);

#define WORKQ_DEPTH 1
#define NUM_BUFFERS 2 /* source and destination */

doca_error_t require_dpu(void)
{
#ifdef DOCA_ARCH_DPU
    return DOCA_SUCCESS;
#else
    DOCA_LOG_ERR("This sample can run only on the DPU, and was built for the host (see its build option 'role')");
    return DOCA_ERROR_NOT_SUPPORTED;
#endif
}

doca_error_t require_host(void)
{
#ifdef DOCA_ARCH_HOST
    return DOCA_SUCCESS;
#else
    DOCA_LOG_ERR("This sample can run only on the host, and was built for the DPU (see its build option 'role')");
    return DOCA_ERROR_NOT_SUPPORTED;
#endif
}

static bool can_copy(struct doca_devinfo *devinfo)
{
    return doca_dma_job_get_supported(devinfo, DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS;
}

static bool can_export(struct doca_devinfo *devinfo)
{
    uint8_t supported = 0;

    return doca_devinfo_get_is_mmap_export_dpu_supported(devinfo, &supported) == DOCA_SUCCESS && supported != 0;
}

static bool can_import(struct doca_devinfo *devinfo)
{
    uint8_t supported = 0;

    return doca_devinfo_get_is_mmap_from_export_dpu_supported(devinfo, &supported) == DOCA_SUCCESS && supported != 0;
}

doca_error_t open_dma_device(const char *pci_addr, uint32_t needed, struct doca_dev **dev)
{
    /* in the order of enum dma_ability */
    static const struct device_ability abilities[] = {
        {"copy by DMA", can_copy},
        {"export memory to a DPU", can_export},
        {"import memory of a host", can_import},
    };

    return open_device(pci_addr, abilities, sizeof(abilities) / sizeof(abilities[0]), needed, dev);
}

static doca_error_t start_dma(struct dma_resources *r)
{
    doca_error_t result = doca_dma_create(&r->dma);

    if (result == DOCA_SUCCESS)
        result = create_workq(WORKQ_DEPTH, &r->workq);
    if (result == DOCA_SUCCESS)
        result = start_ctx(doca_dma_as_ctx(r->dma), r->dev, r->workq, &r->setup);
    return result;
}

doca_error_t create_dma_resources(const char *pci_addr, uint32_t needed, struct dma_resources *resources)
{
    doca_error_t result;

    result = open_dma_device(pci_addr, needed, &resources->dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_buf_inventory_create(NULL, NUM_BUFFERS, DOCA_BUF_EXTENSION_NONE, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = start_dma(resources);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("DMA cannot be set up: %s", doca_get_error_string(result));
    return result;
}

doca_error_t destroy_dma_resources(struct dma_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    result = first_error(result, stop_ctx(&resources->setup));
    if (resources->workq != NULL)
        result = first_error(result, doca_workq_destroy(resources->workq));
    if (resources->dma != NULL)
        result = first_error(result, doca_dma_destroy(resources->dma));
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("DMA cannot be taken apart: %s", doca_get_error_string(result));
    memset(resources, 0, sizeof(*resources));
    return result;
}

doca_error_t copy_memory(struct dma_resources *resources, struct doca_mmap *src_mmap, void *src,
                         struct doca_mmap *dst_mmap, void *dst, size_t len)
{
    struct doca_buf *src_buf = NULL;
    struct doca_buf *dst_buf = NULL;
    doca_error_t result;

    /* The source is full of data; the destination is empty, and the copy fills it. */
    result = doca_buf_inventory_buf_by_data(resources->inventory, src_mmap, src, len, &src_buf);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_by_addr(resources->inventory, dst_mmap, dst, len, &dst_buf);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("No buffers of %zu bytes: %s", len, doca_get_error_string(result));
    } else {
        const struct doca_dma_job_memcpy job = {
            .base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_dma_as_ctx(resources->dma)},
            .dst_buff = dst_buf,
            .src_buff = src_buf,
        };

        result = run_job(resources->workq, &job.base);
    }
    if (dst_buf != NULL)
        result = first_error(result, doca_buf_refcount_rm(dst_buf, NULL));
    if (src_buf != NULL)
        result = first_error(result, doca_buf_refcount_rm(src_buf, NULL));
    return result;
}
