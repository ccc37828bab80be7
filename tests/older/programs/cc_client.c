// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// cc_client SERVICE: asks a question.
#include "cc.h"

int main(int argc, char **argv)
{
    struct channel channel = {NULL, NULL, NULL};
    struct doca_comm_channel_addr_t *peer = NULL;
    char text[1024] = "";
    doca_error_t result;
    open_channel(&channel, 0);
    WORKS(doca_comm_channel_ep_connect(channel.ep, argv[argc - 1], &peer));
    while ((result = doca_comm_channel_peer_addr_update_info(peer)) == DOCA_ERROR_CONNECTION_INPROGRESS)
        ;
    WORKS(result);
    send_text(&channel, "a question", peer);
    receive(&channel, text, &peer);
    CHECK(strcmp(text, "an answer") == 0);
    send_text(&channel, "thanks", peer);
    WORKS(doca_comm_channel_ep_disconnect(channel.ep, peer));
    close_channel(&channel);
    return 0;
}
