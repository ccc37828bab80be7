// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A digest by SHA, which came with DOCA 1.5: its memory is populated, its work queue of that time.
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_mmap.h>
#include <doca_sha.h>

#include "bdf.h"

int main(void)
{
    static const uint8_t wanted[4] = {0xba, 0x78, 0x16, 0xbf}; // how SHA-256 of "abc" begins
    char text[] = "abc";
    uint8_t digest[DOCA_SHA256_BYTE_COUNT] = {0};
    struct doca_dev *const dev = open_by_address("03:00.0");
    struct doca_mmap *mmap;
    struct doca_buf_inventory *inventory;
    struct doca_buf *request, *response;
    struct doca_sha *sha;
    struct doca_workq *workq;
    struct doca_event event = {0};
    struct doca_sha_job job = {0};
    WORKS(doca_sha_job_get_supported(doca_dev_as_devinfo(dev), DOCA_SHA_JOB_SHA256));
    WORKS(doca_mmap_create(NULL, &mmap));
    WORKS(doca_mmap_start(mmap));
    WORKS(doca_mmap_dev_add(mmap, dev));
    WORKS(doca_mmap_populate(mmap, text, sizeof(text), 4096, NULL, NULL));
    WORKS(doca_mmap_populate(mmap, digest, sizeof(digest), 4096, NULL, NULL));
    WORKS(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &inventory));
    WORKS(doca_buf_inventory_start(inventory));
    WORKS(doca_buf_inventory_buf_by_addr(inventory, mmap, text, sizeof(text), &request));
    WORKS(doca_buf_set_data(request, text, 3));
    WORKS(doca_buf_inventory_buf_by_addr(inventory, mmap, digest, sizeof(digest), &response));
    WORKS(doca_sha_create(&sha));
    WORKS(doca_ctx_dev_add(doca_sha_as_ctx(sha), dev));
    WORKS(doca_ctx_start(doca_sha_as_ctx(sha)));
    WORKS(doca_workq_create(32, &workq));
    WORKS(doca_ctx_workq_add(doca_sha_as_ctx(sha), workq));
    job.base.type = DOCA_SHA_JOB_SHA256;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = doca_sha_as_ctx(sha);
    job.resp_buf = response;
    job.req_buf = request;
    job.flags = DOCA_SHA_JOB_FLAGS_NONE;
    WORKS(doca_workq_submit(workq, &job.base));
    while (doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) == DOCA_ERROR_AGAIN)
        ;
    CHECK(event.type == DOCA_SHA_JOB_SHA256 && event.result.u64 == DOCA_SUCCESS);
    CHECK(memcmp(digest, wanted, sizeof(wanted)) == 0);
    WORKS(doca_buf_refcount_rm(request, NULL));
    WORKS(doca_buf_refcount_rm(response, NULL));
    WORKS(doca_ctx_workq_rm(doca_sha_as_ctx(sha), workq));
    WORKS(doca_workq_destroy(workq));
    WORKS(doca_ctx_stop(doca_sha_as_ctx(sha)));
    WORKS(doca_ctx_dev_rm(doca_sha_as_ctx(sha), dev));
    WORKS(doca_sha_destroy(sha));
    WORKS(doca_buf_inventory_destroy(inventory));
    WORKS(doca_mmap_dev_rm(mmap, dev));
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
