// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A program of DOCA 3.0 that copies a text by one task.
#include <stdio.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_pe.h>

DOCA_LOG_REGISTER(TASK_COPY);

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        const doca_error_t status_ = (call);                                                                           \
        if (status_ != DOCA_SUCCESS) {                                                                                 \
            DOCA_LOG_ERR("%s: %s", #call, doca_error_get_descr(status_));                                              \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

static char source[64] = "a text";
static char destination[64];
static int num_ended;

static void succeeded(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    (void)ctx_user_data;
    printf("copied: %s\n", destination);
    ++num_ended;
    doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    (void)ctx_user_data;
    printf("failed: %s\n", doca_error_get_name(doca_task_get_status(doca_dma_task_memcpy_as_task(task))));
    ++num_ended;
    doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static doca_error_t open_device(struct doca_dev **dev)
{
    struct doca_devinfo **list = NULL;
    uint32_t count = 0;
    doca_error_t status = doca_devinfo_create_list(&list, &count);
    if (status != DOCA_SUCCESS)
        return status;
    status = DOCA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i != count && status != DOCA_SUCCESS; ++i) {
        if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS)
            status = doca_dev_open(list[i], dev);
    }
    const doca_error_t destroyed = doca_devinfo_destroy_list(list);
    return status != DOCA_SUCCESS ? status : destroyed;
}

static doca_error_t map(struct doca_dev *dev, char *memory, struct doca_mmap **mmap)
{
    doca_error_t status = doca_mmap_create(mmap);
    DOCA_ERROR_PROPAGATE(status, doca_mmap_add_dev(*mmap, dev));
    DOCA_ERROR_PROPAGATE(status, doca_mmap_set_memrange(*mmap, memory, 64));
    DOCA_ERROR_PROPAGATE(status, doca_mmap_start(*mmap));
    return status;
}

int main(void)
{
    struct doca_dev *dev = NULL;
    struct doca_mmap *src_map = NULL, *dst_map = NULL;
    struct doca_buf_inventory *inventory = NULL;
    struct doca_buf *src = NULL, *dst = NULL;
    struct doca_pe *pe = NULL;
    struct doca_dma *dma = NULL;
    struct doca_dma_task_memcpy *task = NULL;
    const union doca_data nothing = {0};

    MUST(doca_log_backend_create_standard());
    MUST(open_device(&dev));
    MUST(map(dev, source, &src_map));
    MUST(map(dev, destination, &dst_map));
    MUST(doca_buf_inventory_create(2, &inventory));
    MUST(doca_buf_inventory_start(inventory));
    MUST(doca_buf_inventory_buf_get_by_data(inventory, src_map, source, sizeof(source), &src));
    MUST(doca_buf_inventory_buf_get_by_addr(inventory, dst_map, destination, sizeof(destination), &dst));
    MUST(doca_pe_create(&pe));
    MUST(doca_dma_create(dev, &dma));
    MUST(doca_dma_task_memcpy_set_conf(dma, succeeded, failed, 1));
    MUST(doca_pe_connect_ctx(pe, doca_dma_as_ctx(dma)));
    MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
    MUST(doca_dma_task_memcpy_alloc_init(dma, src, dst, nothing, &task));
    MUST(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
    while (num_ended == 0)
        (void)doca_pe_progress(pe);
    MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
    MUST(doca_dma_destroy(dma));
    MUST(doca_pe_destroy(pe));
    MUST(doca_buf_dec_refcount(src, NULL));
    MUST(doca_buf_dec_refcount(dst, NULL));
    MUST(doca_buf_inventory_destroy(inventory));
    MUST(doca_mmap_destroy(src_map));
    MUST(doca_mmap_destroy(dst_map));
    MUST(doca_dev_close(dev));
    return 0;
}
