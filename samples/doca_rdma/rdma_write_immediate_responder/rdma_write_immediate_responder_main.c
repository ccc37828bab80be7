// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../rdma_common.h"

/* In rdma_write_immediate_responder_sample.c. */
doca_error_t rdma_write_immediate_responder(const struct rdma_config *config);

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_write_immediate_responder", RDMA_ARGUMENT_MMAP, rdma_write_immediate_responder, argc,
                     argv);
}
