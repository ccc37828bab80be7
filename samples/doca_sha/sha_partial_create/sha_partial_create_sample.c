// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// SHA-256 of a text in pieces: one job for each block of 64 bytes, and one for what is left.
#include <doca_log.h>

#include "../../common.h"
#include "../../wait.h"
#include "../sha_common.h"

DOCA_LOG_REGISTER(SHA_PARTIAL_CREATE);

#define PIECE_SIZE 64 /* every piece but the last is a multiple of this, for SHA-256 */

doca_error_t sha_partial_create(const struct sha_config *config);

static doca_error_t hash_piece(struct sha_resources *resources, struct doca_sha_partial_session *session, size_t offset,
                               size_t len, bool is_last)
{
    struct doca_buf *request = NULL;
    doca_error_t result;

    result = take_request(resources, offset, len, &request);
    if (result != DOCA_SUCCESS)
        return result;

    const struct doca_sha_partial_job job = {
        .sha_job =
            {
                .base = {.type = DOCA_SHA_JOB_SHA256_PARTIAL,
                         .flags = DOCA_JOB_FLAGS_NONE,
                         .ctx = doca_sha_as_ctx(resources->sha)},
                .req_buf = request,
                .resp_buf = resources->response,
                .flags = is_last ? DOCA_SHA_JOB_FLAGS_SHA_PARTIAL_FINAL : DOCA_SHA_JOB_FLAGS_NONE,
            },
        .session = session,
    };

    /* A session takes the next piece when this one was retrieved. */
    result = run_job(resources->workq, &job.sha_job.base);
    return first_error(result, doca_buf_refcount_rm(request, NULL));
}

static doca_error_t hash_data(struct sha_resources *resources)
{
    struct doca_sha_partial_session *session = NULL;
    size_t num_pieces = 1;
    size_t offset = 0;
    doca_error_t result;

    result = doca_sha_partial_session_create(resources->sha, resources->workq, &session);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("No session: %s", doca_get_error_string(result));
        return result;
    }
    /* The last piece is never empty. */
    for (; result == DOCA_SUCCESS && resources->data_len - offset > PIECE_SIZE; offset += PIECE_SIZE) {
        result = hash_piece(resources, session, offset, PIECE_SIZE, false);
        num_pieces++;
    }
    if (result == DOCA_SUCCESS)
        result = hash_piece(resources, session, offset, resources->data_len - offset, true);
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Hashed in %zu piece%s", num_pieces, num_pieces == 1 ? "" : "s");
    return first_error(result, doca_sha_partial_session_destroy(resources->sha, resources->workq, session));
}

doca_error_t sha_partial_create(const struct sha_config *config)
{
    struct sha_resources resources = {0};
    doca_error_t result;

    result = create_sha_resources(DOCA_SHA_JOB_SHA256_PARTIAL, config->data, &resources);
    if (result == DOCA_SUCCESS)
        result = hash_data(&resources);
    if (result == DOCA_SUCCESS)
        result = show_digest(&resources);
    result = first_error(result, destroy_sha_resources(&resources));
    return result;
}
