// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// cc_server SERVICE: answers one message.
#include "cc.h"

int main(int argc, char **argv)
{
    struct channel channel = {NULL, NULL, NULL};
    struct doca_comm_channel_addr_t *peer = NULL;
    char text[1024] = "";
    open_channel(&channel, 1);
    WORKS(doca_comm_channel_ep_listen(channel.ep, argv[argc - 1]));
    puts("listening");
    fflush(stdout);
    receive_asleep(&channel, text, &peer);
    CHECK(strcmp(text, "a question") == 0);
    send_text(&channel, "an answer", peer);
    receive(&channel, text, &peer);
    CHECK(strcmp(text, "thanks") == 0);
    WORKS(doca_comm_channel_ep_disconnect(channel.ep, peer));
    close_channel(&channel);
    return 0;
}
