// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A graph of three nodes: one hashes a text, another copies it, and when both have ended a callback shows the
// digest and compares the copy. Several instances run at the same time, each with a text of its own.
#include <stdio.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_log.h>
#include <doca_mmap.h>
#include <doca_sha.h>

#include "../../common.h"
#include "../../wait.h"

DOCA_LOG_REGISTER(GRAPH);

#define NUM_INSTANCES 5
#define TEXT_SIZE 64
#define WORKQ_DEPTH ((2 + 1) * NUM_INSTANCES) /* an instance takes the room of its two jobs and one more */

doca_error_t run_graph_sample(void);

/* What one instance works on. It must live as long as the instance. */
struct run {
    char text[TEXT_SIZE];
    char copy[TEXT_SIZE];
    uint8_t digest[DOCA_SHA256_BYTE_COUNT];
    struct doca_buf *text_buf;
    struct doca_buf *copy_buf;
    struct doca_buf *digest_buf;
    struct doca_sha_job sha_job;
    struct doca_dma_job_memcpy dma_job;
    struct doca_event sha_event;
    struct doca_event dma_event;
    struct doca_graph_instance *instance;
    int number;
};

struct resources {
    struct doca_dev *dev;
    struct doca_mmap *mmap;
    struct doca_buf_inventory *inventory;
    struct doca_workq *workq;
    struct doca_sha *sha;
    struct doca_dma *dma;
    struct ctx_setup sha_setup;
    struct ctx_setup dma_setup;
    struct doca_graph *graph;
    struct doca_graph_node *sha_node;
    struct doca_graph_node *dma_node;
    struct doca_graph_node *user_node;
    bool graph_is_started, graph_has_workq;
    struct run runs[NUM_INSTANCES];
};

/* The user node. Runs inside doca_workq_progress_retrieve(). */
static doca_error_t check_results(void *cookie, struct doca_event *event)
{
    const struct run *run = cookie;
    char hex[2 * DOCA_SHA256_BYTE_COUNT + 1];

    (void)event;
    for (size_t i = 0; i < sizeof(run->digest); i++)
        snprintf(&hex[2 * i], 3, "%02x", run->digest[i]);
    DOCA_LOG_INFO("Instance %d: SHA-256 of '%s': %s", run->number, run->text, hex);
    if (memcmp(run->text, run->copy, sizeof(run->text)) != 0) {
        DOCA_LOG_ERR("Instance %d: the copy differs from its source", run->number);
        return DOCA_ERROR_UNEXPECTED;
    }
    DOCA_LOG_INFO("Instance %d: the copy is equal to its source", run->number);
    return DOCA_SUCCESS;
}

/* Whether a device both hashes and copies. */
static bool can_run(struct doca_devinfo *devinfo, int job_type)
{
    (void)job_type;
    return doca_sha_job_get_supported(devinfo, DOCA_SHA_JOB_SHA256) == DOCA_SUCCESS &&
           doca_dma_job_get_supported(devinfo, DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS;
}

static doca_error_t create_resources(struct resources *resources)
{
    doca_error_t result = open_first_device(can_run, 0, "SHA-256 and DMA", &resources->dev);

    if (result == DOCA_SUCCESS)
        result = map_memory(resources->dev, resources->runs, sizeof(resources->runs), DOCA_ACCESS_LOCAL_READ_WRITE,
                            &resources->mmap);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_create(NULL, 3 * NUM_INSTANCES, DOCA_BUF_EXTENSION_NONE, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = create_workq(WORKQ_DEPTH, &resources->workq);
    if (result == DOCA_SUCCESS)
        result = doca_sha_create(&resources->sha);
    if (result == DOCA_SUCCESS)
        result = start_ctx(doca_sha_as_ctx(resources->sha), resources->dev, resources->workq, &resources->sha_setup);
    if (result == DOCA_SUCCESS)
        result = doca_dma_create(&resources->dma);
    if (result == DOCA_SUCCESS)
        result = start_ctx(doca_dma_as_ctx(resources->dma), resources->dev, resources->workq, &resources->dma_setup);
    return result;
}

/* Both jobs come before the callback, in any order. */
static doca_error_t create_graph(struct resources *resources)
{
    doca_error_t result = doca_graph_create(&resources->graph);

    if (result == DOCA_SUCCESS)
        result = doca_graph_ctx_node_create(resources->graph, DOCA_SHA_JOB_SHA256, doca_sha_as_ctx(resources->sha),
                                            &resources->sha_node);
    if (result == DOCA_SUCCESS)
        result = doca_graph_ctx_node_create(resources->graph, DOCA_DMA_JOB_MEMCPY, doca_dma_as_ctx(resources->dma),
                                            &resources->dma_node);
    if (result == DOCA_SUCCESS)
        result = doca_graph_user_node_create(resources->graph, check_results, &resources->user_node);
    if (result == DOCA_SUCCESS)
        result = doca_graph_add_dependency(resources->graph, resources->sha_node, resources->user_node);
    if (result == DOCA_SUCCESS)
        result = doca_graph_add_dependency(resources->graph, resources->dma_node, resources->user_node);
    if (result == DOCA_SUCCESS) {
        result = doca_graph_start(resources->graph);
        resources->graph_is_started = result == DOCA_SUCCESS;
    }
    if (result == DOCA_SUCCESS) {
        result = doca_graph_workq_add(resources->graph, resources->workq);
        resources->graph_has_workq = result == DOCA_SUCCESS;
    }
    return result;
}

static doca_error_t create_bufs(struct resources *resources, struct run *run)
{
    doca_error_t result;

    result = doca_buf_inventory_buf_by_data(resources->inventory, resources->mmap, run->text, strlen(run->text),
                                            &run->text_buf);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_by_addr(resources->inventory, resources->mmap, run->copy, sizeof(run->copy),
                                                &run->copy_buf);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_by_addr(resources->inventory, resources->mmap, run->digest, sizeof(run->digest),
                                                &run->digest_buf);
    return result;
}

static doca_error_t create_instance(struct resources *resources, int number)
{
    struct run *run = &resources->runs[number];
    doca_error_t result;

    run->number = number;
    snprintf(run->text, sizeof(run->text), "Text number %d is hashed and copied", number);
    result = create_bufs(resources, run);
    if (result != DOCA_SUCCESS)
        return result;

    run->sha_job.base.type = DOCA_SHA_JOB_SHA256;
    run->sha_job.base.ctx = doca_sha_as_ctx(resources->sha);
    run->sha_job.req_buf = run->text_buf;
    run->sha_job.resp_buf = run->digest_buf;
    run->sha_job.flags = DOCA_SHA_JOB_FLAGS_NONE;
    run->dma_job.base.type = DOCA_DMA_JOB_MEMCPY;
    run->dma_job.base.ctx = doca_dma_as_ctx(resources->dma);
    run->dma_job.src_buff = run->text_buf;
    run->dma_job.dst_buff = run->copy_buf;

    result = doca_graph_instance_create(resources->graph, &run->instance);
    if (result == DOCA_SUCCESS)
        result = doca_graph_instance_set_ctx_node_data(run->instance, resources->sha_node, &run->sha_job.base,
                                                       &run->sha_event);
    if (result == DOCA_SUCCESS)
        result = doca_graph_instance_set_ctx_node_data(run->instance, resources->dma_node, &run->dma_job.base,
                                                       &run->dma_event);
    if (result == DOCA_SUCCESS)
        result = doca_graph_instance_set_user_node_data(run->instance, resources->user_node, run, NULL);
    return result;
}

/* Waits for the end of one instance, whichever it is. */
static doca_error_t retrieve_instance(struct resources *resources)
{
    struct doca_event event = {0};
    doca_error_t result;

    result = await_event(resources->workq, &event);
    if (result == DOCA_SUCCESS && event.type != (int)DOCA_GRAPH_JOB) {
        DOCA_LOG_ERR("An event of type %d is not a graph's", event.type);
        return DOCA_ERROR_UNEXPECTED;
    }
    if (result == DOCA_SUCCESS || result == DOCA_ERROR_IO_FAILED) {
        const struct run *run = event.user_data.ptr;

        DOCA_LOG_INFO("Instance %d has ended: %s", run->number, doca_get_error_string((doca_error_t)event.result.u64));
    }
    return result;
}

static doca_error_t run_instances(struct resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;
    int num_submitted = 0;

    for (int i = 0; i < NUM_INSTANCES && result == DOCA_SUCCESS; i++)
        result = create_instance(resources, i);
    for (int i = 0; i < NUM_INSTANCES && result == DOCA_SUCCESS; i++) {
        const union doca_data user_data = {.ptr = &resources->runs[i]};

        result = doca_workq_graph_submit(resources->workq, resources->runs[i].instance, user_data);
        if (result == DOCA_SUCCESS)
            num_submitted++;
    }
    for (; num_submitted > 0; num_submitted--)
        result = first_error(result, retrieve_instance(resources));
    return result;
}

static doca_error_t destroy_run(struct run *run)
{
    struct doca_buf *bufs[] = {run->text_buf, run->copy_buf, run->digest_buf};
    doca_error_t result = DOCA_SUCCESS;

    if (run->instance != NULL)
        result = first_error(result, doca_graph_instance_destroy(run->instance));
    for (size_t i = 0; i < sizeof(bufs) / sizeof(bufs[0]); i++) {
        if (bufs[i] != NULL)
            result = first_error(result, doca_buf_refcount_rm(bufs[i], NULL));
    }
    return result;
}

static doca_error_t destroy_graph(struct resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    if (resources->graph_has_workq)
        result = first_error(result, doca_graph_workq_rm(resources->graph, resources->workq));
    if (resources->graph_is_started)
        result = first_error(result, doca_graph_stop(resources->graph));
    if (resources->graph != NULL)
        result = first_error(result, doca_graph_destroy(resources->graph));
    return result;
}

static doca_error_t destroy_resources(struct resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    for (int i = 0; i < NUM_INSTANCES; i++)
        result = first_error(result, destroy_run(&resources->runs[i]));
    result = first_error(result, destroy_graph(resources));
    if (resources->dma != NULL) {
        result = first_error(result, stop_ctx(&resources->dma_setup));
        result = first_error(result, doca_dma_destroy(resources->dma));
    }
    if (resources->sha != NULL) {
        result = first_error(result, stop_ctx(&resources->sha_setup));
        result = first_error(result, doca_sha_destroy(resources->sha));
    }
    if (resources->workq != NULL)
        result = first_error(result, doca_workq_destroy(resources->workq));
    if (resources->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(resources->inventory));
    if (resources->mmap != NULL)
        result = first_error(result, doca_mmap_destroy(resources->mmap));
    if (resources->dev != NULL)
        result = first_error(result, doca_dev_close(resources->dev));
    return result;
}

doca_error_t run_graph_sample(void)
{
    struct resources resources = {0};
    doca_error_t result = create_resources(&resources);

    if (result == DOCA_SUCCESS)
        result = create_graph(&resources);
    if (result == DOCA_SUCCESS)
        result = run_instances(&resources);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The graph could not be run: %s", doca_get_error_string(result));
    return first_error(result, destroy_resources(&resources));
}
