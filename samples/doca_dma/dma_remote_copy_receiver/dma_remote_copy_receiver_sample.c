// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Receives a descriptor of the host's memory over TCP, copies the text that is there, and acknowledges.
#include <unistd.h>

#include <doca_log.h>

#include "../../common.h"
#include "../dma_common.h"
#include "../dma_socket.h"

DOCA_LOG_REGISTER(DMA_REMOTE_COPY_RECEIVER);

doca_error_t dma_remote_copy_receiver(const struct dma_config *config);

static doca_error_t accept_sender(const struct dma_config *config, int *connection)
{
    int listener;
    doca_error_t result;

    result = socket_listen(config->address, config->port, &listener);
    if (result != DOCA_SUCCESS)
        return result;
    result = socket_accept(listener, config->timeout, connection);
    (void)close(listener);
    return result;
}

/* The sender hears of a failure too; the first error is the one that counts. */
static doca_error_t serve_sender(const struct dma_config *config, struct dma_resources *resources, int connection)
{
    struct exported_memory memory;
    doca_error_t result;

    result = receive_exported_memory(connection, config->timeout, &memory);
    if (result != DOCA_SUCCESS)
        return result;
    DOCA_LOG_INFO("Received a descriptor of %zu bytes", memory.descriptor_len);
    result = copy_exported_text(resources, &memory);
    result = first_error(result, send_outcome(connection, config->timeout, result));
    return result;
}

doca_error_t dma_remote_copy_receiver(const struct dma_config *config)
{
    struct dma_resources resources = {0};
    int connection = -1;
    doca_error_t result;

    result = create_dma_resources(config->pci_addr, DMA_ABILITY_COPY | DMA_ABILITY_IMPORT, &resources);
    if (result == DOCA_SUCCESS)
        result = accept_sender(config, &connection);
    if (result == DOCA_SUCCESS) {
        result = serve_sender(config, &resources, connection);
        (void)close(connection);
    }
    result = first_error(result, destroy_dma_resources(&resources));
    return result;
}
