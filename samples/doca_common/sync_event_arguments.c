// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <string.h>

#include <bsd/string.h>
#include <doca_argp.h>
#include <doca_log.h>

#include "sync_event_common.h"

#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::SYNC_EVENT_ARGUMENTS);

#define DEFAULT_QDEPTH 32
#define MAX_QDEPTH 65536

static doca_error_t set_address(const char *value, char *field, size_t size)
{
    const size_t len = strlen(value);

    if (len == 0 || len >= size) {
        DOCA_LOG_ERR("The PCI address has %zu bytes, and 1 to %zu are possible", len, size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)strlcpy(field, value, size);
    return DOCA_SUCCESS;
}

static doca_error_t set_dev_pci_addr(void *value, void *config)
{
    struct sync_event_config *const c = config;

    return set_address(value, c->dev_pci_addr, sizeof(c->dev_pci_addr));
}

static doca_error_t set_rep_pci_addr(void *value, void *config)
{
    struct sync_event_config *const c = config;

    return set_address(value, c->rep_pci_addr, sizeof(c->rep_pci_addr));
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

struct argument {
    const char *short_name; /* NULL: long only */
    const char *long_name;
    const char *description;
    callback_func callback;
    enum doca_argp_type type;
    bool is_mandatory;
    bool is_for_dpu;
};

/* clang-format off */
static const struct argument arguments[] = {
    {"d", "dev-pci-addr", "PCI address of the device", set_dev_pci_addr, DOCA_ARGP_TYPE_STRING, true, false},
    {"r", "rep-pci-addr", "PCI address of the host's function, of which the DPU has a representor",
     set_rep_pci_addr, DOCA_ARGP_TYPE_STRING, true, true},
    {NULL, "async", "Use jobs on a work queue (by default, calls that return when they are done)",
     set_async, DOCA_ARGP_TYPE_BOOLEAN, false, false},
    {NULL, "qdepth", "Depth of the work queue (default: 32)", set_qdepth, DOCA_ARGP_TYPE_INT, false, false},
    {NULL, "atomic", "Signal by adding 1 (by default, by setting the value)",
     set_atomic, DOCA_ARGP_TYPE_BOOLEAN, false, false},
};
/* clang-format on */

static doca_error_t register_argument(const struct argument *argument)
{
    struct doca_argp_param *param;
    doca_error_t result;

    result = doca_argp_param_create(&param);
    if (result != DOCA_SUCCESS)
        return result;
    if (argument->short_name != NULL)
        doca_argp_param_set_short_name(param, argument->short_name);
    doca_argp_param_set_long_name(param, argument->long_name);
    doca_argp_param_set_description(param, argument->description);
    doca_argp_param_set_callback(param, argument->callback);
    doca_argp_param_set_type(param, argument->type);
    if (argument->is_mandatory)
        doca_argp_param_set_mandatory(param);
    return doca_argp_register_param(param);
}

doca_error_t parse_sync_event_arguments(const char *program, bool is_dpu, int argc, char **argv,
                                        struct sync_event_config *config)
{
    doca_error_t result;

    *config = (struct sync_event_config){.qdepth = DEFAULT_QDEPTH};
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The arguments cannot be set up: %s", doca_get_error_string(result));
        return result;
    }
    for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]) && result == DOCA_SUCCESS; i++) {
        if (is_dpu || !arguments[i].is_for_dpu)
            result = register_argument(&arguments[i]);
    }
    if (result == DOCA_SUCCESS)
        result = add_busy_argument();
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_get_error_string(result));
    (void)doca_argp_destroy();
    return result;
}
