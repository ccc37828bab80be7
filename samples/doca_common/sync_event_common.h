// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the two sync event samples share: arguments, and an event in synchronous or asynchronous mode.
#ifndef SYNC_EVENT_COMMON_H_
#define SYNC_EVENT_COMMON_H_

#include <stdbool.h>
#include <stdint.h>

#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_sync_event.h>

#define SERVICE_NAME "sync_event_cc"
#define MAX_BLOB_SIZE 1024

/* What the counter becomes: the host signals first, then the DPU. */
#define HOST_VALUE 1
#define DPU_VALUE 2

struct sync_event_config {
    char dev_pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
    char rep_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE];
    bool is_async;  /* jobs on a work queue, and not calls */
    bool is_atomic; /* signals add 1, and do not set the value */
    int qdepth;     /* of the work queue */
};

/* Fills a configuration from the command line. */
doca_error_t parse_sync_event_arguments(const char *program, bool is_dpu, int argc, char **argv,
                                        struct sync_event_config *config);

/* Opens the device at the address that can export events, or on the DPU, make them from an export. */
doca_error_t open_sync_event_device(const char *pci_addr, bool is_dpu, struct doca_dev **dev);

/* An event, which is started in one of the two modes. */
struct sync_event {
    const struct sync_event_config *config;
    struct doca_sync_event *event;
    struct doca_ctx *ctx; /* in asynchronous mode */
    struct doca_workq *workq;
    bool is_started;
    bool has_workq;
};

/* Starts the event that is in *se. Also after a failure, destroy_sync_event() must follow. */
doca_error_t start_sync_event(struct sync_event *se);

/* Stops and destroys; *se may be at any point. */
doca_error_t destroy_sync_event(struct sync_event *se);

/* Sets the counter to value, or adds 1, as the configuration has it. */
doca_error_t signal_sync_event(struct sync_event *se, uint64_t value);

/* Waits until the counter is greater than value, in synchronous mode by the function that is given. */
doca_error_t wait_for_sync_event(struct sync_event *se, uint64_t value,
                                 doca_error_t (*wait_gt)(struct doca_sync_event *event, uint64_t value, uint64_t mask));

#endif /* SYNC_EVENT_COMMON_H_ */
