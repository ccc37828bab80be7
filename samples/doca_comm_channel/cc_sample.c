// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cc_sample.h"

#include <string.h>

#include <bsd/string.h>
#include <doca_argp.h>
#include <doca_log.h>

#include "../common.h"
#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::CC_SAMPLE);

static doca_error_t set_string(const char *what, const char *value, char *field, size_t size)
{
    const size_t len = strlen(value);

    if (len == 0 || len >= size) {
        DOCA_LOG_ERR("The %s has %zu bytes, and 1 to %zu are possible", what, len, size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)strlcpy(field, value, size);
    return DOCA_SUCCESS;
}

static doca_error_t set_pci_addr(void *value, void *config)
{
    struct cc_config *const c = config;

    return set_string("PCI address", value, c->pci_addr, sizeof(c->pci_addr));
}

static doca_error_t set_rep_pci_addr(void *value, void *config)
{
    struct cc_config *const c = config;

    return set_string("PCI address", value, c->rep_pci_addr, sizeof(c->rep_pci_addr));
}

static doca_error_t set_text(void *value, void *config)
{
    struct cc_config *const c = config;

    return set_string("text", value, c->text, sizeof(c->text));
}

static doca_error_t register_argument(const char *short_name, const char *long_name, const char *value,
                                      const char *description, callback_func callback)
{
    struct doca_argp_param *param;
    doca_error_t result;

    result = doca_argp_param_create(&param);
    if (result != DOCA_SUCCESS)
        return result;
    doca_argp_param_set_short_name(param, short_name);
    doca_argp_param_set_long_name(param, long_name);
    doca_argp_param_set_arguments(param, value);
    doca_argp_param_set_description(param, description);
    doca_argp_param_set_callback(param, callback);
    doca_argp_param_set_type(param, DOCA_ARGP_TYPE_STRING);
    return doca_argp_register_param(param);
}

doca_error_t parse_cc_arguments(const char *program, bool is_server, int argc, char **argv, struct cc_config *config)
{
    doca_error_t result;

    (void)strlcpy(config->pci_addr, is_server ? DEFAULT_DPU_PCI_ADDR : DEFAULT_HOST_PCI_ADDR, sizeof(config->pci_addr));
    (void)strlcpy(config->rep_pci_addr, DEFAULT_HOST_PCI_ADDR, sizeof(config->rep_pci_addr));
    (void)strlcpy(config->text, is_server ? "Greetings from the DPU" : "Greetings from the host", sizeof(config->text));
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The arguments cannot be set up: %s", doca_get_error_string(result));
        return result;
    }
    result = register_argument("p", "pci-addr", "<address>",
                               is_server ? "PCI address of the device (default: " DEFAULT_DPU_PCI_ADDR ")"
                                         : "PCI address of the device (default: " DEFAULT_HOST_PCI_ADDR ")",
                               set_pci_addr);
    if (result == DOCA_SUCCESS && is_server)
        result = register_argument("r", "rep-pci", "<address>",
                                   "PCI address of the host's function (default: " DEFAULT_HOST_PCI_ADDR ")",
                                   set_rep_pci_addr);
    if (result == DOCA_SUCCESS)
        result = register_argument("t", "text", "<text>", "Text to send", set_text);
    if (result == DOCA_SUCCESS)
        result = add_busy_argument();
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_get_error_string(result));
    (void)doca_argp_destroy();
    return result;
}

static bool has_comm_channel(struct doca_devinfo *devinfo)
{
    uint32_t size;

    return doca_comm_channel_get_max_message_size(devinfo, &size) == DOCA_SUCCESS;
}

doca_error_t open_cc_device(const char *pci_addr, struct doca_dev **dev)
{
    static const struct device_ability abilities[] = {{"send by Comm Channel", has_comm_channel}};

    return open_device(pci_addr, abilities, 1, 1, dev);
}
