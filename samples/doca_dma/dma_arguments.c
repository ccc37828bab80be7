// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_common.h"

#include <stdio.h>
#include <stdlib.h>

#include <bsd/string.h>
#include <doca_log.h>

DOCA_LOG_REGISTER(SAMPLES::DMA_ARGUMENTS);

#define DEFAULT_TEXT "This text has travelled by DMA"
#define DEFAULT_DESCRIPTOR_PATH "/tmp/export_desc.txt"
#define DEFAULT_BUFFER_INFO_PATH "/tmp/buffer_info.txt"
#define DEFAULT_ADDRESS "127.0.0.1"
#define DEFAULT_PORT "18515"
#define DEFAULT_TIMEOUT "60"
#define MAX_TIMEOUT 86400

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

/* An argument that some of the samples take. */
struct dma_argument_entry {
    enum dma_argument kind;
    const char *default_value; /* appended to the description; NULL: the sample's own PCI address */
    struct argument argument;
};

static const struct dma_argument_entry all_arguments[] = {
    {DMA_ARGUMENT_PCI_ADDR,
     NULL,
     {"p", "pci-addr", "<address>", "PCI address or RDMA name of the device", set_pci_addr, DOCA_ARGP_TYPE_STRING,
      false}},
    {DMA_ARGUMENT_TEXT, DEFAULT_TEXT, {"t", "text", "<text>", "Text to copy", set_text, DOCA_ARGP_TYPE_STRING, false}},
    {DMA_ARGUMENT_FILES,
     DEFAULT_DESCRIPTOR_PATH,
     {"d", "descriptor-path", "<path>", "File with the export descriptor", set_descriptor_path, DOCA_ARGP_TYPE_STRING,
      false}},
    {DMA_ARGUMENT_FILES,
     DEFAULT_BUFFER_INFO_PATH,
     {"b", "buffer-path", "<path>", "File with the buffer's address and length", set_buffer_info_path,
      DOCA_ARGP_TYPE_STRING, false}},
    {DMA_ARGUMENT_NETWORK,
     DEFAULT_ADDRESS,
     {"a", "address", "<address>", "IP address or name where the receiver listens", set_address, DOCA_ARGP_TYPE_STRING,
      false}},
    {DMA_ARGUMENT_NETWORK,
     DEFAULT_PORT,
     {"P", "port", "<number>", "TCP port of the receiver, where 0 takes a free one", set_port, DOCA_ARGP_TYPE_INT,
      false}},
    {DMA_ARGUMENT_NETWORK,
     DEFAULT_TIMEOUT,
     {"w", "wait", "<seconds>", "Longest wait for the other side, in each step", set_timeout, DOCA_ARGP_TYPE_INT,
      false}},
};

static doca_error_t add_with_default(struct argument argument, const char *default_value)
{
    char description[256];

    (void)snprintf(description, sizeof(description), "%s (default: %s)", argument.description, default_value);
    argument.description = description;
    return add_argument(&argument);
}

static doca_error_t add_arguments(uint32_t arguments, const char *default_pci_addr)
{
    const size_t num_arguments = sizeof(all_arguments) / sizeof(all_arguments[0]);
    doca_error_t result = DOCA_SUCCESS;

    for (size_t i = 0; i < num_arguments && result == DOCA_SUCCESS; i++) {
        const struct dma_argument_entry *const entry = &all_arguments[i];

        if ((arguments & entry->kind) != 0)
            result = add_with_default(entry->argument, entry->default_value ? entry->default_value : default_pci_addr);
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

    result = begin_arguments(program, config);
    return result == DOCA_SUCCESS ? read_arguments(add_arguments(arguments, default_pci_addr), argc, argv) : result;
}
