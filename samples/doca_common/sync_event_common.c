// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "sync_event_common.h"

#include <inttypes.h>

#include <doca_log.h>

#include "../common.h"
#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::SYNC_EVENT_COMMON);

static bool can_export(struct doca_devinfo *devinfo)
{
    return doca_sync_event_get_export_to_dpu_supported(devinfo) == DOCA_SUCCESS;
}

static bool can_import(struct doca_devinfo *devinfo)
{
    return doca_sync_event_get_create_from_export_supported(devinfo) == DOCA_SUCCESS;
}

doca_error_t open_sync_event_device(const char *pci_addr, bool is_dpu, struct doca_dev **dev)
{
    static const struct device_ability abilities[] = {
        {"export sync events to a DPU", can_export},
        {"import sync events of a host", can_import},
    };

    return open_device(pci_addr, abilities, sizeof(abilities) / sizeof(abilities[0]), is_dpu ? 2 : 1, dev);
}

static doca_error_t start_async(struct sync_event *se)
{
    doca_error_t result;

    se->ctx = doca_sync_event_as_ctx(se->event);
    if (se->ctx == NULL)
        return DOCA_ERROR_UNEXPECTED;
    result = doca_ctx_start(se->ctx);
    if (result != DOCA_SUCCESS)
        return result;
    se->is_started = true;
    result = create_workq((uint32_t)se->config->qdepth, &se->workq);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_ctx_workq_add(se->ctx, se->workq);
    se->has_workq = result == DOCA_SUCCESS;
    return result;
}

doca_error_t start_sync_event(struct sync_event *se)
{
    doca_error_t result;

    if (se->config->is_async) {
        result = start_async(se);
    } else {
        result = doca_sync_event_start(se->event);
        se->is_started = result == DOCA_SUCCESS;
    }
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The sync event cannot be started: %s", doca_get_error_string(result));
        return result;
    }
    DOCA_LOG_INFO("The sync event is started in %s mode", se->config->is_async ? "asynchronous" : "synchronous");
    return DOCA_SUCCESS;
}

doca_error_t destroy_sync_event(struct sync_event *se)
{
    doca_error_t result = DOCA_SUCCESS;

    if (se->has_workq)
        result = first_error(result, doca_ctx_workq_rm(se->ctx, se->workq));
    if (se->workq != NULL)
        result = first_error(result, doca_workq_destroy(se->workq));
    if (se->is_started)
        result = first_error(result, se->ctx != NULL ? doca_ctx_stop(se->ctx) : doca_sync_event_stop(se->event));
    if (se->event != NULL)
        result = first_error(result, doca_sync_event_destroy(se->event));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The sync event cannot be destroyed: %s", doca_get_error_string(result));
    return result;
}

static doca_error_t set_value(struct sync_event *se, uint64_t value)
{
    const struct doca_sync_event_job_update_set job = {
        .base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_SET, .flags = DOCA_JOB_FLAGS_NONE, .ctx = se->ctx},
        .value = value,
    };

    return se->config->is_async ? run_job(se->workq, &job.base) : doca_sync_event_update_set(se->event, value);
}

static doca_error_t add_one(struct sync_event *se, uint64_t *fetched)
{
    const struct doca_sync_event_job_update_add job = {
        .base = {.type = DOCA_SYNC_EVENT_JOB_UPDATE_ADD, .flags = DOCA_JOB_FLAGS_NONE, .ctx = se->ctx},
        .value = 1,
        .fetched = fetched,
    };

    return se->config->is_async ? run_job(se->workq, &job.base) : doca_sync_event_update_add(se->event, 1, fetched);
}

doca_error_t signal_sync_event(struct sync_event *se, uint64_t value)
{
    uint64_t fetched = 0;
    doca_error_t result;

    result = se->config->is_atomic ? add_one(se, &fetched) : set_value(se, value);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The sync event cannot be updated: %s", doca_get_error_string(result));
        return result;
    }
    if (se->config->is_atomic)
        DOCA_LOG_INFO("Signalled: added 1 to %" PRIu64, fetched);
    else
        DOCA_LOG_INFO("Signalled: set the value to %" PRIu64, value);
    return DOCA_SUCCESS;
}

doca_error_t wait_for_sync_event(struct sync_event *se, uint64_t value,
                                 doca_error_t (*wait_gt)(struct doca_sync_event *event, uint64_t value, uint64_t mask))
{
    const struct doca_sync_event_job_wait job = {
        .base = {.type = DOCA_SYNC_EVENT_JOB_WAIT_GT, .flags = DOCA_JOB_FLAGS_NONE, .ctx = se->ctx},
        .value = value,
        .mask = UINT64_MAX,
    };
    doca_error_t result;

    DOCA_LOG_INFO("Waiting until the value is greater than %" PRIu64, value);
    result = se->config->is_async ? run_job(se->workq, &job.base) : wait_gt(se->event, value, UINT64_MAX);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The wait for the sync event has failed: %s", doca_get_error_string(result));
        return result;
    }
    DOCA_LOG_INFO("The other side has signalled");
    return DOCA_SUCCESS;
}
