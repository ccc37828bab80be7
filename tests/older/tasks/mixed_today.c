// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The file for 3.0 of mixed.c.
#include <stdlib.h>

#include <doca_ctx.h>
#include <doca_rdma.h>

struct doca_rdma *make_today(struct doca_dev *dev);
doca_error_t start_today(struct doca_rdma *rdma);

struct doca_rdma *make_today(struct doca_dev *dev)
{
    struct doca_rdma *rdma;
    return doca_rdma_create(dev, &rdma) == DOCA_SUCCESS ? rdma : NULL;
}

doca_error_t start_today(struct doca_rdma *rdma)
{
    return doca_ctx_start(doca_rdma_as_ctx(rdma));
}
