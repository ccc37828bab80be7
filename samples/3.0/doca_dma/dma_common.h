// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the DMA samples of DOCA 3.0 share: their arguments, and the objects of a copy.
#ifndef DMA_COMMON_H_
#define DMA_COMMON_H_

#include <doca_buf_inventory.h>
#include <doca_dma.h>

#include "../common.h"

struct dma_config {
    char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
    char text[MAX_TEXT_SIZE];
    char descriptor_path[MAX_PATH_SIZE]; /* where the host leaves what exports its memory */
    char buffer_path[MAX_PATH_SIZE];     /* and where that memory is */
};

/* Fills a configuration from the command line. With files: also the two paths. */
doca_error_t parse_arguments(const char *program, const char *default_pci_addr, int with_files, int argc, char **argv,
                             struct dma_config *config);

int can_copy(const struct doca_devinfo *devinfo);
int can_export(const struct doca_devinfo *devinfo);

/* All that a copy needs but the memory. */
struct dma_resources {
    struct doca_dev *dev;
    struct doca_buf_inventory *inventory;
    struct doca_pe *pe;
    struct doca_dma *dma;
    int is_done;         /* the task has ended, */
    doca_error_t status; /* like this */
};

/* Sets up everything on the device at the address. Also after a failure, destroy_dma_resources() must follow.
 */
doca_error_t create_dma_resources(const char *pci_addr, struct dma_resources *resources);
/* Takes apart what create_dma_resources() has got to; *resources was zero before that. */
doca_error_t destroy_dma_resources(struct dma_resources *resources);

/* Copies len bytes by one task and waits for its end. */
doca_error_t copy_memory(struct dma_resources *resources, struct doca_mmap *src_mmap, void *src,
                         struct doca_mmap *dst_mmap, void *dst, size_t len);

#endif /* DMA_COMMON_H_ */
