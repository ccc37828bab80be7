// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Compresses a file to raw DEFLATE.
#include "../../common.h"
#include "../compress_common.h"

doca_error_t compress_deflate(const struct compress_config *config);

doca_error_t compress_deflate(const struct compress_config *config)
{
    static struct compress_resources resources;
    doca_error_t result;

    result = create_compress_resources(config, DOCA_COMPRESS_DEFLATE_JOB, &resources);
    if (result == DOCA_SUCCESS)
        result = run_deflate_job(config, DOCA_COMPRESS_DEFLATE_JOB, &resources);
    result = first_error(result, destroy_compress_resources(&resources));
    return result;
}
