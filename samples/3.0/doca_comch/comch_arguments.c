// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <string.h>

#include <doca_log.h>

#include "comch_common.h"

DOCA_LOG_REGISTER(COMCH_ARGUMENTS);

static doca_error_t set_pci_addr(void *param, void *config)
{
    struct comch_config *comch = config;

    return set_text(comch->pci_addr, sizeof(comch->pci_addr), "PCI address", param);
}

static doca_error_t set_rep_pci_addr(void *param, void *config)
{
    struct comch_config *comch = config;

    return set_text(comch->rep_pci_addr, sizeof(comch->rep_pci_addr), "representor's PCI address", param);
}

static doca_error_t set_message(void *param, void *config)
{
    struct comch_config *comch = config;

    return set_text(comch->text, sizeof(comch->text), "text", param);
}

static doca_error_t set_num_messages(void *param, void *config)
{
    struct comch_config *comch = config;
    const int count = *(int *)param;

    if (count < 1) {
        DOCA_LOG_ERR("%d messages are no number of messages", count);
        return DOCA_ERROR_INVALID_VALUE;
    }
    comch->num_messages = (uint32_t)count;
    return DOCA_SUCCESS;
}

doca_error_t parse_arguments(const char *program, const char *default_pci_addr, uint32_t arguments, int argc,
                             char **argv, struct comch_config *config)
{
    doca_error_t result;

    strcpy(config->pci_addr, default_pci_addr);
    strcpy(config->rep_pci_addr, "3b:00.0");
    strcpy(config->text, "This is a sample piece of text");
    config->num_messages = 10;
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("p", "pci-addr", "PCI address of the device", DOCA_ARGP_TYPE_STRING, set_pci_addr);
    if (result == DOCA_SUCCESS && (arguments & COMCH_ARGUMENT_TEXT) != 0)
        result = add_argument("t", "text", "Text to send", DOCA_ARGP_TYPE_STRING, set_message);
    if (result == DOCA_SUCCESS && (arguments & COMCH_ARGUMENT_REP) != 0)
        result =
            add_argument("r", "rep-pci", "PCI address of the host's function", DOCA_ARGP_TYPE_STRING, set_rep_pci_addr);
    if (result == DOCA_SUCCESS && (arguments & COMCH_ARGUMENT_COUNT) != 0)
        result = add_argument("n", "num-messages", "How often to send the text", DOCA_ARGP_TYPE_INT, set_num_messages);
    return read_arguments(result, argc, argv);
}
