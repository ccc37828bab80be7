// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Waits until rdma_sync_event_requester has set this side's sync event by an RDMA task, and answers by
// setting it too.

#include <doca_log.h>
#include <doca_sync_event.h>

#include "../rdma_common.h"

DOCA_LOG_REGISTER(RDMA_SYNC_EVENT_RESPONDER);

static struct doca_sync_event *event;

static int can_offer_events(const struct doca_devinfo *devinfo)
{
    return doca_sync_event_cap_is_export_to_remote_net_supported(devinfo) == DOCA_SUCCESS;
}

/* What is exported has been started. */
static doca_error_t offer_event(struct rdma_resources *resources)
{
    const uint8_t *descriptor = NULL;
    size_t len = 0;
    doca_error_t result = doca_sync_event_create(&event);

    if (result == DOCA_SUCCESS)
        result = doca_sync_event_add_publisher_location_remote_net(event);
    if (result == DOCA_SUCCESS)
        result = doca_sync_event_add_subscriber_location_cpu(event, resources->dev);
    if (result == DOCA_SUCCESS)
        result = doca_sync_event_start(event);
    if (result == DOCA_SUCCESS)
        result = doca_sync_event_export_to_remote_net(event, &descriptor, &len);
    if (result == DOCA_SUCCESS)
        result = save_file(resources->config->event_path, descriptor, len);
    return result;
}

/* A callback that takes long: nothing else needs this thread. */
static doca_error_t wait_and_answer(struct rdma_resources *resources)
{
    doca_error_t result;

    DOCA_LOG_INFO("Waiting for the event");
    result = doca_sync_event_wait_gt(event, REQUESTERS_VALUE - 1, UINT64_MAX);
    if (result == DOCA_SUCCESS)
        result = doca_sync_event_update_set(event, RESPONDERS_VALUE);
    if (result == DOCA_SUCCESS)
        result = wait_for_enter("The event was set, and answered. Wait until the requester has finished");
    if (result != DOCA_SUCCESS)
        return result;
    resources->is_done = 1;
    end_work(resources, DOCA_SUCCESS);
    return DOCA_SUCCESS;
}

static void destroy_event(struct rdma_resources *resources)
{
    (void)resources;
    if (event == NULL)
        return;
    (void)doca_sync_event_stop(event);
    (void)doca_sync_event_destroy(event);
}

static const struct rdma_sample sample = {.suits = can_offer_events,
                                          .permissions = DOCA_ACCESS_FLAG_RDMA_READ | DOCA_ACCESS_FLAG_RDMA_WRITE,
                                          .configure = offer_event,
                                          .connected = wait_and_answer,
                                          .clean_up = destroy_event};

int main(int argc, char **argv)
{
    return rdma_main("doca_rdma_sync_event_responder", RDMA_ARGUMENT_EVENT, &sample, argc, argv);
}
