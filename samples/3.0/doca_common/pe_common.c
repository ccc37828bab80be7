// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "pe_common.h"

#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(PE_COMMON);

static int can_copy(const struct doca_devinfo *devinfo)
{
    return doca_dma_cap_task_memcpy_is_supported(devinfo) == DOCA_SUCCESS;
}

doca_error_t create_pe_resources(size_t num_copies, struct pe_resources *resources)
{
    doca_error_t result;

    resources->num_slots = 2 * num_copies;
    resources->memory = calloc(resources->num_slots, SLOT_SIZE);
    if (resources->memory == NULL)
        return DOCA_ERROR_NO_MEMORY;
    result = open_device("", can_copy, &resources->dev);
    if (result == DOCA_SUCCESS)
        result = map_memory(resources->dev, resources->memory, resources->num_slots * SLOT_SIZE,
                            DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &resources->mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(resources->num_slots, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_pe_create(&resources->pe);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to set up: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_pe_resources(struct pe_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    if (resources->pe != NULL)
        result = doca_pe_destroy(resources->pe);
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->mmap));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    free(resources->memory);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t create_dma(struct pe_resources *resources, uint32_t num_tasks, doca_dma_task_memcpy_completion_cb_t copied,
                        doca_dma_task_memcpy_completion_cb_t failed, doca_ctx_state_changed_callback_t changed,
                        struct doca_dma **dma)
{
    union doca_data user_data = {.ptr = resources};
    doca_error_t result = doca_dma_create(resources->dev, dma);
    struct doca_ctx *ctx;

    if (result != DOCA_SUCCESS)
        return result;
    ctx = doca_dma_as_ctx(*dma);
    result = doca_pe_connect_ctx(resources->pe, ctx);
    if (result == DOCA_SUCCESS)
        result = doca_dma_task_memcpy_set_conf(*dma, copied, failed, num_tasks);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_user_data(ctx, user_data);
    if (result == DOCA_SUCCESS && changed != NULL)
        result = doca_ctx_set_state_changed_cb(ctx, changed);
    return result;
}

doca_error_t destroy_dma(struct pe_resources *resources, struct doca_dma *dma)
{
    doca_error_t result;

    if (dma == NULL)
        return DOCA_SUCCESS;
    result = stop_ctx(doca_dma_as_ctx(dma), resources->pe, NULL);
    return first_error(result, doca_dma_destroy(dma));
}

doca_error_t take_slots(struct pe_resources *resources, struct doca_buf **src, struct doca_buf **dst)
{
    uint8_t *src_addr = resources->memory + resources->next_slot * SLOT_SIZE;
    uint8_t *dst_addr = src_addr + SLOT_SIZE;
    doca_error_t result;

    if (resources->next_slot + 2 > resources->num_slots)
        return DOCA_ERROR_NO_MEMORY;
    /* What is copied is the data of the source, and it is put behind the data of the destination, which has
     * none. */
    memset(src_addr, (int)(resources->next_slot % UINT8_MAX) + 1, SLOT_SIZE);
    result = doca_buf_inventory_buf_get_by_data(resources->inventory, resources->mmap, src_addr, SLOT_SIZE, src);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_buf_inventory_buf_get_by_addr(resources->inventory, resources->mmap, dst_addr, SLOT_SIZE, dst);
    if (result != DOCA_SUCCESS) {
        (void)doca_buf_dec_refcount(*src, NULL);
        return result;
    }
    resources->next_slot += 2;
    return DOCA_SUCCESS;
}

doca_error_t make_copy(struct pe_resources *resources, struct doca_dma *dma, struct doca_dma_task_memcpy **task)
{
    struct doca_buf *src = NULL;
    struct doca_buf *dst = NULL;
    union doca_data none = {0};
    doca_error_t result = take_slots(resources, &src, &dst);

    if (result != DOCA_SUCCESS)
        return result;
    result = doca_dma_task_memcpy_alloc_init(dma, src, dst, none, task);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to allocate a task: %s", doca_error_get_descr(result));
        (void)doca_buf_dec_refcount(dst, NULL);
        (void)doca_buf_dec_refcount(src, NULL);
    }
    return result;
}

doca_error_t submit_copies(struct pe_resources *resources, struct doca_dma *dma, size_t count)
{
    struct doca_dma_task_memcpy *task = NULL;
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < count && result == DOCA_SUCCESS; i++) {
        result = make_copy(resources, dma, &task);
        if (result != DOCA_SUCCESS)
            break;
        result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
        if (result != DOCA_SUCCESS) {
            DOCA_LOG_ERR("Failed to submit a task: %s", doca_error_get_descr(result));
            free_copy(task);
        }
    }
    return result;
}

void count_copied(struct pe_resources *resources, struct doca_dma_task_memcpy *task)
{
    void *src = NULL;
    void *dst = NULL;
    size_t len = 0;

    (void)doca_buf_get_data(doca_dma_task_memcpy_get_src(task), &src);
    (void)doca_buf_get_data(doca_dma_task_memcpy_get_dst(task), &dst);
    (void)doca_buf_get_data_len(doca_dma_task_memcpy_get_dst(task), &len);
    if (len == SLOT_SIZE && memcmp(src, dst, len) == 0) {
        resources->num_copied++;
        return;
    }
    DOCA_LOG_ERR("A copy has ended well with %zu bytes that are not the source's", len);
    resources->num_failed++;
}

void count_failed(struct pe_resources *resources, struct doca_dma_task_memcpy *task)
{
    DOCA_LOG_INFO("A copy has failed: %s",
                  doca_error_get_descr(doca_task_get_status(doca_dma_task_memcpy_as_task(task))));
    resources->num_failed++;
}

void free_copy(struct doca_dma_task_memcpy *task)
{
    (void)doca_buf_dec_refcount((struct doca_buf *)doca_dma_task_memcpy_get_src(task), NULL);
    (void)doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
    doca_task_free(doca_dma_task_memcpy_as_task(task));
}

void copy_ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    count_copied(ctx_user_data.ptr, task);
    free_copy(task);
}

void copy_failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    count_failed(ctx_user_data.ptr, task);
    free_copy(task);
}

doca_error_t check_counts(const struct pe_resources *resources, size_t num_copied, size_t num_failed)
{
    DOCA_LOG_INFO("%zu copies have ended well, and %zu have failed", resources->num_copied, resources->num_failed);
    return resources->num_copied == num_copied && resources->num_failed == num_failed ? DOCA_SUCCESS
                                                                                      : DOCA_ERROR_UNEXPECTED;
}

static doca_error_t run(const struct pe_sample *sample, struct pe_resources *resources)
{
    struct doca_dma *dma = NULL;
    doca_error_t result;

    result = create_pe_resources(sample->num_copies, resources);
    if (result == DOCA_SUCCESS)
        result = create_dma(resources, sample->num_tasks, sample->copied, sample->failed, sample->changed, &dma);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(doca_dma_as_ctx(dma));
    if (result == DOCA_SUCCESS)
        result = sample->run(resources, dma);
    result = first_error(result, destroy_dma(resources, dma));
    return first_error(result, destroy_pe_resources(resources));
}

int run_pe_sample(const struct pe_sample *sample, int is_waiting, int argc, char **argv)
{
    struct pe_resources resources = {0};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = read_no_arguments(sample->program, is_waiting, argc, argv);
    return finish(result == DOCA_SUCCESS ? run(sample, &resources) : result);
}
