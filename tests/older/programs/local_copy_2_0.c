// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The local copy of DOCA 2.0.2: ranges before the start as today, the device by its bdf, copies that overwrite, and a
// backend of the log on stdout.
#include <doca_buf_inventory.h>
#include <doca_dma.h>
#include <doca_log.h>
#include <doca_mmap.h>

#include "bdf.h"

DOCA_LOG_REGISTER(LOCAL_COPY);

int main(void)
{
    struct doca_logger_backend *backend;
    struct doca_dev *const dev = open_by_address("03:00.0");
    char src[32] = "a text of 2.0.2", dst[32] = "";
    struct doca_mmap *src_mmap, *dst_mmap;
    struct doca_buf_inventory *inventory;
    struct doca_buf *src_buf, *dst_buf;
    struct doca_dma *dma;
    struct doca_workq *workq;
    struct doca_event event = {0};
    int round;

    WORKS(doca_log_create_file_backend(stdout, &backend));
    DOCA_LOG_INFO("Starting the sample");
    WORKS(doca_mmap_create(NULL, &src_mmap));
    WORKS(doca_mmap_create(NULL, &dst_mmap));
    WORKS(doca_mmap_dev_add(src_mmap, dev));
    WORKS(doca_mmap_dev_add(dst_mmap, dev));
    WORKS(doca_mmap_set_memrange(src_mmap, src, sizeof(src)));
    WORKS(doca_mmap_set_permissions(src_mmap, DOCA_ACCESS_LOCAL_READ_ONLY));
    WORKS(doca_mmap_set_memrange(dst_mmap, dst, sizeof(dst)));
    WORKS(doca_mmap_start(src_mmap));
    WORKS(doca_mmap_start(dst_mmap));
    GIVES(doca_mmap_set_permissions(src_mmap, DOCA_ACCESS_LOCAL_READ_WRITE), DOCA_ERROR_BAD_STATE);
    WORKS(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &inventory));
    WORKS(doca_buf_inventory_start(inventory));
    WORKS(doca_dma_create(&dma));
    WORKS(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev));
    WORKS(doca_ctx_start(doca_dma_as_ctx(dma)));
    WORKS(doca_workq_create(32, &workq));
    WORKS(doca_ctx_workq_add(doca_dma_as_ctx(dma), workq));
    WORKS(doca_buf_inventory_buf_by_addr(inventory, src_mmap, src, sizeof(src), &src_buf));
    WORKS(doca_buf_inventory_buf_by_addr(inventory, dst_mmap, dst, sizeof(dst), &dst_buf));
    WORKS(doca_buf_set_data(src_buf, src, 16));
    const struct doca_dma_job_memcpy job = {
        .base = {.type = DOCA_DMA_JOB_MEMCPY, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_dma_as_ctx(dma)},
        .dst_buff = dst_buf,
        .src_buff = src_buf,
    };
    for (round = 0; round < 100; round++) {
        src[0] = (char)round;
        WORKS(doca_workq_submit(workq, &job.base));
        while (doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) == DOCA_ERROR_AGAIN)
            ;
        CHECK(event.result.u64 == DOCA_SUCCESS && memcmp(src, dst, 32) == 0);
    }
    WORKS(doca_buf_refcount_rm(src_buf, NULL));
    WORKS(doca_buf_refcount_rm(dst_buf, NULL));
    WORKS(doca_ctx_workq_rm(doca_dma_as_ctx(dma), workq));
    WORKS(doca_workq_destroy(workq));
    WORKS(doca_buf_inventory_destroy(inventory));
    WORKS(doca_mmap_destroy(src_mmap));
    WORKS(doca_mmap_destroy(dst_mmap));
    WORKS(doca_ctx_stop(doca_dma_as_ctx(dma)));
    WORKS(doca_ctx_dev_rm(doca_dma_as_ctx(dma), dev));
    WORKS(doca_dma_destroy(dma));
    WORKS(doca_dev_close(dev));
    DOCA_LOG_INFO("Sample finished successfully");
    return 0;
}
