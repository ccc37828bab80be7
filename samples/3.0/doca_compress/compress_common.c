// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "compress_common.h"

#include <stdbool.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(COMPRESS_COMMON);

#define NUM_BUFFERS 2 /* source and destination */

static doca_error_t set_input(void *param, void *config)
{
    struct compress_config *compress = config;

    return set_text(compress->input, sizeof(compress->input), "input", param);
}

static doca_error_t set_output(void *param, void *config)
{
    struct compress_config *compress = config;

    return set_text(compress->output, sizeof(compress->output), "output", param);
}

static doca_error_t set_frame(void *param, void *config)
{
    ((struct compress_config *)config)->has_frame = *(bool *)param;
    return DOCA_SUCCESS;
}

doca_error_t parse_arguments(const char *program, int with_frame, int argc, char **argv, struct compress_config *config)
{
    doca_error_t result;

    strcpy(config->input, "input");
    strcpy(config->output, "output");
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("i", "input", "File to read", DOCA_ARGP_TYPE_STRING, set_input);
    if (result == DOCA_SUCCESS)
        result = add_argument("o", "output", "File to write", DOCA_ARGP_TYPE_STRING, set_output);
    if (result == DOCA_SUCCESS && with_frame)
        result = add_argument("z", "zlib", "The compressed file is a zlib stream, not raw DEFLATE",
                              DOCA_ARGP_TYPE_BOOLEAN, set_frame);
    return read_arguments(result, argc, argv);
}

static doca_error_t create_buffers(struct compress_resources *resources)
{
    doca_error_t result = map_memory(resources->dev, resources->input, sizeof(resources->input),
                                     DOCA_ACCESS_FLAG_LOCAL_READ_ONLY, &resources->input_mmap);

    if (result == DOCA_SUCCESS)
        result = map_memory(resources->dev, resources->output, sizeof(resources->output),
                            DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &resources->output_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NUM_BUFFERS, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_data(resources->inventory, resources->input_mmap, resources->input,
                                                    resources->input_len, &resources->src);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->output_mmap, resources->output,
                                                    sizeof(resources->output), &resources->dst);
    return result;
}

static void note_idle(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states prev_state,
                      enum doca_ctx_states next_state)
{
    struct compress_resources *resources = user_data.ptr;

    (void)ctx;
    DOCA_LOG_INFO("The context was %s and is %s", state_name(prev_state), state_name(next_state));
    if (next_state == DOCA_CTX_STATE_IDLE)
        resources->is_over = 1;
}

doca_error_t create_compress_resources(const struct compress_config *config, suits_fn suits, configure_fn configure,
                                       struct compress_resources *resources)
{
    union doca_data user_data = {.ptr = resources};
    doca_error_t result = load_file(config->input, resources->input, sizeof(resources->input), &resources->input_len);

    if (result == DOCA_SUCCESS)
        result = open_device("", suits, &resources->dev);
    if (result == DOCA_SUCCESS)
        result = create_buffers(resources);
    if (result == DOCA_SUCCESS)
        result = doca_pe_create(&resources->pe);
    if (result == DOCA_SUCCESS)
        result = doca_compress_create(resources->dev, &resources->compress);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(resources->pe, doca_compress_as_ctx(resources->compress));
    if (result == DOCA_SUCCESS) {
        resources->ctx = doca_compress_as_ctx(resources->compress);
        result = doca_ctx_set_user_data(resources->ctx, user_data);
    }
    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_state_changed_cb(resources->ctx, note_idle);
    if (result == DOCA_SUCCESS)
        result = configure(resources);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(resources->ctx);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to set up: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_compress_resources(struct compress_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    if (resources->ctx != NULL)
        result = stop_ctx(resources->ctx, resources->pe, NULL);
    if (resources->compress != NULL)
        result = first_error(result, doca_compress_destroy(resources->compress));
    if (resources->pe != NULL)
        result = first_error(result, doca_pe_destroy(resources->pe));
    if (resources->dst != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->dst, NULL));
    if (resources->src != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->src, NULL));
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->output_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->output_mmap));
    if (resources->input_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->input_mmap));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t run_task(struct compress_resources *resources, struct doca_task *task)
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

void fail_task(struct compress_resources *resources, struct doca_task *task)
{
    resources->result = doca_task_get_status(task);
    DOCA_LOG_ERR("The task has failed: %s", doca_error_get_descr(resources->result));
    end_task(resources, task);
}

void end_task(struct compress_resources *resources, struct doca_task *task)
{
    doca_task_free(task);
    (void)doca_ctx_stop(resources->ctx);
}

size_t result_len(const struct compress_resources *resources)
{
    size_t len = 0;

    (void)doca_buf_get_data_len(resources->dst, &len);
    return len;
}

doca_error_t save_output(const struct compress_config *config, const struct compress_resources *resources, size_t len)
{
    DOCA_LOG_INFO("%zu bytes became %zu, CRC-32 %08x, second checksum %08x", resources->input_len, len, resources->crc,
                  resources->adler_or_xxh);
    return save_file(config->output, resources->output, len);
}

uint32_t read_le32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

uint32_t read_be32(const uint8_t *bytes)
{
    return bytes[3] | (uint32_t)bytes[2] << 8 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[0] << 24;
}

void write_be32(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        bytes[i] = (uint8_t)(value >> (24 - 8 * i));
}
