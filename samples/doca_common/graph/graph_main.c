// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <stdlib.h>

#include <doca_error.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(GRAPH::MAIN);

/* In graph_sample.c. */
doca_error_t run_graph_sample(void);

int main(int argc, char **argv)
{
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    DOCA_LOG_INFO("Starting the sample");
    if (argc > 1) {
        DOCA_LOG_ERR("This sample takes no arguments, and was given '%s'", argv[1]);
        result = DOCA_ERROR_INVALID_VALUE;
    } else {
        result = run_graph_sample();
    }
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
