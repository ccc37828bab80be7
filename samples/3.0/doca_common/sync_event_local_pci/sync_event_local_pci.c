// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs on the host: makes a sync event, exports it to sync_event_remote_pci on the DPU, signals, and waits
// for the DPU's signal.
#include <stdlib.h>

#include <doca_log.h>

#include "../sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT_LOCAL_PCI);

static void received(struct control *control, const char *text, size_t len)
{
    (void)control;
    (void)text;
    DOCA_LOG_WARN("A message of %zu bytes that was not expected", len);
}

/* Who signals, and who waits: here both sides do both. */
static doca_error_t create_event(struct sync_event *event, struct control *control, int is_async)
{
    doca_error_t result = doca_sync_event_create(&event->event);

    if (result == DOCA_SUCCESS)
        result = doca_sync_event_add_publisher_location_remote_pci(event->event);
    if (result == DOCA_SUCCESS)
        result = doca_sync_event_add_subscriber_location_cpu(event->event, control->dev);
    if (result == DOCA_SUCCESS)
        result = start_event(event, control->pe, is_async);
    return result;
}

static doca_error_t send_export(struct sync_event *event, struct control *control)
{
    const uint8_t *descriptor = NULL;
    size_t len = 0;
    size_t num_in_flight = 0;
    doca_error_t result = wait_for_peer(control);

    if (result != DOCA_SUCCESS)
        return result;
    result = doca_sync_event_export_to_remote_pci(event->event, control->dev, &descriptor, &len);
    if (result == DOCA_SUCCESS)
        result = send_text(control, (const char *)descriptor, len);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_get_num_inflight_tasks(control->ctx, &num_in_flight);
    while (result == DOCA_SUCCESS && num_in_flight != 0) {
        result = progress(control->pe);
        (void)doca_ctx_get_num_inflight_tasks(control->ctx, &num_in_flight);
    }
    return result;
}

int main(int argc, char **argv)
{
    static struct sync_event_config config;
    struct control control = {.received = received};
    struct sync_event event = {0};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_event_arguments("doca_sync_event_local_pci", "b1:00.0", 0, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_client(SERVER_NAME, &config.comch, &control);
    if (result == DOCA_SUCCESS)
        result = create_event(&event, &control, config.is_async);
    if (result == DOCA_SUCCESS)
        result = send_export(&event, &control);
    if (result == DOCA_SUCCESS)
        result = set_event(&event, VALUE_OF_HOST);
    if (result == DOCA_SUCCESS) {
        DOCA_LOG_INFO("Signalled; waiting for the DPU");
        result = wait_for_event(&event, VALUE_OF_DPU);
    }
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("The DPU has signalled");
    else
        DOCA_LOG_ERR("Failed to synchronize with the DPU: %s", doca_error_get_descr(result));
    result = first_error(result, destroy_event(&event));
    return finish(first_error(result, destroy_control(&control)));
}
