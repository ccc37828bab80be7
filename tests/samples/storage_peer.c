// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A peer of the storage samples that sends what it is given: for each message from the other side it sends the next
// one.
//
//   storage_peer client|server MESSAGE...
//
// MESSAGE: hexadecimal digits, or open:SIZE for a valid OPEN with 4,096 bytes of memory and blocks of SIZE bytes.
// Received messages are printed in hexadecimal digits. A client ends when its last message was answered or the server
// has gone; a server ends with its client.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doca_comch/comch_common.h"
#include "storage/storage_memory.h"
#include "storage/storage_protocol.h"

struct peer {
    struct control control; /* the first member */
    struct memory memory;
    char **messages; /* those that are left to send; NULL is the last */
};

static size_t from_hex(const char *digits, uint8_t *bytes, size_t size)
{
    size_t len = 0;

    while (len < size && sscanf(digits + 2 * len, "%2" SCNx8, &bytes[len]) == 1)
        len++;
    return len;
}

static size_t make_open(struct peer *peer, uint32_t block_size, uint8_t *bytes)
{
    struct storage_open message = {.header = {.version = STORAGE_VERSION, .type = STORAGE_OPEN},
                                   .block_size = block_size};
    const void *descriptor = NULL;
    size_t len = 0;

    if (doca_mmap_export_pci(peer->memory.mmap, peer->control.dev, &descriptor, &len) != DOCA_SUCCESS ||
        len > sizeof(message.descriptor))
        abort();
    message.descriptor_len = (uint32_t)len;
    memcpy(message.descriptor, descriptor, len);
    memcpy(bytes, &message, sizeof(message));
    return offsetof(struct storage_open, descriptor) + len;
}

static void send_next(struct peer *peer)
{
    uint8_t bytes[2 * sizeof(struct storage_open)];
    const char *message = *peer->messages;
    uint32_t block_size = 0;
    size_t len;

    if (message == NULL)
        return;
    peer->messages++;
    if (sscanf(message, "open:%" SCNu32, &block_size) == 1)
        len = make_open(peer, block_size, bytes);
    else
        len = from_hex(message, bytes, sizeof(bytes));
    if (send_text(&peer->control, (const char *)bytes, len) != DOCA_SUCCESS)
        give_up(&peer->control, DOCA_ERROR_IO_FAILED);
}

static void connected(struct control *control)
{
    if (control->server != NULL)
        send_next((struct peer *)control);
}

static void received(struct control *control, const char *bytes, size_t len)
{
    struct peer *peer = (struct peer *)control;

    printf("received ");
    for (size_t i = 0; i < len; i++)
        printf("%02x", (unsigned char)bytes[i]);
    printf("\n");
    if (control->client != NULL && *peer->messages == NULL)
        (void)doca_ctx_stop(control->ctx);
    else
        send_next(peer);
}

int main(int argc, char **argv)
{
    struct peer peer = {.control = {.connected = connected, .received = received}, .messages = argv + 2};
    struct comch_config config = {.pci_addr = "3b:00.0", .rep_pci_addr = "3b:00.0"};
    doca_error_t result;

    if (argc < 2 || start_logs() != DOCA_SUCCESS)
        return EXIT_FAILURE;
    if (strcmp(argv[1], "server") == 0) {
        strcpy(config.pci_addr, "03:00.0");
        result = create_server(STORAGE_SERVICE, &config, &peer.control);
    } else {
        result = create_client(STORAGE_SERVICE, &config, &peer.control);
        if (result == DOCA_SUCCESS)
            result = create_memory(peer.control.dev, 4096,
                                   DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE, &peer.memory);
    }
    if (result == DOCA_SUCCESS)
        result = wait_for_end(&peer.control);
    result = first_error(result, destroy_memory(&peer.memory));
    return finish(first_error(result, destroy_control(&peer.control)));
}
