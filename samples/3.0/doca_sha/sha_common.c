// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sha_common.h"

#include <stdio.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(SHA_COMMON);

#define NUM_BUFFERS 3 /* text, digest, and a piece of the text */

static doca_error_t set_data(void *param, void *config)
{
    struct sha_config *sha = config;

    return set_text(sha->text, sizeof(sha->text), "text", param);
}

doca_error_t parse_arguments(const char *program, const char *default_text, int argc, char **argv,
                             struct sha_config *config)
{
    doca_error_t result;

    strcpy(config->text, default_text);
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("d", "data", "Text to hash", DOCA_ARGP_TYPE_STRING, set_data);
    return read_arguments(result, argc, argv);
}

static doca_error_t create_buffers(struct sha_resources *resources)
{
    doca_error_t result = map_memory(resources->dev, resources->text_memory, resources->text_len,
                                     DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &resources->text_mmap);

    if (result == DOCA_SUCCESS)
        result = map_memory(resources->dev, resources->digest_memory, sizeof(resources->digest_memory),
                            DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &resources->digest_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NUM_BUFFERS, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_data(resources->inventory, resources->text_mmap, resources->text_memory,
                                                    resources->text_len, &resources->text);
    if (result == DOCA_SUCCESS)
        result =
            doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->digest_mmap, resources->digest_memory,
                                               sizeof(resources->digest_memory), &resources->digest);
    return result;
}

doca_error_t create_sha_resources(const struct sha_config *config, suits_fn suits, configure_fn configure,
                                  struct sha_resources *resources)
{
    union doca_data user_data = {.ptr = resources};
    doca_error_t result = open_device("", suits, &resources->dev);

    resources->text_len = strlen(config->text);
    memcpy(resources->text_memory, config->text, resources->text_len);
    if (result == DOCA_SUCCESS)
        result = create_buffers(resources);
    if (result == DOCA_SUCCESS)
        result = doca_pe_create(&resources->pe);
    if (result == DOCA_SUCCESS)
        result = doca_sha_create(resources->dev, &resources->sha);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(resources->pe, doca_sha_as_ctx(resources->sha));
    if (result == DOCA_SUCCESS) {
        resources->ctx = doca_sha_as_ctx(resources->sha);
        result = doca_ctx_set_user_data(resources->ctx, user_data);
    }
    if (result == DOCA_SUCCESS)
        result = configure(resources);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to set up SHA: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_sha_resources(struct sha_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    if (resources->ctx != NULL)
        result = stop_ctx(resources->ctx, resources->pe, NULL);
    if (resources->sha != NULL)
        result = first_error(result, doca_sha_destroy(resources->sha));
    if (resources->pe != NULL)
        result = first_error(result, doca_pe_destroy(resources->pe));
    if (resources->digest != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->digest, NULL));
    if (resources->text != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->text, NULL));
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->digest_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->digest_mmap));
    if (resources->text_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->text_mmap));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t run_task(struct sha_resources *resources, struct doca_task *task)
{
    doca_error_t result = doca_task_submit(task);

    if (result != DOCA_SUCCESS) {
        doca_task_free(task);
        return result;
    }
    while (result == DOCA_SUCCESS && !resources->is_over)
        result = progress(resources->pe);
    return first_error(result, resources->result);
}

void fail_task(struct sha_resources *resources, struct doca_task *task)
{
    const doca_error_t status = doca_task_get_status(task);

    DOCA_LOG_ERR("Failed to hash: %s", doca_error_get_descr(status));
    doca_task_free(task);
    end_work(resources, status);
}

void end_work(struct sha_resources *resources, doca_error_t result)
{
    resources->result = first_error(resources->result, result);
    (void)doca_ctx_stop(resources->ctx);
}

void note_idle(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
               enum doca_ctx_states next_state)
{
    struct sha_resources *resources = user_data.ptr;

    (void)ctx;
    DOCA_LOG_INFO("The SHA context was %s and is %s", state_name(prev_state), state_name(next_state));
    if (next_state == DOCA_CTX_STATE_IDLE)
        resources->is_over = 1;
}

doca_error_t show_digest(const struct sha_resources *resources)
{
    char hex[2 * DIGEST_SIZE + 1] = "";
    void *data = NULL;
    size_t len = 0;
    doca_error_t result = doca_buf_get_data(resources->digest, &data);

    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data_len(resources->digest, &len);
    if (result == DOCA_SUCCESS && len != DIGEST_SIZE) {
        DOCA_LOG_ERR("A digest of %zu bytes", len);
        result = DOCA_ERROR_UNEXPECTED;
    }
    if (result != DOCA_SUCCESS)
        return result;
    for (size_t i = 0; i < len; i++)
        snprintf(hex + 2 * i, 3, "%02x", ((const uint8_t *)data)[i]);
    DOCA_LOG_INFO("SHA-256 of %zu bytes: %s", resources->text_len, hex);
    return DOCA_SUCCESS;
}
