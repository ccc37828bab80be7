// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The part of mixed.c that is written for DOCA 2.2.
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "check.h"

void copy_today(struct doca_dev *dev, struct doca_mmap *mmap, struct doca_ctx *ctx, struct doca_workq *workq, char *src,
                char *dst, size_t size);

static void copy(struct doca_ctx *ctx, struct doca_workq *workq, struct doca_buf *dst, struct doca_buf *src)
{
    const struct doca_dma_job_memcpy job = {
        .base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = ctx}, .dst_buff = dst, .src_buff = src};
    struct doca_event event;
    WORKS(doca_workq_submit(workq, &job.base));
    while (doca_workq_progress_retrieve(workq, &event, 0) == DOCA_ERROR_AGAIN)
        ;
    WORKS((doca_error_t)event.result.u64);
}

static size_t data_len(struct doca_buf *buf)
{
    size_t length = 0;
    WORKS(doca_buf_get_data_len(buf, &length));
    return length;
}

void copy_today(struct doca_dev *dev, struct doca_mmap *mmap, struct doca_ctx *ctx, struct doca_workq *workq, char *src,
                char *dst, size_t size)
{
    struct doca_buf_inventory *inventory;
    struct doca_buf *src_buf, *dst_buf;
    struct doca_dma *own;
    struct doca_mmap *plain;
    uint32_t depth = 0;
    WORKS(doca_workq_get_depth(workq, &depth));
    CHECK(depth == 1024 && DOCA_VER_MAJOR == 2 && DOCA_VER_MINOR == 2);
    WORKS(doca_mmap_create(NULL, &plain));
    GIVES(doca_mmap_start(plain), DOCA_ERROR_INVALID_VALUE); // a range comes before the start
    WORKS(doca_mmap_destroy(plain));
    WORKS(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &inventory));
    WORKS(doca_buf_inventory_start(inventory));
    WORKS(doca_buf_inventory_buf_by_data(inventory, mmap, src, size / 4, &src_buf));
    WORKS(doca_buf_inventory_buf_by_addr(inventory, mmap, dst, size, &dst_buf));
    copy(ctx, workq, dst_buf, src_buf);
    copy(ctx, workq, dst_buf, src_buf);
    CHECK(data_len(dst_buf) == size / 4); // the older file's context overwrites

    WORKS(doca_dma_create(&own));
    WORKS(doca_ctx_dev_add(doca_dma_as_ctx(own), dev));
    WORKS(doca_ctx_start(doca_dma_as_ctx(own)));
    WORKS(doca_ctx_workq_add(doca_dma_as_ctx(own), workq));
    copy(doca_dma_as_ctx(own), workq, dst_buf, src_buf);
    CHECK(data_len(dst_buf) == size / 2); // and this one's appends
    WORKS(doca_ctx_workq_rm(doca_dma_as_ctx(own), workq));
    WORKS(doca_ctx_stop(doca_dma_as_ctx(own)));
    WORKS(doca_ctx_dev_rm(doca_dma_as_ctx(own), dev));
    WORKS(doca_dma_destroy(own));
    WORKS(doca_buf_refcount_rm(src_buf, NULL));
    WORKS(doca_buf_refcount_rm(dst_buf, NULL));
    WORKS(doca_buf_inventory_destroy(inventory));
}
