// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sha_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <doca_log.h>

#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::SHA_COMMON);

#define DEFAULT_DATA "This text is hashed by SHA-256"
#define WORKQ_DEPTH 1
#define NUM_BUFFERS 2 /* request and response */

static doca_error_t set_data(void *value, void *config)
{
    struct sha_config *const c = config;

    return set_string("data", value, c->data, sizeof(c->data));
}

doca_error_t parse_arguments(const char *program, int argc, char **argv, struct sha_config *config)
{
    static const struct argument data = {.short_name = "d",
                                         .long_name = "data",
                                         .value = "<text>",
                                         .description = "Text to hash (default: " DEFAULT_DATA ")",
                                         .callback = set_data,
                                         .type = DOCA_ARGP_TYPE_STRING};
    doca_error_t result;

    (void)strlcpy(config->data, DEFAULT_DATA, sizeof(config->data));
    result = begin_arguments(program, config);
    return result == DOCA_SUCCESS ? read_arguments(add_argument(&data), argc, argv) : result;
}

static bool can_run(struct doca_devinfo *devinfo, int job_type)
{
    return doca_sha_job_get_supported(devinfo, (enum doca_sha_job_type)job_type) == DOCA_SUCCESS;
}

static doca_error_t open_sha_device(enum doca_sha_job_type job_type, struct doca_dev **dev)
{
    const doca_error_t result = open_first_device(can_run, (int)job_type, "SHA-256", dev);

    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("The device hashes in %s",
                      doca_sha_get_hardware_supported(doca_dev_as_devinfo(*dev)) == DOCA_SUCCESS ? "hardware"
                                                                                                 : "software");
    return result;
}

static doca_error_t start_sha(struct sha_resources *r)
{
    doca_error_t result = doca_sha_create(&r->sha);

    if (result == DOCA_SUCCESS)
        result = create_workq(WORKQ_DEPTH, &r->workq);
    if (result == DOCA_SUCCESS)
        result = start_ctx(doca_sha_as_ctx(r->sha), r->dev, r->workq, &r->setup);
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
    doca_error_t result = DOCA_SUCCESS;

    if (r->response != NULL)
        result = first_error(result, doca_buf_refcount_rm(r->response, NULL));
    result = first_error(result, stop_ctx(&r->setup));
    if (r->workq != NULL)
        result = first_error(result, doca_workq_destroy(r->workq));
    if (r->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(r->inventory));
    if (r->digest_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->digest_mmap));
    if (r->data_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->data_mmap));
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
