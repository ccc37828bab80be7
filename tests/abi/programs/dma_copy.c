// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
/* A program as DOCA 2.2 users write them: parameters, log, and one copy from memory to memory. */
#include <stdlib.h>
#include <time.h>

#include <doca_argp.h>
#include <doca_buf_inventory.h>
#include <doca_dma.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(DMA_COPY::MAIN);

#define TEXT_SIZE 256
#define QUEUE_DEPTH 32

struct config {
    char text[TEXT_SIZE];
};

struct state {
    struct doca_dev *dev;
    struct doca_mmap *src_mmap;
    struct doca_mmap *dst_mmap;
    struct doca_buf_inventory *inventory;
    struct doca_dma *dma;
    struct doca_ctx *ctx;
    struct doca_workq *workq;
};

#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        doca_error_t status_ = (call);                                                                                 \
        if (status_ != DOCA_SUCCESS) {                                                                                 \
            DOCA_LOG_ERR("%s: %s", #call, doca_get_error_string(status_));                                             \
            return status_;                                                                                            \
        }                                                                                                              \
    } while (0)

static doca_error_t text_callback(void *param, void *config)
{
    struct config *conf = (struct config *)config;
    const char *text = (const char *)param;

    if (strnlen(text, TEXT_SIZE) == TEXT_SIZE)
        return DOCA_ERROR_INVALID_VALUE;
    strcpy(conf->text, text);
    return DOCA_SUCCESS;
}

static doca_error_t parse(int argc, char **argv, struct config *conf)
{
    struct doca_argp_param *text;

    TRY(doca_argp_init("dma_copy", conf));
    TRY(doca_argp_param_create(&text));
    doca_argp_param_set_short_name(text, "t");
    doca_argp_param_set_long_name(text, "text");
    doca_argp_param_set_arguments(text, "<text>");
    doca_argp_param_set_description(text, "What to copy");
    doca_argp_param_set_callback(text, text_callback);
    doca_argp_param_set_type(text, DOCA_ARGP_TYPE_STRING);
    TRY(doca_argp_register_param(text));
    return doca_argp_start(argc, argv);
}

static doca_error_t open_device(struct state *state)
{
    struct doca_devinfo **list;
    uint32_t count;
    doca_error_t status = DOCA_ERROR_NOT_FOUND;

    TRY(doca_devinfo_list_create(&list, &count));
    for (uint32_t i = 0; i < count && status != DOCA_SUCCESS; i++) {
        if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS)
            status = doca_dev_open(list[i], &state->dev);
    }
    doca_devinfo_list_destroy(list);
    return status;
}

static doca_error_t set_up(struct state *state)
{
    TRY(open_device(state));
    TRY(doca_mmap_create(NULL, &state->src_mmap));
    TRY(doca_mmap_create(NULL, &state->dst_mmap));
    TRY(doca_mmap_dev_add(state->src_mmap, state->dev));
    TRY(doca_mmap_dev_add(state->dst_mmap, state->dev));
    TRY(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &state->inventory));
    TRY(doca_buf_inventory_start(state->inventory));
    TRY(doca_dma_create(&state->dma));
    state->ctx = doca_dma_as_ctx(state->dma);
    TRY(doca_ctx_dev_add(state->ctx, state->dev));
    TRY(doca_ctx_start(state->ctx));
    TRY(doca_workq_create(QUEUE_DEPTH, &state->workq));
    return doca_ctx_workq_add(state->ctx, state->workq);
}

static doca_error_t copy(struct state *state, char *src, char *dst)
{
    struct doca_buf *src_buf, *dst_buf;
    struct doca_event event = {0};
    struct timespec pause = {.tv_nsec = 10 * 1000};
    doca_error_t status;

    TRY(doca_mmap_set_memrange(state->src_mmap, src, TEXT_SIZE));
    TRY(doca_mmap_set_memrange(state->dst_mmap, dst, TEXT_SIZE));
    TRY(doca_mmap_start(state->src_mmap));
    TRY(doca_mmap_start(state->dst_mmap));
    TRY(doca_buf_inventory_buf_by_addr(state->inventory, state->src_mmap, src, TEXT_SIZE, &src_buf));
    TRY(doca_buf_inventory_buf_by_addr(state->inventory, state->dst_mmap, dst, TEXT_SIZE, &dst_buf));
    TRY(doca_buf_set_data(src_buf, src, TEXT_SIZE));

    struct doca_dma_job_memcpy job = {
        .base.type = DOCA_DMA_JOB_MEMCPY,
        .base.flags = DOCA_JOB_FLAGS_NONE,
        .base.ctx = state->ctx,
        .base.user_data.u64 = 42,
        .dst_buff = dst_buf,
        .src_buff = src_buf,
    };
    TRY(doca_workq_submit(state->workq, &job.base));
    while ((status = doca_workq_progress_retrieve(state->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
           DOCA_ERROR_AGAIN)
        nanosleep(&pause, &pause);
    TRY(status);
    TRY((doca_error_t)event.result.u64);
    if (event.user_data.u64 != 42 || event.type != DOCA_DMA_JOB_MEMCPY)
        return DOCA_ERROR_UNEXPECTED;
    TRY(doca_buf_refcount_rm(src_buf, NULL));
    return doca_buf_refcount_rm(dst_buf, NULL);
}

static doca_error_t tear_down(struct state *state)
{
    doca_error_t status = DOCA_SUCCESS;

    DOCA_ERROR_PROPAGATE(status, doca_ctx_workq_rm(state->ctx, state->workq));
    DOCA_ERROR_PROPAGATE(status, doca_workq_destroy(state->workq));
    DOCA_ERROR_PROPAGATE(status, doca_buf_inventory_destroy(state->inventory));
    DOCA_ERROR_PROPAGATE(status, doca_mmap_destroy(state->dst_mmap));
    DOCA_ERROR_PROPAGATE(status, doca_mmap_destroy(state->src_mmap));
    DOCA_ERROR_PROPAGATE(status, doca_ctx_stop(state->ctx));
    DOCA_ERROR_PROPAGATE(status, doca_ctx_dev_rm(state->ctx, state->dev));
    DOCA_ERROR_PROPAGATE(status, doca_dev_close(state->dev));
    DOCA_ERROR_PROPAGATE(status, doca_dma_destroy(state->dma));
    return status;
}

int main(int argc, char **argv)
{
    struct config conf = {.text = "a text"};
    struct state state = {0};
    char src[TEXT_SIZE] = {0}, dst[TEXT_SIZE] = {0};
    doca_error_t status = doca_log_create_standard_backend();

    if (status == DOCA_SUCCESS)
        status = parse(argc, argv, &conf);
    strcpy(src, conf.text);
    if (status == DOCA_SUCCESS)
        status = set_up(&state);
    if (status == DOCA_SUCCESS)
        status = copy(&state, src, dst);
    if (status == DOCA_SUCCESS)
        status = tear_down(&state);
    doca_argp_destroy();
#ifdef DOCA_ARCH_DPU
    const char *role = "DPU";
#else
    const char *role = "host";
#endif
    if (status == DOCA_SUCCESS)
        printf("copied on the %s: %s\n", role, dst);
    return status == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
