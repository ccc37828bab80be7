// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Makes a sync event, sends its export to the DPU by Comm Channel, signals, and waits for the DPU's signal.
#include <doca_log.h>

#include "../../common.h"
#include "../../doca_comm_channel/cc_common.h"
#include "../sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT_HOST);

doca_error_t sync_event_host(const struct sync_event_config *config);

static doca_error_t create_event(struct sync_event *se, struct doca_dev *dev)
{
    doca_error_t result;

    result = doca_sync_event_create(&se->event);
    if (result == DOCA_SUCCESS)
        result = doca_sync_event_publisher_add_location_dpu(se->event);
    if (result == DOCA_SUCCESS)
        result = doca_sync_event_subscriber_add_location_cpu(se->event, dev);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The sync event cannot be created: %s", doca_get_error_string(result));
        return result;
    }
    return start_sync_event(se);
}

static doca_error_t send_event(struct sync_event *se, struct doca_dev *dev, struct cc_end *end)
{
    const uint8_t *blob = NULL;
    size_t len = 0;
    doca_error_t result;

    result = doca_sync_event_export_to_dpu(se->event, dev, &blob, &len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The sync event cannot be exported: %s", doca_get_error_string(result));
        return result;
    }
    result = cc_send(end, blob, len);
    if (result == DOCA_SUCCESS)
        DOCA_LOG_INFO("Sent the export of the sync event, %zu bytes", len);
    return result;
}

doca_error_t sync_event_host(const struct sync_event_config *config)
{
    struct sync_event se = {.config = config};
    struct doca_dev *dev = NULL;
    struct cc_end end = {0};
    doca_error_t result;

    result = open_sync_event_device(config->dev_pci_addr, false, &dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = create_event(&se, dev);
    if (result == DOCA_SUCCESS)
        result = cc_connect(&end, dev, SERVICE_NAME);
    if (result == DOCA_SUCCESS)
        result = send_event(&se, dev, &end);
    if (result == DOCA_SUCCESS)
        result = signal_sync_event(&se, HOST_VALUE);
    if (result == DOCA_SUCCESS)
        result = wait_for_sync_event(&se, HOST_VALUE, doca_sync_event_wait_gt_yield);
    result = first_error(result, cc_close(&end));
    result = first_error(result, destroy_sync_event(&se));
    return first_error(result, doca_dev_close(dev));
}
