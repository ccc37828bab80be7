// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <stdlib.h>

#include <doca_error.h>
#include <doca_log.h>

#include "../../common.h"

DOCA_LOG_REGISTER(GRAPH::MAIN);

/* In graph_sample.c. */
doca_error_t run_graph_sample(void);

int main(int argc, char **argv)
{
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    DOCA_LOG_INFO("Starting the sample");
    result = begin_arguments("doca_graph", NULL);
    if (result == DOCA_SUCCESS)
        result = read_arguments(DOCA_SUCCESS, argc, argv);
    if (result == DOCA_SUCCESS)
        result = run_graph_sample();
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
