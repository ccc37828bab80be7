// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The messages that the client and the server of the storage sample exchange by Comch. Blocks are not in them: the
// server copies blocks from and to the client's memory by DMA.
//
//   client                                            server
//     | <------ WELCOME: number of targets ----------- |  the client has connected
//     | ------- OPEN: memory, size of a block -------> |  imports the memory
//     | <------ DONE --------------------------------- |
//     | ------- STORE: block 2, target 5 ------------> |  copies block 2 of the memory to target 5
//     | <------ DONE: target 5 ----------------------- |
//     | ------- LOAD: block 2, target 5 -------------> |  copies it back; NOT_FOUND if target 5 has none
//     | <------ DONE: target 5 ----------------------- |
//
// Any number of requests can be in flight, but only one per target. Each has one DONE, in any order.
//
// Integers have the byte order of the CPU, which is the same on x86 hosts and on BlueField. No message has padding.
#ifndef STORAGE_PROTOCOL_H_
#define STORAGE_PROTOCOL_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <doca_error.h>

#include "../common.h"

#define STORAGE_SERVICE "storage sample" /* the server's name in Comch */
#define STORAGE_VERSION 1
#define STORAGE_MAX_TARGETS 32
#define STORAGE_MAX_BLOCK_SIZE (64u << 20)

enum storage_message_type {
    STORAGE_WELCOME = 1,
    STORAGE_OPEN,
    STORAGE_STORE,
    STORAGE_LOAD,
    STORAGE_LOSE, /* the target forgets its block, as a disk that has failed */
    STORAGE_DONE,
};

/* Each message begins with it. */
struct storage_header {
    uint32_t version;
    uint32_t type; /* enum storage_message_type */
};

/* From the server, once. */
struct storage_welcome {
    struct storage_header header;
    uint32_t num_targets;    /* 1 to STORAGE_MAX_TARGETS; each stores one block */
    uint32_t max_block_size; /* bytes */
};

/* From the client, once: the memory that all blocks lie in, one behind the other. */
struct storage_open {
    struct storage_header header;
    uint32_t block_size;                     /* bytes of every block */
    uint32_t descriptor_len;                 /* 1 to MAX_DESCRIPTOR_SIZE */
    uint8_t descriptor[MAX_DESCRIPTOR_SIZE]; /* of doca_mmap_export_pci(); only its bytes are sent */
};

/* From the client: STORE, LOAD and LOSE. */
struct storage_request {
    struct storage_header header;
    uint32_t block; /* where in the client's memory: it begins at block * block_size; unused by LOSE */
    uint32_t target;
};

/* From the server: a request has ended. */
struct storage_done {
    struct storage_header header;
    uint32_t request_type;
    uint32_t target; /* 0 for OPEN */
    uint32_t status; /* a doca_error_t */
};

/* The type of a received message; 0 if it is no message of this version. */
static inline uint32_t storage_type(const void *bytes, size_t len)
{
    struct storage_header header;

    if (len < sizeof(header))
        return 0;
    memcpy(&header, bytes, sizeof(header));
    return header.version == STORAGE_VERSION ? header.type : 0;
}

/* Copies a received message to a structure of its type, if it has exactly that size. */
static inline doca_error_t storage_read(const void *bytes, size_t len, void *message, size_t size)
{
    if (len != size)
        return DOCA_ERROR_INVALID_VALUE;
    memcpy(message, bytes, size);
    return DOCA_SUCCESS;
}

/* The same for OPEN, whose length depends on its content. */
static inline doca_error_t storage_read_open(const void *bytes, size_t len, struct storage_open *open)
{
    const size_t head = offsetof(struct storage_open, descriptor);

    if (len <= head || len > sizeof(*open))
        return DOCA_ERROR_INVALID_VALUE;
    memcpy(open, bytes, len);
    return open->descriptor_len == len - head ? DOCA_SUCCESS : DOCA_ERROR_INVALID_VALUE;
}

#endif /* STORAGE_PROTOCOL_H_ */
