// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A block that was lost is computed from the other one and the redundancy. The header alone brings what it needs.
#include <doca_erasure_coding.h>

#include <doca_buf_inventory.h>

#include "engine.h"

static int num_ended;

static void made(struct doca_ec_task_create *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_ec_task_create_as_task(task)));
    doca_task_free(doca_ec_task_create_as_task(task));
    ++num_ended;
}

static void recovered(struct doca_ec_task_recover *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_ec_task_recover_as_task(task)));
    doca_task_free(doca_ec_task_recover_as_task(task));
    ++num_ended;
}

int main(void)
{
    struct doca_dev *dev = open_device(doca_ec_cap_task_create_is_supported, NULL);
    struct doca_ec_matrix *coding, *recovering;
    struct doca_ec_task_recover *recover;
    struct doca_ec_task_create *create;
    struct doca_buf *blocks, *redundancy, *left, *rest, *lost;
    struct memory memory;
    struct doca_ec *ec;
    struct doca_pe *pe;
    uint32_t missing[] = {0};
    union doca_data none;
    none.u64 = 0;
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    memset(memory.bytes, 'a', 64);
    memset(memory.bytes + 64, 'b', 64);
    WORKS(doca_buf_inventory_buf_get_by_data(memory.inventory, memory.mmap, memory.bytes, 128, &blocks));
    redundancy = buffer(&memory, 1024, 128, NULL);
    WORKS(doca_ec_create(dev, &ec));
    pe = make_engine(doca_ec_as_ctx(ec));
    WORKS(doca_ec_task_create_set_conf(ec, made, made, 1));
    WORKS(doca_ec_task_recover_set_conf(ec, recovered, recovered, 1));
    WORKS(doca_ctx_start(doca_ec_as_ctx(ec)));
    WORKS(doca_ec_matrix_create(ec, DOCA_EC_MATRIX_TYPE_CAUCHY, 2, 1, &coding));
    WORKS(doca_ec_task_create_allocate_init(ec, coding, blocks, redundancy, none, &create));
    WORKS(doca_task_submit(doca_ec_task_create_as_task(create)));
    while (num_ended == 0)
        (void)doca_pe_progress(pe);

    WORKS(doca_buf_inventory_buf_get_by_data(memory.inventory, memory.mmap, memory.bytes + 64, 64, &left));
    WORKS(doca_buf_inventory_buf_get_by_data(memory.inventory, memory.mmap, memory.bytes + 1024, 64, &rest));
    WORKS(doca_buf_chain_list(left, rest));
    lost = buffer(&memory, 2048, 64, NULL);
    WORKS(doca_ec_matrix_create_recover(ec, coding, missing, 1, &recovering));
    WORKS(doca_ec_task_recover_allocate_init(ec, recovering, left, lost, none, &recover));
    WORKS(doca_task_submit(doca_ec_task_recover_as_task(recover)));
    while (num_ended == 1)
        (void)doca_pe_progress(pe);
    CHECK(memcmp(memory.bytes + 2048, memory.bytes, 64) == 0);
    WORKS(doca_ec_matrix_destroy(recovering));
    WORKS(doca_ec_matrix_destroy(coding));
    stop(pe, doca_ec_as_ctx(ec));
    WORKS(doca_ec_destroy(ec));
    WORKS(doca_pe_destroy(pe));
    WORKS(doca_buf_dec_refcount(blocks, NULL));
    WORKS(doca_buf_dec_refcount(redundancy, NULL));
    WORKS(doca_buf_dec_refcount(left, NULL));
    WORKS(doca_buf_dec_refcount(lost, NULL));
    drop_memory(&memory);
    WORKS(doca_dev_close(dev));
    return 0;
}
