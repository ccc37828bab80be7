// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Submits copies, and sleeps on the progress engine's descriptor whenever none of them has come back.
#include <unistd.h>

#include <sys/epoll.h>

#include <doca_log.h>

#include "../pe_common.h"

DOCA_LOG_REGISTER(PE_EVENT);

#define NUM_COPIES 16

/* The descriptor is the engine's, and the same one as long as it lives. */
static doca_error_t watch(struct doca_pe *pe, int epoll)
{
    struct epoll_event event = {.events = EPOLLIN};
    doca_notification_handle_t handle;
    const doca_error_t result = doca_pe_get_notification_handle(pe, &handle);

    if (result != DOCA_SUCCESS)
        return result;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, handle, &event) == 0 ? DOCA_SUCCESS : DOCA_ERROR_OPERATING_SYSTEM;
}

/* Nothing is missed: what happens after the request, and before the wait, ends the wait. */
static doca_error_t sleep_and_progress(struct doca_pe *pe, int epoll)
{
    struct epoll_event event;
    doca_error_t result = doca_pe_request_notification(pe);

    if (result != DOCA_SUCCESS)
        return result;
    if (epoll_wait(epoll, &event, 1, -1) < 0)
        return DOCA_ERROR_OPERATING_SYSTEM;
    result = doca_pe_clear_notification(pe, 0); /* on Linux the handle is not used */
    while (result == DOCA_SUCCESS && doca_pe_progress(pe) != 0) {
    }
    return result;
}

static doca_error_t copy_all(struct pe_resources *resources, struct doca_dma *dma)
{
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    doca_error_t result;

    if (epoll < 0)
        return DOCA_ERROR_OPERATING_SYSTEM;
    result = watch(resources->pe, epoll);
    if (result == DOCA_SUCCESS)
        result = submit_copies(resources, dma, NUM_COPIES);
    while (result == DOCA_SUCCESS && resources->num_copied + resources->num_failed < NUM_COPIES)
        result = sleep_and_progress(resources->pe, epoll);
    (void)close(epoll);
    return result == DOCA_SUCCESS ? check_counts(resources, NUM_COPIES, 0) : result;
}

static const struct pe_sample sample = {.program = "doca_pe_event",
                                        .num_copies = NUM_COPIES,
                                        .num_tasks = NUM_COPIES,
                                        .copied = copy_ended,
                                        .failed = copy_failed,
                                        .run = copy_all};

int main(int argc, char **argv)
{
    return run_pe_sample(&sample, 0, argc, argv);
}
