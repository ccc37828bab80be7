// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Jobs of DOCA 2.2 from submit to retrieved, one after the other; see side_by_side.py.
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_mmap.h>
#include <doca_rdma.h>
#include <doca_sync_event.h>

#include "floor.h"
#include "loops.h"

#define RIGHTS (DOCA_ACCESS_LOCAL_READ_WRITE | DOCA_ACCESS_RDMA_READ | DOCA_ACCESS_RDMA_WRITE | DOCA_ACCESS_RDMA_ATOMIC)

enum { size = 64, longest_chain = 16, depth = 32 };

static _Alignas(64) unsigned char memory[1 << 16];
static struct doca_dev *dev;
static struct doca_mmap *map;
static struct doca_mmap *imported;
static struct doca_buf_inventory *inventory;

static struct doca_workq *make_workq(void)
{
    struct doca_workq *workq = NULL;

    MUST(doca_workq_create(64, &workq));
    return workq;
}

/* The buffer at offset: with data, or empty. */
static struct doca_buf *take_buf(struct doca_mmap *of, size_t offset, size_t length, int has_data)
{
    struct doca_buf *buf = NULL;
    void *start = memory + offset;

    if (has_data)
        MUST(doca_buf_inventory_buf_by_data(inventory, of, start, length, &buf));
    else
        MUST(doca_buf_inventory_buf_by_addr(inventory, of, start, length, &buf));
    return buf;
}

static void submit(struct doca_workq *workq, const struct doca_job *job)
{
    MUST(doca_workq_submit(workq, job));
}

static void wait_for_one(struct doca_workq *workq)
{
    struct doca_event event = {0};
    doca_error_t status = DOCA_ERROR_AGAIN;

    while (status == DOCA_ERROR_AGAIN)
        status = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE);
    MUST(status);
}

static void run_jobs(struct doca_workq *workq, const struct doca_job *job, unsigned long count)
{
    for (; count != 0; count--) {
        submit(workq, job);
        wait_for_one(workq);
    }
}

/* DMA */

static struct doca_workq *dma_workq;
static struct doca_dma_job_memcpy dma_job;

static void start_dma(void)
{
    struct doca_dma *dma = NULL;

    MUST(doca_dma_create(&dma));
    dma_workq = make_workq();
    dma_job.base.type = DOCA_DMA_JOB_MEMCPY;
    dma_job.base.ctx = doca_dma_as_ctx(dma);
    MUST(doca_ctx_dev_add(dma_job.base.ctx, dev));
    MUST(doca_ctx_start(dma_job.base.ctx));
    MUST(doca_ctx_workq_add(dma_job.base.ctx, dma_workq));
    dma_job.src_buff = take_buf(map, 0, size, 1);
    dma_job.dst_buff = take_buf(map, 4096, size, 0);
}

static void dma_64(unsigned long count)
{
    for (; count != 0; count--) {
        MUST(doca_buf_reset_data_len(dma_job.dst_buff));
        submit(dma_workq, &dma_job.base);
        wait_for_one(dma_workq);
    }
}

/* The destination is full, and so each copy overwrites it. */
static void dma_64_full(unsigned long count)
{
    run_jobs(dma_workq, &dma_job.base, count);
}

static void dma_64_floor(unsigned long count)
{
    run_floor(memory + 8192, memory, size, count);
}

/* Graphs */

/* A chain of nodes, and the instance that runs it. */
struct chain {
    struct doca_graph_instance *instance;
    unsigned long length;
};

static struct chain copies, callbacks, copies_of_3, callbacks_of_3;
static struct doca_dma_job_memcpy node_jobs[longest_chain];
static unsigned long calls;

static doca_error_t count_call(void *cookie, struct doca_event *event)
{
    (void)event;
    ++*(unsigned long *)cookie;
    return DOCA_SUCCESS;
}

static void make_jobs(void)
{
    for (int i = 0; i < longest_chain; i++) {
        node_jobs[i] = dma_job;
        node_jobs[i].dst_buff = take_buf(map, 16384 + (size_t)i * 128, size, 0);
    }
}

/* The first num_copies nodes are copies, the rest callbacks. */
static struct chain make_chain(int length, int num_copies)
{
    struct doca_graph *graph = NULL;
    struct chain chain = {NULL, (unsigned long)length};
    struct doca_graph_node *nodes[longest_chain];

    MUST(doca_graph_create(&graph));
    for (int i = 0; i < length; i++) {
        if (i < num_copies)
            MUST(doca_graph_ctx_node_create(graph, DOCA_DMA_JOB_MEMCPY, dma_job.base.ctx, &nodes[i]));
        else
            MUST(doca_graph_user_node_create(graph, count_call, &nodes[i]));
        if (i != 0)
            MUST(doca_graph_add_dependency(graph, nodes[i - 1], nodes[i]));
    }
    MUST(doca_graph_start(graph));
    MUST(doca_graph_workq_add(graph, dma_workq));
    MUST(doca_graph_instance_create(graph, &chain.instance));
    for (int i = 0; i < length; i++) {
        if (i < num_copies)
            MUST(doca_graph_instance_set_ctx_node_data(chain.instance, nodes[i], &node_jobs[i].base, NULL));
        else
            MUST(doca_graph_instance_set_user_node_data(chain.instance, nodes[i], &calls, NULL));
    }
    return chain;
}

static void run_chain(struct chain chain, unsigned long count)
{
    const union doca_data none = {0};

    for (unsigned long i = 0; i < count; i += chain.length) {
        MUST(doca_workq_graph_submit(dma_workq, chain.instance, none));
        wait_for_one(dma_workq);
    }
}

static void graph_copies(unsigned long count)
{
    run_chain(copies, count);
}

static void graph_callbacks(unsigned long count)
{
    run_chain(callbacks, count);
}

static void graph_3_copies(unsigned long count)
{
    run_chain(copies_of_3, count);
}

static void graph_3_callbacks(unsigned long count)
{
    run_chain(callbacks_of_3, count);
}

/* RDMA: two connected instances, each with a work queue of its own. */

static struct doca_rdma *ends[2];
static struct doca_workq *rdma_workqs[2];
static struct doca_rdma_job_read_write write_job;
static struct doca_rdma_job_read_write read_job;
static struct doca_rdma_job_atomic add_job;
static struct doca_rdma_job_send send_job;
static struct doca_rdma_job_recv receive_job;

static void connect_ends(struct doca_rdma *from, struct doca_rdma *to)
{
    const void *details = NULL;
    size_t length = 0;

    MUST(doca_rdma_export(to, &details, &length));
    MUST(doca_rdma_connect(from, details, length));
}

static void start_rdma(void)
{
    for (int i = 0; i < 2; i++) {
        struct doca_ctx *ctx;

        MUST(doca_rdma_create(&ends[i]));
        ctx = doca_rdma_as_ctx(ends[i]);
        MUST(doca_ctx_dev_add(ctx, dev));
        MUST(doca_rdma_set_permissions(ends[i], RIGHTS));
        MUST(doca_ctx_start(ctx));
        rdma_workqs[i] = make_workq();
        MUST(doca_ctx_workq_add(ctx, rdma_workqs[i]));
    }
    connect_ends(ends[0], ends[1]);
    connect_ends(ends[1], ends[0]);
    write_job.base.type = DOCA_RDMA_JOB_WRITE;
    write_job.base.ctx = doca_rdma_as_ctx(ends[0]);
    write_job.src_buff = take_buf(map, 0, 8, 1);
    write_job.dst_buff = take_buf(imported, 32768, 8, 0);
    read_job.base.type = DOCA_RDMA_JOB_READ;
    read_job.base.ctx = write_job.base.ctx;
    read_job.src_buff = take_buf(imported, 32768, 8, 1);
    read_job.dst_buff = take_buf(map, 32768 + 64, 8, 0);
    add_job.base.type = DOCA_RDMA_JOB_ATOMIC_FETCH_ADD;
    add_job.base.ctx = write_job.base.ctx;
    add_job.cmp_or_add_dest_buff = take_buf(imported, 32768 + 128, 8, 1);
    add_job.result_buff = take_buf(map, 32768 + 192, 8, 0);
    add_job.swap_or_add_data = 1;
    send_job.base.type = DOCA_RDMA_JOB_SEND;
    send_job.base.ctx = write_job.base.ctx;
    send_job.src_buff = write_job.src_buff;
    receive_job.base.type = DOCA_RDMA_JOB_RECV;
    receive_job.base.ctx = doca_rdma_as_ctx(ends[1]);
    receive_job.dst_buff = take_buf(map, 32768 + 256, 8, 0);
}

static void rdma_write(unsigned long count)
{
    run_jobs(rdma_workqs[0], &write_job.base, count);
}

/* Many in flight. */
static void rdma_write_32(unsigned long count)
{
    for (unsigned long i = 0; i < count; i += depth) {
        for (int j = 0; j < depth; j++)
            submit(rdma_workqs[0], &write_job.base);
        for (int j = 0; j < depth; j++)
            wait_for_one(rdma_workqs[0]);
    }
}

static void rdma_read(unsigned long count)
{
    for (; count != 0; count--) {
        MUST(doca_buf_reset_data_len(read_job.dst_buff));
        run_jobs(rdma_workqs[0], &read_job.base, 1);
    }
}

static void rdma_fetch_add(unsigned long count)
{
    run_jobs(rdma_workqs[0], &add_job.base, count);
}

/* Post a receive, send, retrieve both. */
static void rdma_send(unsigned long count)
{
    for (; count != 0; count--) {
        MUST(doca_buf_reset_data_len(receive_job.dst_buff));
        submit(rdma_workqs[1], &receive_job.base);
        submit(rdma_workqs[0], &send_job.base);
        wait_for_one(rdma_workqs[1]);
        wait_for_one(rdma_workqs[0]);
    }
}

/* Sync events */

static struct doca_sync_event *called_event;
static struct doca_workq *event_workq;
static struct doca_sync_event_job_update_set set_job;
static struct doca_sync_event_job_update_add increment_job;
static struct doca_sync_event_job_get get_job;
static struct doca_sync_event_job_wait wait_job;
static uint64_t event_value;

static struct doca_sync_event *make_event(void)
{
    struct doca_sync_event *event = NULL;

    MUST(doca_sync_event_create(&event));
    MUST(doca_sync_event_publisher_add_location_cpu(event, dev));
    MUST(doca_sync_event_subscriber_add_location_cpu(event, dev));
    return event;
}

static void start_sync_events(void)
{
    struct doca_ctx *ctx;

    called_event = make_event();
    MUST(doca_sync_event_start(called_event));
    event_workq = make_workq();
    ctx = doca_sync_event_as_ctx(make_event());
    MUST(doca_ctx_start(ctx));
    MUST(doca_ctx_workq_add(ctx, event_workq));
    set_job.base.type = DOCA_SYNC_EVENT_JOB_UPDATE_SET;
    increment_job.base.type = DOCA_SYNC_EVENT_JOB_UPDATE_ADD;
    get_job.base.type = DOCA_SYNC_EVENT_JOB_GET;
    wait_job.base.type = DOCA_SYNC_EVENT_JOB_WAIT_GT;
    set_job.base.ctx = increment_job.base.ctx = get_job.base.ctx = wait_job.base.ctx = ctx;
    increment_job.value = 1;
    get_job.value = &event_value;
    wait_job.mask = UINT64_MAX;
}

/* Set, add and get: three calls. */
static void sync_event_calls(unsigned long count)
{
    for (; count != 0; count--) {
        MUST(doca_sync_event_update_set(called_event, count));
        MUST(doca_sync_event_update_add(called_event, 1, &event_value));
        MUST(doca_sync_event_get(called_event, &event_value));
    }
}

static void sync_event_set(unsigned long count)
{
    run_jobs(event_workq, &set_job.base, count);
}

static void sync_event_add(unsigned long count)
{
    run_jobs(event_workq, &increment_job.base, count);
}

static void sync_event_get(unsigned long count)
{
    run_jobs(event_workq, &get_job.base, count);
}

/* A wait that an update ends. */
static void sync_event_wait(unsigned long count)
{
    for (; count != 0; count--) {
        submit(event_workq, &set_job.base); /* to 0 */
        wait_for_one(event_workq);
        submit(event_workq, &wait_job.base);
        submit(event_workq, &increment_job.base);
        wait_for_one(event_workq);
        wait_for_one(event_workq);
    }
}

static void open_device(void)
{
    struct doca_devinfo **list = NULL;
    uint32_t num_devices = 0;

    MUST(doca_devinfo_list_create(&list, &num_devices));
    for (uint32_t i = 0; i < num_devices && dev == NULL; i++) {
        if (doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS &&
            doca_rdma_job_get_supported(list[i], DOCA_RDMA_JOB_WRITE) == DOCA_SUCCESS)
            MUST(doca_dev_open(list[i], &dev));
    }
    if (dev == NULL)
        MUST(DOCA_ERROR_NOT_FOUND);
    MUST(doca_devinfo_list_destroy(list));
}

static void map_memory(void)
{
    const void *descriptor = NULL;
    size_t length = 0;

    MUST(doca_mmap_create(NULL, &map));
    MUST(doca_mmap_dev_add(map, dev));
    MUST(doca_mmap_set_memrange(map, memory, sizeof(memory)));
    MUST(doca_mmap_set_permissions(map, RIGHTS));
    MUST(doca_mmap_start(map));
    MUST(doca_mmap_export_rdma(map, dev, &descriptor, &length));
    MUST(doca_mmap_create_from_export(NULL, descriptor, length, dev, &imported));
    MUST(doca_buf_inventory_create(NULL, 256, 0, &inventory));
    MUST(doca_buf_inventory_start(inventory));
}

int main(void)
{
    static const struct loop loops[] = {
        {"dma_64", dma_64},
        {"dma_64_full", dma_64_full},
        {"dma_64_floor", dma_64_floor},
        {"graph_copies", graph_copies},
        {"graph_callbacks", graph_callbacks},
        {"graph_3_copies", graph_3_copies},
        {"graph_3_callbacks", graph_3_callbacks},
        {"rdma_write", rdma_write},
        {"rdma_write_32", rdma_write_32},
        {"rdma_read", rdma_read},
        {"rdma_fetch_add", rdma_fetch_add},
        {"rdma_send", rdma_send},
        {"sync_event_calls", sync_event_calls},
        {"sync_event_set", sync_event_set},
        {"sync_event_add", sync_event_add},
        {"sync_event_get", sync_event_get},
        {"sync_event_wait", sync_event_wait},
    };

    open_device();
    map_memory();
    start_dma();
    make_jobs();
    copies = make_chain(longest_chain, longest_chain);
    callbacks = make_chain(longest_chain, 1);
    copies_of_3 = make_chain(3, 3);
    callbacks_of_3 = make_chain(3, 1);
    start_rdma();
    start_sync_events();
    return serve_loops(loops, sizeof(loops) / sizeof(loops[0]));
}
