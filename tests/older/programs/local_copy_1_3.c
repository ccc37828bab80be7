// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The local copy of DOCA 1.3: one map with two ranges, added after the start, and a job that has its own length.
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "bdf.h"

#define SIZE 64

static void wait_for(struct doca_workq *workq)
{
    struct doca_event event = {0};
    doca_error_t result;
    while ((result = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) == DOCA_ERROR_AGAIN)
        ;
    WORKS(result);
    CHECK(event.type == DOCA_DMA_JOB_MEMCPY && event.result.u64 == DOCA_SUCCESS);
}

int main(void)
{
    struct doca_dev *const dev = open_by_address("03:00.0");
    const enum doca_mmap_property property = DOCA_MMAP_MAX_NUM_CHUNKS;
    const uint32_t max_chunks = 2;
    char src[SIZE] = "bytes of the source", dst[SIZE] = "nothing yet";
    struct doca_mmap *mmap;
    struct doca_buf_inventory *inventory;
    struct doca_buf *src_buf, *dst_buf, *none;
    struct doca_dma *dma;
    struct doca_ctx *ctx;
    struct doca_workq *workq;
    struct doca_dma_job_memcpy job;

    WORKS(doca_mmap_create("my_mmap", &mmap));
    GIVES(doca_mmap_populate(mmap, src, SIZE, 4096, NULL, NULL), DOCA_ERROR_BAD_STATE);
    WORKS(doca_mmap_property_set(mmap, property, (const uint8_t *)&max_chunks, sizeof(max_chunks)));
    WORKS(doca_mmap_start(mmap));
    WORKS(doca_mmap_dev_add(mmap, dev));
    WORKS(doca_mmap_populate(mmap, src, SIZE, 4096, NULL, NULL));
    WORKS(doca_mmap_populate(mmap, dst, SIZE, 4096, NULL, NULL));
    GIVES(doca_mmap_populate(mmap, &job, sizeof(job), 4096, NULL, NULL), DOCA_ERROR_NO_MEMORY);

    WORKS(doca_buf_inventory_create("my_inventory", 2, DOCA_BUF_EXTENSION_LINKED_LIST, &inventory));
    WORKS(doca_buf_inventory_start(inventory));
    WORKS(doca_buf_inventory_buf_by_addr(inventory, mmap, src, SIZE, &src_buf));
    WORKS(doca_buf_inventory_buf_by_addr(inventory, mmap, dst, SIZE, &dst_buf));
    GIVES(doca_buf_inventory_buf_by_addr(inventory, mmap, dst, SIZE, &none), DOCA_ERROR_NO_MEMORY);
    GIVES(doca_buf_inventory_buf_by_addr(inventory, mmap, dst, SIZE + 1, &none), DOCA_ERROR_INVALID_VALUE);

    WORKS(doca_dma_create(&dma));
    ctx = doca_dma_as_ctx(dma);
    WORKS(doca_ctx_dev_add(ctx, dev));
    WORKS(doca_ctx_start(ctx));
    WORKS(doca_workq_create(1, &workq));
    WORKS(doca_ctx_workq_add(ctx, workq));

    memset(&job, 0, sizeof(job));
    job.base.type = DOCA_DMA_JOB_MEMCPY;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = ctx;
    job.dst_buff = dst_buf;
    job.src_buff = src_buf;
    job.num_bytes_to_copy = SIZE;
    GIVES(doca_workq_submit(NULL, &job.base), DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_workq_submit(workq, NULL), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_workq_submit(workq, &job.base));
    wait_for(workq);
    CHECK(memcmp(src, dst, SIZE) == 0);

    // The same pair again, with another length: the copy overwrites.
    memset(src, 'x', SIZE);
    job.num_bytes_to_copy = 5;
    WORKS(doca_workq_submit(workq, &job.base));
    wait_for(workq);
    CHECK(memcmp(dst, "xxxxx of the source", 20) == 0);
    job.num_bytes_to_copy = SIZE + 1;
    GIVES(doca_workq_submit(workq, &job.base), DOCA_ERROR_INVALID_VALUE);

    WORKS(doca_buf_refcount_rm(src_buf, NULL));
    WORKS(doca_buf_refcount_rm(dst_buf, NULL));
    WORKS(doca_ctx_workq_rm(ctx, workq));
    WORKS(doca_workq_destroy(workq));
    WORKS(doca_ctx_stop(ctx));
    WORKS(doca_ctx_dev_rm(ctx, dev));
    WORKS(doca_dma_destroy(dma));
    WORKS(doca_buf_inventory_destroy(inventory));
    WORKS(doca_mmap_dev_rm(mmap, dev));
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
