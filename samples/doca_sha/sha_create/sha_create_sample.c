// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA-256 of a text in one job.
#include <doca_log.h>

#include "../../common.h"
#include "../../wait.h"
#include "../sha_common.h"

DOCA_LOG_REGISTER(SHA_CREATE);

doca_error_t sha_create(const struct sha_config *config);

static doca_error_t hash_data(struct sha_resources *resources)
{
    struct doca_buf *request = NULL;
    doca_error_t result;

    result = take_request(resources, 0, resources->data_len, &request);
    if (result != DOCA_SUCCESS)
        return result;

    const struct doca_sha_job job = {
        .base = {.type = DOCA_SHA_JOB_SHA256, .flags = DOCA_JOB_FLAGS_NONE, .ctx = doca_sha_as_ctx(resources->sha)},
        .req_buf = request,
        .resp_buf = resources->response,
        .flags = DOCA_SHA_JOB_FLAGS_NONE,
    };

    result = run_job(resources->workq, &job.base);
    return first_error(result, doca_buf_refcount_rm(request, NULL));
}

doca_error_t sha_create(const struct sha_config *config)
{
    struct sha_resources resources = {0};
    doca_error_t result;

    result = create_sha_resources(DOCA_SHA_JOB_SHA256, config->data, &resources);
    if (result == DOCA_SUCCESS)
        result = hash_data(&resources);
    if (result == DOCA_SUCCESS)
        result = show_digest(&resources);
    result = first_error(result, destroy_sha_resources(&resources));
    return result;
}
