/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The opendoca authors */
/* What the program of the host and that of the DPU have in common, written as users write it. */
#ifndef FIRST_CONTACT_COMMON_H_
#define FIRST_CONTACT_COMMON_H_

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <doca_comm_channel.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_mmap.h>
#include <doca_sync_event.h>

#define SERVICE "first contact"
#define LONGEST_MESSAGE 1024
#define QUEUE_SIZE 8
#define SECONDS_TO_WAIT 30
#define MEMORY_SIZE 4096
#define TEXT_OF_HOST "memory of the host"
#define TEXT_OF_DPU "written by the DPU"

/* The second message: where in the host's process the exported memory is. */
struct place {
    char *addr;
    size_t len;
};

/* Ends the program when a call has not succeeded. */
#define MUST(call) must((call), #call)

static inline void must(doca_error_t result, const char *call)
{
    if (result == DOCA_SUCCESS)
        return;
    fprintf(stderr, "%s: %s\n", call, doca_get_error_name(result));
    exit(EXIT_FAILURE);
}

static inline void fail(const char *reason)
{
    fprintf(stderr, "%s\n", reason);
    exit(EXIT_FAILURE);
}

static inline void take_a_nap(void)
{
    const struct timespec nap = {.tv_nsec = 10 * 1000};
    nanosleep(&nap, NULL);
}

/* The device with the address; without one, the first that copies. */
static inline struct doca_dev *open_device(const char *pci_address)
{
    struct doca_devinfo **list = NULL;
    struct doca_dev *dev = NULL;
    uint32_t count = 0;

    MUST(doca_devinfo_list_create(&list, &count));
    for (uint32_t i = 0; i < count && dev == NULL; i++) {
        uint8_t is_wanted = 0;

        if (pci_address == NULL)
            is_wanted = doca_dma_job_get_supported(list[i], DOCA_DMA_JOB_MEMCPY) == DOCA_SUCCESS;
        else
            MUST(doca_devinfo_get_is_pci_addr_equal(list[i], pci_address, &is_wanted));
        if (is_wanted)
            MUST(doca_dev_open(list[i], &dev));
    }
    MUST(doca_devinfo_list_destroy(list));
    if (dev == NULL)
        fail("matching device not found");
    return dev;
}

static inline struct doca_comm_channel_ep_t *create_endpoint(struct doca_dev *dev)
{
    struct doca_comm_channel_ep_t *ep = NULL;

    MUST(doca_comm_channel_ep_create(&ep));
    MUST(doca_comm_channel_ep_set_device(ep, dev));
    MUST(doca_comm_channel_ep_set_max_msg_size(ep, LONGEST_MESSAGE));
    MUST(doca_comm_channel_ep_set_send_queue_size(ep, QUEUE_SIZE));
    MUST(doca_comm_channel_ep_set_recv_queue_size(ep, QUEUE_SIZE));
    return ep;
}

static inline void send_message(struct doca_comm_channel_ep_t *ep, const void *message, size_t length,
                                struct doca_comm_channel_addr_t *peer)
{
    doca_error_t result;

    while ((result = doca_comm_channel_ep_sendto(ep, message, length, DOCA_CC_MSG_FLAG_NONE, peer)) == DOCA_ERROR_AGAIN)
        take_a_nap();
    must(result, "doca_comm_channel_ep_sendto");
}

static inline size_t receive_message(struct doca_comm_channel_ep_t *ep, void *message,
                                     struct doca_comm_channel_addr_t **peer)
{
    const time_t end = time(NULL) + SECONDS_TO_WAIT;
    size_t length = LONGEST_MESSAGE;
    doca_error_t result;

    while ((result = doca_comm_channel_ep_recvfrom(ep, message, &length, DOCA_CC_MSG_FLAG_NONE, peer)) ==
           DOCA_ERROR_AGAIN) {
        if (time(NULL) > end)
            fail("no message has come");
        take_a_nap();
        length = LONGEST_MESSAGE;
    }
    must(result, "doca_comm_channel_ep_recvfrom");
    return length;
}

#endif
