// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// cc_blocking_server SERVICE: receives and sends by one call each, as programs of DOCA 1.3 do. It ends without
// disconnecting, as if it had died.
#include <unistd.h>

#include "alarm.h"
#include "cc.h"

int main(int argc, char **argv)
{
    struct channel channel = {NULL, NULL, NULL};
    struct doca_comm_channel_addr_t *peer = NULL;
    char text[1024] = "";
    size_t length = sizeof(text);
    sigset_t full;
    int number;
    CHECK(sigemptyset(&full) == 0 && sigaddset(&full, SIGUSR1) == 0 && sigprocmask(SIG_BLOCK, &full, NULL) == 0);
    open_channel(&channel, 1);
    WORKS(doca_comm_channel_ep_listen(channel.ep, argv[argc - 1]));
    puts("listening");
    fflush(stdout);
    WORKS(doca_comm_channel_ep_recvfrom(channel.ep, text, &length, 0, &peer));
    CHECK(strcmp(text, "a question") == 0 && length == sizeof("a question"));

    // The client sends nothing before the answer: the signal ends the wait.
    alarm_every(20);
    length = sizeof(text);
    GIVES(doca_comm_channel_ep_recvfrom(channel.ep, text, &length, 0, &peer), DOCA_ERROR_AGAIN);
    CHECK(length == sizeof(text));
    alarm_every(0);
    snprintf(text, sizeof(text), "%d", (int)getpid());
    WORKS(doca_comm_channel_ep_sendto(channel.ep, text, strlen(text) + 1, 0, peer));

    // The client has filled the queues, and is about to block.
    CHECK(sigwait(&full, &number) == 0);
    do {
        length = sizeof(text);
        WORKS(doca_comm_channel_ep_recvfrom(channel.ep, text, &length, 0, &peer));
    } while (strcmp(text, "the last one") != 0);
    _exit(0);
}
