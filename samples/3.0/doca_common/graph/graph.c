// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A graph of three nodes: two copies of one text, and when both have been made, a function that compares
// them. Each instance of the graph has texts of its own, and is submitted as a whole.
//
//     copy --.
//            +--> compare
//     copy --'
#include <stdlib.h>
#include <string.h>

#include <doca_buf.h>
#include <doca_graph.h>
#include <doca_log.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(GRAPH);

#define NUM_INSTANCES 4
#define NUM_BRANCHES 2

/* An instance, and what its nodes work with. All of it lives as long as the instance. */
struct work {
    struct doca_graph_instance *instance;
    struct doca_dma_task_memcpy *copies[NUM_BRANCHES];
};

struct graph_resources {
    struct pe_resources pe;
    struct doca_dma *dma[NUM_BRANCHES];
    struct doca_graph *graph;
    struct doca_graph_node *copy_nodes[NUM_BRANCHES];
    struct doca_graph_node *compare_node;
    struct work works[NUM_INSTANCES];
    size_t num_ended;
    doca_error_t result; /* the first failure of an instance */
};

/* Of tasks that a graph submits these are not called: the graph is told of their ends. */
static void not_called(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data)
{
    (void)task;
    (void)task_user_data;
    (void)ctx_user_data;
    DOCA_LOG_ERR("A task's own callback was called in a graph");
}

static doca_error_t compare(void *cookie)
{
    struct work *work = cookie;
    void *data = NULL;
    size_t len = 0;
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < NUM_BRANCHES && result == DOCA_SUCCESS; i++) {
        const struct doca_buf *src = doca_dma_task_memcpy_get_src(work->copies[i]);
        const struct doca_buf *dst = doca_dma_task_memcpy_get_dst(work->copies[i]);
        void *copied = NULL;

        (void)doca_buf_get_data(src, &data);
        (void)doca_buf_get_data(dst, &copied);
        (void)doca_buf_get_data_len(dst, &len);
        if (len != SLOT_SIZE || memcmp(data, copied, len) != 0)
            result = DOCA_ERROR_UNEXPECTED;
    }
    DOCA_LOG_INFO("Compared %d copies: %s", NUM_BRANCHES, doca_error_get_descr(result));
    return result;
}

static void instance_ended(struct doca_graph_instance *instance, union doca_data instance_user_data,
                           union doca_data graph_user_data)
{
    struct graph_resources *resources = graph_user_data.ptr;

    (void)instance;
    (void)instance_user_data;
    resources->num_ended++;
}

static void instance_failed(struct doca_graph_instance *instance, union doca_data instance_user_data,
                            union doca_data graph_user_data)
{
    struct graph_resources *resources = graph_user_data.ptr;
    struct work *work = instance_user_data.ptr;

    (void)instance;
    DOCA_LOG_ERR("Instance %zu has failed", (size_t)(work - resources->works));
    resources->result = DOCA_ERROR_UNEXPECTED;
    resources->num_ended++;
}

/* Contexts have to run when the graph is started. */
static doca_error_t create_contexts(struct graph_resources *resources)
{
    doca_error_t result = create_pe_resources(NUM_INSTANCES * NUM_BRANCHES, &resources->pe);

    for (size_t i = 0; i < NUM_BRANCHES && result == DOCA_SUCCESS; i++) {
        result = create_dma(&resources->pe, NUM_INSTANCES, not_called, not_called, NULL, &resources->dma[i]);
        if (result == DOCA_SUCCESS)
            result = doca_ctx_start(doca_dma_as_ctx(resources->dma[i]));
    }
    return result;
}

static doca_error_t create_graph(struct graph_resources *resources)
{
    union doca_data user_data = {.ptr = resources};
    doca_error_t result = doca_graph_create(resources->pe.pe, &resources->graph);

    if (result == DOCA_SUCCESS)
        result = doca_graph_node_create_from_user(resources->graph, compare, &resources->compare_node);
    for (size_t i = 0; i < NUM_BRANCHES && result == DOCA_SUCCESS; i++) {
        result = doca_graph_node_create_from_ctx(resources->graph, doca_dma_as_ctx(resources->dma[i]),
                                                 &resources->copy_nodes[i]);
        if (result == DOCA_SUCCESS)
            result = doca_graph_add_dependency(resources->graph, resources->copy_nodes[i], resources->compare_node);
    }
    if (result == DOCA_SUCCESS)
        result = doca_graph_set_conf(resources->graph, instance_ended, instance_failed, NUM_INSTANCES);
    if (result == DOCA_SUCCESS)
        result = doca_graph_set_user_data(resources->graph, user_data);
    if (result == DOCA_SUCCESS)
        result = doca_graph_start(resources->graph);
    return result;
}

static doca_error_t create_instance(struct graph_resources *resources, struct work *work)
{
    union doca_data user_data = {.ptr = work};
    doca_error_t result = doca_graph_instance_create(resources->graph, &work->instance);

    for (size_t i = 0; i < NUM_BRANCHES && result == DOCA_SUCCESS; i++) {
        result = make_copy(&resources->pe, resources->dma[i], &work->copies[i]);
        if (result == DOCA_SUCCESS)
            result = doca_graph_instance_set_ctx_node_data(work->instance, resources->copy_nodes[i],
                                                           doca_dma_task_memcpy_as_task(work->copies[i]));
    }
    if (result == DOCA_SUCCESS)
        result = doca_graph_instance_set_user_node_data(work->instance, resources->compare_node, work);
    if (result == DOCA_SUCCESS)
        result = doca_graph_instance_set_user_data(work->instance, user_data);
    return result;
}

static doca_error_t run(struct graph_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;
    size_t num_submitted = 0;

    for (size_t i = 0; i < NUM_INSTANCES && result == DOCA_SUCCESS; i++) {
        result = create_instance(resources, &resources->works[i]);
        if (result == DOCA_SUCCESS)
            result = doca_graph_instance_submit(resources->works[i].instance);
        if (result == DOCA_SUCCESS)
            num_submitted++;
    }
    while (result == DOCA_SUCCESS && resources->num_ended < num_submitted)
        result = progress(resources->pe.pe);
    return first_error(result, resources->result);
}

/* An instance goes before the tasks of its nodes, all of them before the graph, and the graph before its
 * contexts. */
static doca_error_t destroy(struct graph_resources *resources)
{
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < NUM_INSTANCES; i++) {
        struct work *work = &resources->works[i];

        if (work->instance != NULL)
            result = first_error(result, doca_graph_instance_destroy(work->instance));
        for (size_t k = 0; k < NUM_BRANCHES; k++) {
            if (work->copies[k] != NULL)
                free_copy(work->copies[k]);
        }
    }
    if (resources->graph != NULL) {
        (void)doca_graph_stop(resources->graph);
        result = first_error(result, doca_graph_destroy(resources->graph));
    }
    for (size_t i = 0; i < NUM_BRANCHES; i++)
        result = first_error(result, destroy_dma(&resources->pe, resources->dma[i]));
    return first_error(result, destroy_pe_resources(&resources->pe));
}

int main(int argc, char **argv)
{
    static struct graph_resources resources;
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = read_no_arguments("doca_graph", 1, argc, argv);
    if (result == DOCA_SUCCESS)
        result = create_contexts(&resources);
    if (result == DOCA_SUCCESS)
        result = create_graph(&resources);
    if (result == DOCA_SUCCESS)
        result = run(&resources);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("Failed to run the graph: %s", doca_error_get_descr(result));
    return finish(first_error(result, destroy(&resources)));
}
