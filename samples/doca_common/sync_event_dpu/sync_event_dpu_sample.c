// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Receives the host's sync event by Comm Channel, waits for the host's signal, and signals back.
#include <doca_log.h>

#include "../../common.h"
#include "../../doca_comm_channel/cc_common.h"
#include "../sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT_DPU);

doca_error_t sync_event_dpu(const struct sync_event_config *config);

static doca_error_t receive_event(struct sync_event *se, struct doca_dev *dev, struct cc_end *end)
{
    uint8_t blob[MAX_BLOB_SIZE];
    size_t len = sizeof(blob);
    doca_error_t result;

    result = cc_receive(end, blob, &len);
    if (result != DOCA_SUCCESS)
        return result;
    DOCA_LOG_INFO("Received the export of a sync event, %zu bytes", len);
    result = doca_sync_event_create_from_export(dev, blob, len, &se->event);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The sync event cannot be made from its export: %s", doca_get_error_string(result));
        return result;
    }
    return start_sync_event(se);
}

doca_error_t sync_event_dpu(const struct sync_event_config *config)
{
    struct sync_event se = {.config = config};
    struct doca_dev *dev = NULL;
    struct cc_end end = {0};
    doca_error_t result;

    result = open_sync_event_device(config->dev_pci_addr, true, &dev);
    if (result != DOCA_SUCCESS)
        return result;
    result = cc_listen(&end, dev, config->rep_pci_addr, SERVICE_NAME);
    if (result == DOCA_SUCCESS)
        result = receive_event(&se, dev, &end);
    if (result == DOCA_SUCCESS)
        result = wait_for_sync_event(&se, 0, doca_sync_event_wait_gt);
    if (result == DOCA_SUCCESS)
        result = signal_sync_event(&se, DPU_VALUE);
    result = first_error(result, cc_close(&end));
    result = first_error(result, destroy_sync_event(&se));
    return first_error(result, doca_dev_close(dev));
}
