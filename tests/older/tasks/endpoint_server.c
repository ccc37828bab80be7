// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// endpoint_server SERVICE: a Comm Channel endpoint beside a progress engine. It answers one message by a text that DMA
// has copied. The client may be one of 2.2 or before (tests/older/programs/cc_client.c).
#include <doca_comm_channel.h>

#include "dma.h"

int main(int argc, char **argv)
{
    struct doca_dev *dev = open_device(doca_dma_cap_task_memcpy_is_supported, "03:00.0");
    struct doca_dev_rep *rep = open_representor(dev);
    struct doca_comm_channel_addr_t *peer = NULL;
    struct doca_comm_channel_ep_t *ep;
    struct memory memory;
    struct doca_buf *src, *dst;
    doca_error_t result;
    size_t size;
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    WORKS(doca_comm_channel_ep_create(&ep));
    WORKS(doca_comm_channel_ep_set_device(ep, dev));
    WORKS(doca_comm_channel_ep_set_device_rep(ep, rep));
    WORKS(doca_comm_channel_ep_set_max_msg_size(ep, 1024));
    WORKS(doca_comm_channel_ep_set_send_queue_size(ep, 10));
    WORKS(doca_comm_channel_ep_set_recv_queue_size(ep, 10));
    WORKS(doca_comm_channel_ep_listen(ep, argv[argc - 1]));
    puts("listening");
    fflush(stdout);
    do {
        size = 1024;
        result = doca_comm_channel_ep_recvfrom(ep, memory.bytes, &size, DOCA_CC_MSG_FLAG_NONE, &peer);
    } while (result == DOCA_ERROR_AGAIN);
    WORKS(result);
    CHECK(size == sizeof("a question") && strcmp(memory.bytes, "a question") == 0);
    src = buffer(&memory, 2048, 1024, "an answer");
    dst = buffer(&memory, 1024, 1024, NULL);
    copy(dev, src, dst);
    while ((result = doca_comm_channel_ep_sendto(ep, memory.bytes + 1024, sizeof("an answer"), DOCA_CC_MSG_FLAG_NONE,
                                                 peer)) == DOCA_ERROR_AGAIN)
        ;
    WORKS(result);
    do {
        size = 1024;
        result = doca_comm_channel_ep_recvfrom(ep, memory.bytes, &size, DOCA_CC_MSG_FLAG_NONE, &peer);
    } while (result == DOCA_ERROR_AGAIN);
    WORKS(result);
    CHECK(strcmp(memory.bytes, "thanks") == 0);
    WORKS(doca_comm_channel_ep_disconnect(ep, peer));
    WORKS(doca_comm_channel_ep_destroy(ep));
    WORKS(doca_buf_dec_refcount(src, NULL));
    WORKS(doca_buf_dec_refcount(dst, NULL));
    drop_memory(&memory);
    WORKS(doca_dev_rep_close(rep));
    WORKS(doca_dev_close(dev));
    return 0;
}
