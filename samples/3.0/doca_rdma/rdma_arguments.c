// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <string.h>

#include <doca_log.h>

#include "rdma_common.h"

DOCA_LOG_REGISTER(RDMA_ARGUMENTS);

static doca_error_t set_device(void *param, void *config)
{
    struct rdma_config *rdma = config;

    return set_text(rdma->device, sizeof(rdma->device), "device", param);
}

static doca_error_t set_local_path(void *param, void *config)
{
    struct rdma_config *rdma = config;

    return set_text(rdma->local_path, sizeof(rdma->local_path), "path", param);
}

static doca_error_t set_remote_path(void *param, void *config)
{
    struct rdma_config *rdma = config;

    return set_text(rdma->remote_path, sizeof(rdma->remote_path), "path", param);
}

static doca_error_t set_mmap_path(void *param, void *config)
{
    struct rdma_config *rdma = config;

    return set_text(rdma->mmap_path, sizeof(rdma->mmap_path), "path", param);
}

static doca_error_t set_event_path(void *param, void *config)
{
    struct rdma_config *rdma = config;

    return set_text(rdma->event_path, sizeof(rdma->event_path), "path", param);
}

static doca_error_t set_message(void *param, void *config)
{
    struct rdma_config *rdma = config;

    return set_text(rdma->text, sizeof(rdma->text), "text", param);
}

static doca_error_t set_address(void *param, void *config)
{
    struct rdma_config *rdma = config;

    return set_text(rdma->address, sizeof(rdma->address), "address", param);
}

static doca_error_t set_port(void *param, void *config)
{
    struct rdma_config *rdma = config;
    const int port = *(int *)param;

    if (port < 1 || port > UINT16_MAX) {
        DOCA_LOG_ERR("%d is no port", port);
        return DOCA_ERROR_INVALID_VALUE;
    }
    rdma->port = (uint16_t)port;
    return DOCA_SUCCESS;
}

static doca_error_t set_num_connections(void *param, void *config)
{
    struct rdma_config *rdma = config;
    const int count = *(int *)param;

    if (count < 1 || count > MAX_CONNECTIONS) {
        DOCA_LOG_ERR("%d connections: 1 to %d can be made", count, MAX_CONNECTIONS);
        return DOCA_ERROR_INVALID_VALUE;
    }
    rdma->num_connections = (uint16_t)count;
    return DOCA_SUCCESS;
}

static doca_error_t set_immediate(void *param, void *config)
{
    struct rdma_config *rdma = config;

    rdma->immediate = (uint32_t) * (int *)param;
    return DOCA_SUCCESS;
}

doca_error_t parse_arguments(const char *program, uint32_t arguments, int argc, char **argv, struct rdma_config *config)
{
    doca_error_t result;

    strcpy(config->text, "Hi DOCA RDMA!");
    strcpy(config->local_path, "/tmp/local_connection_desc_path.txt");
    strcpy(config->remote_path, "/tmp/remote_connection_desc_path.txt");
    strcpy(config->mmap_path, "/tmp/mmap_connection_desc_path.txt");
    strcpy(config->event_path, "/tmp/sync_event_desc_path.txt");
    strcpy(config->address, "127.0.0.1");
    config->num_connections = 1;
    config->immediate = 1234;
    result = doca_argp_init(program, config);
    if (result != DOCA_SUCCESS)
        return result;
    result = add_argument("d", "device", "IB device name or PCI address", DOCA_ARGP_TYPE_STRING, set_device);
    if (result == DOCA_SUCCESS)
        result = add_argument("ld", "local-descriptor-path", "File to write: how to connect to this side",
                              DOCA_ARGP_TYPE_STRING, set_local_path);
    if (result == DOCA_SUCCESS)
        result = add_argument("re", "remote-descriptor-path", "File to read: how to connect to the peer",
                              DOCA_ARGP_TYPE_STRING, set_remote_path);
    if (result == DOCA_SUCCESS && (arguments & RDMA_ARGUMENT_TEXT) != 0)
        result = add_argument("s", "string", "Text to send or to write", DOCA_ARGP_TYPE_STRING, set_message);
    if (result == DOCA_SUCCESS && (arguments & RDMA_ARGUMENT_MMAP) != 0)
        result = add_argument("m", "mmap-descriptor-path", "File that describes the responder's memory",
                              DOCA_ARGP_TYPE_STRING, set_mmap_path);
    if (result == DOCA_SUCCESS && (arguments & RDMA_ARGUMENT_EVENT) != 0)
        result = add_argument("se", "sync-event-descriptor-path", "File that describes the responder's sync event",
                              DOCA_ARGP_TYPE_STRING, set_event_path);
    if (result == DOCA_SUCCESS && (arguments & RDMA_ARGUMENT_PORT) != 0)
        result =
            add_argument("P", "port", "Connect by address and this port, not by files", DOCA_ARGP_TYPE_INT, set_port);
    if (result == DOCA_SUCCESS && (arguments & RDMA_ARGUMENT_ADDRESS) != 0)
        result = add_argument("a", "address", "IP address where the peer listens", DOCA_ARGP_TYPE_STRING, set_address);
    if (result == DOCA_SUCCESS && (arguments & RDMA_ARGUMENT_COUNT) != 0)
        result =
            add_argument("n", "num-connections", "Connections to the peer", DOCA_ARGP_TYPE_INT, set_num_connections);
    if (result == DOCA_SUCCESS && (arguments & RDMA_ARGUMENT_NUMBER) != 0)
        result = add_argument("i", "immediate", "Number that goes with the text", DOCA_ARGP_TYPE_INT, set_immediate);
    return read_arguments(result, argc, argv);
}
