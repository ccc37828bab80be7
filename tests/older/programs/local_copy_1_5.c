// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The local copy of DOCA 1.5: a map for each side, ranges and devices after the start, and a source whose data is
// set. Torn down as the samples of that time do.
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_mmap.h>

#include "bdf.h"

#define SIZE (2 * 1024 * 1024)

static int num_freed;

static void free_memory(void *addr, size_t len, void *opaque)
{
    CHECK(len == SIZE && opaque == &num_freed);
    free(addr);
    num_freed++;
}

int main(void)
{
    struct doca_dev *const dev = open_by_address("03:00.0");
    char *const src = malloc(SIZE), *const dst = malloc(SIZE);
    struct doca_mmap *src_mmap, *dst_mmap;
    struct doca_buf_inventory *inventory;
    struct doca_buf *src_buf, *dst_buf;
    struct doca_dma *dma;
    struct doca_ctx *ctx;
    struct doca_workq *workq;
    struct doca_event event = {0};
    struct doca_dma_job_memcpy job;
    size_t length;
    uint32_t max_chunks = 0;
    int round;

    WORKS(doca_mmap_create(NULL, &src_mmap));
    WORKS(doca_mmap_create(NULL, &dst_mmap));
    WORKS(doca_mmap_set_max_num_chunks(src_mmap, 3));
    WORKS(doca_mmap_get_max_num_chunks(src_mmap, &max_chunks));
    CHECK(max_chunks == 3);
    GIVES(doca_mmap_set_max_num_chunks(src_mmap, 0), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_mmap_start(src_mmap));
    GIVES(doca_mmap_set_max_num_chunks(src_mmap, 4), DOCA_ERROR_NOT_PERMITTED);
    WORKS(doca_mmap_start(dst_mmap));
    WORKS(doca_mmap_populate(src_mmap, src, SIZE, 1 << 21, NULL, NULL)); // before the device, on one side
    WORKS(doca_mmap_dev_add(src_mmap, dev));
    WORKS(doca_mmap_dev_add(dst_mmap, dev));
    GIVES(doca_mmap_dev_add(dst_mmap, dev), DOCA_ERROR_IN_USE);
    GIVES(doca_mmap_populate(dst_mmap, dst, SIZE, 1000, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_mmap_populate(dst_mmap, dst, SIZE, 5000, NULL, NULL), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_mmap_populate(dst_mmap, dst, SIZE, 4096, free_memory, &num_freed));

    WORKS(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_LINKED_LIST, &inventory));
    WORKS(doca_buf_inventory_start(inventory));
    WORKS(doca_dma_create(&dma));
    ctx = doca_dma_as_ctx(dma);
    WORKS(doca_ctx_dev_add(ctx, dev));
    WORKS(doca_ctx_start(ctx));
    WORKS(doca_workq_create(32, &workq));
    WORKS(doca_ctx_workq_add(ctx, workq));

    WORKS(doca_buf_inventory_buf_by_addr(inventory, src_mmap, src, SIZE, &src_buf));
    WORKS(doca_buf_inventory_buf_by_addr(inventory, dst_mmap, dst, SIZE, &dst_buf));
#if DOCA_API == 10500
    GIVES(doca_buf_set_data(src_buf, src, SIZE + 1), DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_buf_set_data(src_buf, src - 1, 1), DOCA_ERROR_INVALID_VALUE);
#endif
    memset(&job, 0, sizeof(job));
    job.base.type = DOCA_DMA_JOB_MEMCPY;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = ctx;
    job.dst_buff = dst_buf;
    job.src_buff = src_buf;
    for (round = 0; round < 3; round++) { // without a reset: each copy overwrites
        memset(src, 'a' + round, SIZE);
        WORKS(doca_buf_set_data(src_buf, src, SIZE - (size_t)round));
        WORKS(doca_workq_submit(workq, &job.base));
        while (doca_workq_progress_retrieve(workq, &event, 0) == DOCA_ERROR_AGAIN)
            ;
        CHECK((doca_error_t)event.result.u64 == DOCA_SUCCESS);
        WORKS(doca_buf_get_data_len(dst_buf, &length));
        CHECK(length == SIZE - (size_t)round && dst[0] == 'a' + round && dst[length - 1] == 'a' + round);
    }
    CHECK(dst[SIZE - 1] == 'a');
    GIVES(doca_mmap_dev_rm(src_mmap, dev), DOCA_ERROR_NOT_PERMITTED); // there are buffers

    WORKS(doca_buf_refcount_rm(src_buf, NULL));
    WORKS(doca_buf_refcount_rm(dst_buf, NULL));
    WORKS(doca_ctx_workq_rm(ctx, workq));
    WORKS(doca_workq_destroy(workq));
    WORKS(doca_buf_inventory_destroy(inventory));
    WORKS(doca_mmap_dev_rm(src_mmap, dev));
    WORKS(doca_mmap_dev_rm(dst_mmap, dev));
    GIVES(doca_mmap_dev_rm(dst_mmap, dev), DOCA_ERROR_INVALID_VALUE);
    free(src);
    WORKS(doca_mmap_destroy(src_mmap));
    CHECK(num_freed == 0);
    WORKS(doca_mmap_destroy(dst_mmap));
    CHECK(num_freed == 1);
    WORKS(doca_ctx_stop(ctx));
    WORKS(doca_ctx_dev_rm(ctx, dev));
    WORKS(doca_dev_close(dev));
    WORKS(doca_dma_destroy(dma));
    return 0;
}
