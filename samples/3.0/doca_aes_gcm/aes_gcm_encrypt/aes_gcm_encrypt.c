// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Encrypts a file and authenticates it: the result is the additional data, the ciphertext and the tag.
#include <stdlib.h>

#include <doca_log.h>

#include "../aes_gcm_common.h"

DOCA_LOG_REGISTER(AES_GCM_ENCRYPT);

#define NUM_TASKS 1

static int can_encrypt(const struct doca_devinfo *devinfo)
{
    return doca_aes_gcm_cap_task_encrypt_is_supported(devinfo) == DOCA_SUCCESS;
}

static void ended(struct doca_aes_gcm_task_encrypt *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    note_end(ctx_user_data.ptr, doca_aes_gcm_task_encrypt_as_task(task));
}

static doca_error_t configure(struct gcm_resources *resources)
{
    return doca_aes_gcm_task_encrypt_set_conf(resources->gcm, ended, ended, NUM_TASKS);
}

static doca_error_t encrypt(const struct gcm_config *config, struct gcm_resources *resources)
{
    struct doca_aes_gcm_task_encrypt *task = NULL;
    union doca_data none = {0};
    const doca_error_t result = doca_aes_gcm_task_encrypt_alloc_init(
        resources->gcm, resources->source, resources->result, resources->key, config->iv, (uint32_t)config->iv_size,
        (uint32_t)config->tag_size, (uint32_t)config->aad_size, none, &task);

    return result == DOCA_SUCCESS ? run_task(config, resources, doca_aes_gcm_task_encrypt_as_task(task)) : result;
}

int main(int argc, char **argv)
{
    static struct gcm_config config;
    static struct gcm_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_arguments("doca_aes_gcm_encrypt", argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_gcm_resources(&config, can_encrypt, configure, &resources);
    if (result == DOCA_SUCCESS)
        result = encrypt(&config, &resources);
    return finish(first_error(result, destroy_gcm_resources(&resources)));
}
