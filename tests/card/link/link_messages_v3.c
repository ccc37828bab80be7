// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The same by Comch; a client also tries to make a consumer.
//
//     link_messages_v3 service NAME
//     link_messages_v3 client NAME COUNT
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <doca_comch_consumer.h>
#include <doca_mmap.h>

#include "3.0/doca_comch/comch_common.h"

#define MAX_MESSAGE 4080

static unsigned long wanted, done;
static char sent[MAX_MESSAGE];
static size_t sent_len;

static void send_back(struct control *control, const char *text, size_t len)
{
    const doca_error_t result = send_text(control, text, len);

    if (result != DOCA_SUCCESS)
        give_up(control, result);
}

/* The length and the content follow from the number. */
static void send_next(struct control *control)
{
    sent_len = 1 + done * 769 % MAX_MESSAGE;
    for (size_t i = 0; i < sent_len; i++)
        sent[i] = (char)(done + i);
    send_back(control, sent, sent_len);
}

static void count_trip(struct control *control, const char *text, size_t len)
{
    if (len != sent_len || memcmp(text, sent, len) != 0) {
        give_up(control, DOCA_ERROR_UNEXPECTED);
        return;
    }
    if (done++ == 0)
        puts("talks");
    if (done < wanted)
        send_next(control);
    else
        (void)doca_ctx_stop(control->ctx);
}

/* Shows whether there are consumers. */
static void try_consumer(struct control *control)
{
    static char memory[64];
    struct doca_mmap *map = NULL;
    struct doca_comch_consumer *consumer = NULL;
    doca_error_t result = doca_mmap_create(&map);

    if (result == DOCA_SUCCESS)
        result = doca_mmap_add_dev(map, control->dev);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_set_memrange(map, memory, sizeof(memory));
    if (result == DOCA_SUCCESS)
        result = doca_mmap_set_permissions(map, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    if (result == DOCA_SUCCESS)
        result = doca_mmap_start(map);
    if (result == DOCA_SUCCESS)
        result = doca_comch_consumer_create(control->connection, map, &consumer);
    printf("consumer: %s, capability: %s\n", doca_error_get_name(result),
           doca_error_get_name(doca_comch_consumer_cap_is_supported(doca_dev_as_devinfo(control->dev))));
    if (consumer != NULL)
        (void)doca_comch_consumer_destroy(consumer);
    if (map != NULL)
        (void)doca_mmap_destroy(map);
    send_next(control);
}

int main(int argc, char **argv)
{
    const int is_service = argc == 3 && strcmp(argv[1], "service") == 0;
    const struct comch_config config = {.pci_addr = "03:00.0", .rep_pci_addr = "3b:00.0"},
                              of_client = {.pci_addr = "3b:00.0"};
    struct control control = {.received = is_service ? send_back : count_trip,
                              .connected = is_service ? NULL : try_consumer};
    doca_error_t result;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!is_service && argc != 4)
        return EXIT_FAILURE;
    wanted = is_service ? 0 : strtoul(argv[3], NULL, 10);
    result = is_service ? create_server(argv[2], &config, &control) : create_client(argv[2], &of_client, &control);
    if (is_service)
        puts(result == DOCA_SUCCESS ? "serves" : doca_error_get_name(result));
    if (result == DOCA_SUCCESS)
        result = wait_for_end(&control);
    if (result == DOCA_SUCCESS && done == wanted && !is_service)
        printf("done %lu\n", done);
    else
        printf("ended: %s\n", doca_error_get_name(result));
    result = first_error(result, destroy_control(&control));
    return result == DOCA_SUCCESS ? EXIT_SUCCESS : EXIT_FAILURE;
}
