// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the samples for DOCA 1.3 share: their arguments, the device, a map of memory, a copy, and a connection.
#ifndef DMA_COMMON_1_3_H_
#define DMA_COMMON_1_3_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>

#define MAX_TEXT_SIZE 4096
#define MAX_DESCRIPTOR_SIZE 1024
#define PAGE_SIZE_OF_MEMORY 4096

struct arguments {
    const char *pci_addr; /* "03:00.0" */
    const char *text;     /* to copy */
    const char *address;  /* IPv4 address of the receiver */
    const char *port;     /* its TCP port; the receiver takes 0 for any */
};

/* -p PCI_ADDRESS, -t TEXT, -a ADDRESS, -P PORT. Ends the program when it understands something not. */
void parse_arguments(int argc, char **argv, struct arguments *arguments);

/* The core structures of a copy, zero where they are not there. */
struct copy_resources {
    struct doca_dev *dev;
    struct doca_mmap *mmap;
    struct doca_buf_inventory *inventory;
    struct doca_dma *dma;
    struct doca_ctx *ctx;
    struct doca_workq *workq;
};

/* Opens the device at an address, and starts a memory map of it that takes up to max_chunks ranges. */
doca_error_t open_device_and_map(const char *pci_addr, uint32_t max_chunks, struct copy_resources *resources);

/* Adds a range to the map. */
doca_error_t add_memory(struct copy_resources *resources, void *addr, size_t len);

/* The rest of the core structures, and the DMA object. */
doca_error_t start_dma(struct copy_resources *resources);

/* Copies len bytes between two maps by one job, and waits for its end. */
doca_error_t copy(struct copy_resources *resources, struct doca_mmap *dst_mmap, void *dst, struct doca_mmap *src_mmap,
                  void *src, size_t len);

/* Destroys all that is there; also after a failure. */
void destroy_resources(struct copy_resources *resources);

/* Connections, one message after the other: its size in 8 bytes, then its bytes. All give -1 on a failure, and say why.
 */
int wait_for_sender(const struct arguments *arguments);
int connect_to_receiver(const struct arguments *arguments);
int send_message(int connection, const void *bytes, size_t size);
int receive_message(int connection, void *bytes, size_t max_size, size_t *size);

#endif
