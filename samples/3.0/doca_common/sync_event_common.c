// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event_common.h"

#include <string.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(SYNC_EVENT_COMMON);

#define NUM_TASKS 1

static doca_error_t set_pci_addr(void *param, void *config)
{
    struct comch_config *comch = &((struct sync_event_config *)config)->comch;

    return set_text(comch->pci_addr, sizeof(comch->pci_addr), "PCI address", param);
}

static doca_error_t set_rep_pci_addr(void *param, void *config)
{
    struct comch_config *comch = &((struct sync_event_config *)config)->comch;

    return set_text(comch->rep_pci_addr, sizeof(comch->rep_pci_addr), "representor's PCI address", param);
}

static doca_error_t set_async(void *param, void *config)
{
    ((struct sync_event_config *)config)->is_async = *(uint8_t *)param;
    return DOCA_SUCCESS;
}

doca_error_t parse_event_arguments(const char *program, const char *default_pci_addr, int with_rep, int argc,
                                   char **argv, struct sync_event_config *config)
{
    doca_error_t result;

    strcpy(config->comch.pci_addr, default_pci_addr);
    strcpy(config->comch.rep_pci_addr, "3b:00.0");
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("d", "dev-pci-addr", "PCI address of the device", DOCA_ARGP_TYPE_STRING, set_pci_addr);
    if (result == DOCA_SUCCESS && with_rep)
        result = add_argument("r", "rep-pci-addr", "PCI address of the host's function", DOCA_ARGP_TYPE_STRING,
                              set_rep_pci_addr);
    if (result == DOCA_SUCCESS)
        result = add_argument("a", "async", "Use the event by tasks", DOCA_ARGP_TYPE_BOOLEAN, set_async);
    return read_arguments(result, argc, argv);
}

static void task_ended(struct doca_task *task, union doca_data ctx_user_data)
{
    struct sync_event *event = ctx_user_data.ptr;

    event->status = doca_task_get_status(task);
    event->is_done = 1;
    doca_task_free(task);
}

static void set_ended(struct doca_sync_event_task_notify_set *task, union doca_data task_user_data,
                      union doca_data ctx_user_data)
{
    (void)task_user_data;
    task_ended(doca_sync_event_task_notify_set_as_doca_task(task), ctx_user_data);
}

static void wait_ended(struct doca_sync_event_task_wait_eq *task, union doca_data task_user_data,
                       union doca_data ctx_user_data)
{
    (void)task_user_data;
    task_ended(doca_sync_event_task_wait_eq_as_doca_task(task), ctx_user_data);
}

doca_error_t start_event(struct sync_event *event, struct doca_pe *pe, int is_async)
{
    union doca_data user_data = {.ptr = event};
    doca_error_t result;

    if (!is_async)
        return doca_sync_event_start(event->event);
    event->pe = pe;
    event->ctx = doca_sync_event_as_ctx(event->event);
    result = doca_sync_event_task_notify_set_set_conf(event->event, set_ended, set_ended, NUM_TASKS);
    if (result == DOCA_SUCCESS)
        result = doca_sync_event_task_wait_eq_set_conf(event->event, wait_ended, wait_ended, NUM_TASKS);
    if (result == DOCA_SUCCESS)
        result = doca_pe_connect_ctx(pe, event->ctx);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_set_user_data(event->ctx, user_data);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(event->ctx);
    return result;
}

static doca_error_t run_task(struct sync_event *event, struct doca_task *task)
{
    doca_error_t waited = DOCA_SUCCESS;
    doca_error_t result;

    event->is_done = 0;
    result = doca_task_submit(task);
    if (result != DOCA_SUCCESS) {
        doca_task_free(task);
        return result;
    }
    while (waited == DOCA_SUCCESS && !event->is_done)
        waited = progress(event->pe);
    return first_error(waited, event->status);
}

doca_error_t set_event(struct sync_event *event, uint64_t value)
{
    struct doca_sync_event_task_notify_set *task = NULL;
    union doca_data none = {0};
    doca_error_t result;

    if (event->ctx == NULL)
        return doca_sync_event_update_set(event->event, value);
    result = doca_sync_event_task_notify_set_alloc_init(event->event, value, none, &task);
    return result == DOCA_SUCCESS ? run_task(event, doca_sync_event_task_notify_set_as_doca_task(task)) : result;
}

doca_error_t wait_for_event(struct sync_event *event, uint64_t value)
{
    struct doca_sync_event_task_wait_eq *task = NULL;
    union doca_data none = {0};
    doca_error_t result;

    if (event->ctx == NULL)
        return doca_sync_event_wait_gt_yield(event->event, value - 1, UINT64_MAX);
    result = doca_sync_event_task_wait_eq_alloc_init(event->event, value, UINT64_MAX, none, &task);
    return result == DOCA_SUCCESS ? run_task(event, doca_sync_event_task_wait_eq_as_doca_task(task)) : result;
}

doca_error_t destroy_event(struct sync_event *event)
{
    doca_error_t result = DOCA_SUCCESS;

    if (event->event == NULL)
        return DOCA_SUCCESS;
    if (event->ctx == NULL)
        (void)doca_sync_event_stop(event->event); /* it may not have been started */
    else
        result = stop_ctx(event->ctx, event->pe, NULL);
    return first_error(result, doca_sync_event_destroy(event->event));
}
