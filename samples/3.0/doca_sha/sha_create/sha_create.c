// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Hashes a text with SHA-256.
#include <stdlib.h>

#include <doca_log.h>

#include "../sha_common.h"

DOCA_LOG_REGISTER(SHA_CREATE);

#define LOG_NUM_TASKS 0 /* the number of tasks is told as a power of two */

static int can_hash(const struct doca_devinfo *devinfo)
{
    return doca_sha_cap_task_hash_get_supported(devinfo, DOCA_SHA_ALGORITHM_SHA256) == DOCA_SUCCESS;
}

static void hashed(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    struct sha_resources *resources = ctx_user_data.ptr;

    (void)task_user_data;
    doca_task_free(doca_sha_task_hash_as_task(task));
    end_work(resources, show_digest(resources));
}

static void failed(struct doca_sha_task_hash *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    fail_task(ctx_user_data.ptr, doca_sha_task_hash_as_task(task));
}

static doca_error_t configure(struct sha_resources *resources)
{
    const doca_error_t result = doca_ctx_set_state_changed_cb(resources->ctx, note_idle);

    return result == DOCA_SUCCESS ? doca_sha_task_hash_set_conf(resources->sha, hashed, failed, LOG_NUM_TASKS) : result;
}

static doca_error_t hash(struct sha_resources *resources)
{
    struct doca_sha_task_hash *task = NULL;
    union doca_data none = {0};
    doca_error_t result = doca_ctx_start(resources->ctx);

    if (result == DOCA_SUCCESS)
        result = doca_sha_task_hash_alloc_init(resources->sha, DOCA_SHA_ALGORITHM_SHA256, resources->text,
                                               resources->digest, none, &task);
    return result == DOCA_SUCCESS ? run_task(resources, doca_sha_task_hash_as_task(task)) : result;
}

int main(int argc, char **argv)
{
    static struct sha_config config;
    static struct sha_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_sha_create", "1234567890abcdef", argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_sha_resources(&config, can_hash, configure, &resources);
    if (result == DOCA_SUCCESS)
        result = hash(&resources);
    return finish(first_error(result, destroy_sha_resources(&resources)));
}
