// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "rdma_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsd/string.h>
#include <doca_log.h>

#include "../common.h"
#include "../wait.h"

DOCA_LOG_REGISTER(SAMPLES::RDMA_COMMON);

#define WORKQ_DEPTH 10
#define NUM_BUFFERS 2 /* ours and the peer's */

/* The first device that can do the job, and has the name if one is given; the names of all that can. */
static struct doca_devinfo *find_device(struct doca_devinfo **devices, uint32_t num_devices, const char *name,
                                        enum doca_rdma_job_types job_type, char *suitable, size_t size)
{
    struct doca_devinfo *found = NULL;

    suitable[0] = '\0';
    for (uint32_t i = 0; i < num_devices; i++) {
        char ibdev[DOCA_DEVINFO_IBDEV_NAME_SIZE] = "";

        if (doca_rdma_job_get_supported(devices[i], job_type) != DOCA_SUCCESS ||
            doca_devinfo_get_ibdev_name(devices[i], ibdev, sizeof(ibdev)) != DOCA_SUCCESS)
            continue;
        (void)strlcat(suitable, " ", size);
        (void)strlcat(suitable, ibdev, size);
        if (found == NULL && (name[0] == '\0' || strcmp(name, ibdev) == 0))
            found = devices[i];
    }
    return found;
}

static doca_error_t open_rdma_device(const char *name, enum doca_rdma_job_types job_type, struct doca_dev **dev)
{
    struct doca_devinfo **devices = NULL;
    struct doca_devinfo *devinfo;
    uint32_t num_devices = 0;
    char suitable[512];
    doca_error_t result;

    result = doca_devinfo_list_create(&devices, &num_devices);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("The devices cannot be listed: %s", doca_get_error_string(result));
        return result;
    }
    devinfo = find_device(devices, num_devices, name, job_type, suitable, sizeof(suitable));
    if (devinfo != NULL) {
        result = doca_dev_open(devinfo, dev);
        if (result != DOCA_SUCCESS)
            DOCA_LOG_ERR("The device cannot be opened: %s", doca_get_error_string(result));
    } else {
        DOCA_LOG_ERR("No device %s%s%s can do this; these can:%s", name[0] == '\0' ? "here" : "'", name,
                     name[0] == '\0' ? "" : "'", suitable[0] == '\0' ? " none" : suitable);
        result = DOCA_ERROR_NOT_FOUND;
    }
    (void)doca_devinfo_list_destroy(devices);
    return result;
}

static doca_error_t start_rdma(uint32_t permissions, struct rdma_resources *r)
{
    doca_error_t result;

    result = doca_rdma_create(&r->rdma);
    if (result != DOCA_SUCCESS)
        return result;
    r->ctx = doca_rdma_as_ctx(r->rdma);
    result = doca_ctx_dev_add(r->ctx, r->dev);
    if (result != DOCA_SUCCESS)
        return result;
    r->has_device = true;
    result = doca_rdma_set_permissions(r->rdma, DOCA_ACCESS_LOCAL_READ_WRITE | permissions);
    if (result == DOCA_SUCCESS && r->config->has_gid_index)
        result = doca_rdma_set_gid_index(r->rdma, r->config->gid_index);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(r->ctx);
    if (result != DOCA_SUCCESS)
        return result;
    r->is_started = true;
    result = create_workq(WORKQ_DEPTH, &r->workq);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_ctx_workq_add(r->ctx, r->workq);
    r->has_workq = result == DOCA_SUCCESS;
    return result;
}

doca_error_t create_rdma_resources(const struct rdma_config *config, enum doca_rdma_job_types job_type,
                                   uint32_t permissions, struct rdma_resources *resources)
{
    doca_error_t result;

    resources->config = config;
    result = open_rdma_device(config->device_name, job_type, &resources->dev);
    if (result != DOCA_SUCCESS)
        return result;
    resources->memory = calloc(1, MEMORY_SIZE);
    if (resources->memory == NULL) {
        DOCA_LOG_ERR("No memory for %d bytes", MEMORY_SIZE);
        return DOCA_ERROR_NO_MEMORY;
    }
    result = map_memory(resources->dev, resources->memory, MEMORY_SIZE, DOCA_ACCESS_LOCAL_READ_WRITE | permissions,
                        &resources->mmap);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_buf_inventory_create(NULL, NUM_BUFFERS, DOCA_BUF_EXTENSION_NONE, &resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = start_rdma(permissions, resources);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("RDMA cannot be set up: %s", doca_get_error_string(result));
    return result;
}

/* A job that has not ended, such as a receive that met no message, goes with the connection: taking the work
 * queue away begins to cancel it, and works as soon as its end has been retrieved. */
static doca_error_t remove_workq(struct rdma_resources *r)
{
    doca_error_t result = doca_ctx_workq_rm(r->ctx, r->workq);

    while (result == DOCA_ERROR_NOT_PERMITTED) {
        struct doca_event event = {0};

        while (doca_workq_progress_retrieve(r->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE) != DOCA_ERROR_AGAIN)
            ;
        result = doca_ctx_workq_rm(r->ctx, r->workq);
    }
    return result;
}

doca_error_t destroy_rdma_resources(struct rdma_resources *resources)
{
    struct rdma_resources *const r = resources;
    doca_error_t result = DOCA_SUCCESS;

    if (r->has_workq)
        result = first_error(result, remove_workq(r));
    if (r->workq != NULL)
        result = first_error(result, doca_workq_destroy(r->workq));
    if (r->is_started)
        result = first_error(result, doca_ctx_stop(r->ctx));
    if (r->has_device)
        result = first_error(result, doca_ctx_dev_rm(r->ctx, r->dev));
    if (r->rdma != NULL)
        result = first_error(result, doca_rdma_destroy(r->rdma));
    if (r->inventory != NULL)
        result = first_error(result, doca_buf_inventory_destroy(r->inventory));
    if (r->remote_mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->remote_mmap));
    if (r->mmap != NULL)
        result = first_error(result, doca_mmap_destroy(r->mmap));
    if (r->dev != NULL)
        result = first_error(result, doca_dev_close(r->dev));
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("RDMA cannot be taken apart: %s", doca_get_error_string(result));
    if (r->has_local_file)
        (void)unlink(r->config->local_path);
    if (r->has_mmap_file)
        (void)unlink(r->config->mmap_path);
    free(r->memory);
    memset(r, 0, sizeof(*r));
    return result;
}

doca_error_t submit_job(struct rdma_resources *resources, const struct doca_job *job)
{
    const doca_error_t result = doca_workq_submit(resources->workq, job);

    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The job cannot be submitted: %s", doca_get_error_string(result));
    return result;
}

doca_error_t await_job(struct rdma_resources *resources, struct doca_rdma_result *rdma_result)
{
    struct doca_event event = {0};
    doca_error_t result;

    /* The library tells the outcome through the pointer in the event. */
    memset(rdma_result, 0, sizeof(*rdma_result));
    event.result.ptr = rdma_result;
    result = await_event(resources->workq, &event);
    if (result == DOCA_ERROR_IO_FAILED && rdma_result->result != DOCA_SUCCESS)
        result = rdma_result->result;
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The job has failed: %s", doca_get_error_string(result));
    return result;
}

doca_error_t put_text(struct rdma_resources *resources, const char *text, struct doca_buf **buf)
{
    const size_t len = strlen(text) + 1;
    doca_error_t result;

    (void)strlcpy(resources->memory, text, MEMORY_SIZE);
    result = doca_buf_inventory_buf_by_data(resources->inventory, resources->mmap, resources->memory, len, buf);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("No buffer of %zu bytes: %s", len, doca_get_error_string(result));
    return result;
}

void show_text(const char *what, const struct rdma_resources *resources, size_t offset, size_t len)
{
    char text[MEMORY_SIZE + 1];

    if (offset > MEMORY_SIZE || len > MEMORY_SIZE - offset)
        return;
    memcpy(text, resources->memory + offset, len);
    text[len] = '\0';
    make_printable(text, strlen(text));
    DOCA_LOG_INFO("%s: %s", what, text);
}

int rdma_main(const char *program, uint32_t arguments, doca_error_t (*run)(const struct rdma_config *config), int argc,
              char **argv)
{
    struct rdma_config config;
    doca_error_t result;

    if (doca_log_create_standard_backend() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    DOCA_LOG_INFO("Starting the sample");
    result = parse_arguments(program, arguments, argc, argv, &config);
    if (result == DOCA_SUCCESS)
        result = run(&config);
    if (result != DOCA_SUCCESS) {
        DOCA_LOG_ERR("Sample finished with errors");
        return EXIT_FAILURE;
    }
    DOCA_LOG_INFO("Sample finished successfully");
    return EXIT_SUCCESS;
}
