// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A text through DEFLATE and back. doca_compress.h alone brings buffers, contexts and the progress engine.
#include <doca_compress.h>

#include <doca_buf_inventory.h>

#include "engine.h"

static int num_ended;

static void compressed(struct doca_compress_task_compress_deflate *task, union doca_data task_data,
                       union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_compress_task_compress_deflate_as_task(task)));
    doca_task_free(doca_compress_task_compress_deflate_as_task(task));
    ++num_ended;
}

static void decompressed(struct doca_compress_task_decompress_deflate *task, union doca_data task_data,
                         union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_compress_task_decompress_deflate_as_task(task)));
    doca_task_free(doca_compress_task_decompress_deflate_as_task(task));
    ++num_ended;
}

int main(void)
{
    struct doca_dev *dev = open_device(doca_compress_cap_task_compress_deflate_is_supported, NULL);
    struct doca_compress_task_decompress_deflate *decompress;
    struct doca_compress_task_compress_deflate *task;
    struct doca_compress *compress;
    struct doca_buf *src, *middle, *dst;
    struct memory memory;
    struct doca_pe *pe;
    union doca_data none;
    none.u64 = 0;
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    src = buffer(&memory, 0, 1024, "a text a text a text a text");
    middle = buffer(&memory, 1024, 1024, NULL);
    dst = buffer(&memory, 2048, 1024, NULL);
    WORKS(doca_compress_create(dev, &compress));
    pe = make_engine(doca_compress_as_ctx(compress));
    WORKS(doca_compress_task_compress_deflate_set_conf(compress, compressed, compressed, 1));
    WORKS(doca_compress_task_decompress_deflate_set_conf(compress, decompressed, decompressed, 1));
    WORKS(doca_ctx_start(doca_compress_as_ctx(compress)));
    WORKS(doca_compress_task_compress_deflate_alloc_init(compress, src, middle, none, &task));
    WORKS(doca_task_submit(doca_compress_task_compress_deflate_as_task(task)));
    while (num_ended == 0)
        (void)doca_pe_progress(pe);
    WORKS(doca_compress_task_decompress_deflate_alloc_init(compress, middle, dst, none, &decompress));
    WORKS(doca_task_submit(doca_compress_task_decompress_deflate_as_task(decompress)));
    while (num_ended == 1)
        (void)doca_pe_progress(pe);
    CHECK(strcmp(memory.bytes + 2048, "a text a text a text a text") == 0);
    stop(pe, doca_compress_as_ctx(compress));
    WORKS(doca_compress_destroy(compress));
    WORKS(doca_pe_destroy(pe));
    WORKS(doca_buf_dec_refcount(src, NULL));
    WORKS(doca_buf_dec_refcount(middle, NULL));
    WORKS(doca_buf_dec_refcount(dst, NULL));
    drop_memory(&memory);
    WORKS(doca_dev_close(dev));
    return 0;
}
