// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// How the two sides find each other: by files that the user copies from one to the other.
#include "rdma_common.h"

#include <stdio.h>

#include <doca_log.h>

#include "../common.h"

DOCA_LOG_REGISTER(SAMPLES::RDMA_PEER);

doca_error_t wait_for_enter(const char *request)
{
    int c;

    DOCA_LOG_INFO("%s, and press Enter", request);
    while ((c = getchar()) != '\n') {
        if (c == EOF) {
            DOCA_LOG_ERR("The standard input has ended before Enter was pressed");
            return DOCA_ERROR_IO_FAILED;
        }
    }
    return DOCA_SUCCESS;
}

doca_error_t export_memory(struct rdma_resources *resources)
{
    const char *const path = resources->config->mmap_path;
    const void *descriptor;
    size_t len;
    doca_error_t result;

    result = doca_mmap_export_rdma(resources->mmap, resources->dev, &descriptor, &len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The memory cannot be exported: %s", doca_get_error_string(result));
        return result;
    }
    result = save_new_file(path, descriptor, len);
    if (result != DOCA_SUCCESS)
        return result;
    resources->has_mmap_file = true;
    DOCA_LOG_INFO("The export descriptor of the memory is in %s", path);
    return DOCA_SUCCESS;
}

doca_error_t connect_to_peer(struct rdma_resources *resources)
{
    const struct rdma_config *const config = resources->config;
    uint8_t remote_details[MAX_DETAILS_SIZE];
    const void *details;
    size_t len;
    doca_error_t result;

    result = doca_rdma_export(resources->rdma, &details, &len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The connection details cannot be had: %s", doca_get_error_string(result));
        return result;
    }
    result = save_new_file(config->local_path, details, len);
    if (result != DOCA_SUCCESS)
        return result;
    resources->has_local_file = true;
    DOCA_LOG_INFO("The connection details of this side are in %s; copy them to the remote side", config->local_path);
    DOCA_LOG_INFO("Those of the remote side are expected in %s", config->remote_path);
    result = wait_for_enter("Copy the files from the remote side to here");
    if (result == DOCA_SUCCESS)
        result = load_file(config->remote_path, remote_details, sizeof(remote_details), &len);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_rdma_connect(resources->rdma, remote_details, len);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("No connection to the remote side: %s", doca_get_error_string(result));
        return result;
    }
    DOCA_LOG_INFO("Connected to the remote side");
    return DOCA_SUCCESS;
}

doca_error_t import_memory(struct rdma_resources *resources, void **addr, size_t *len)
{
    uint8_t descriptor[MAX_DETAILS_SIZE];
    size_t descriptor_len;
    doca_error_t result;

    result = load_file(resources->config->mmap_path, descriptor, sizeof(descriptor), &descriptor_len);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_mmap_create_from_export(NULL, descriptor, descriptor_len, resources->dev, &resources->remote_mmap);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_get_memrange(resources->remote_mmap, addr, len);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The responder's memory cannot be imported: %s", doca_get_error_string(result));
    return result;
}
