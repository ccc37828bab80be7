// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Tasks of DOCA 3.0 from submit to their callbacks, one after the other; the same work as in jobs.c. See
// side_by_side.py.
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_graph.h>
#include <doca_mmap.h>
#include <doca_pe.h>
#include <doca_rdma.h>

#include "loops.h"

#define RIGHTS                                                                                                         \
    (DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE |                    \
     DOCA_ACCESS_FLAG_RDMA_ATOMIC)

enum { size = 64, longest_chain = 16, depth = 32 };

static _Alignas(64) unsigned char memory[1 << 16];
static const union doca_data no_data;
static struct doca_dev *dev;
static struct doca_mmap *map;
static struct doca_mmap *imported;
static struct doca_buf_inventory *inventory;
static volatile unsigned long num_ended;

static struct doca_buf *take_buf(struct doca_mmap *of, size_t offset, size_t length, int has_data)
{
    struct doca_buf *buf = NULL;
    void *start = memory + offset;

    if (has_data)
        MUST(doca_buf_inventory_buf_get_by_data(inventory, of, start, length, &buf));
    else
        MUST(doca_buf_inventory_buf_get_by_addr(inventory, of, start, length, &buf));
    return buf;
}

/* One progress call runs one callback. */
static void wait_for_one(struct doca_pe *pe)
{
    while (doca_pe_progress(pe) == 0)
        ;
}

static void run_tasks(struct doca_pe *pe, struct doca_task *task, unsigned long count)
{
    for (; count != 0; count--) {
        MUST(doca_task_submit(task));
        wait_for_one(pe);
    }
}

/* The callbacks of a type of tasks, which the program keeps. */
#define CALLBACKS(type)                                                                                                \
    static void type##_ended(struct doca_##type *task, union doca_data task_data, union doca_data ctx_data)            \
    {                                                                                                                  \
        (void)task, (void)task_data, (void)ctx_data;                                                                   \
        num_ended = num_ended + 1;                                                                                     \
    }                                                                                                                  \
    static void type##_failed(struct doca_##type *task, union doca_data task_data, union doca_data ctx_data)           \
    {                                                                                                                  \
        (void)task_data, (void)ctx_data;                                                                               \
        MUST(doca_task_get_status(doca_##type##_as_task(task)));                                                       \
    }

CALLBACKS(dma_task_memcpy)
CALLBACKS(rdma_task_write)
CALLBACKS(rdma_task_read)
CALLBACKS(rdma_task_send)
CALLBACKS(rdma_task_receive)
CALLBACKS(rdma_task_atomic_fetch_add)

static struct doca_pe *start_ctx(struct doca_ctx *ctx)
{
    struct doca_pe *pe = NULL;

    MUST(doca_pe_create(&pe));
    MUST(doca_pe_connect_ctx(pe, ctx));
    MUST(doca_ctx_start(ctx));
    return pe;
}

/* DMA */

static struct doca_pe *dma_pe;
static struct doca_task *dma_task;
static struct doca_buf *dma_dst;

/* A DMA context on an engine of its own. */
static struct doca_dma *make_dma(struct doca_pe **pe)
{
    struct doca_dma *dma = NULL;

    MUST(doca_dma_create(dev, &dma));
    MUST(doca_dma_task_memcpy_set_conf(dma, dma_task_memcpy_ended, dma_task_memcpy_failed, 64));
    *pe = start_ctx(doca_dma_as_ctx(dma));
    return dma;
}

static struct doca_task *make_copy(struct doca_dma *dma, struct doca_buf *dst)
{
    struct doca_dma_task_memcpy *task = NULL;

    MUST(doca_dma_task_memcpy_alloc_init(dma, take_buf(map, 0, size, 1), dst, no_data, &task));
    return doca_dma_task_memcpy_as_task(task);
}

static void start_dma(void)
{
    struct doca_dma *const dma = make_dma(&dma_pe);

    dma_dst = take_buf(map, 4096, size, 0);
    dma_task = make_copy(dma, dma_dst);
}

static void dma_64(unsigned long count)
{
    for (; count != 0; count--) {
        MUST(doca_buf_reset_data_len(dma_dst));
        run_tasks(dma_pe, dma_task, 1);
    }
}

static void dma_64_full(unsigned long count)
{
    run_tasks(dma_pe, dma_task, count);
}

/* Graphs */

/* A chain of nodes, and the instance that runs it. */
struct chain {
    struct doca_pe *pe;
    struct doca_graph_instance *instance;
    unsigned long length;
};

static struct chain copies, callbacks, copies_of_3, callbacks_of_3;
static unsigned long calls;
static volatile int is_chain_ended;

static doca_error_t count_call(void *cookie)
{
    ++*(unsigned long *)cookie;
    return DOCA_SUCCESS;
}

static void chain_ended(struct doca_graph_instance *instance, union doca_data instance_data, union doca_data graph_data)
{
    (void)instance, (void)instance_data, (void)graph_data;
    is_chain_ended = 1;
}

static void chain_failed(struct doca_graph_instance *instance, union doca_data instance_data,
                         union doca_data graph_data)
{
    (void)instance, (void)instance_data, (void)graph_data;
    fprintf(stderr, "a graph has failed\n");
    exit(1);
}

/* The first num_copies nodes are copies, the rest callbacks. */
static struct chain make_chain(int length, int num_copies)
{
    struct doca_graph *graph = NULL;
    struct chain chain = {NULL, NULL, (unsigned long)length};
    struct doca_dma *const dma = make_dma(&chain.pe);
    struct doca_graph_node *nodes[longest_chain];

    MUST(doca_graph_create(chain.pe, &graph));
    for (int i = 0; i < length; i++) {
        if (i < num_copies)
            MUST(doca_graph_node_create_from_ctx(graph, doca_dma_as_ctx(dma), &nodes[i]));
        else
            MUST(doca_graph_node_create_from_user(graph, count_call, &nodes[i]));
        if (i != 0)
            MUST(doca_graph_add_dependency(graph, nodes[i - 1], nodes[i]));
    }
    MUST(doca_graph_set_conf(graph, chain_ended, chain_failed, 1));
    MUST(doca_graph_start(graph));
    MUST(doca_graph_instance_create(graph, &chain.instance));
    for (int i = 0; i < length; i++) {
        if (i >= num_copies) {
            MUST(doca_graph_instance_set_user_node_data(chain.instance, nodes[i], &calls));
            continue;
        }
        struct doca_buf *const dst = take_buf(map, 16384 + (size_t)i * 128, size, 0);

        MUST(doca_graph_instance_set_ctx_node_data(chain.instance, nodes[i], make_copy(dma, dst)));
    }
    return chain;
}

static void run_chain(struct chain chain, unsigned long count)
{
    for (unsigned long i = 0; i < count; i += chain.length) {
        is_chain_ended = 0;
        MUST(doca_graph_instance_submit(chain.instance));
        while (!is_chain_ended)
            wait_for_one(chain.pe);
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

/* RDMA: two connected instances, each with a progress engine of its own. */

static struct doca_rdma *ends[2];
static struct doca_pe *rdma_pes[2];
static struct doca_task *write_tasks[depth];
static struct doca_task *read_task;
static struct doca_task *add_task;
static struct doca_task *send_task;
static struct doca_task *receive_task;
static struct doca_buf *read_dst;
static struct doca_buf *receive_dst;

static void start_rdma(void)
{
    struct doca_rdma_connection *connections[2];
    const void *details[2];
    size_t lengths[2];

    for (int i = 0; i < 2; i++) {
        MUST(doca_rdma_create(dev, &ends[i]));
        MUST(doca_rdma_set_permissions(ends[i], RIGHTS));
        MUST(doca_rdma_task_write_set_conf(ends[i], rdma_task_write_ended, rdma_task_write_failed, 64));
        MUST(doca_rdma_task_read_set_conf(ends[i], rdma_task_read_ended, rdma_task_read_failed, 64));
        MUST(doca_rdma_task_send_set_conf(ends[i], rdma_task_send_ended, rdma_task_send_failed, 64));
        MUST(doca_rdma_task_receive_set_conf(ends[i], rdma_task_receive_ended, rdma_task_receive_failed, 64));
        MUST(doca_rdma_task_atomic_fetch_add_set_conf(ends[i], rdma_task_atomic_fetch_add_ended,
                                                      rdma_task_atomic_fetch_add_failed, 64));
        rdma_pes[i] = start_ctx(doca_rdma_as_ctx(ends[i]));
    }
    for (int i = 0; i < 2; i++)
        MUST(doca_rdma_export(ends[i], &details[i], &lengths[i], &connections[i]));
    for (int i = 0; i < 2; i++)
        MUST(doca_rdma_connect(ends[i], details[1 - i], lengths[1 - i], connections[i]));
    for (int i = 0; i < 2; i++)
        while (doca_pe_progress(rdma_pes[i]) != 0)
            ;

    struct doca_buf *const src = take_buf(map, 0, 8, 1);
    struct doca_buf *const dst = take_buf(imported, 32768, 8, 0);

    for (int i = 0; i < depth; i++) {
        struct doca_rdma_task_write *task = NULL;

        MUST(doca_rdma_task_write_allocate_init(ends[0], connections[0], src, dst, no_data, &task));
        write_tasks[i] = doca_rdma_task_write_as_task(task);
    }
    struct doca_rdma_task_read *read = NULL;

    read_dst = take_buf(map, 32768 + 64, 8, 0);
    MUST(doca_rdma_task_read_allocate_init(ends[0], connections[0], take_buf(imported, 32768, 8, 1), read_dst, no_data,
                                           &read));
    read_task = doca_rdma_task_read_as_task(read);
    struct doca_rdma_task_atomic_fetch_add *add = NULL;

    MUST(doca_rdma_task_atomic_fetch_add_allocate_init(ends[0], connections[0], take_buf(imported, 32768 + 128, 8, 1),
                                                       take_buf(map, 32768 + 192, 8, 0), 1, no_data, &add));
    add_task = doca_rdma_task_atomic_fetch_add_as_task(add);
    struct doca_rdma_task_send *send = NULL;

    MUST(doca_rdma_task_send_allocate_init(ends[0], connections[0], src, no_data, &send));
    send_task = doca_rdma_task_send_as_task(send);
    struct doca_rdma_task_receive *receive = NULL;

    receive_dst = take_buf(map, 32768 + 256, 8, 0);
    MUST(doca_rdma_task_receive_allocate_init(ends[1], receive_dst, no_data, &receive));
    receive_task = doca_rdma_task_receive_as_task(receive);
}

static void rdma_write(unsigned long count)
{
    run_tasks(rdma_pes[0], write_tasks[0], count);
}

static void rdma_write_32(unsigned long count)
{
    for (unsigned long i = 0; i < count; i += depth) {
        for (int j = 0; j < depth; j++)
            MUST(doca_task_submit(write_tasks[j]));
        for (int j = 0; j < depth; j++)
            wait_for_one(rdma_pes[0]);
    }
}

static void rdma_read(unsigned long count)
{
    for (; count != 0; count--) {
        MUST(doca_buf_reset_data_len(read_dst));
        run_tasks(rdma_pes[0], read_task, 1);
    }
}

static void rdma_fetch_add(unsigned long count)
{
    run_tasks(rdma_pes[0], add_task, count);
}

static void rdma_send(unsigned long count)
{
    for (; count != 0; count--) {
        MUST(doca_buf_reset_data_len(receive_dst));
        MUST(doca_task_submit(receive_task));
        MUST(doca_task_submit(send_task));
        wait_for_one(rdma_pes[1]);
        wait_for_one(rdma_pes[0]);
    }
}

static void open_device(void)
{
    struct doca_devinfo **list = NULL;
    uint32_t num_devices = 0;

    MUST(doca_devinfo_create_list(&list, &num_devices));
    for (uint32_t i = 0; i < num_devices && dev == NULL; i++) {
        if (doca_dma_cap_task_memcpy_is_supported(list[i]) == DOCA_SUCCESS &&
            doca_rdma_cap_task_write_is_supported(list[i]) == DOCA_SUCCESS)
            MUST(doca_dev_open(list[i], &dev));
    }
    if (dev == NULL)
        MUST(DOCA_ERROR_NOT_FOUND);
    MUST(doca_devinfo_destroy_list(list));
}

static void map_memory(void)
{
    const void *descriptor = NULL;
    size_t length = 0;

    MUST(doca_mmap_create(&map));
    MUST(doca_mmap_add_dev(map, dev));
    MUST(doca_mmap_set_memrange(map, memory, sizeof(memory)));
    MUST(doca_mmap_set_permissions(map, RIGHTS));
    MUST(doca_mmap_start(map));
    MUST(doca_mmap_export_rdma(map, dev, &descriptor, &length));
    MUST(doca_mmap_create_from_export(NULL, descriptor, length, dev, &imported));
    MUST(doca_buf_inventory_create(256, &inventory));
    MUST(doca_buf_inventory_start(inventory));
}

int main(void)
{
    static const struct loop loops[] = {
        {"dma_64", dma_64},
        {"dma_64_full", dma_64_full},
        {"graph_copies", graph_copies},
        {"graph_callbacks", graph_callbacks},
        {"graph_3_copies", graph_3_copies},
        {"graph_3_callbacks", graph_3_callbacks},
        {"rdma_write", rdma_write},
        {"rdma_write_32", rdma_write_32},
        {"rdma_read", rdma_read},
        {"rdma_fetch_add", rdma_fetch_add},
        {"rdma_send", rdma_send},
    };

    open_device();
    map_memory();
    start_dma();
    copies = make_chain(longest_chain, longest_chain);
    callbacks = make_chain(longest_chain, 1);
    copies_of_3 = make_chain(3, 3);
    callbacks_of_3 = make_chain(3, 1);
    start_rdma();
    return serve_loops(loops, sizeof(loops) / sizeof(loops[0]));
}
