/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The opendoca authors */
/*
 * The DPU's side: reads and writes the host's memory, and tells it by a sync event.
 *
 *     dpu PCI-ADDRESS ADDRESS-OF-THE-HOST'S-FUNCTION
 */
#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>

#include "common.h"

static struct doca_dev_rep *open_representor(struct doca_dev *dev, const char *pci_address)
{
    struct doca_devinfo_rep **list = NULL;
    struct doca_dev_rep *rep = NULL;
    uint32_t count = 0;

    MUST(doca_devinfo_rep_list_create(dev, DOCA_DEV_REP_FILTER_NET, &list, &count));
    for (uint32_t i = 0; i < count && rep == NULL; i++) {
        uint8_t is_equal = 0;

        MUST(doca_devinfo_rep_get_is_pci_addr_equal(list[i], pci_address, &is_equal));
        if (is_equal)
            MUST(doca_dev_rep_open(list[i], &rep));
    }
    MUST(doca_devinfo_rep_list_destroy(list));
    if (rep == NULL)
        fail("matching representor not found");
    return rep;
}

static void copy(struct doca_dma *dma, struct doca_workq *workq, struct doca_buf *to, struct doca_buf *from)
{
    struct doca_dma_job_memcpy job = {
        .base = {.type = DOCA_DMA_JOB_MEMCPY, .ctx = doca_dma_as_ctx(dma)},
        .dst_buff = to,
        .src_buff = from,
    };
    struct doca_event event = {0};
    doca_error_t result;

    MUST(doca_buf_reset_data_len(to));
    MUST(doca_workq_submit(workq, &job.base));
    while ((result = doca_workq_progress_retrieve(workq, &event, DOCA_WORKQ_RETRIEVE_FLAGS_NONE)) == DOCA_ERROR_AGAIN)
        take_a_nap();
    must(result, "doca_workq_progress_retrieve");
}

/* Fetches the host's memory, keeps its text, and puts the DPU's there. */
static void exchange(struct doca_dev *dev, struct doca_mmap *theirs, const struct place *place, char *text)
{
    static char memory[MEMORY_SIZE];
    struct doca_mmap *ours = NULL;
    struct doca_buf_inventory *inventory = NULL;
    struct doca_buf *own = NULL, *remote = NULL;
    struct doca_workq *workq = NULL;
    struct doca_dma *dma = NULL;

    MUST(doca_mmap_create(NULL, &ours));
    MUST(doca_mmap_dev_add(ours, dev));
    MUST(doca_mmap_set_memrange(ours, memory, sizeof(memory)));
    MUST(doca_mmap_start(ours));
    MUST(doca_buf_inventory_create(NULL, 2, DOCA_BUF_EXTENSION_NONE, &inventory));
    MUST(doca_buf_inventory_start(inventory));
    MUST(doca_buf_inventory_buf_by_addr(inventory, ours, memory, sizeof(memory), &own));
    MUST(doca_buf_inventory_buf_by_addr(inventory, theirs, place->addr, place->len, &remote));
    MUST(doca_dma_create(&dma));
    MUST(doca_ctx_dev_add(doca_dma_as_ctx(dma), dev));
    MUST(doca_ctx_start(doca_dma_as_ctx(dma)));
    MUST(doca_workq_create(1, &workq));
    MUST(doca_ctx_workq_add(doca_dma_as_ctx(dma), workq));

    MUST(doca_buf_set_data(remote, place->addr, place->len));
    copy(dma, workq, own, remote);
    memcpy(text, memory, LONGEST_MESSAGE - 1);
    strcpy(memory, TEXT_OF_DPU);
    MUST(doca_buf_set_data(own, memory, sizeof(memory)));
    copy(dma, workq, remote, own);

    MUST(doca_ctx_workq_rm(doca_dma_as_ctx(dma), workq));
    MUST(doca_workq_destroy(workq));
    MUST(doca_ctx_stop(doca_dma_as_ctx(dma)));
    MUST(doca_dma_destroy(dma));
    MUST(doca_buf_refcount_rm(remote, NULL));
    MUST(doca_buf_refcount_rm(own, NULL));
    MUST(doca_buf_inventory_destroy(inventory));
    MUST(doca_mmap_destroy(ours));
}

int main(int argc, char **argv)
{
    char message[LONGEST_MESSAGE], text[LONGEST_MESSAGE] = "";
    struct place place;
    struct doca_mmap *theirs = NULL;
    struct doca_sync_event *event = NULL;
    struct doca_comm_channel_addr_t *peer = NULL;
    struct doca_dev *dev;
    struct doca_dev_rep *rep;
    struct doca_comm_channel_ep_t *ep;
    size_t length;

    if (argc != 3)
        fail("usage: dpu PCI-ADDRESS ADDRESS-OF-THE-HOST'S-FUNCTION");
    dev = open_device(argv[1]);
    rep = open_representor(dev, argv[2]);
    ep = create_endpoint(dev);
    MUST(doca_comm_channel_ep_set_device_rep(ep, rep));
    MUST(doca_comm_channel_ep_listen(ep, SERVICE));
    printf("listening\n");
    fflush(stdout);

    length = receive_message(ep, message, &peer);
    MUST(doca_mmap_create_from_export(NULL, message, length, dev, &theirs));
    length = receive_message(ep, message, &peer);
    if (length != sizeof(place))
        fail("the second message is none of a place");
    memcpy(&place, message, sizeof(place));
    exchange(dev, theirs, &place, text);

    length = receive_message(ep, message, &peer);
    MUST(doca_sync_event_create_from_export(dev, (const uint8_t *)message, length, &event));
    MUST(doca_sync_event_start(event));
    MUST(doca_sync_event_update_set(event, 1));
    send_message(ep, text, strlen(text), peer);

    MUST(doca_sync_event_stop(event));
    MUST(doca_sync_event_destroy(event));
    MUST(doca_mmap_destroy(theirs));
    MUST(doca_comm_channel_ep_disconnect(ep, peer));
    MUST(doca_comm_channel_ep_destroy(ep));
    MUST(doca_dev_rep_close(rep));
    MUST(doca_dev_close(dev));
    return EXIT_SUCCESS;
}
