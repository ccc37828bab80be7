// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// The targets of the server of the storage sample: each has memory for one block, and DMA copies blocks between it and
// the client's memory.
#ifndef STORAGE_TARGETS_H_
#define STORAGE_TARGETS_H_

#include <doca_buf_inventory.h>
#include <doca_dma.h>

#include "storage_memory.h"
#include "storage_protocol.h"

struct target {
    struct memory block; /* zero if nothing was ever stored, or after a loss */
    int has_block;
    uint32_t request_type; /* of the copy in flight; 0 if there is none */
    struct doca_buf *src;  /* of that copy */
    struct doca_buf *dst;
};

/* Zero before create_targets() but for ended and owner. */
struct targets {
    struct doca_dev *dev; /* not owned, as the next one */
    struct doca_pe *pe;
    struct doca_buf_inventory *inventory;
    struct doca_dma *dma;
    struct doca_mmap *client_mmap; /* the client's memory; NULL before OPEN */
    uint8_t *client_addr;
    size_t client_len;
    uint32_t block_size;
    uint32_t max_block_size;
    uint32_t num_targets;
    struct target target[STORAGE_MAX_TARGETS];

    /* Called when a copy has ended. */
    void (*ended)(void *owner, uint32_t request_type, uint32_t target, doca_error_t status);
    void *owner;
};

/* Starts DMA on the device. After a failure, too, destroy_targets() must follow. */
doca_error_t create_targets(struct doca_dev *dev, struct doca_pe *pe, uint32_t num_targets, struct targets *targets);
/* Ends the copies in flight first. */
doca_error_t destroy_targets(struct targets *targets);

/* Imports the client's memory. */
doca_error_t open_targets(struct targets *targets, const struct storage_open *open);
/* Begins a STORE or a LOAD, whose end is reported by ended() unless this returns an error. */
doca_error_t start_copy(struct targets *targets, const struct storage_request *request);
/* Frees what a target stores. */
doca_error_t lose_block(struct targets *targets, uint32_t number);

#endif /* STORAGE_TARGETS_H_ */
