// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One program of two levels: its other file, mixed_today.c, is compiled without the flag. What this file makes keeps
// this level's rules there.
#include "bdf.h"
#include "copier.h"

void copy_today(struct doca_dev *dev, struct doca_mmap *mmap, struct doca_ctx *ctx, struct doca_workq *workq, char *src,
                char *dst, size_t size);

int main(void)
{
    char src[64] = "text", dst[64] = "";
    struct doca_dev *const dev = open_by_address("03:00.0");
    struct doca_mmap *const mmap = map_of(dev, src, sizeof(src));
    struct copier copier;
    WORKS(doca_mmap_populate(mmap, dst, sizeof(dst), 4096, NULL, NULL));
    set_up(&copier, dev, 8);
    copy_today(dev, mmap, copier.ctx, copier.workq, src, dst, sizeof(src));
    tear_down(&copier);
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
