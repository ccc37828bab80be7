// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "cc_sample.h"

#include <bsd/string.h>
#include <doca_log.h>

#include "../common.h"

DOCA_LOG_REGISTER(SAMPLES::CC_SAMPLE);

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

doca_error_t parse_cc_arguments(const char *program, bool is_server, int argc, char **argv, struct cc_config *config)
{
    const struct argument pci_addr = {
        .short_name = "p",
        .long_name = "pci-addr",
        .value = "<address>",
        .description = is_server ? "PCI address of the device (default: " DEFAULT_DPU_PCI_ADDR ")"
                                 : "PCI address of the device (default: " DEFAULT_HOST_PCI_ADDR ")",
        .callback = set_pci_addr,
        .type = DOCA_ARGP_TYPE_STRING,
    };
    static const struct argument rep_pci_addr = {
        .short_name = "r",
        .long_name = "rep-pci",
        .value = "<address>",
        .description = "PCI address of the host's function (default: " DEFAULT_HOST_PCI_ADDR ")",
        .callback = set_rep_pci_addr,
        .type = DOCA_ARGP_TYPE_STRING,
    };
    static const struct argument text = {
        .short_name = "t",
        .long_name = "text",
        .value = "<text>",
        .description = "Text to send",
        .callback = set_text,
        .type = DOCA_ARGP_TYPE_STRING,
    };
    doca_error_t result;

    (void)strlcpy(config->pci_addr, is_server ? DEFAULT_DPU_PCI_ADDR : DEFAULT_HOST_PCI_ADDR, sizeof(config->pci_addr));
    (void)strlcpy(config->rep_pci_addr, DEFAULT_HOST_PCI_ADDR, sizeof(config->rep_pci_addr));
    (void)strlcpy(config->text, is_server ? "Greetings from the DPU" : "Greetings from the host", sizeof(config->text));
    result = begin_arguments(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument(&pci_addr);
    if (result == DOCA_SUCCESS && is_server)
        result = add_argument(&rep_pci_addr);
    if (result == DOCA_SUCCESS)
        result = add_argument(&text);
    return read_arguments(result, argc, argv);
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
