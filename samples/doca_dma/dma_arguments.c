// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsd/string.h>
#include <doca_argp.h>
#include <doca_log.h>

#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::DMA_ARGUMENTS);

#define DEFAULT_TEXT "This text has travelled by DMA"
#define DEFAULT_DESCRIPTOR_PATH "/tmp/export_desc.txt"
#define DEFAULT_BUFFER_INFO_PATH "/tmp/buffer_info.txt"
#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_PORT "18515"
#define DEFAULT_TIMEOUT "60"
#define MAX_TIMEOUT 86400

static doca_error_t set_string(const char *what, const char *value, char *field, size_t size)
{
    const size_t len = strlen(value);

    if (len == 0) {
        DOCA_LOG_ERR("The %s is empty", what);
        return DOCA_ERROR_INVALID_VALUE;
    }
    if (len >= size) {
        DOCA_LOG_ERR("The %s has %zu bytes, and at most %zu are possible", what, len, size - 1);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)strlcpy(field, value, size);
    return DOCA_SUCCESS;
}

static doca_error_t set_pci_addr(void *value, void *config)
{
    struct dma_config *const c = config;

    return set_string("PCI address", value, c->pci_addr, sizeof(c->pci_addr));
}

static doca_error_t set_text(void *value, void *config)
{
    struct dma_config *const c = config;

    return set_string("text", value, c->text, sizeof(c->text));
}

static doca_error_t set_descriptor_path(void *value, void *config)
{
    struct dma_config *const c = config;

    return set_string("path of the descriptor", value, c->descriptor_path, sizeof(c->descriptor_path));
}

static doca_error_t set_buffer_info_path(void *value, void *config)
{
    struct dma_config *const c = config;

    return set_string("path of the buffer information", value, c->buffer_info_path, sizeof(c->buffer_info_path));
}

static doca_error_t set_address(void *value, void *config)
{
    struct dma_config *const c = config;

    return set_string("address", value, c->address, sizeof(c->address));
}

static doca_error_t set_port(void *value, void *config)
{
    struct dma_config *const c = config;
    const int port = *(const int *)value;

    if (port < 0 || port > 65535) {
        DOCA_LOG_ERR("The port %d is not between 0 and 65535", port);
        return DOCA_ERROR_INVALID_VALUE;
    }
    (void)snprintf(c->port, sizeof(c->port), "%u", (unsigned int)port & 0xffffU);
    return DOCA_SUCCESS;
}

static doca_error_t set_timeout(void *value, void *config)
{
    struct dma_config *const c = config;
    const int timeout = *(const int *)value;

    if (timeout < 1 || timeout > MAX_TIMEOUT) {
        DOCA_LOG_ERR("The time limit of %d seconds is not between 1 and %d", timeout, MAX_TIMEOUT);
        return DOCA_ERROR_INVALID_VALUE;
    }
    c->timeout = timeout;
    return DOCA_SUCCESS;
}

struct argument {
    enum dma_argument kind;
    const char *short_name;
    const char *long_name;
    const char *value;
    const char *description;
    const char *default_value; /* shown in the usage text; NULL: the sample's own PCI address */
    callback_func callback;
    enum doca_argp_type type;
};

/* clang-format off */
static const struct argument all_arguments[] = {
    {DMA_ARGUMENT_PCI_ADDR, "p", "pci-addr", "<address>", "PCI address or RDMA name of the device",
     NULL, set_pci_addr, DOCA_ARGP_TYPE_STRING},
    {DMA_ARGUMENT_TEXT, "t", "text", "<text>", "Text to copy",
     DEFAULT_TEXT, set_text, DOCA_ARGP_TYPE_STRING},
    {DMA_ARGUMENT_FILES, "d", "descriptor-path", "<path>", "File with the export descriptor",
     DEFAULT_DESCRIPTOR_PATH, set_descriptor_path, DOCA_ARGP_TYPE_STRING},
    {DMA_ARGUMENT_FILES, "b", "buffer-path", "<path>", "File with the buffer's address and length",
     DEFAULT_BUFFER_INFO_PATH, set_buffer_info_path, DOCA_ARGP_TYPE_STRING},
    {DMA_ARGUMENT_NETWORK, "a", "address", "<address>", "IP address or name where the receiver listens",
     DEFAULT_ADDRESS, set_address, DOCA_ARGP_TYPE_STRING},
    {DMA_ARGUMENT_NETWORK, "P", "port", "<number>", "TCP port of the receiver, where 0 takes a free one",
     DEFAULT_PORT, set_port, DOCA_ARGP_TYPE_INT},
    {DMA_ARGUMENT_NETWORK, "w", "wait", "<seconds>", "Longest wait for the other side, in each step",
     DEFAULT_TIMEOUT, set_timeout, DOCA_ARGP_TYPE_INT},
};
/* clang-format on */

static doca_error_t register_argument(const struct argument *argument, const char *default_value)
{
    struct doca_argp_param *param;
    char description[256];
    doca_error_t result;

    result = doca_argp_param_create(&param);
    if (result != DOCA_SUCCESS)
        return result;
    (void)snprintf(description, sizeof(description), "%s (default: %s)", argument->description, default_value);
    doca_argp_param_set_short_name(param, argument->short_name);
    doca_argp_param_set_long_name(param, argument->long_name);
    doca_argp_param_set_arguments(param, argument->value);
    doca_argp_param_set_description(param, description);
    doca_argp_param_set_callback(param, argument->callback);
    doca_argp_param_set_type(param, argument->type);
    return doca_argp_register_param(param);
}

static doca_error_t register_arguments(uint32_t arguments, const char *default_pci_addr)
{
    const size_t num_arguments = sizeof(all_arguments) / sizeof(all_arguments[0]);
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < num_arguments && result == DOCA_SUCCESS; i++) {
        const struct argument *const argument = &all_arguments[i];

        if ((arguments & argument->kind) != 0)
            result = register_argument(argument, argument->default_value ? argument->default_value : default_pci_addr);
    }
    return result;
}

doca_error_t parse_arguments(const char *program, uint32_t arguments, const char *default_pci_addr, int argc,
                             char **argv, struct dma_config *config)
{
    doca_error_t result;

    (void)strlcpy(config->pci_addr, default_pci_addr, sizeof(config->pci_addr));
    (void)strlcpy(config->text, DEFAULT_TEXT, sizeof(config->text));
    (void)strlcpy(config->descriptor_path, DEFAULT_DESCRIPTOR_PATH, sizeof(config->descriptor_path));
    (void)strlcpy(config->buffer_info_path, DEFAULT_BUFFER_INFO_PATH, sizeof(config->buffer_info_path));
    (void)strlcpy(config->address, DEFAULT_ADDRESS, sizeof(config->address));
    (void)strlcpy(config->port, DEFAULT_PORT, sizeof(config->port));
    config->timeout = atoi(DEFAULT_TIMEOUT);

    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The arguments cannot be set up: %s", doca_get_error_string(result));
        return result;
    }
    result = register_arguments(arguments, default_pci_addr);
    if (result == DOCA_SUCCESS)
        result = add_busy_argument();
    if (result == DOCA_SUCCESS)
        result = doca_argp_start(argc, argv);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The arguments cannot be used: %s (-h shows what is possible)", doca_get_error_string(result));
    (void)doca_argp_destroy();
    return result;
}
