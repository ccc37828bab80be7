// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <stdlib.h>

#include <doca_log.h>

#include "../compress_common.h"

DOCA_LOG_REGISTER(DECOMPRESS_DEFLATE::MAIN);

/* In decompress_deflate_sample.c. */
doca_error_t decompress_deflate(const struct compress_config *config);

int main(int argc, char **argv)
{
    static struct compress_config config;
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    DOCA_LOG_INFO("Starting the sample");
    result = parse_arguments("doca_decompress_deflate", argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = decompress_deflate(&config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
