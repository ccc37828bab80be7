// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include <stdlib.h>

#include <doca_log.h>

#include "../sync_event_common.h"

DOCA_LOG_REGISTER(SYNC_EVENT_HOST::MAIN);

/* In sync_event_host_sample.c. */
doca_error_t sync_event_host(const struct sync_event_config *config);

int main(int argc, char **argv)
{
    struct sync_event_config config;
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    DOCA_LOG_INFO("Starting the sample");
    result = parse_sync_event_arguments("doca_sync_event_host", false, argc, argv, &config);
#ifndef DOCA_ARCH_HOST
    if (result == DOCA_SUCCESS) {
        DOCA_LOG_ERR("This sample can run only on the host, and was built for the DPU (see its build option 'role')");
        result = DOCA_ERROR_NOT_SUPPORTED;
    }
#endif
    if (result == DOCA_SUCCESS)
        result = sync_event_host(&config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
