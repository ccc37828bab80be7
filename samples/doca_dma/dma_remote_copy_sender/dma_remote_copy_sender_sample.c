// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Exports text to the DPU: sends the descriptor to the receiver there, and waits until it has copied the
// text.
#include <unistd.h>

#include <doca_log.h>

#include "../../common.h"
#include "../dma_common.h"
#include "../dma_socket.h"

DOCA_LOG_REGISTER(DMA_REMOTE_COPY_SENDER);

doca_error_t dma_remote_copy_sender(const struct dma_config *config);

static doca_error_t let_receiver_copy(const struct dma_config *config, int connection,
                                      const struct exported_memory *memory)
{
    doca_error_t outcome = DOCA_ERROR_UNKNOWN;
    doca_error_t result;

    result = send_exported_memory(connection, config->timeout, memory);
    if (result != DOCA_SUCCESS)
        return result;
    DOCA_LOG_INFO("Sent the descriptor of %zu bytes; waiting for the receiver to copy", memory->descriptor_len);
    result = receive_outcome(connection, config->timeout, &outcome);
    if (result != DOCA_SUCCESS)
        return result;
    if (outcome != DOCA_SUCCESS)
        DOCA_LOG_ERR("The receiver could not copy the text: %s", doca_get_error_string(outcome));
    else
        DOCA_LOG_INFO("The receiver acknowledges: it has copied the text");
    return outcome;
}

doca_error_t dma_remote_copy_sender(const struct dma_config *config)
{
    struct exported_text exported = {0};
    int connection = -1;
    doca_error_t result;

    result = export_text(config->pci_addr, config->text, &exported);
    if (result == DOCA_SUCCESS)
        result = socket_connect(config->address, config->port, config->timeout, &connection);
    if (result == DOCA_SUCCESS) {
        result = let_receiver_copy(config, connection, &exported.memory);
        (void)close(connection);
    }
    result = first_error(result, unexport_text(&exported));
    return result;
}
