// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../rdma_common.h"

/* In rdma_receive_sample.c. */
doca_error_t rdma_receive(const struct rdma_config *config);

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_receive", 0, rdma_receive, argc, argv);
}
