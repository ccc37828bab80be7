// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "storage_coder.h"

#include <doca_buf.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(STORAGE_CODER);

#define NUM_TASKS 1 /* of each kind: one task runs at a time */

static doca_error_t check_engine(const char *what, doca_error_t answer)
{
    if (answer != DOCA_SUCCESS)
        DOCA_LOG_ERR("The device cannot %s: %s", what, doca_error_get_descr(answer));
    return answer;
}

doca_error_t check_engines(const struct doca_devinfo *devinfo)
{
    doca_error_t result =
        check_engine("compress DEFLATE", doca_compress_cap_task_compress_deflate_is_supported(devinfo));

    result = first_error(
        result, check_engine("decompress DEFLATE", doca_compress_cap_task_decompress_deflate_is_supported(devinfo)));
    result =
        first_error(result, check_engine("create redundancy blocks", doca_ec_cap_task_create_is_supported(devinfo)));
    return first_error(result, check_engine("recover lost blocks", doca_ec_cap_task_recover_is_supported(devinfo)));
}

static void end_task(struct coder *coder, struct doca_task *task)
{
    coder->status = doca_task_get_status(task);
    coder->is_done = 1;
    doca_task_free(task);
}

/* The callbacks of the four kinds of tasks, each for success and failure: the task's status is what differs. */
static void compressed(struct doca_compress_task_compress_deflate *task, union doca_data task_user_data,
                       union doca_data ctx_user_data)
{
    struct coder *coder = ctx_user_data.ptr;

    (void)task_user_data;
    coder->crc = doca_compress_task_compress_deflate_get_crc_cs(task);
    end_task(coder, doca_compress_task_compress_deflate_as_task(task));
}

static void decompressed(struct doca_compress_task_decompress_deflate *task, union doca_data task_user_data,
                         union doca_data ctx_user_data)
{
    struct coder *coder = ctx_user_data.ptr;

    (void)task_user_data;
    coder->crc = doca_compress_task_decompress_deflate_get_crc_cs(task);
    end_task(coder, doca_compress_task_decompress_deflate_as_task(task));
}

static void created(struct doca_ec_task_create *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    end_task(ctx_user_data.ptr, doca_ec_task_create_as_task(task));
}

static void recovered(struct doca_ec_task_recover *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task_user_data;
    end_task(ctx_user_data.ptr, doca_ec_task_recover_as_task(task));
}

/* A recovery reads a list of blocks and writes another one. */
static doca_error_t get_limits(const struct doca_devinfo *devinfo, struct coder *coder)
{
    uint64_t max_decompressed = 0;
    uint32_t max_list_len = 0;
    doca_error_t result = doca_compress_cap_task_compress_deflate_get_max_buf_size(devinfo, &coder->max_len);

    if (result == DOCA_SUCCESS)
        result = doca_compress_cap_task_decompress_deflate_get_max_buf_size(devinfo, &max_decompressed);
    if (result == DOCA_SUCCESS)
        result = doca_ec_cap_get_max_block_size(devinfo, &coder->max_block_size);
    if (result == DOCA_SUCCESS)
        result = doca_ec_cap_get_max_buf_list_len(devinfo, &max_list_len);
    if (result != DOCA_SUCCESS)
        return result;
    if (max_decompressed < coder->max_len)
        coder->max_len = max_decompressed;
    if (max_list_len < coder->num_data || max_list_len < coder->num_redundancy) {
        DOCA_LOG_ERR("The device recovers lists of at most %u blocks", max_list_len);
        return DOCA_ERROR_NOT_SUPPORTED;
    }
    return DOCA_SUCCESS;
}

static doca_error_t start_ctx(struct coder *coder, struct doca_ctx *ctx)
{
    union doca_data user_data = {.ptr = coder};
    doca_error_t result = doca_ctx_set_user_data(ctx, user_data);

    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(coder->pe, ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(ctx);
    return result;
}

static doca_error_t create_compress(struct doca_dev *dev, struct coder *coder)
{
    doca_error_t result = doca_compress_create(dev, &coder->compress);

    if (result == DOCA_SUCCESS)
        result = doca_compress_task_compress_deflate_set_conf(coder->compress, compressed, compressed, NUM_TASKS);
    if (result == DOCA_SUCCESS)
        result = doca_compress_task_decompress_deflate_set_conf(coder->compress, decompressed, decompressed, NUM_TASKS);
    if (result == DOCA_SUCCESS)
        result = start_ctx(coder, doca_compress_as_ctx(coder->compress));
    return result;
}

static doca_error_t create_ec(struct doca_dev *dev, struct coder *coder)
{
    doca_error_t result = doca_ec_create(dev, &coder->ec);

    if (result == DOCA_SUCCESS)
        result = doca_ec_task_create_set_conf(coder->ec, created, created, NUM_TASKS);
    if (result == DOCA_SUCCESS)
        result = doca_ec_task_recover_set_conf(coder->ec, recovered, recovered, NUM_TASKS);
    if (result == DOCA_SUCCESS)
        result = start_ctx(coder, doca_ec_as_ctx(coder->ec));
    if (result == DOCA_SUCCESS)
        result = doca_ec_matrix_create(coder->ec, DOCA_EC_MATRIX_TYPE_CAUCHY, coder->num_data, coder->num_redundancy,
                                       &coder->matrix);
    return result;
}

doca_error_t create_coder(struct doca_dev *dev, struct doca_pe *pe, uint32_t num_data, uint32_t num_redundancy,
                          struct coder *coder)
{
    doca_error_t result;

    coder->pe = pe;
    coder->num_data = num_data;
    coder->num_redundancy = num_redundancy;
    result = get_limits(doca_dev_as_devinfo(dev), coder);
    /* A recovery needs the most buffers: one for each block. */
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(num_data + num_redundancy, &coder->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(coder->inventory);
    if (result == DOCA_SUCCESS)
        result = create_compress(dev, coder);
    if (result == DOCA_SUCCESS)
        result = create_ec(dev, coder);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to set up the engines: %s", doca_error_get_descr(result));
    return result;
}

doca_error_t destroy_coder(struct coder *coder)
{
    doca_error_t result = DOCA_SUCCESS;

    if (coder->matrix != NULL)
        result = doca_ec_matrix_destroy(coder->matrix);
    if (coder->ec != NULL) {
        result = first_error(result, stop_ctx(doca_ec_as_ctx(coder->ec), coder->pe, NULL));
        result = first_error(result, doca_ec_destroy(coder->ec));
    }
    if (coder->compress != NULL) {
        result = first_error(result, stop_ctx(doca_compress_as_ctx(coder->compress), coder->pe, NULL));
        result = first_error(result, doca_compress_destroy(coder->compress));
    }
    if (coder->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(coder->inventory));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to clean up the engines: %s", doca_error_get_descr(result));
    return result;
}

static doca_error_t run_task(struct coder *coder, struct doca_task *task)
{
    doca_error_t result;

    coder->is_done = 0;
    result = doca_task_submit(task);
    if (result != DOCA_SUCCESS) {
        doca_task_free(task);
        return result;
    }
    while (result == DOCA_SUCCESS && !coder->is_done)
        result = progress(coder->pe);
    return first_error(result, coder->status);
}

/* The buffers of one task: each side is a list with one element, or with one for each block. */
struct sides {
    struct doca_buf *src;
    struct doca_buf *dst;
};

/* Puts a range behind a list, which is NULL at first. */
static doca_error_t append(struct coder *coder, struct range range, size_t data_len, struct doca_buf **list)
{
    struct doca_buf *buf = NULL;
    doca_error_t result = doca_buf_inventory_buf_get_by_args(coder->inventory, range.mmap, range.addr, range.len,
                                                             range.addr, data_len, &buf);

    if (result != DOCA_SUCCESS)
        return result;
    if (*list == NULL) {
        *list = buf;
        return DOCA_SUCCESS;
    }
    result = doca_buf_chain_list(*list, buf);
    return result == DOCA_SUCCESS ? result : first_error(result, doca_buf_dec_refcount(buf, NULL));
}

static doca_error_t add_source(struct coder *coder, struct range range, struct sides *sides)
{
    return append(coder, range, range.len, &sides->src);
}

static doca_error_t add_destination(struct coder *coder, struct range range, struct sides *sides)
{
    return append(coder, range, 0, &sides->dst);
}

static doca_error_t add_both(struct coder *coder, struct range src, struct range dst, struct sides *sides)
{
    const doca_error_t result = add_source(coder, src, sides);

    return result == DOCA_SUCCESS ? add_destination(coder, dst, sides) : result;
}

/* The head of a list takes all of its buffers along. */
static doca_error_t release(const struct sides *sides)
{
    doca_error_t result = DOCA_SUCCESS;

    if (sides->src != NULL)
        result = doca_buf_dec_refcount(sides->src, NULL);
    if (sides->dst != NULL)
        result = first_error(result, doca_buf_dec_refcount(sides->dst, NULL));
    return result;
}

doca_error_t compress_range(struct coder *coder, struct range src, struct range dst, size_t *len, uint32_t *crc)
{
    struct doca_compress_task_compress_deflate *task = NULL;
    struct sides sides = {0};
    union doca_data none = {0};
    doca_error_t result = add_both(coder, src, dst, &sides);

    if (result == DOCA_SUCCESS)
        result = doca_compress_task_compress_deflate_alloc_init(coder->compress, sides.src, sides.dst, none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(coder, doca_compress_task_compress_deflate_as_task(task));
    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data_len(sides.dst, len);
    *crc = coder->crc;
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to compress %zu bytes: %s", src.len, doca_error_get_descr(result));
    return first_error(result, release(&sides));
}

doca_error_t decompress_range(struct coder *coder, struct range src, struct range dst, size_t *len, uint32_t *crc)
{
    struct doca_compress_task_decompress_deflate *task = NULL;
    struct sides sides = {0};
    union doca_data none = {0};
    doca_error_t result = add_both(coder, src, dst, &sides);

    if (result == DOCA_SUCCESS)
        result = doca_compress_task_decompress_deflate_alloc_init(coder->compress, sides.src, sides.dst, none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(coder, doca_compress_task_decompress_deflate_as_task(task));
    if (result == DOCA_SUCCESS)
        result = doca_buf_get_data_len(sides.dst, len);
    *crc = coder->crc;
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to decompress %zu bytes: %s", src.len, doca_error_get_descr(result));
    return first_error(result, release(&sides));
}

doca_error_t create_redundancy(struct coder *coder, const struct memory *image, size_t block_size)
{
    const size_t data_size = coder->num_data * block_size;
    struct doca_ec_task_create *task = NULL;
    struct sides sides = {0};
    union doca_data none = {0};
    doca_error_t result = add_both(coder, range_of(image, 0, data_size),
                                   range_of(image, data_size, coder->num_redundancy * block_size), &sides);

    if (result == DOCA_SUCCESS)
        result = doca_ec_task_create_allocate_init(coder->ec, coder->matrix, sides.src, sides.dst, none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(coder, doca_ec_task_create_as_task(task));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to compute redundancy: %s", doca_error_get_descr(result));
    return first_error(result, release(&sides));
}

/* The sources are the first blocks that are left, as many as there are data blocks; the destinations are the places of
 * the lost ones. */
static doca_error_t add_blocks(struct coder *coder, const struct memory *image, size_t block_size, const uint32_t *lost,
                               uint32_t num_lost, struct sides *sides)
{
    uint32_t num_sources = 0;
    uint32_t num_destinations = 0;
    doca_error_t result = DOCA_SUCCESS;

    for (uint32_t i = 0; result == DOCA_SUCCESS && i < coder->num_data + coder->num_redundancy; i++) {
        const struct range block = range_of(image, i * block_size, block_size);

        if (num_destinations < num_lost && lost[num_destinations] == i) {
            result = add_destination(coder, block, sides);
            num_destinations++;
        } else if (num_sources < coder->num_data) {
            result = add_source(coder, block, sides);
            num_sources++;
        }
    }
    return result;
}

doca_error_t recover_blocks(struct coder *coder, const struct memory *image, size_t block_size, uint32_t *lost,
                            uint32_t num_lost)
{
    struct doca_ec_matrix *matrix = NULL;
    struct doca_ec_task_recover *task = NULL;
    struct sides sides = {0};
    union doca_data none = {0};
    doca_error_t result = doca_ec_matrix_create_recover(coder->ec, coder->matrix, lost, num_lost, &matrix);

    if (result == DOCA_SUCCESS)
        result = add_blocks(coder, image, block_size, lost, num_lost, &sides);
    if (result == DOCA_SUCCESS)
        result = doca_ec_task_recover_allocate_init(coder->ec, matrix, sides.src, sides.dst, none, &task);
    if (result == DOCA_SUCCESS)
        result = run_task(coder, doca_ec_task_recover_as_task(task));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to recover %u blocks: %s", num_lost, doca_error_get_descr(result));
    result = first_error(result, release(&sides));
    return matrix != NULL ? first_error(result, doca_ec_matrix_destroy(matrix)) : result;
}
