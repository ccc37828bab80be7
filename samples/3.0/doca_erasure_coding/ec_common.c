// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "ec_common.h"

#include <string.h>

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(EC_COMMON);

#define NUM_BUFFERS 2 /* source and destination */

static doca_error_t set_data(void *param, void *config)
{
    struct ec_config *ec = config;

    return set_text(ec->text, sizeof(ec->text), "text", param);
}

static doca_error_t parse_arguments(const char *program, int argc, char **argv, struct ec_config *config)
{
    doca_error_t result;

    strcpy(config->text, "Any two of these six blocks may be lost, and nothing of the text is.");
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("d", "data", "Text to protect", DOCA_ARGP_TYPE_STRING, set_data);
    return read_arguments(result, argc, argv);
}

static int can_code(const struct doca_devinfo *devinfo)
{
    return doca_ec_cap_task_create_is_supported(devinfo) == DOCA_SUCCESS;
}

/* The blocks are as long as they must be, and end with zeros. */
static void cut_text(const char *text, struct ec_resources *resources)
{
    const size_t len = strlen(text);
    const size_t unit = NUM_DATA * BLOCK_UNIT;

    resources->block_size = (len + unit - 1) / unit * BLOCK_UNIT;
    for (size_t i = 0; i < NUM_DATA; i++) {
        const size_t begin = i * resources->block_size;

        if (begin < len)
            strncpy((char *)resources->blocks[i], text + begin, resources->block_size);
    }
}

static doca_error_t create_buffers(struct ec_resources *resources)
{
    doca_error_t result = map_memory(resources->dev, &resources->memory, sizeof(resources->memory),
                                     DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &resources->mmap);

    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NUM_BUFFERS, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->mmap, resources->memory.inputs,
                                                    sizeof(resources->memory.inputs), &resources->src);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->mmap, resources->memory.outputs,
                                                    sizeof(resources->memory.outputs), &resources->dst);
    return result;
}

static void created(struct doca_ec_task_create *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    end_task(ctx_user_data.ptr, doca_ec_task_create_as_task(task));
}

static doca_error_t start_context(struct ec_resources *resources, configure_fn configure)
{
    union doca_data user_data = {.ptr = resources};
    doca_error_t result = doca_pe_create(&resources->pe);

    if (result == DOCA_SUCCESS)
        result = doca_ec_create(resources->dev, &resources->ec);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(resources->pe, doca_ec_as_ctx(resources->ec));
    if (result == DOCA_SUCCESS) {
        resources->ctx = doca_ec_as_ctx(resources->ec);
        result = doca_ctx_set_user_data(resources->ctx, user_data);
    }
    if (result == DOCA_SUCCESS)
        result = doca_ec_task_create_set_conf(resources->ec, created, created, 1);
    if (result == DOCA_SUCCESS && configure != NULL)
        result = configure(resources);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(resources->ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ec_matrix_create(resources->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, NUM_DATA, NUM_REDUNDANCY,
                                       &resources->coding);
    return result;
}

static doca_error_t compute_redundancy(struct ec_resources *resources)
{
    struct doca_ec_task_create *task = NULL;
    union doca_data none = {0};
    doca_error_t result = begin_inputs(resources);

    for (size_t i = 0; result == DOCA_SUCCESS && i < NUM_DATA; i++)
        result = add_input(resources, resources->blocks[i]);
    if (result == DOCA_SUCCESS)
        result = doca_ec_task_create_allocate_init(resources->ec, resources->coding, resources->src, resources->dst,
                                                   none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(resources, doca_ec_task_create_as_task(task));
    for (size_t j = 0; result == DOCA_SUCCESS && j < NUM_REDUNDANCY; j++)
        memcpy(resources->blocks[NUM_DATA + j], resources->memory.outputs + j * resources->block_size,
               resources->block_size);
    return result;
}

doca_error_t create_redundancy(const char *program, int argc, char **argv, configure_fn configure,
                               struct ec_resources *resources)
{
    static struct ec_config config;
    doca_error_t result = parse_arguments(program, argc, argv, &config);

    if (result != DOCA_SUCCESS)
        return result;
    cut_text(config.text, resources);
    result = open_device("", can_code, &resources->dev);
    if (result == DOCA_SUCCESS)
        result = create_buffers(resources);
    if (result == DOCA_SUCCESS)
        result = start_context(resources, configure);
    if (result == DOCA_SUCCESS)
        result = compute_redundancy(resources);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to create redundancy: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_ec_resources(struct ec_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    if (resources->coding != NULL)
        result = doca_ec_matrix_destroy(resources->coding);
    if (resources->ctx != NULL)
        result = first_error(result, stop_ctx(resources->ctx, resources->pe, NULL));
    if (resources->ec != NULL)
        result = first_error(result, doca_ec_destroy(resources->ec));
    if (resources->pe != NULL)
        result = first_error(result, doca_pe_destroy(resources->pe));
    if (resources->dst != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->dst, NULL));
    if (resources->src != NULL)
        result = first_error(result, doca_buf_dec_refcount(resources->src, NULL));
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->mmap));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t begin_inputs(struct ec_resources *resources)
{
    doca_error_t result = doca_buf_reset_data_len(resources->src);

    /* Results are put behind the destination's data. */
    return result == DOCA_SUCCESS ? doca_buf_reset_data_len(resources->dst) : result;
}

doca_error_t add_input(struct ec_resources *resources, const uint8_t *block)
{
    size_t len = 0;
    doca_error_t result = doca_buf_get_data_len(resources->src, &len);

    if (result != DOCA_SUCCESS)
        return result;
    memcpy(resources->memory.inputs + len, block, resources->block_size);
    return doca_buf_set_data(resources->src, resources->memory.inputs, len + resources->block_size);
}

doca_error_t run_task(struct ec_resources *resources, struct doca_task *task)
{
    doca_error_t result;

    resources->is_over = 0;
    result = doca_task_submit(task);
    if (result != DOCA_SUCCESS) {
        doca_task_free(task);
        return result;
    }
    while (result == DOCA_SUCCESS && !resources->is_over)
        result = progress(resources->pe);
    return first_error(result, resources->result);
}

void end_task(struct ec_resources *resources, struct doca_task *task)
{
    resources->result = doca_task_get_status(task);
    resources->is_over = 1;
    doca_task_free(task);
}

doca_error_t compare_output(const struct ec_resources *resources, size_t output, uint32_t number,
                            const uint8_t *expected)
{
    const uint8_t *block = resources->memory.outputs + output * resources->block_size;

    if (memcmp(block, expected, resources->block_size) != 0) {
        DOCA_LOG_ERR("Block %u is not what it was", number);
        return DOCA_ERROR_UNEXPECTED;
    }
    DOCA_LOG_INFO("Block %u is right: %zu bytes", number, resources->block_size);
    return DOCA_SUCCESS;
}
