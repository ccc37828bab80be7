// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <stdlib.h>

#include <doca_log.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_WRITE_RESPONDER::MAIN);

/* In rdma_write_responder_sample.c. */
doca_error_t rdma_write_responder(const struct rdma_config *config);

int main(int argc, char **argv)
{
    struct rdma_config config;
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    DOCA_LOG_INFO("Starting the sample");
    result = parse_arguments("doca_rdma_write_responder", RDMA_ARGUMENT_MMAP, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = rdma_write_responder(&config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
