// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Two instances of one connection each, as until 2.6: each starts, exports, connects while its context is starting, and
// runs once it is connected. Then messages, reads, writes and atomics, whose tasks name no connection.
#include <poll.h>

#include <doca_rdma.h>

#include "engine.h"

enum { CLIENT, SERVER };

struct side {
    struct doca_rdma *rdma;
    struct doca_ctx *ctx;
    struct memory memory;
    enum doca_ctx_states state;
    int changes;
} sides[2];

static int num_ended;
static uint32_t length;

static void changed(const union doca_data user_data, struct doca_ctx *ctx, enum doca_ctx_states before,
                    enum doca_ctx_states next)
{
    struct side *side = (struct side *)user_data.ptr;
    CHECK(ctx == side->ctx && before == side->state);
    side->state = next;
    ++side->changes;
}

#define ENDS(type)                                                                                                     \
    static void type##_ended(struct doca_rdma_task_##type *task, union doca_data task_data, union doca_data ctx_data)  \
    {                                                                                                                  \
        (void)task_data;                                                                                               \
        (void)ctx_data;                                                                                                \
        WORKS(doca_task_get_status(doca_rdma_task_##type##_as_task(task)));                                            \
        ++num_ended;                                                                                                   \
        doca_task_free(doca_rdma_task_##type##_as_task(task));                                                         \
    }
ENDS(send)
ENDS(send_imm)
ENDS(write)
ENDS(write_imm)
ENDS(atomic_cmp_swp)
ENDS(atomic_fetch_add)

static void read_ended(struct doca_rdma_task_read *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
#if DOCA_API == 20500
    length = doca_rdma_task_read_get_result_length(task);
#else
    length = doca_rdma_task_read_get_result_len(task);
#endif
    ++num_ended;
    doca_task_free(doca_rdma_task_read_as_task(task));
}

static void receive_ended(struct doca_rdma_task_receive *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_rdma_task_receive_as_task(task)));
    CHECK(doca_rdma_task_receive_get_result_opcode(task) == (enum doca_rdma_opcode)task_data.u64);
#if DOCA_API == 20500
    length = doca_rdma_task_receive_get_result_length(task);
#else
    length = doca_rdma_task_receive_get_result_len(task);
#endif
    if (task_data.u64 != DOCA_RDMA_OPCODE_RECV_SEND)
        CHECK(doca_rdma_task_receive_get_result_immediate_data(task) == 7);
    ++num_ended;
    doca_task_free(doca_rdma_task_receive_as_task(task));
}

static void set_up(struct side *side, struct doca_dev *dev, struct doca_pe *pe)
{
    union doca_data data;
    uint32_t num_gids = 0;
    const uint32_t permissions = DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_RDMA_READ |
                                 DOCA_ACCESS_FLAG_RDMA_WRITE | DOCA_ACCESS_FLAG_RDMA_ATOMIC;
    make_memory(&side->memory, dev, 4096, permissions);
    WORKS(doca_rdma_create(dev, &side->rdma));
    side->ctx = doca_rdma_as_ctx(side->rdma);
    WORKS(doca_rdma_set_permissions(side->rdma, permissions));
#if DOCA_API == 20500
    bool has_grh = false;
    WORKS(doca_rdma_set_grh_enabled(side->rdma, true));
#else
    uint8_t has_grh = 0;
    WORKS(doca_rdma_set_grh_enabled(side->rdma, 1));
#endif
    WORKS(doca_rdma_get_grh_enabled(side->rdma, &has_grh));
    CHECK(has_grh);
    WORKS(doca_rdma_cap_get_gid_table_size(doca_dev_as_devinfo(dev), &num_gids));
    WORKS(doca_rdma_task_receive_set_conf(side->rdma, receive_ended, receive_ended, 4));
    WORKS(doca_rdma_task_send_set_conf(side->rdma, send_ended, send_ended, 1));
    WORKS(doca_rdma_task_send_imm_set_conf(side->rdma, send_imm_ended, send_imm_ended, 1));
    WORKS(doca_rdma_task_read_set_conf(side->rdma, read_ended, read_ended, 1));
    WORKS(doca_rdma_task_write_set_conf(side->rdma, write_ended, write_ended, 1));
    WORKS(doca_rdma_task_write_imm_set_conf(side->rdma, write_imm_ended, write_imm_ended, 1));
    WORKS(doca_rdma_task_atomic_cmp_swp_set_conf(side->rdma, atomic_cmp_swp_ended, atomic_cmp_swp_ended, 1));
    WORKS(doca_rdma_task_atomic_fetch_add_set_conf(side->rdma, atomic_fetch_add_ended, atomic_fetch_add_ended, 1));
    data.ptr = side;
    WORKS(doca_ctx_set_user_data(side->ctx, data));
    WORKS(doca_ctx_set_state_changed_cb(side->ctx, changed));
    WORKS(doca_pe_connect_ctx(pe, side->ctx));
}

static void connect_sides(struct doca_pe *pe, int is_blocking)
{
    char details[2][1024];
    size_t sizes[2];
    int i;
    for (i = 0; i < 2; ++i) {
        const void *made, *again;
        size_t size;
        sides[i].changes = 0;
        GIVES(doca_rdma_export(sides[i].rdma, &made, &size), DOCA_ERROR_BAD_STATE);
        GIVES(doca_ctx_start(sides[i].ctx), DOCA_ERROR_IN_PROGRESS);
        CHECK(sides[i].state == DOCA_CTX_STATE_STARTING);
        (void)doca_pe_progress(pe);
        CHECK(sides[i].state == DOCA_CTX_STATE_STARTING);
        WORKS(doca_rdma_export(sides[i].rdma, &made, &sizes[i]));
        WORKS(doca_rdma_export(sides[i].rdma, &again, &size));
        CHECK(again == made && size == sizes[i] && size <= sizeof(details[i]));
        memcpy(details[i], made, size);
    }
    for (i = 0; i < 2; ++i) {
        GIVES(doca_rdma_connect(sides[i].rdma, NULL, 1), DOCA_ERROR_INVALID_VALUE);
        GIVES(doca_rdma_connect(sides[i].rdma, details[0], 0), DOCA_ERROR_INVALID_VALUE);
        WORKS(doca_rdma_connect(sides[i].rdma, details[1 - i], sizes[1 - i]));
        CHECK(sides[i].state == DOCA_CTX_STATE_STARTING); // until a progress call
    }
    while (sides[0].state != DOCA_CTX_STATE_RUNNING || sides[1].state != DOCA_CTX_STATE_RUNNING) {
        if (is_blocking) { // the engine is readable for the pending change of state
            struct pollfd waiting = {.events = POLLIN};
            doca_notification_handle_t handle;
            WORKS(doca_pe_get_notification_handle(pe, &handle));
            WORKS(doca_pe_request_notification(pe));
            waiting.fd = handle;
            CHECK(poll(&waiting, 1, -1) == 1);
            WORKS(doca_pe_clear_notification(pe, handle));
        }
        (void)doca_pe_progress(pe);
    }
    CHECK(sides[0].changes == 2 && sides[1].changes == 2);
}

static void wait_for(struct doca_pe *pe, int number)
{
    while (num_ended < number)
        (void)doca_pe_progress(pe);
    num_ended = 0;
}

static void post_receive(struct doca_buf *buf, enum doca_rdma_opcode opcode)
{
    struct doca_rdma_task_receive *task;
    union doca_data data;
    data.u64 = opcode;
    WORKS(doca_rdma_task_receive_allocate_init(sides[SERVER].rdma, buf, data, &task));
    WORKS(doca_task_submit(doca_rdma_task_receive_as_task(task)));
}

static void exchange(struct doca_pe *pe, struct doca_dev *dev)
{
    struct doca_rdma *client = sides[CLIENT].rdma;
    struct memory *own = &sides[CLIENT].memory, *theirs = &sides[SERVER].memory;
    struct doca_rdma_task_send *send;
    struct doca_rdma_task_send_imm *send_imm;
    struct doca_rdma_task_read *read;
    struct doca_rdma_task_write *write;
    struct doca_rdma_task_write_imm *write_imm;
    struct doca_rdma_task_atomic_cmp_swp *compare;
    struct doca_rdma_task_atomic_fetch_add *add;
    struct doca_buf *src = buffer(own, 0, 64, "a message"), *result = buffer(own, 64, 64, NULL);
    struct doca_buf *received = buffer(theirs, 0, 64, NULL), *far, *counter;
    struct doca_mmap *remote;
    const void *descriptor;
    union doca_data none;
    size_t size;
    none.u64 = 0;

    post_receive(received, DOCA_RDMA_OPCODE_RECV_SEND);
    WORKS(doca_rdma_task_send_allocate_init(client, src, none, &send));
    WORKS(doca_task_submit(doca_rdma_task_send_as_task(send)));
    wait_for(pe, 2);
    CHECK(length == 10 && strcmp(theirs->bytes, "a message") == 0);

    post_receive(NULL, DOCA_RDMA_OPCODE_RECV_SEND_WITH_IMM);
    WORKS(doca_rdma_task_send_imm_allocate_init(client, NULL, 7, none, &send_imm));
    WORKS(doca_task_submit(doca_rdma_task_send_imm_as_task(send_imm)));
    wait_for(pe, 2);
    CHECK(length == 0);

    WORKS(doca_mmap_export_rdma(theirs->mmap, dev, &descriptor, &size));
    WORKS(doca_mmap_create_from_export(NULL, descriptor, size, dev, &remote));
    WORKS(doca_buf_inventory_buf_get_by_addr(own->inventory, remote, theirs->bytes + 128, 64, &far));
    WORKS(doca_rdma_task_write_allocate_init(client, src, far, none, &write));
    WORKS(doca_task_submit(doca_rdma_task_write_as_task(write)));
    wait_for(pe, 1);
    CHECK(strcmp(theirs->bytes + 128, "a message") == 0);

    post_receive(NULL, DOCA_RDMA_OPCODE_RECV_WRITE_WITH_IMM);
    WORKS(doca_buf_reset_data_len(far));
    WORKS(doca_rdma_task_write_imm_allocate_init(client, src, far, 7, none, &write_imm));
    WORKS(doca_task_submit(doca_rdma_task_write_imm_as_task(write_imm)));
    wait_for(pe, 2);

    strcpy(theirs->bytes + 128, "to be read");
    WORKS(doca_buf_set_data(far, theirs->bytes + 128, 11));
    WORKS(doca_rdma_task_read_allocate_init(client, far, result, none, &read));
    WORKS(doca_task_submit(doca_rdma_task_read_as_task(read)));
    wait_for(pe, 1);
    CHECK(length == 11 && strcmp(own->bytes + 64, "to be read") == 0);

    *(uint64_t *)(theirs->bytes + 256) = 5;
    WORKS(doca_buf_inventory_buf_get_by_data(own->inventory, remote, theirs->bytes + 256, 8, &counter));
    WORKS(doca_buf_dec_refcount(result, NULL));
    result = buffer(own, 64, 8, NULL);
    WORKS(doca_rdma_task_atomic_fetch_add_allocate_init(client, counter, result, 2, none, &add));
    WORKS(doca_task_submit(doca_rdma_task_atomic_fetch_add_as_task(add)));
    wait_for(pe, 1);
    WORKS(doca_buf_reset_data_len(result));
    WORKS(doca_rdma_task_atomic_cmp_swp_allocate_init(client, counter, result, 7, 100, none, &compare));
    WORKS(doca_task_submit(doca_rdma_task_atomic_cmp_swp_as_task(compare)));
    wait_for(pe, 1);
    CHECK(*(uint64_t *)(theirs->bytes + 256) == 100 && *(uint64_t *)(own->bytes + 64) == 7);

    WORKS(doca_buf_dec_refcount(src, NULL));
    WORKS(doca_buf_dec_refcount(result, NULL));
    WORKS(doca_buf_dec_refcount(received, NULL));
    WORKS(doca_buf_dec_refcount(far, NULL));
    WORKS(doca_buf_dec_refcount(counter, NULL));
    WORKS(doca_mmap_destroy(remote));
}

int main(void)
{
    struct doca_dev *dev = open_device(doca_rdma_cap_task_send_is_supported, NULL);
    struct doca_pe *pe;
    int i, round;
    WORKS(doca_pe_create(&pe));
    for (i = 0; i < 2; ++i)
        set_up(&sides[i], dev, pe);
    for (round = 0; round < 2; ++round) { // an instance is started again, and is without a connection then
        connect_sides(pe, round);
        exchange(pe, dev);
        for (i = 0; i < 2; ++i)
            stop(pe, sides[i].ctx);
    }
    GIVES(doca_ctx_start(sides[0].ctx), DOCA_ERROR_IN_PROGRESS);
    stop(pe, sides[0].ctx); // while it is starting
    for (i = 0; i < 2; ++i) {
        WORKS(doca_rdma_destroy(sides[i].rdma));
        drop_memory(&sides[i].memory);
    }
    WORKS(doca_pe_destroy(pe));
    WORKS(doca_dev_close(dev));
    return 0;
}
