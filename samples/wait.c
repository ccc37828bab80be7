// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include <doca_argp.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(SAMPLES::WAIT);

static bool is_busy; /* --busy: of the whole program */

static doca_error_t set_busy(void *value, void *config)
{
    (void)config;
    is_busy = *(const bool *)value;
    return DOCA_SUCCESS;
}

doca_error_t add_busy_argument(void)
{
    struct doca_argp_param *param;
    doca_error_t result;

    result = doca_argp_param_create(&param);
    if (result != DOCA_SUCCESS)
        return result;
    doca_argp_param_set_long_name(param, "busy");
    doca_argp_param_set_description(param, "Wait without sleeping: sooner there, with a whole processor");
    doca_argp_param_set_callback(param, set_busy);
    doca_argp_param_set_type(param, DOCA_ARGP_TYPE_BOOLEAN);
    return doca_argp_register_param(param);
}

doca_error_t create_workq(uint32_t depth, struct doca_workq **workq)
{
    struct doca_workq *made = NULL;
    doca_error_t result;

    result = doca_workq_create(depth, &made);
    if (result == DOCA_SUCCESS && !is_busy)
        result = doca_workq_set_event_driven_enable(made, 1);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("No work queue of depth %u: %s", depth, doca_get_error_string(result));
        if (made != NULL)
            (void)doca_workq_destroy(made);
        return result;
    }
    *workq = made;
    return DOCA_SUCCESS;
}

doca_error_t await_handle(doca_event_handle_t handle)
{
    struct pollfd entry = {.fd = handle, .events = POLLIN};

    if (is_busy)
        return DOCA_SUCCESS;
    if (poll(&entry, 1, -1) < 0 && errno != EINTR) {
        DOCA_LOG_ERR("Cannot wait for descriptor %d: %s", handle, strerror(errno));
        return DOCA_ERROR_OPERATING_SYSTEM;
    }
    return DOCA_SUCCESS;
}

/* An end between the arming and the wait ends the wait: nothing is missed. */
static doca_error_t sleep_until_event(struct doca_workq *workq)
{
    doca_event_handle_t handle;
    doca_error_t result;

    result = doca_workq_get_event_handle(workq, &handle);
    if (result == DOCA_SUCCESS)
        result = doca_workq_event_handle_arm(workq);
    if (result == DOCA_SUCCESS)
        result = await_handle(handle);
    if (result == DOCA_SUCCESS)
        result = doca_workq_event_handle_clear(workq, handle);
    return result;
}

doca_error_t await_event(struct doca_workq *workq, struct doca_event *event)
{
    doca_error_t result;

    while ((result = doca_workq_progress_retrieve(workq, event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) == DOCA_ERROR_AGAIN) {
        if (is_busy)
            continue;
        result = sleep_until_event(workq);
        if (result != DOCA_SUCCESS)
            return result;
    }
    return result;
}

doca_error_t run_job(struct doca_workq *workq, const struct doca_job *job)
{
    struct doca_event event = {0};
    doca_error_t result;

    result = doca_workq_submit(workq, job);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The job cannot be submitted: %s", doca_get_error_string(result));
        return result;
    }
    result = await_event(workq, &event);
    /* When a job has failed, the cause is in its event. */
    if (event.result.u64 != DOCA_SUCCESS)
        result = (doca_error_t)event.result.u64;
    if (result == DOCA_SUCCESS && event.type != job->type)
        result = DOCA_ERROR_UNEXPECTED;
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The job has failed: %s", doca_get_error_string(result));
    return result;
}
