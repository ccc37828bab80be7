// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies, then has the source's lines thrown out of the cache: what a program does that will not read them
// again.
#include <stdlib.h>

#include <doca_buf.h>
#include <doca_log.h>
#include <doca_mmap_advise.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(CACHE_INVALIDATE);

static struct doca_mmap_advise *advise;
static int is_over;
static doca_error_t result_of_callbacks;

static void invalidated(struct doca_mmap_advise_task_invalidate_cache *task, union doca_data task_user_data,
                        union doca_data ctx_user_data)
{
    struct doca_task *const ended = doca_mmap_advise_task_invalidate_cache_as_doca_task(task);

    (void)task_user_data;
    (void)ctx_user_data;
    result_of_callbacks = doca_task_get_status(ended);
    DOCA_LOG_INFO("The cache has no line of the source: %s", doca_error_get_descr(result_of_callbacks));
    (void)doca_buf_dec_refcount(doca_mmap_advise_task_invalidate_cache_get_buf(task), NULL);
    doca_task_free(ended);
    is_over = 1;
}

/* The source stays for the next task. */
static void copied(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    struct doca_buf *src = (struct doca_buf *)doca_dma_task_memcpy_get_src(task);
    struct doca_mmap_advise_task_invalidate_cache *next = NULL;

    count_copied(ctx_user_data.ptr, task);
    (void)doca_buf_dec_refcount(doca_dma_task_memcpy_get_dst(task), NULL);
    doca_task_free(doca_dma_task_memcpy_as_task(task));
    result_of_callbacks = doca_mmap_advise_task_invalidate_cache_alloc_init(advise, src, task_user_data, &next);
    if (result_of_callbacks == DOCA_SUCCESS)
        result_of_callbacks = doca_task_submit(doca_mmap_advise_task_invalidate_cache_as_doca_task(next));
    is_over = result_of_callbacks != DOCA_SUCCESS;
}

static void failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    copy_failed(task, task_user_data, ctx_user_data);
    is_over = 1;
}

static doca_error_t create_advise(struct pe_resources *resources)
{
    doca_error_t result = doca_mmap_advise_create(resources->dev, &advise);

    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(resources->pe, doca_mmap_advise_as_ctx(advise));
    if (result == DOCA_SUCCESS)
        result = doca_mmap_advise_task_invalidate_cache_set_conf(advise, invalidated, invalidated, 1);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(doca_mmap_advise_as_ctx(advise));
    return result;
}

static doca_error_t destroy_advise(struct pe_resources *resources)
{
    doca_error_t result;

    if (advise == NULL)
        return DOCA_SUCCESS;
    result = stop_ctx(doca_mmap_advise_as_ctx(advise), resources->pe, NULL);
    return first_error(result, doca_mmap_advise_destroy(advise));
}

int main(int argc, char **argv)
{
    struct pe_resources resources = {0};
    struct doca_dma *dma = NULL;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = read_no_arguments("doca_cache_invalidate", 1, argc, argv);
    if (result == DOCA_SUCCESS)
        result = create_pe_resources(1, &resources);
    if (result == DOCA_SUCCESS)
        result = create_advise(&resources);
    if (result == DOCA_SUCCESS)
        result = create_dma(&resources, 1, copied, failed, NULL, &dma);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(doca_dma_as_ctx(dma));
    if (result == DOCA_SUCCESS)
        result = submit_copies(&resources, dma, 1);
    while (result == DOCA_SUCCESS && !is_over)
        result = progress(resources.pe);
    if (result == DOCA_SUCCESS)
        result = first_error(result_of_callbacks, check_counts(&resources, 1, 0));
    result = first_error(result, destroy_dma(&resources, dma));
    result = first_error(result, destroy_advise(&resources));
    return finish(first_error(result, destroy_pe_resources(&resources)));
}
