// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "aes_gcm_common.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(AES_GCM_COMMON);

/* Reads up to max_size bytes in hexadecimal. */
static doca_error_t set_bytes(uint8_t *field, size_t max_size, size_t *size, const char *what, const char *text)
{
    const size_t length = strlen(text);

    if (length % 2 != 0 || length / 2 > max_size) {
        DOCA_LOG_ERR("The %s has up to %zu pairs of hexadecimal digits", what, max_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    for (size_t i = 0; i < length; i++) {
        if (!isxdigit((unsigned char)text[i])) {
            DOCA_LOG_ERR("The %s has a character that is no hexadecimal digit", what);
            return DOCA_ERROR_INVALID_VALUE;
        }
    }
    for (size_t i = 0; i < length / 2; i++) {
        unsigned int byte = 0;

        (void)sscanf(text + 2 * i, "%2x", &byte);
        field[i] = (uint8_t)byte;
    }
    *size = length / 2;
    return DOCA_SUCCESS;
}

static doca_error_t set_source(void *param, void *config)
{
    struct gcm_config *gcm = config;

    return set_text(gcm->source, sizeof(gcm->source), "path of the source", param);
}

static doca_error_t set_result(void *param, void *config)
{
    struct gcm_config *gcm = config;

    return set_text(gcm->result, sizeof(gcm->result), "path of the result", param);
}

static doca_error_t set_key(void *param, void *config)
{
    struct gcm_config *gcm = config;
    const doca_error_t result = set_bytes(gcm->key, sizeof(gcm->key), &gcm->key_size, "key", param);

    if (result == DOCA_SUCCESS && gcm->key_size != 16 && gcm->key_size != 32) {
        DOCA_LOG_ERR("The key has 16 or 32 bytes");
        return DOCA_ERROR_INVALID_VALUE;
    }
    return result;
}

static doca_error_t set_iv(void *param, void *config)
{
    struct gcm_config *gcm = config;

    return set_bytes(gcm->iv, sizeof(gcm->iv), &gcm->iv_size, "initialization vector", param);
}

static doca_error_t set_tag_size(void *param, void *config)
{
    struct gcm_config *gcm = config;

    gcm->tag_size = *(int *)param;
    if (gcm->tag_size == 12 || gcm->tag_size == 16)
        return DOCA_SUCCESS;
    DOCA_LOG_ERR("The tag has 12 or 16 bytes");
    return DOCA_ERROR_INVALID_VALUE;
}

static doca_error_t set_aad_size(void *param, void *config)
{
    struct gcm_config *gcm = config;

    gcm->aad_size = *(int *)param;
    if (gcm->aad_size >= 0)
        return DOCA_SUCCESS;
    DOCA_LOG_ERR("The additional data has 0 bytes or more");
    return DOCA_ERROR_INVALID_VALUE;
}

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct gcm_config *config)
{
    doca_error_t result = doca_argp_init(program, config);

    strcpy(config->result, "/tmp/result.bin");
    config->key_size = 16;
    config->iv_size = MAX_IV_SIZE;
    config->tag_size = MAX_TAG_SIZE;
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("f", "file", "File to read", DOCA_ARGP_TYPE_STRING, set_source);
    if (result == DOCA_SUCCESS)
        result = add_argument("o", "output", "File to write", DOCA_ARGP_TYPE_STRING, set_result);
    if (result == DOCA_SUCCESS)
        result = add_argument("k", "key", "Key: 32 or 64 hexadecimal digits", DOCA_ARGP_TYPE_STRING, set_key);
    if (result == DOCA_SUCCESS)
        result = add_argument("i", "iv", "Initialization vector: up to 24 hexadecimal digits", DOCA_ARGP_TYPE_STRING,
                              set_iv);
    if (result == DOCA_SUCCESS)
        result = add_argument("t", "tag-size", "Bytes of the tag: 12 or 16", DOCA_ARGP_TYPE_INT, set_tag_size);
    if (result == DOCA_SUCCESS)
        result = add_argument("a", "aad-size", "Bytes at the beginning of the file that are only authenticated",
                              DOCA_ARGP_TYPE_INT, set_aad_size);
    result = read_arguments(result, argc, argv);
    if (result == DOCA_SUCCESS && config->source[0] == '\0') {
        DOCA_LOG_ERR("The arguments cannot be used: no file to read");
        result = DOCA_ERROR_INVALID_VALUE;
    }
    return result;
}

static doca_error_t create_buffers(struct gcm_resources *resources)
{
    doca_error_t result = map_memory(resources->dev, resources->source_memory, sizeof(resources->source_memory),
                                     DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &resources->source_mmap);

    if (result == DOCA_SUCCESS)
        result = map_memory(resources->dev, resources->result_memory, sizeof(resources->result_memory),
                            DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &resources->result_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(2, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result =
            doca_buf_inventory_buf_get_by_data(resources->inventory, resources->source_mmap, resources->source_memory,
                                               resources->source_len, &resources->source);
    if (result == DOCA_SUCCESS)
        result =
            doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->result_mmap, resources->result_memory,
                                               sizeof(resources->result_memory), &resources->result);
    return result;
}

doca_error_t create_gcm_resources(const struct gcm_config *config, suits_fn suits, configure_fn configure,
                                  struct gcm_resources *resources)
{
    union doca_data user_data = {.ptr = resources};
    doca_error_t result =
        load_file(config->source, resources->source_memory, sizeof(resources->source_memory), &resources->source_len);

    if (result == DOCA_SUCCESS)
        result = open_device("", suits, &resources->dev);
    if (result == DOCA_SUCCESS)
        result = create_buffers(resources);
    if (result == DOCA_SUCCESS)
        result = doca_pe_create(&resources->pe);
    if (result == DOCA_SUCCESS)
        result = doca_aes_gcm_create(resources->dev, &resources->gcm);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(resources->pe, doca_aes_gcm_as_ctx(resources->gcm));
    if (result == DOCA_SUCCESS) {
        resources->ctx = doca_aes_gcm_as_ctx(resources->gcm);
        result = doca_ctx_set_user_data(resources->ctx, user_data);
    }
    if (result == DOCA_SUCCESS)
        result = configure(resources);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(resources->ctx);
    if (result == DOCA_SUCCESS)
        result = doca_aes_gcm_key_create(resources->gcm, config->key,
                                         config->key_size == 16 ? DOCA_AES_GCM_KEY_128 : DOCA_AES_GCM_KEY_256,
                                         &resources->key);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to set up AES-GCM: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_gcm_resources(struct gcm_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    if (resources->key != NULL)
        result = doca_aes_gcm_key_destroy(resources->key);
    if (resources->ctx != NULL)
        result = first_error(result, stop_ctx(resources->ctx, resources->pe, NULL));
    if (resources->gcm != NULL)
        result = first_error(result, doca_aes_gcm_destroy(resources->gcm));
    if (resources->pe != NULL)
        result = first_error(result, doca_pe_destroy(resources->pe));
    if (resources->result != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->result, NULL));
    if (resources->source != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->source, NULL));
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->result_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->result_mmap));
    if (resources->source_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->source_mmap));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t run_task(const struct gcm_config *config, struct gcm_resources *resources, struct doca_task *task)
{
    void *data = NULL;
    size_t len = 0;
    doca_error_t result = doca_task_submit(task);

    if (result == DOCA_SUCCESS) {
        while (result == DOCA_SUCCESS && !resources->has_ended)
            result = progress(resources->pe);
        result = first_error(result, resources->status);
    }
    doca_task_free(task);
    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data(resources->result, &data);
    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data_len(resources->result, &len);
    if (result != DOCA_SUCCESS)
        return result;
    DOCA_LOG_INFO("%zu bytes became %zu bytes", resources->source_len, len);
    return save_file(config->result, data, len);
}

void note_end(struct gcm_resources *resources, struct doca_task *task)
{
    resources->has_ended = 1;
    resources->status = doca_task_get_status(task);
    /* A wrong tag is no failure of the device: the context could go on. */
    if (resources->status == DOCA_ERROR_IO_FAILED)
        DOCA_LOG_ERR("The tag is wrong: key, vector or data are not those of the encryption");
    else if (resources->status != DOCA_SUCCESS)
        DOCA_LOG_ERR("The task has failed: %s", doca_error_get_descr(resources->status));
}
