// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Sets the sync event of rdma_sync_event_responder by an RDMA task, then looks at it by another one until it
// has been answered.

#include <doca_log.h>
#include <doca_sync_event.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_SYNC_EVENT_REQUESTER);

static struct doca_sync_event_remote_net *event;
static uint64_t *value; /* in the memory of resources: what is set, and what has been read */

static int can_set_events(const struct doca_devinfo *devinfo)
{
    return doca_rdma_cap_task_remote_net_sync_event_notify_set_is_supported(devinfo) == DOCA_SUCCESS &&
           doca_rdma_cap_task_remote_net_sync_event_get_is_supported(devinfo) == DOCA_SUCCESS;
}

static void task_failed(struct doca_task *task, struct rdma_resources *resources)
{
    const doca_error_t status = doca_task_get_status(task);

    DOCA_LOG_ERR("Failed to reach the event: %s", doca_error_get_descr(status));
    doca_task_free(task);
    end_work(resources, status);
}

static void get_ended(struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data task_user_data,
                      union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;
    doca_error_t result = DOCA_SUCCESS;

    (void)task_user_data;
    if (*value == RESPONDERS_VALUE) {
        DOCA_LOG_INFO("The responder has answered");
        resources->is_done = 1;
    } else {
        result = doca_task_submit(doca_rdma_task_remote_net_sync_event_get_as_task(task));
        if (result == DOCA_SUCCESS)
            return;
    }
    doca_task_free(doca_rdma_task_remote_net_sync_event_get_as_task(task));
    end_work(resources, result);
}

static void get_failed(struct doca_rdma_task_remote_net_sync_event_get *task, union doca_data task_user_data,
                       union doca_data ctx_user_data)
{
    (void)task_user_data;
    task_failed(doca_rdma_task_remote_net_sync_event_get_as_task(task), ctx_user_data.ptr);
}

static void set_ended(struct doca_rdma_task_remote_net_sync_event_notify_set *task, union doca_data task_user_data,
                      union doca_data ctx_user_data)
{
    struct rdma_resources *resources = ctx_user_data.ptr;
    struct doca_rdma_task_remote_net_sync_event_get *next = NULL;
    doca_error_t result;

    DOCA_LOG_INFO("Set the event to %d", REQUESTERS_VALUE);
    doca_task_free(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
    result = doca_rdma_task_remote_net_sync_event_get_allocate_init(resources->rdma, resources->connections[0], event,
                                                                    resources->buf, task_user_data, &next);
    if (result == DOCA_SUCCESS)
        result = submit(doca_rdma_task_remote_net_sync_event_get_as_task(next));
    if (result != DOCA_SUCCESS)
        end_work(resources, result);
}

static void set_failed(struct doca_rdma_task_remote_net_sync_event_notify_set *task, union doca_data task_user_data,
                       union doca_data ctx_user_data)
{
    (void)task_user_data;
    task_failed(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task), ctx_user_data.ptr);
}

static doca_error_t configure(struct rdma_resources *resources)
{
    const doca_error_t result =
        doca_rdma_task_remote_net_sync_event_notify_set_set_conf(resources->rdma, set_ended, set_failed, 1);

    if (result != DOCA_SUCCESS)
        return result;
    return doca_rdma_task_remote_net_sync_event_get_set_conf(resources->rdma, get_ended, get_failed, 1);
}

static doca_error_t set_event(struct rdma_resources *resources)
{
    struct doca_rdma_task_remote_net_sync_event_notify_set *task = NULL;
    uint8_t descriptor[MAX_DESCRIPTOR_SIZE];
    size_t len = 0;
    union doca_data none = {0};
    doca_error_t result = load_file(resources->config->event_path, descriptor, sizeof(descriptor), &len);

    if (result == DOCA_SUCCESS)
        result = doca_sync_event_remote_net_create_from_export(resources->dev, descriptor, len, &event);
    value = (uint64_t *)(void *)resources->memory;
    *value = REQUESTERS_VALUE;
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_buf_get_by_data(resources->inventory, resources->mmap, value, sizeof(*value),
                                                    &resources->buf);
    if (result == DOCA_SUCCESS)
        result = doca_rdma_task_remote_net_sync_event_notify_set_allocate_init(
            resources->rdma, resources->connections[0], event, resources->buf, none, &task);
    if (result == DOCA_SUCCESS)
        result = submit(doca_rdma_task_remote_net_sync_event_notify_set_as_task(task));
    return result;
}

static void destroy_event(struct rdma_resources *resources)
{
    (void)resources;
    if (event != NULL)
        (void)doca_sync_event_remote_net_destroy(event);
}

static const struct rdma_sample sample = {
    .suits = can_set_events, .configure = configure, .connected = set_event, .clean_up = destroy_event};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_sync_event_requester", RDMA_ARGUMENT_EVENT, &sample, argc, argv);
}
