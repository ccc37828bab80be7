// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A DMA context on one device and its work queue, as programs keep them in one structure.
#ifndef COPIER_H_
#define COPIER_H_

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "check.h"

struct copier {
    struct doca_dev *dev;
    struct doca_buf_inventory *inventory;
    struct doca_dma *dma;
    struct doca_ctx *ctx;
    struct doca_workq *workq;
};

static inline void set_up(struct copier *copier, struct doca_dev *dev, uint32_t depth)
{
    copier->dev = dev;
    WORKS(doca_buf_inventory_create(NULL, 64, DOCA_BUF_EXTENSION_NONE, &copier->inventory));
    WORKS(doca_buf_inventory_start(copier->inventory));
    WORKS(doca_dma_create(&copier->dma));
    copier->ctx = doca_dma_as_ctx(copier->dma);
    WORKS(doca_ctx_dev_add(copier->ctx, dev));
    WORKS(doca_ctx_start(copier->ctx));
    WORKS(doca_workq_create(depth, &copier->workq));
    WORKS(doca_ctx_workq_add(copier->ctx, copier->workq));
}

static inline void tear_down(struct copier *copier)
{
    WORKS(doca_ctx_workq_rm(copier->ctx, copier->workq));
    WORKS(doca_workq_destroy(copier->workq));
    WORKS(doca_ctx_stop(copier->ctx));
    WORKS(doca_ctx_dev_rm(copier->ctx, copier->dev));
    WORKS(doca_dma_destroy(copier->dma));
    WORKS(doca_buf_inventory_destroy(copier->inventory));
}

static inline struct doca_mmap *map_of(struct doca_dev *dev, void *memory, size_t size)
{
    struct doca_mmap *mmap;
    WORKS(doca_mmap_create(NULL, &mmap));
    WORKS(doca_mmap_start(mmap));
    WORKS(doca_mmap_dev_add(mmap, dev));
    WORKS(doca_mmap_populate(mmap, memory, size, 4096, NULL, NULL));
    return mmap;
}

static inline struct doca_buf *buf_of(struct copier *copier, struct doca_mmap *mmap, void *memory, size_t size)
{
    struct doca_buf *buf;
    WORKS(doca_buf_inventory_buf_by_addr(copier->inventory, mmap, memory, size, &buf));
    return buf;
}

// The first length bytes of the source.
static inline doca_error_t submit(struct copier *copier, struct doca_buf *dst, struct doca_buf *src, size_t length)
{
    struct doca_dma_job_memcpy job;
    memset(&job, 0xa5, sizeof(job)); // programs leave padding and user data as they were on the stack
    job.base.type = DOCA_DMA_JOB_MEMCPY;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = copier->ctx;
    job.dst_buff = dst;
    job.src_buff = src;
#if DOCA_API < 10500
    job.num_bytes_to_copy = length;
#else
    void *head;
    WORKS(doca_buf_get_head(src, &head));
    WORKS(doca_buf_set_data(src, head, length));
#endif
    return doca_workq_submit(copier->workq, &job.base);
}

static inline void wait_for_one(struct copier *copier)
{
    struct doca_event event;
    doca_error_t result;
    do
        result = doca_workq_progress_retrieve(copier->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    while (result == DOCA_ERROR_AGAIN);
    WORKS(result);
    WORKS((doca_error_t)event.result.u64);
}

#endif
