// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../rdma_common.h"

/* In rdma_write_requester_sample.c. */
doca_error_t rdma_write_requester(const struct rdma_config *config);

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_write_requester", RDMA_ARGUMENT_MMAP | RDMA_ARGUMENT_WRITE, rdma_write_requester, argc,
                     argv);
}
