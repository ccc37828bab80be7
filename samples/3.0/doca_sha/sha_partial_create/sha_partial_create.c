// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Hashes a text with SHA-256 piece by piece. One task carries the state of the hash from piece to piece; in
// its callback it gets the next one, and before the last it is told so. All pieces but the last have whole
// blocks.
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_log.h>

#include "../sha_common.h"

DOCA_LOG_REGISTER(SHA_PARTIAL_CREATE);

#define LOG_NUM_TASKS 0

static uint32_t piece_size;
static size_t next_offset; /* of the first byte that is in no piece yet */

static int can_hash(const struct doca_devinfo *devinfo)
{
    return doca_sha_cap_task_partial_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA256) == DOCA_SUCCESS;
}

/* Moves the data of the text's buffer to the next piece. */
static void take_piece(struct sha_resources *resources)
{
    const size_t left = resources->text_len - next_offset;
    const size_t len = left < piece_size ? left : piece_size;

    (void)doca_buf_set_data(resources->text, resources->text_memory + next_offset, len);
    next_offset += len;
}

static doca_error_t submit_piece(struct sha_resources *resources, struct doca_sha_task_partial_hash *task)
{
    doca_error_t result = DOCA_SUCCESS;

    take_piece(resources);
    if (next_offset == resources->text_len)
        result = doca_sha_task_partial_hash_set_is_final_buf(task);
    if (result == DOCA_SUCCESS)
        result = doca_sha_task_partial_hash_set_src(task, resources->text);
    return result == DOCA_SUCCESS ? doca_task_submit(doca_sha_task_partial_hash_as_task(task)) : result;
}

static void piece_hashed(struct doca_sha_task_partial_hash *task, union doca_data task_user_data,
                         union doca_data ctx_user_data)
{
    struct sha_resources *resources = ctx_user_data.ptr;
    doca_error_t result;

    (void)task_user_data;
    if (doca_sha_task_partial_hash_get_has_result(task) == 0) {
        DOCA_LOG_INFO("Hashed %zu bytes", next_offset);
        result = submit_piece(resources, task);
        if (result == DOCA_SUCCESS)
            return;
    } else {
        result = show_digest(resources);
    }
    doca_task_free(doca_sha_task_partial_hash_as_task(task));
    end_work(resources, result);
}

static void failed(struct doca_sha_task_partial_hash *task, union doca_data task_user_data,
                   union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_sha_task_partial_hash_as_task(task));
}

static doca_error_t configure(struct sha_resources *resources)
{
    doca_error_t result = doca_ctx_set_state_changed_cb(resources->ctx, note_idle);

    if (result == DOCA_SUCCESS)
        result = doca_sha_cap_get_partial_hash_block_size(doca_dev_as_devinfo(resources->dev),
                                                          DOCA_SHA_ALGORITHM_SHA256, &piece_size);
    if (result == DOCA_SUCCESS)
        result = doca_sha_task_partial_hash_set_conf(resources->sha, piece_hashed, failed, LOG_NUM_TASKS);
    return result;
}

static doca_error_t hash(struct sha_resources *resources)
{
    struct doca_sha_task_partial_hash *task = NULL;
    union doca_data none = {0};
    doca_error_t result = doca_ctx_start(resources->ctx);

    if (result != DOCA_SUCCESS)
        return result;
    take_piece(resources);
    result = doca_sha_task_partial_hash_alloc_init(resources->sha, DOCA_SHA_ALGORITHM_SHA256, resources->text,
                                                   resources->digest, none, &task);
    return result == DOCA_SUCCESS ? run_task(resources, doca_sha_task_partial_hash_as_task(task)) : result;
}

int main(int argc, char **argv)
{
    static struct sha_config config;
    static struct sha_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result =
        parse_arguments("doca_sha_partial_create",
                        "A text that is longer than one block of SHA-256, which has 64 bytes, and so comes in pieces",
                        argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_sha_resources(&config, can_hash, configure, &resources);
    if (result == DOCA_SUCCESS && resources.text_len <= piece_size) {
        DOCA_LOG_ERR("The text has to have more than %u bytes, to be two pieces", piece_size);
        result = DOCA_ERROR_INVALID_VALUE;
    }
    if (result == DOCA_SUCCESS)
        result = hash(&resources);
    return finish(first_error(result, destroy_sha_resources(&resources)));
}
