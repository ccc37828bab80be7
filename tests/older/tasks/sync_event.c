// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A sync event of this process: its tasks, and the wait for a greater value. doca_sync_event.h alone brings the
// context.
#include <doca_sync_event.h>

#include "engine.h"

static int num_set, num_waited;

static void was_set(struct doca_sync_event_task_notify_set *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)task_data;
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_sync_event_task_notify_set_as_doca_task(task)));
    doca_task_free(doca_sync_event_task_notify_set_as_doca_task(task));
    ++num_set;
}

static void waited(struct doca_sync_event_task_wait_gt *task, union doca_data task_data, union doca_data ctx_data)
{
    (void)ctx_data;
    WORKS(doca_task_get_status(doca_sync_event_task_wait_gt_as_doca_task(task)));
    CHECK(task_data.u64 == 77);
    doca_task_free(doca_sync_event_task_wait_gt_as_doca_task(task));
    ++num_waited;
}

static void set(struct doca_sync_event *event, struct doca_pe *pe, uint64_t value)
{
    struct doca_sync_event_task_notify_set *task;
    union doca_data none;
    const int before = num_set;
    none.u64 = 0;
    WORKS(doca_sync_event_task_notify_set_alloc_init(event, value, none, &task));
    WORKS(doca_task_submit(doca_sync_event_task_notify_set_as_doca_task(task)));
    while (num_set == before)
        (void)doca_pe_progress(pe);
}

int main(void)
{
    struct doca_dev *dev = open_device(doca_sync_event_cap_task_wait_gt_is_supported, NULL);
    struct doca_sync_event_task_wait_gt *wait;
    struct doca_sync_event *event;
    struct doca_pe *pe;
    union doca_data data;
    int i;
    data.u64 = 77;
    WORKS(doca_sync_event_create(&event));
    WORKS(doca_sync_event_add_publisher_location_cpu(event, dev));
    WORKS(doca_sync_event_add_subscriber_location_cpu(event, dev));
    pe = make_engine(doca_sync_event_as_ctx(event));
    WORKS(doca_sync_event_task_notify_set_set_conf(event, was_set, was_set, 1));
    WORKS(doca_sync_event_task_wait_gt_set_conf(event, waited, waited, 1));
    WORKS(doca_ctx_start(doca_sync_event_as_ctx(event)));
    WORKS(doca_sync_event_task_wait_gt_alloc_init(event, 1, 1, data, &wait));
    doca_sync_event_task_wait_gt_set_wait_val(wait, 4);
    doca_sync_event_task_wait_gt_set_mask(wait, 0xf);
    CHECK(doca_sync_event_task_wait_gt_get_wait_val(wait) == 4);
    CHECK(doca_sync_event_task_wait_gt_get_mask(wait) == 0xf);
    WORKS(doca_task_submit(doca_sync_event_task_wait_gt_as_doca_task(wait)));
    set(event, pe, 4);
    set(event, pe, 0x10); // 0 below the mask
    for (i = 0; i < 1000; ++i)
        (void)doca_pe_progress(pe);
    CHECK(num_waited == 0);
    set(event, pe, 5);
    while (num_waited == 0)
        (void)doca_pe_progress(pe);
    stop(pe, doca_sync_event_as_ctx(event));
    WORKS(doca_sync_event_destroy(event));
    WORKS(doca_pe_destroy(pe));
    WORKS(doca_dev_close(dev));
    return 0;
}
