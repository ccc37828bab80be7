// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A copy by a DMA task.
#ifndef DMA_H_
#define DMA_H_

#include <doca_dma.h>

#include "engine.h"

static int copies_ended;

static inline void copied(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_dma_task_memcpy_as_task(task)));
    ++copies_ended;
    doca_task_free(doca_dma_task_memcpy_as_task(task));
}

static inline void not_copied(struct doca_dma_task_memcpy *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_dma_task_memcpy_as_task(task)));
    exit(1);
}

static inline void copy(struct doca_dev *dev, struct doca_buf *src, struct doca_buf *dst)
{
    struct doca_dma_task_memcpy *task;
    struct doca_dma *dma;
    struct doca_pe *pe;
    union doca_data none = {0};
    const int before = copies_ended;
    WORKS(doca_dma_create(dev, &dma));
    pe = make_engine(doca_dma_as_ctx(dma));
    WORKS(doca_dma_task_memcpy_set_conf(dma, copied, not_copied, 1));
    WORKS(doca_ctx_start(doca_dma_as_ctx(dma)));
    WORKS(doca_dma_task_memcpy_alloc_init(dma, src, dst, none, &task));
    WORKS(doca_task_submit(doca_dma_task_memcpy_as_task(task)));
    while (copies_ended == before)
        (void)doca_pe_progress(pe);
    stop(pe, doca_dma_as_ctx(dma));
    WORKS(doca_dma_destroy(dma));
    WORKS(doca_pe_destroy(pe));
}

#endif
