// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A service of Comm Channel that returns each message, and a client that counts round trips.
//
//     link_messages service NAME
//     link_messages client NAME COUNT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doca_comm_channel/cc_common.h"
#include "doca_comm_channel/cc_sample.h"

static doca_error_t serve(const char *name)
{
    struct doca_dev *dev = NULL;
    struct cc_end end = {0};
    char message[CC_MAX_MSG_SIZE];
    doca_error_t result = open_cc_device("03:00.0", &dev);

    if (result == DOCA_SUCCESS)
        result = cc_listen(&end, dev, "3b:00.0", name);
    puts(result == DOCA_SUCCESS ? "serves" : doca_get_error_name(result));
    while (result == DOCA_SUCCESS) {
        size_t len = sizeof(message);

        result = cc_receive(&end, message, &len);
        if (result == DOCA_SUCCESS)
            result = cc_send(&end, message, len);
    }
    printf("ended: %s\n", doca_get_error_name(result));
    (void)cc_close(&end);
    return dev != NULL ? doca_dev_close(dev) : result;
}

/* The length and the content follow from the number. */
static size_t make_message(char *message, unsigned long number)
{
    const size_t len = 1 + number * 769 % CC_MAX_MSG_SIZE;

    for (size_t i = 0; i < len; i++)
        message[i] = (char)(number + i);
    return len;
}

static doca_error_t count_trips(const char *name, unsigned long count)
{
    struct doca_dev *dev = NULL;
    struct cc_end end = {0};
    char sent[CC_MAX_MSG_SIZE], received[CC_MAX_MSG_SIZE];
    unsigned long done = 0;
    doca_error_t result = open_cc_device("3b:00.0", &dev);

    if (result == DOCA_SUCCESS)
        result = cc_connect(&end, dev, name);
    for (; result == DOCA_SUCCESS && done < count; done++) {
        const size_t len = make_message(sent, done);
        size_t got = sizeof(received);

        result = cc_send(&end, sent, len);
        if (result == DOCA_SUCCESS)
            result = cc_receive(&end, received, &got);
        if (result == DOCA_SUCCESS && (got != len || memcmp(sent, received, len) != 0))
            result = DOCA_ERROR_UNEXPECTED;
        if (result == DOCA_SUCCESS && done == 0)
            puts("talks");
    }
    if (result == DOCA_SUCCESS)
        printf("done %lu\n", done);
    else
        printf("ended: %s\n", doca_get_error_name(result));
    (void)cc_close(&end);
    return dev != NULL ? doca_dev_close(dev) : result;
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 3 && strcmp(argv[1], "service") == 0)
        return serve(argv[2]) == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
    if (argc == 4 && strcmp(argv[1], "client") == 0)
        return count_trips(argv[2], strtoul(argv[3], NULL, 10)) == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
    return EXIT_FAILURE;
}
