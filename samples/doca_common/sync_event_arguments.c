// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <doca_log.h>

#include "sync_event_common.h"

#include "../common.h"

DOCA_LOG_REGISTER(SAMPLES::SYNC_EVENT_ARGUMENTS);

#define DEFAULT_QDEPTH 32
#define MAX_QDEPTH 65536

static doca_error_t set_dev_pci_addr(void *value, void *config)
{
    struct sync_event_config *const c = config;

    return set_string("PCI address", value, c->dev_pci_addr, sizeof(c->dev_pci_addr));
}

static doca_error_t set_rep_pci_addr(void *value, void *config)
{
    struct sync_event_config *const c = config;

    return set_string("PCI address", value, c->rep_pci_addr, sizeof(c->rep_pci_addr));
}

static doca_error_t set_async(void *value, void *config)
{
    struct sync_event_config *const c = config;

    c->is_async = *(const bool *)value;
    return DOCA_SUCCESS;
}

static doca_error_t set_atomic(void *value, void *config)
{
    struct sync_event_config *const c = config;

    c->is_atomic = *(const bool *)value;
    return DOCA_SUCCESS;
}

static doca_error_t set_qdepth(void *value, void *config)
{
    struct sync_event_config *const c = config;
    const int qdepth = *(const int *)value;

    if (qdepth < 1 || qdepth > MAX_QDEPTH) {
        DOCA_LOG_ERR("The depth %d of the work queue is not between 1 and %d", qdepth, MAX_QDEPTH);
        return DOCA_ERROR_INVALID_VALUE;
    }
    c->qdepth = qdepth;
    return DOCA_SUCCESS;
}

/* An argument, which the host's sample may lack. */
struct sync_event_argument {
    struct argument argument;
    bool is_for_dpu;
};

/* clang-format off */
static const struct sync_event_argument arguments[] = {
    {{"d", "dev-pci-addr", NULL, "PCI address of the device", set_dev_pci_addr, DOCA_ARGP_TYPE_STRING, true}, false},
    {{"r", "rep-pci-addr", NULL, "PCI address of the host's function, of which the DPU has a representor",
      set_rep_pci_addr, DOCA_ARGP_TYPE_STRING, true}, true},
    {{NULL, "async", NULL, "Use jobs on a work queue (by default, calls that return when they are done)",
      set_async, DOCA_ARGP_TYPE_BOOLEAN, false}, false},
    {{NULL, "qdepth", NULL, "Depth of the work queue (default: 32)", set_qdepth, DOCA_ARGP_TYPE_INT, false}, false},
    {{NULL, "atomic", NULL, "Signal by adding 1 (by default, by setting the value)",
      set_atomic, DOCA_ARGP_TYPE_BOOLEAN, false}, false},
};
/* clang-format on */

doca_error_t parse_sync_event_arguments(const char *program, bool is_dpu, int argc, char **argv,
                                        struct sync_event_config *config)
{
    doca_error_t result;

    *config = (struct sync_event_config){.qdepth = DEFAULT_QDEPTH};
    result = begin_arguments(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]) && result == DOCA_SUCCESS; i++) {
        if (is_dpu || !arguments[i].is_for_dpu)
            result = add_argument(&arguments[i].argument);
    }
    return read_arguments(result, argc, argv);
}
