// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
#include "dma_common_1_3.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <doca_log.h>

DOCA_LOG_REGISTER(DMA_COMMON);

void parse_arguments(int argc, char **argv, struct arguments *arguments)
{
    int option;

    while ((option = getopt(argc, argv, "p:t:a:P:")) != -1) {
        if (option == 'p')
            arguments->pci_addr = optarg;
        else if (option == 't' && strlen(optarg) < MAX_TEXT_SIZE)
            arguments->text = optarg;
        else if (option == 'a')
            arguments->address = optarg;
        else if (option == 'P')
            arguments->port = optarg;
        else
            exit(EXIT_FAILURE);
    }
}

static doca_error_t parse_pci_addr(const char *text, struct doca_pci_bdf *bdf)
{
    unsigned int bus, device, function;
    char end;

    if (sscanf(text, "%2x:%2x.%1x%c", &bus, &device, &function, &end) != 3 || bus >= PCI_BUS_MAX_VALUE ||
        device >= PCI_DEVICE_MAX_VALUE || function >= PCI_FUNCTION_MAX_VALUE) {
        DOCA_LOG_ERR("'%s' is no PCI address such as 03:00.0", text);
        return DOCA_ERROR_INVALID_VALUE;
    }
    bdf->bus = bus & 0xff;
    bdf->device = device & 0x1f;
    bdf->function = function & 0x7;
    return DOCA_SUCCESS;
}

static doca_error_t open_device(const char *pci_addr, struct doca_dev **dev)
{
    struct doca_devinfo **list;
    struct doca_pci_bdf wanted, found;
    uint32_t count, caps, i;
    doca_error_t result;

    result = parse_pci_addr(pci_addr, &wanted);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_devinfo_list_create(&list, &count);
    if (result != DOCA_SUCCESS)
        return result;
    result = DOCA_ERROR_NOT_FOUND;
    for (i = 0; i < count && result == DOCA_ERROR_NOT_FOUND; i++) {
        if (doca_devinfo_property_get(list[i], DOCA_DEVINFO_PROPERTY_PCI_ADDR, (uint8_t *)&found, sizeof(found)) ==
                DOCA_SUCCESS &&
            found.raw == wanted.raw && doca_dma_devinfo_caps_get(list[i], &caps) == DOCA_SUCCESS &&
            (caps & DOCA_DMA_CAP_HW_OFFLOAD) != 0)
            result = doca_dev_open(list[i], dev);
    }
    (void)doca_devinfo_list_destroy(list);
    if (result == DOCA_ERROR_NOT_FOUND)
        DOCA_LOG_ERR("No device at %s can do DMA", pci_addr);
    return result;
}

doca_error_t open_device_and_map(const char *pci_addr, uint32_t max_chunks, struct copy_resources *resources)
{
    doca_error_t result = open_device(pci_addr, &resources->dev);

    if (result == DOCA_SUCCESS)
        result = doca_mmap_create("my_mmap", &resources->mmap);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_property_set(resources->mmap, DOCA_MMAP_MAX_NUM_CHUNKS, (const uint8_t *)&max_chunks,
                                        sizeof(max_chunks));
    if (result == DOCA_SUCCESS)
        result = doca_mmap_start(resources->mmap);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_dev_add(resources->mmap, resources->dev);
    return result;
}

doca_error_t add_memory(struct copy_resources *resources, void *addr, size_t len)
{
    return doca_mmap_populate(resources->mmap, addr, len, PAGE_SIZE_OF_MEMORY, NULL, NULL);
}

doca_error_t start_dma(struct copy_resources *resources)
{
    doca_error_t result = doca_buf_inventory_create("my_inventory", 2, DOCA_BUF_EXTENSION_NONE, &resources->inventory);

    if (result == DOCA_SUCCESS)
        result = doca_buf_inventory_start(resources->inventory);
    if (result == DOCA_SUCCESS)
        result = doca_dma_create(&resources->dma);
    if (result != DOCA_SUCCESS)
        return result;
    resources->ctx = doca_dma_as_ctx(resources->dma);
    result = doca_ctx_dev_add(resources->ctx, resources->dev);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_start(resources->ctx);
    if (result == DOCA_SUCCESS)
        result = doca_workq_create(1, &resources->workq);
    if (result == DOCA_SUCCESS)
        result = doca_ctx_workq_add(resources->ctx, resources->workq);
    return result;
}

static doca_error_t submit_and_wait(struct copy_resources *resources, struct doca_buf *dst, struct doca_buf *src,
                                    size_t len)
{
    struct doca_dma_job_memcpy job = {0};
    struct doca_event event = {0};
    doca_error_t result;

    job.base.type = DOCA_DMA_JOB_MEMCPY;
    job.base.flags = DOCA_JOB_FLAGS_NONE;
    job.base.ctx = resources->ctx;
    job.dst_buff = dst;
    job.src_buff = src;
    job.num_bytes_to_copy = len;
    result = doca_workq_submit(resources->workq, &job.base);
    if (result != DOCA_SUCCESS)
        return result;
    while ((result = doca_workq_progress_retrieve(resources->workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) ==
           DOCA_ERROR_AGAIN)
        ;
    return result == DOCA_SUCCESS ? (doca_error_t)event.result.u64 : result;
}

doca_error_t copy(struct copy_resources *resources, struct doca_mmap *dst_mmap, void *dst, struct doca_mmap *src_mmap,
                  void *src, size_t len)
{
    struct doca_buf *dst_buf, *src_buf;
    doca_error_t result;

    result = doca_buf_inventory_buf_by_addr(resources->inventory, src_mmap, src, len, &src_buf);
    if (result != DOCA_SUCCESS)
        return result;
    result = doca_buf_inventory_buf_by_addr(resources->inventory, dst_mmap, dst, len, &dst_buf);
    if (result == DOCA_SUCCESS) {
        result = submit_and_wait(resources, dst_buf, src_buf, len);
        (void)doca_buf_refcount_rm(dst_buf, NULL);
    }
    (void)doca_buf_refcount_rm(src_buf, NULL);
    if (result != DOCA_SUCCESS)
        DOCA_LOG_ERR("The copy has failed: %s", doca_get_error_string(result));
    return result;
}

void destroy_resources(struct copy_resources *resources)
{
    if (resources->workq != NULL) {
        (void)doca_ctx_workq_rm(resources->ctx, resources->workq);
        (void)doca_workq_destroy(resources->workq);
    }
    if (resources->dma != NULL) {
        (void)doca_ctx_stop(resources->ctx);
        (void)doca_ctx_dev_rm(resources->ctx, resources->dev);
        (void)doca_dma_destroy(resources->dma);
    }
    if (resources->inventory != NULL)
        (void)doca_buf_inventory_destroy(resources->inventory);
    if (resources->mmap != NULL) {
        (void)doca_mmap_dev_rm(resources->mmap, resources->dev);
        (void)doca_mmap_destroy(resources->mmap);
    }
    if (resources->dev != NULL)
        (void)doca_dev_close(resources->dev);
}

static int fail(const char *what)
{
    DOCA_LOG_ERR("%s: %s", what, strerror(errno));
    return -1;
}

static void to_address(const struct arguments *arguments, struct sockaddr_in *address)
{
    memset(address, 0, sizeof(*address));
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)atoi(arguments->port));
    (void)inet_pton(AF_INET, arguments->address, &address->sin_addr);
}

int wait_for_sender(const struct arguments *arguments)
{
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    int connection;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);

    to_address(arguments, &address);
    if (listener < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(listener, 1) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        return fail("Cannot listen");
    DOCA_LOG_INFO("Waiting for the sender at port %u", ntohs(address.sin_port));
    connection = accept(listener, NULL, NULL);
    close(listener);
    return connection < 0 ? fail("accept") : connection;
}

int connect_to_receiver(const struct arguments *arguments)
{
    struct sockaddr_in address;
    const int connection = socket(AF_INET, SOCK_STREAM, 0);

    to_address(arguments, &address);
    if (connection < 0 || connect(connection, (struct sockaddr *)&address, sizeof(address)) != 0)
        return fail("Cannot connect to the receiver");
    return connection;
}

int send_message(int connection, const void *bytes, size_t size)
{
    const uint64_t header = size;

    if (send(connection, &header, sizeof(header), MSG_NOSIGNAL) != sizeof(header) ||
        send(connection, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
        return fail("send");
    return 0;
}

int receive_message(int connection, void *bytes, size_t max_size, size_t *size)
{
    uint64_t header = 0;

    if (recv(connection, &header, sizeof(header), MSG_WAITALL) != sizeof(header) || header > max_size ||
        recv(connection, bytes, header, MSG_WAITALL) != (ssize_t)header)
        return fail("receive");
    *size = header;
    return 0;
}
