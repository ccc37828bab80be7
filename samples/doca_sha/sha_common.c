// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sha_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <doca_argp.h>
#include <doca_log.h>

#include "../common.h"
#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::SHA_COMMON);

#define DEFAULT_DATA "This text is hashed by SHA-256"
#define WORKQ_DEPTH 1
#define NUM_BUFFERS 2 /* request and response */

static doca_error_t set_data(void *value, void *config)
{
    struct sha_config *const c = config;
    const size_t len = strlen(value);

    if (len == 0 || len >= sizeof(c->data)) {
        DOCA_LOG_ERR("The data has %zu bytes, and 1 to %zu are possible", len, sizeof(c->data) - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)strlcpy(c->data, value, sizeof(c->data));
    return DOCA_SUCCESS;
}

static doca_error_t register_data_argument(void)
{
    struct doca_argp_param *param;
    doca_error_t result;

    result = doca_argp_param_create(&param);
    if (result != DOCA_SUCCESS)
        return result;
    doca_argp_param_set_short_name(param, "d");
    doca_argp_param_set_long_name(param, "data");
    doca_argp_param_set_arguments(param, "<text>");
    doca_argp_param_set_description(param, "Text to hash (default: " DEFAULT_DATA ")");
    doca_argp_param_set_callback(param, set_data);
    doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
    return doca_argp_register_param(param);
}

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct sha_config *config)
{
    doca_error_t result;

    (void)strlcpy(config->data, DEFAULT_DATA, sizeof(config->data));
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The arguments cannot be set up: %s", doca_get_error_string(result));
        return result;
    }
    result = register_data_argument();
    if (result == DOCA_SUCCESS)
        result = add_busy_argument();
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_get_error_string(result));
    (void)doca_argp_destroy();
    return result;
}

static doca_error_t open_sha_device(enum doca_sha_job_type job_type, struct doca_dev **dev)
{
    struct doca_devinfo **devices = NULL;
    uint32_t num_devices = 0;
    doca_error_t result;

    result = doca_devinfo_list_create(&devices, &num_devices);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The devices cannot be listed: %s", doca_get_error_string(result));
        return result;
    }
    result = DOCA_ERROR_NOT_FOUND;
    for (uint32_t i = 0; i < num_devices && result != DOCA_SUCCESS; i++) {
        if (doca_sha_job_get_supported(devices[i], job_type) != DOCA_SUCCESS)
            continue;
        result = doca_dev_open(devices[i], dev);
        if (result == DOCA_SUCCESS)
            DOCA_LOG_INFO("The device hashes in %s",
                          doca_sha_get_hardware_supported(devices[i]) == DOCA_SUCCESS ? "hardware" : "software");
    }
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("None of the %u devices here can be used for SHA-256: %s", num_devices,
                     doca_get_error_string(result));
    (void)doca_devinfo_list_destroy(devices);
    return result;
}

static doca_error_t start_sha(struct sha_resources *r)
{
    struct doca_ctx *ctx;
    doca_error_t result;

    result = doca_sha_create(&r->sha);
    if (result != DOCA_SUCCESS)
        return result;
    ctx = doca_sha_as_ctx(r->sha);
    result = doca_ctx_dev_add(ctx, r->dev);
    if (result != DOCA_SUCCESS)
        return result;
    r->has_device = true;
    result = doca_ctx_start(ctx);
    if (result != DOCA_SUCCESS)
        return result;
    r->is_started = true;
    result = create_workq(WORKQ_DEPTH, &r->workq);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_ctx_workq_add(ctx, r->workq);
    r->has_workq = result == DOCA_SUCCESS;
    return result;
}

static doca_error_t prepare_memory(struct sha_resources *r, const char *text)
{
    doca_error_t result;

    r->data_len = strlen(text);
    r->data = strdup(text);
    if (r->data == NULL)
        return DOCA_ERROR_NO_MEMORY;
    result = map_memory(r->dev, r->data, r->data_len, DOCA_ACCESS_LOCAL_READ_ONLY, &r->data_mmap);
    if (result == DOCA_SUCCESS)
        result = map_memory(r->dev, r->digest, sizeof(r->digest), DOCA_ACCESS_LOCAL_READ_WRITE, &r->digest_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NULL, NUM_BUFFERS, DOCA_BUF_EXTENSION_NONE, &r->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(r->inventory);
    if (result == DOCA_SUCCESS)
        result =
            doca_buf_inventory_buf_by_addr(r->inventory, r->digest_mmap, r->digest, sizeof(r->digest), &r->response);
    return result;
}

doca_error_t create_sha_resources(enum doca_sha_job_type job_type, const char *text, struct sha_resources *resources)
{
    doca_error_t result;

    result = open_sha_device(job_type, &resources->dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = start_sha(resources);
    if (result == DOCA_SUCCESS)
        result = prepare_memory(resources, text);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("SHA cannot be set up: %s", doca_get_error_string(result));
    return result;
}

doca_error_t destroy_sha_resources(struct sha_resources *r)
{
    struct doca_ctx *const ctx = r->sha == NULL ? NULL : doca_sha_as_ctx(r->sha);
    doca_error_t result = DOCA_SUCCESS;

    if (r->response != NULL)
        result = first_error(result, doca_buf_refcount_rm(r->response, NULL));
    if (r->has_workq)
        result = first_error(result, doca_ctx_workq_rm(ctx, r->workq));
    if (r->workq != NULL)
        result = first_error(result, doca_workq_destroy(r->workq));
    if (r->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(r->inventory));
    if (r->digest_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->digest_mmap));
    if (r->data_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->data_mmap));
    if (r->is_started)
        result = first_error(result, doca_ctx_stop(ctx));
    if (r->has_device)
        result = first_error(result, doca_ctx_dev_rm(ctx, r->dev));
    if (r->sha != NULL)
        result = first_error(result, doca_sha_destroy(r->sha));
    if (r->dev != NULL)
        result = first_error(result, doca_dev_close(r->dev));
    free(r->data);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("SHA cannot be taken apart: %s", doca_get_error_string(result));
    memset(r, 0, sizeof(*r));
    return result;
}

doca_error_t take_request(struct sha_resources *resources, size_t offset, size_t len, struct doca_buf **request)
{
    const doca_error_t result = doca_buf_inventory_buf_by_data(resources->inventory, resources->data_mmap,
                                                               resources->data + offset, len, request);

    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("No buffer of %zu bytes: %s", len, doca_get_error_string(result));
    return result;
}

doca_error_t run_sha_job(struct doca_workq *workq, const struct doca_job *job)
{
    struct doca_event event = {0};
    doca_error_t result;

    result = doca_workq_submit(workq, job);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The job cannot be submitted: %s", doca_get_error_string(result));
        return result;
    }
    result = await_event(workq, &event);
    /* When a job has failed, the cause is in its event. */
    if (event.result.u64 != DOCA_SUCCESS)
        result = (doca_error_t)event.result.u64;
    if (result == DOCA_SUCCESS && event.type != job->type)
        result = DOCA_ERROR_UNEXPECTED;
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The job has failed: %s", doca_get_error_string(result));
    return result;
}

doca_error_t show_digest(const struct sha_resources *resources)
{
    char text[2 * DOCA_SHA256_BYTE_COUNT + 1];
    const unsigned char *digest = NULL;
    size_t len = 0;
    doca_error_t result;

    result = doca_buf_get_data(resources->response, (void **)&digest);
    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data_len(resources->response, &len);
    if (result != DOCA_SUCCESS)
        return result;
    if (len != DOCA_SHA256_BYTE_COUNT) {
        DOCA_LOG_ERR("The digest has %zu bytes instead of %d", len, DOCA_SHA256_BYTE_COUNT);
        return DOCA_ERROR_UNEXPECTED;
    }
    for (size_t i = 0; i < len; i++)
        (void)snprintf(&text[2 * i], 3, "%02x", digest[i]);
    DOCA_LOG_INFO("SHA-256 of %zu bytes: %s", resources->data_len, text);
    return DOCA_SUCCESS;
}
