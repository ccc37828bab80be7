// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the DMA samples share: their arguments, the objects of a copy, and text exported by the host.
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

#include "../common.h"

#define MAX_TEXT_SIZE 4096      /* of the text to copy, terminating NUL included */
#define MAX_PATH_SIZE 1024      /* of a path, terminating NUL included */
#define MAX_DESCRIPTOR_SIZE 256 /* of an export descriptor */

/* Where to find a device unless -p says so: the DPU's first port, and the host's first function. */
#define DEFAULT_DPU_PCI_ADDR "03:00.0"
#define DEFAULT_HOST_PCI_ADDR "0b:00.0"

/* The arguments that a sample takes: a mask. */
enum dma_argument {
    DMA_ARGUMENT_PCI_ADDR = 1 << 0, /* -p */
    DMA_ARGUMENT_TEXT = 1 << 1,     /* -t */
    DMA_ARGUMENT_FILES = 1 << 2,    /* -d and -b */
    DMA_ARGUMENT_NETWORK = 1 << 3,  /* -a, -P and -w */
};

struct dma_config {
    char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
    char text[MAX_TEXT_SIZE];
    char descriptor_path[MAX_PATH_SIZE];
    char buffer_info_path[MAX_PATH_SIZE];
    char address[256]; /* IP address or name of the receiver */
    char port[6];      /* its TCP port, in decimal */
    int timeout;       /* for each step that waits for the other side, in seconds */
};

/* Fills a configuration from the command line. arguments is a mask of enum dma_argument. */
doca_error_t parse_arguments(const char *program, uint32_t arguments, const char *default_pci_addr, int argc,
                             char **argv, struct dma_config *config);

/* Whether the sample was built for this side of the PCIe; says so if it was not. */
doca_error_t require_dpu(void);
doca_error_t require_host(void);

/* What a device must be able to do: a mask. */
enum dma_ability {
    DMA_ABILITY_COPY = 1 << 0,
    DMA_ABILITY_EXPORT = 1 << 1,
    DMA_ABILITY_IMPORT = 1 << 2,
};

/* open_device() with a mask of enum dma_ability. */
doca_error_t open_dma_device(const char *pci_addr, uint32_t needed, struct doca_dev **dev);

/* All that a copy needs but the memory. */
struct dma_resources {
    struct doca_dev *dev;
    struct doca_buf_inventory *inventory;
    struct doca_dma *dma;
    struct doca_workq *workq;
    struct ctx_setup setup;
};

/* Sets up everything on the device at the address. Also after a failure, destroy_dma_resources() must follow.
 */
doca_error_t create_dma_resources(const char *pci_addr, uint32_t needed, struct dma_resources *resources);

/* Takes apart what create_dma_resources() has got to; *resources was zero before that. */
doca_error_t destroy_dma_resources(struct dma_resources *resources);

/* Copies len bytes by one DMA job and waits for its end. The memory maps must be destroyed after it. */
doca_error_t copy_memory(struct dma_resources *resources, struct doca_mmap *src_mmap, void *src,
                         struct doca_mmap *dst_mmap, void *dst, size_t len);

/* What the host tells the DPU about its memory. */
struct exported_memory {
    uint8_t descriptor[MAX_DESCRIPTOR_SIZE];
    size_t descriptor_len;
    uint64_t addr;
    uint64_t len;
};

/* The host's text, ready to be read by the DPU. */
struct exported_text {
    struct doca_dev *dev;
    struct doca_mmap *mmap;
    char *text;
    struct exported_memory memory;
};

/* Host: exports a copy of text. Also after a failure, unexport_text() must follow; *exported was zero before.
 */
doca_error_t export_text(const char *pci_addr, const char *text, struct exported_text *exported);
doca_error_t unexport_text(struct exported_text *exported);

/* DPU: copies the host's text, and shows it. Nothing in *memory is trusted. */
doca_error_t copy_exported_text(struct dma_resources *resources, const struct exported_memory *memory);

#endif /* DMA_COMMON_H_ */
