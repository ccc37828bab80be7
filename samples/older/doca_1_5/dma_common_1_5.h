// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the samples for DOCA 1.5 share: their arguments, the device, and a map of memory.
#ifndef DMA_COMMON_1_5_H_
#define DMA_COMMON_1_5_H_

#include <stddef.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

#define MAX_TEXT_SIZE 4096
#define MAX_PATH_SIZE 1024
#define MAX_DESCRIPTOR_SIZE 1024
#define PAGE_SIZE_OF_MEMORY 4096

struct dma_config {
    char pci_addr[8];                    /* "03:00.0" */
    char text[MAX_TEXT_SIZE];            /* that the host exports */
    char descriptor_path[MAX_PATH_SIZE]; /* files between the two sides */
    char buffer_info_path[MAX_PATH_SIZE];
};

/* --pci, -t, -d and -b, or what config has before. */
doca_error_t parse_arguments(const char *program, int argc, char **argv, struct dma_config *config);

/* Opens the device at an address, if can says that it can do the work. */
doca_error_t open_device(const char *pci_addr, doca_error_t (*can)(struct doca_devinfo *), struct doca_dev **dev);

/* Makes a started memory map of len bytes at addr. */
doca_error_t map_memory(struct doca_dev *dev, void *addr, size_t len, struct doca_mmap **mmap);

/* Takes the map apart. */
void unmap_memory(struct doca_dev *dev, struct doca_mmap *mmap);

#endif
