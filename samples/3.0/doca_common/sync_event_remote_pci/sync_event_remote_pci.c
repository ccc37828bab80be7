// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Runs on the DPU: takes the sync event of sync_event_local_pci, waits for the host's signal, and answers it.
#include <stdlib.h>
#include <string.h>

#include <doca_log.h>

#include "../sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT_REMOTE_PCI);

static uint8_t descriptor[MAX_DESCRIPTOR_SIZE];
static size_t descriptor_len;

static void received(struct control *control, const char *text, size_t len)
{
    if (len > sizeof(descriptor)) {
        DOCA_LOG_ERR("A message of %zu bytes is no export of a sync event", len);
        give_up(control, DOCA_ERROR_INVALID_VALUE);
        return;
    }
    memcpy(descriptor, text, len);
    descriptor_len = len;
}

static doca_error_t import_event(struct sync_event *event, struct control *control, int is_async)
{
    doca_error_t result = DOCA_SUCCESS;

    while (result == DOCA_SUCCESS && descriptor_len == 0 && !control->is_over)
        result = progress(control->pe);
    if (result != DOCA_SUCCESS)
        return result;
    if (descriptor_len == 0)
        return first_error(control->result, DOCA_ERROR_CONNECTION_RESET);
    result = doca_sync_event_create_from_export(control->dev, descriptor, descriptor_len, &event->event);
    return result == DOCA_SUCCESS ? start_event(event, control->pe, is_async) : result;
}

int main(int argc, char **argv)
{
    static struct sync_event_config config;
    struct control control = {.received = received};
    struct sync_event event = {0};
    doca_error_t result;

    if (start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    result = parse_event_arguments("doca_sync_event_remote_pci", "03:00.0", 1, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = create_server(SERVER_NAME, &config.comch, &control);
    if (result == DOCA_SUCCESS)
        result = import_event(&event, &control, config.is_async);
    if (result == DOCA_SUCCESS) {
        DOCA_LOG_INFO("Waiting for the host");
        result = wait_for_event(&event, VALUE_OF_HOST);
    }
    if (result == DOCA_SUCCESS)
        result = set_event(&event, VALUE_OF_DPU);
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("The host has signalled, and was answered");
    else
        DOCA_LOG_ERR("Failed to synchronize with the host: %s", doca_error_get_descr(result));
    /* The host's end ends the server. */
    while (result == DOCA_SUCCESS && !control.is_over)
        result = progress(control.pe);
    result = first_error(result, destroy_event(&event));
    return finish(first_error(result, destroy_control(&control)));
}
