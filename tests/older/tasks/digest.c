// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA-256 of a text, as a message of one piece. doca_sha.h alone brings buffers, contexts and devices, as until 2.6.
#include <doca_sha.h>

#include <doca_buf_inventory.h>
#include <doca_pe.h>

#include "engine.h"

static int num_hashed;

static doca_error_t is_supported(const struct doca_devinfo *devinfo)
{
    return doca_sha_cap_task_partial_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA256);
}

static void hashed(struct doca_sha_task_partial_hash *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_sha_task_partial_hash_as_task(task)));
    ++num_hashed;
}

int main(void)
{
    struct doca_dev *dev = open_device(is_supported, NULL);
    struct doca_sha_task_partial_hash *task;
    struct memory memory;
    struct doca_buf *src, *dst;
    struct doca_sha *sha;
    struct doca_pe *pe;
    union doca_data none;
    uint32_t smallest = 0;
    uint64_t largest = 0;
    none.u64 = 0;
#if DOCA_API == 20500
    WORKS(doca_sha_cap_get_max_src_buffer_size(doca_dev_as_devinfo(dev), &largest));
    WORKS(doca_sha_cap_get_min_dst_buffer_size(doca_dev_as_devinfo(dev), DOCA_SHA_ALGORITHM_SHA256, &smallest));
#else
    WORKS(doca_sha_cap_get_max_src_buf_size(doca_dev_as_devinfo(dev), &largest));
    WORKS(doca_sha_cap_get_min_dst_buf_size(doca_dev_as_devinfo(dev), DOCA_SHA_ALGORITHM_SHA256, &smallest));
#endif
    CHECK(largest > 64 && smallest == 32);
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    src = buffer(&memory, 0, 64, "abc");
    WORKS(doca_buf_set_data(src, memory.bytes, 3));
    dst = buffer(&memory, 1024, 64, NULL);
    WORKS(doca_sha_create(dev, &sha));
    pe = make_engine(doca_sha_as_ctx(sha));
    WORKS(doca_sha_task_partial_hash_set_conf(sha, hashed, hashed, 0));
    WORKS(doca_ctx_start(doca_sha_as_ctx(sha)));
    WORKS(doca_sha_task_partial_hash_alloc_init(sha, DOCA_SHA_ALGORITHM_SHA256, src, dst, none, &task));
#if DOCA_API == 20500
    WORKS(doca_sha_task_partial_hash_set_is_final_buffer(task));
#else
    WORKS(doca_sha_task_partial_hash_set_is_final_buf(task));
#endif
    WORKS(doca_task_submit(doca_sha_task_partial_hash_as_task(task)));
    while (num_hashed == 0)
        (void)doca_pe_progress(pe);
    CHECK((uint8_t)memory.bytes[1024] == 0xba && (uint8_t)memory.bytes[1024 + 31] == 0xad);
    doca_task_free(doca_sha_task_partial_hash_as_task(task));
    stop(pe, doca_sha_as_ctx(sha));
    WORKS(doca_sha_destroy(sha));
    WORKS(doca_pe_destroy(pe));
    WORKS(doca_buf_dec_refcount(src, NULL));
    WORKS(doca_buf_dec_refcount(dst, NULL));
    drop_memory(&memory);
    WORKS(doca_dev_close(dev));
    return 0;
}
