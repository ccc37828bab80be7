// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "storage_targets.h"

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(STORAGE_TARGETS);

static doca_error_t release_buffers(struct target *target)
{
    doca_error_t result = DOCA_SUCCESS;

    if (target->src != NULL)
        result = doca_buf_dec_refcount(target->src, NULL);
    if (target->dst != NULL)
        result = first_error(result, doca_buf_dec_refcount(target->dst, NULL));
    target->src = NULL;
    target->dst = NULL;
    return result;
}

/* For success and failure, which the task's status tells apart. */
static void copy_ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    struct targets *targets = ctx_user_data.ptr;
    struct target *target = task_user_data.ptr;
    const uint32_t type = target->request_type;
    const doca_error_t status = doca_task_get_status(doca_dma_task_memcpy_as_task(task));

    doca_task_free(doca_dma_task_memcpy_as_task(task));
    target->request_type = 0;
    if (type == STORAGE_STORE)
        target->has_block = status == DOCA_SUCCESS;
    targets->ended(targets->owner, type, (uint32_t)(target - targets->target),
                   first_error(status, release_buffers(target)));
}

static doca_error_t start_dma(struct targets *targets)
{
    union doca_data user_data = {.ptr = targets};
    struct doca_ctx *ctx;
    doca_error_t result = doca_dma_create(targets->dev, &targets->dma);

    if (result != DOCA_SUCCESS)
        return result;
    ctx = doca_dma_as_ctx(targets->dma);
    result = doca_dma_task_memcpy_set_conf(targets->dma, copy_ended, copy_ended, targets->num_targets);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_user_data(ctx, user_data);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(targets->pe, ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(ctx);
    return result;
}

doca_error_t create_targets(struct doca_dev *dev, struct doca_pe *pe, uint32_t num_targets, struct targets *targets)
{
    uint64_t max_copy = 0;
    doca_error_t result = doca_dma_cap_task_memcpy_get_max_buf_size(doca_dev_as_devinfo(dev), &max_copy);

    targets->dev = dev;
    targets->pe = pe;
    targets->num_targets = num_targets;
    targets->max_block_size = max_copy < STORAGE_MAX_BLOCK_SIZE ? (uint32_t)max_copy : STORAGE_MAX_BLOCK_SIZE;
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(2 * num_targets, &targets->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(targets->inventory);
    if (result == DOCA_SUCCESS)
        result = start_dma(targets);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to set up the targets: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_targets(struct targets *targets)
{
    doca_error_t result = DOCA_SUCCESS;

    if (targets->dma != NULL) {
        result = stop_ctx(doca_dma_as_ctx(targets->dma), targets->pe, NULL);
        result = first_error(result, doca_dma_destroy(targets->dma));
    }
    if (targets->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(targets->inventory));
    if (targets->client_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(targets->client_mmap));
    for (uint32_t i = 0; i < targets->num_targets; i++)
        result = first_error(result, destroy_memory(&targets->target[i].block));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up the targets: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t open_targets(struct targets *targets, const struct storage_open *open)
{
    void *addr = NULL;
    doca_error_t result;

    if (targets->client_mmap != NULL)
        return DOCA_ERROR_BAD_STATE;
    if (open->block_size == 0 || open->block_size > targets->max_block_size) {
        DOCA_LOG_ERR("Blocks of %u bytes: 1 to %u are possible", open->block_size, targets->max_block_size);
        return DOCA_ERROR_INVALID_VALUE;
    }
    result =
        doca_mmap_create_from_export(NULL, open->descriptor, open->descriptor_len, targets->dev, &targets->client_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_get_memrange(targets->client_mmap, &addr, &targets->client_len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Failed to import the client's memory: %s", doca_error_get_descr(result));
        return result;
    }
    targets->client_addr = addr;
    targets->block_size = open->block_size;
    DOCA_LOG_INFO("Imported %zu bytes of the client's memory, for blocks of %u bytes", targets->client_len,
                  targets->block_size);
    return DOCA_SUCCESS;
}

/* Of a STORE or a LOAD. */
static doca_error_t check_copy(const struct targets *targets, const struct storage_request *request)
{
    const struct target *target;

    if (targets->client_mmap == NULL)
        return DOCA_ERROR_BAD_STATE;
    if (request->target >= targets->num_targets || request->block >= targets->client_len / targets->block_size) {
        DOCA_LOG_ERR("Block %u on target %u: there are %zu blocks and %u targets", request->block, request->target,
                     targets->client_len / targets->block_size, targets->num_targets);
        return DOCA_ERROR_INVALID_VALUE;
    }
    target = &targets->target[request->target];
    if (target->request_type != 0)
        return DOCA_ERROR_IN_USE;
    return request->header.type == STORAGE_LOAD && !target->has_block ? DOCA_ERROR_NOT_FOUND : DOCA_SUCCESS;
}

static doca_error_t get_buffers(struct targets *targets, const struct storage_request *request, struct target *target)
{
    const struct range of_client = {.mmap = targets->client_mmap,
                                    .addr = targets->client_addr + (size_t)request->block * targets->block_size,
                                    .len = targets->block_size};
    const struct range of_target = range_of(&target->block, 0, targets->block_size);
    const struct range *src = request->header.type == STORAGE_STORE ? &of_client : &of_target;
    const struct range *dst = request->header.type == STORAGE_STORE ? &of_target : &of_client;
    doca_error_t result =
        doca_buf_inventory_buf_get_by_data(targets->inventory, src->mmap, src->addr, src->len, &target->src);

    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_addr(targets->inventory, dst->mmap, dst->addr, dst->len, &target->dst);
    return result;
}

static doca_error_t submit_copy(struct targets *targets, struct target *target)
{
    union doca_data user_data = {.ptr = target};
    struct doca_dma_task_memcpy *task = NULL;
    doca_error_t result = doca_dma_task_memcpy_alloc_init(targets->dma, target->src, target->dst, user_data, &task);

    if (result != DOCA_SUCCESS)
        return result;
    result = doca_task_submit(doca_dma_task_memcpy_as_task(task));
    if (result != DOCA_SUCCESS)
        doca_task_free(doca_dma_task_memcpy_as_task(task));
    return result;
}

doca_error_t start_copy(struct targets *targets, const struct storage_request *request)
{
    struct target *target;
    doca_error_t result = check_copy(targets, request);

    if (result != DOCA_SUCCESS)
        return result;
    target = &targets->target[request->target];
    if (target->block.bytes == NULL)
        result = create_memory(targets->dev, targets->block_size, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE, &target->block);
    if (result == DOCA_SUCCESS)
        result = get_buffers(targets, request, target);
    if (result == DOCA_SUCCESS) {
        target->request_type = request->header.type;
        result = submit_copy(targets, target);
    }
    if (result != DOCA_SUCCESS) {
        target->request_type = 0;
        (void)release_buffers(target);
    }
    return result;
}

doca_error_t lose_block(struct targets *targets, uint32_t number)
{
    if (number >= targets->num_targets)
        return DOCA_ERROR_INVALID_VALUE;
    if (targets->target[number].request_type != 0)
        return DOCA_ERROR_IN_USE;
    targets->target[number].has_block = 0;
    return destroy_memory(&targets->target[number].block);
}
