// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <stdlib.h>

#include <doca_log.h>

#include "../cc_sample.h"

DOCA_LOG_REGISTER(CC_SERVER::MAIN);

/* In cc_server_sample.c. */
doca_error_t cc_server(const struct cc_config *config);

int main(int argc, char **argv)
{
    struct cc_config config;
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    DOCA_LOG_INFO("Starting the sample");
    result = parse_cc_arguments("doca_cc_server", true, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = cc_server(&config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
