/* SPDX-License-Identifier: BSD-3-Clause */
/* Copyright (c) 2026 The opendoca authors */
/*
 * The host's side: exports memory and a sync event to the DPU through Comm Channel, and waits for what it does.
 *
 *     host [PCI address]        without an address, by the first device that copies
 */
#include "common.h"

int main(int argc, char **argv)
{
    static char memory[MEMORY_SIZE] = TEXT_OF_HOST;
    struct place place = {.addr = memory, .len = sizeof(memory)};
    char answer[LONGEST_MESSAGE];
    const void *descriptor = NULL;
    const uint8_t *exported_event = NULL;
    size_t descriptor_len = 0, exported_event_len = 0;
    struct doca_mmap *mmap = NULL;
    struct doca_sync_event *event = NULL;
    struct doca_comm_channel_addr_t *peer = NULL;
    struct doca_dev *dev = open_device(argc > 1 ? argv[1] : NULL);
    struct doca_comm_channel_ep_t *ep = create_endpoint(dev);
    doca_error_t result;

    MUST(doca_mmap_create(NULL, &mmap));
    MUST(doca_mmap_dev_add(mmap, dev));
    MUST(doca_mmap_set_permissions(mmap, DOCA_ACCESS_DPU_READ_WRITE));
    MUST(doca_mmap_set_memrange(mmap, memory, sizeof(memory)));
    MUST(doca_mmap_start(mmap));
    MUST(doca_mmap_export_dpu(mmap, dev, &descriptor, &descriptor_len));

    MUST(doca_sync_event_create(&event));
    MUST(doca_sync_event_publisher_add_location_dpu(event));
    MUST(doca_sync_event_subscriber_add_location_cpu(event, dev));
    MUST(doca_sync_event_start(event));
    MUST(doca_sync_event_export_to_dpu(event, dev, &exported_event, &exported_event_len));

    MUST(doca_comm_channel_ep_connect(ep, SERVICE, &peer));
    while ((result = doca_comm_channel_peer_addr_update_info(peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
        take_a_nap();
    must(result, "doca_comm_channel_peer_addr_update_info");
    send_message(ep, descriptor, descriptor_len, peer);
    send_message(ep, &place, sizeof(place), peer);
    send_message(ep, exported_event, exported_event_len, peer);

    MUST(doca_sync_event_wait_gt_yield(event, 0, UINT64_MAX));
    if (strcmp(memory, TEXT_OF_DPU) != 0)
        fail("the DPU has not written");
    answer[receive_message(ep, answer, &peer)] = '\0';
    printf("the DPU has read: %s\n", answer);

    MUST(doca_comm_channel_ep_disconnect(ep, peer));
    MUST(doca_comm_channel_ep_destroy(ep));
    MUST(doca_sync_event_stop(event));
    MUST(doca_sync_event_destroy(event));
    MUST(doca_mmap_destroy(mmap));
    MUST(doca_dev_close(dev));
    return EXIT_SUCCESS;
}
