// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// endpoint_client SERVICE: the other end, also of a service of 2.2 or before (tests/older/programs/cc_server.c).
#include <doca_comm_channel.h>

#include "engine.h"

int main(int argc, char **argv)
{
    struct doca_dev *dev = open_device(NULL, "0b:00.0");
    struct doca_comm_channel_addr_t *peer = NULL;
    struct doca_comm_channel_ep_t *ep;
    char answer[1024] = "";
    doca_error_t result;
    size_t size;
    WORKS(doca_comm_channel_ep_create(&ep));
    WORKS(doca_comm_channel_ep_set_device(ep, dev));
    WORKS(doca_comm_channel_ep_set_max_msg_size(ep, 1024));
    WORKS(doca_comm_channel_ep_connect(ep, argv[argc - 1], &peer));
    while ((result = doca_comm_channel_peer_addr_update_info(peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
        ;
    WORKS(result);
    while ((result = doca_comm_channel_ep_sendto(ep, "a question", sizeof("a question"), DOCA_CC_MSG_FLAG_NONE,
                                                 peer)) == DOCA_ERROR_AGAIN)
        ;
    WORKS(result);
    do {
        size = sizeof(answer);
        result = doca_comm_channel_ep_recvfrom(ep, answer, &size, DOCA_CC_MSG_FLAG_NONE, &peer);
    } while (result == DOCA_ERROR_AGAIN);
    WORKS(result);
    CHECK(size == sizeof("an answer") && strcmp(answer, "an answer") == 0);
    while ((result = doca_comm_channel_ep_sendto(ep, "thanks", 7, DOCA_CC_MSG_FLAG_NONE, peer)) == DOCA_ERROR_AGAIN)
        ;
    WORKS(result);
    WORKS(doca_comm_channel_ep_disconnect(ep, peer));
    WORKS(doca_comm_channel_ep_destroy(ep));
    WORKS(doca_dev_close(dev));
    return 0;
}
