// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "../rdma_common.h"

/* In rdma_send_immediate_sample.c. */
doca_error_t rdma_send_immediate(const struct rdma_config *config);

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_send_immediate", RDMA_ARGUMENT_SEND, rdma_send_immediate, argc, argv);
}
