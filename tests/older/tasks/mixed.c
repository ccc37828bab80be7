// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A file of this level and one for 3.0 (mixed_today.c) in one program: an instance keeps the rules of the file that
// made it.
#include <doca_rdma.h>

#include "engine.h"

struct doca_rdma *make_today(struct doca_dev *dev);
doca_error_t start_today(struct doca_rdma *rdma);

int main(void)
{
    struct doca_dev *dev = open_device(doca_rdma_cap_task_send_is_supported, NULL);
    struct doca_rdma *ours, *theirs = make_today(dev);
    struct doca_pe *pe;
    const void *details;
    size_t size;
    WORKS(doca_rdma_create(dev, &ours));
    pe = make_engine(doca_rdma_as_ctx(ours));
    WORKS(doca_pe_connect_ctx(pe, doca_rdma_as_ctx(theirs)));
    GIVES(start_today(ours), DOCA_ERROR_IN_PROGRESS);
    WORKS(doca_ctx_start(doca_rdma_as_ctx(theirs)));
    WORKS(doca_rdma_export(theirs, &details, &size));
    WORKS(doca_rdma_export(ours, &details, &size));
    stop(pe, doca_rdma_as_ctx(ours));
    stop(pe, doca_rdma_as_ctx(theirs));
    WORKS(doca_rdma_destroy(ours));
    WORKS(doca_rdma_destroy(theirs));
    WORKS(doca_pe_destroy(pe));
    WORKS(doca_dev_close(dev));
    return 0;
}
