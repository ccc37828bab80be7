// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Several work queues on one context, one for each thread, and one map for all; and a look into a buffer's words.
#include <pthread.h>

#include "bdf.h"
#include "copier.h"

#define THREADS 4
#define SIZE 4096

static char memory[2][THREADS][SIZE];
static struct copier shared;
static struct doca_mmap *mmap;

static void *run(void *number)
{
    const size_t n = (size_t)number;
    struct copier own = shared;
    struct doca_buf *src, *dst;
    int i;
    WORKS(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &own.inventory));
    WORKS(doca_buf_inventory_start(own.inventory));
    WORKS(doca_workq_create(8, &own.workq));
    WORKS(doca_ctx_workq_add(own.ctx, own.workq));
    src = buf_of(&own, mmap, memory[0][n], SIZE);
    dst = buf_of(&own, mmap, memory[1][n], SIZE);
    for (i = 0; i < 1000; i++) {
        memory[0][n][i] = (char)i;
        WORKS(submit(&own, dst, src, SIZE));
        wait_for_one(&own);
        CHECK(memory[1][n][i] == (char)i);
    }
    CHECK(((uint64_t *)dst)[2] == (uint64_t)(uintptr_t)memory[1][n] && ((uint64_t *)dst)[3] == SIZE);
    WORKS(doca_buf_refcount_rm(src, NULL));
    WORKS(doca_buf_refcount_rm(dst, NULL));
    WORKS(doca_ctx_workq_rm(own.ctx, own.workq));
    WORKS(doca_workq_destroy(own.workq));
    WORKS(doca_buf_inventory_destroy(own.inventory));
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct doca_dev *const dev = open_by_address("03:00.0");
    size_t i;
    set_up(&shared, dev, 8);
    mmap = map_of(dev, memory[0], sizeof(memory[0]));
    WORKS(doca_mmap_populate(mmap, memory[1], sizeof(memory[1]), 4096, NULL, NULL));
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, run, (void *)i) == 0);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    tear_down(&shared);
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
