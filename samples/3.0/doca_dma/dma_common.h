// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the DMA samples of DOCA 3.0 share: their arguments, the objects of a copy, and files between host and DPU.
#ifndef DMA_COMMON_H_
#define DMA_COMMON_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_dma.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define MAX_TEXT_SIZE 4096 /* NUL included */
#define MAX_PATH_SIZE 1024
#define MAX_DESCRIPTOR_SIZE 1024

struct dma_config {
    char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
    char text[MAX_TEXT_SIZE];
    char descriptor_path[MAX_PATH_SIZE]; /* where the host leaves what exports its memory */
    char buffer_path[MAX_PATH_SIZE];     /* and where that memory is */
};

/* Fills a configuration from the command line. With files: also the two paths. */
doca_error_t parse_arguments(const char *program, const char *default_pci_addr, int with_files, int argc, char **argv,
                             struct dma_config *config);

/* For cleaning up, where every call is made and the first failure is kept. */
doca_error_t first_error(doca_error_t earlier, doca_error_t later);

/* Whether a device suits. */
typedef int (*suits_fn)(const struct doca_devinfo *devinfo);
int can_copy(const struct doca_devinfo *devinfo);
int can_export(const struct doca_devinfo *devinfo);

/* Opens the first device at a PCI address that suits. */
doca_error_t open_device(const char *pci_addr, suits_fn suits, struct doca_dev **dev);

/* Makes a memory map of len bytes at addr for a device, and starts it. */
doca_error_t map_memory(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions, struct doca_mmap **mmap);

/* All that a copy needs but the memory. */
struct dma_resources {
    struct doca_dev *dev;
    struct doca_buf_inventory *inventory;
    struct doca_pe *pe;
    struct doca_dma *dma;
    int is_done;         /* the task has ended, */
    doca_error_t status; /* like this */
};

/* Sets up everything on the device at the address. Also after a failure, destroy_dma_resources() must follow. */
doca_error_t create_dma_resources(const char *pci_addr, struct dma_resources *resources);
/* Takes apart what create_dma_resources() has got to; *resources was zero before that. */
doca_error_t destroy_dma_resources(struct dma_resources *resources);

/* Copies len bytes by one task and waits for its end, asleep. */
doca_error_t copy_memory(struct dma_resources *resources, struct doca_mmap *src_mmap, void *src,
                         struct doca_mmap *dst_mmap, void *dst, size_t len);

/* Writes a whole file, so that a reader sees all of it or nothing; reads one of up to max_len bytes. */
doca_error_t save_file(const char *path, const void *data, size_t len);
doca_error_t load_file(const char *path, void *data, size_t max_len, size_t *len);

#endif /* DMA_COMMON_H_ */
