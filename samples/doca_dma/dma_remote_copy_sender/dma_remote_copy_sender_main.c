// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <stdlib.h>

#include <doca_log.h>

#include "../dma_common.h"

DOCA_LOG_REGISTER(DMA_REMOTE_COPY_SENDER::MAIN);

/* In dma_remote_copy_sender_sample.c. */
doca_error_t dma_remote_copy_sender(const struct dma_config *config);

int main(int argc, char **argv)
{
    struct dma_config config;
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    DOCA_LOG_INFO("Starting the sample");
    result =
        parse_arguments("doca_dma_remote_copy_sender", DMA_ARGUMENT_PCI_ADDR | DMA_ARGUMENT_TEXT | DMA_ARGUMENT_NETWORK,
                        DEFAULT_HOST_PCI_ADDR, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = require_host();
    if (result == DOCA_SUCCESS)
        result = dma_remote_copy_sender(&config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
