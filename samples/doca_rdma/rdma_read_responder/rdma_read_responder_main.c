// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../rdma_common.h"

/* In rdma_read_responder_sample.c. */
doca_error_t rdma_read_responder(const struct rdma_config *config);

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_read_responder", RDMA_ARGUMENT_MMAP | RDMA_ARGUMENT_READ, rdma_read_responder, argc,
                     argv);
}
