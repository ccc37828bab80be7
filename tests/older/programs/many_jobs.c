// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// More jobs in flight than the depth that was asked for; then a full queue, which is drained and tried again.
#include "bdf.h"
#include "copier.h"

int main(void)
{
    char src[64] = "text", dst[64] = "";
    struct doca_dev *const dev = open_by_address("03:00.0");
    struct doca_mmap *const src_mmap = map_of(dev, src, sizeof(src)), *const dst_mmap = map_of(dev, dst, sizeof(dst));
    struct copier copier;
    struct doca_buf *src_buf, *dst_buf;
    uint32_t depth, i;
    set_up(&copier, dev, 32);
    src_buf = buf_of(&copier, src_mmap, src, sizeof(src));
    dst_buf = buf_of(&copier, dst_mmap, dst, sizeof(dst));
    WORKS(doca_workq_get_depth(copier.workq, &depth));
    CHECK(depth == 1024);
    for (i = 0; i < 1024; i++)
        WORKS(submit(&copier, dst_buf, src_buf, sizeof(src)));
    GIVES(submit(&copier, dst_buf, src_buf, sizeof(src)), DOCA_ERROR_NO_MEMORY);
    wait_for_one(&copier);
    WORKS(submit(&copier, dst_buf, src_buf, sizeof(src)));
    for (i = 0; i < 1024; i++)
        wait_for_one(&copier);
    CHECK(memcmp(src, dst, sizeof(src)) == 0);
#if DOCA_API >= 10500
    GIVES(doca_workq_set_depth(copier.workq, 4096), DOCA_ERROR_BAD_STATE);
    WORKS(doca_ctx_workq_rm(copier.ctx, copier.workq));
    GIVES(doca_workq_set_depth(copier.workq, 0), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_workq_set_depth(copier.workq, 16));
    WORKS(doca_workq_set_depth(copier.workq, 4096));
    WORKS(doca_ctx_workq_add(copier.ctx, copier.workq));
    for (i = 0; i < 4096; i++)
        WORKS(submit(&copier, dst_buf, src_buf, sizeof(src)));
    GIVES(submit(&copier, dst_buf, src_buf, sizeof(src)), DOCA_ERROR_NO_MEMORY);
    for (i = 0; i < 4096; i++)
        wait_for_one(&copier);
#endif
    WORKS(doca_buf_refcount_rm(src_buf, NULL));
    WORKS(doca_buf_refcount_rm(dst_buf, NULL));
    tear_down(&copier);
    WORKS(doca_mmap_destroy(src_mmap));
    WORKS(doca_mmap_destroy(dst_mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
