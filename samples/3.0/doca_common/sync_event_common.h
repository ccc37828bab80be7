// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the two sync event samples share: their arguments, and an event that is used by calls or by tasks. The
// event's export goes from the host to the DPU as a message of Comch.
#ifndef SYNC_EVENT_COMMON_H_
#define SYNC_EVENT_COMMON_H_

#include <doca_sync_event.h>

#include "../doca_comch/comch_common.h"

#define SERVER_NAME "sync event sample"
#define VALUE_OF_HOST 1
#define VALUE_OF_DPU 2

struct sync_event_config {
    struct comch_config comch; /* the device, and the DPU's representor of the host */
    int is_async;              /* by tasks */
};

/* Fills a configuration from the command line; with_rep: also the representor. */
doca_error_t parse_event_arguments(const char *program, const char *default_pci_addr, int with_rep, int argc,
                                   char **argv, struct sync_event_config *config);

struct sync_event {
    struct doca_sync_event *event; /* created and configured by the sample */
    struct doca_pe *pe;            /* of its context, if it is one; not owned */
    struct doca_ctx *ctx;          /* NULL: the event is used by calls, which return when they are done */
    int is_done;                   /* a task has ended, */
    doca_error_t status;           /* like this */
};

/* Starts it, as a context on the engine or alone. */
doca_error_t start_event(struct sync_event *event, struct doca_pe *pe, int is_async);
doca_error_t set_event(struct sync_event *event, uint64_t value);
/* Waits until the counter has this value, or a larger one. */
doca_error_t wait_for_event(struct sync_event *event, uint64_t value);
doca_error_t destroy_event(struct sync_event *event);

#endif /* SYNC_EVENT_COMMON_H_ */
