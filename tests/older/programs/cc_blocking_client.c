// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// cc_blocking_client SERVICE: connects, sends and receives by one call each, as programs of DOCA 1.3 do.
#include "alarm.h"
#include "cc.h"

int main(int argc, char **argv)
{
    struct channel channel = {NULL, NULL, NULL};
    struct doca_comm_channel_addr_t *peer = NULL;
    char text[1024] = "";
    size_t length = sizeof(text);
    doca_error_t result;
    open_channel(&channel, 0);
    GIVES(doca_comm_channel_ep_connect(channel.ep, "no_such_service", &peer), DOCA_ERROR_CONNECTION_ABORTED);
    GIVES(doca_comm_channel_ep_connect(channel.ep, argv[argc - 1], NULL), DOCA_ERROR_INVALID_VALUE);
    GIVES(doca_comm_channel_ep_recvfrom(channel.ep, text, &length, 0, &peer), DOCA_ERROR_NOT_CONNECTED);
    WORKS(doca_comm_channel_ep_connect(channel.ep, argv[argc - 1], &peer));
    WORKS(doca_comm_channel_peer_addr_update_info(peer));
    WORKS(doca_comm_channel_ep_sendto(channel.ep, "a question", sizeof("a question"), 0, peer));
    WORKS(doca_comm_channel_ep_recvfrom(channel.ep, text, &length, 0, &peer));

    // The service does not receive for now: the queues become full, and a signal ends the wait.
    alarm_every(20);
    do
        result = doca_comm_channel_ep_sendto(channel.ep, "one of many", sizeof("one of many"), 0, peer);
    while (result == DOCA_SUCCESS);
    CHECK(result == DOCA_ERROR_AGAIN);
    alarm_every(0);
    CHECK(kill((pid_t)atoi(text), SIGUSR1) == 0);
    WORKS(doca_comm_channel_ep_sendto(channel.ep, "the last one", sizeof("the last one"), 0, peer));

    // The death of the service ends a wait as well.
    GIVES(doca_comm_channel_ep_recvfrom(channel.ep, text, &length, 0, &peer), DOCA_ERROR_CONNECTION_RESET);
    close_channel(&channel);
    return 0;
}
