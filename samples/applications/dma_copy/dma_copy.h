// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A file goes from the host to the DPU or back: in pieces, through memory of the host that the DPU copies
// from or to by DMA. Comm Channel carries what the two sides have to say to each other.
#ifndef DMA_COPY_H_
#define DMA_COPY_H_

#include <stdbool.h>
#include <stdint.h>

#include <doca_dev.h>
#include <doca_error.h>

#include "../../doca_comm_channel/cc_common.h"

#define FILE_PATH_SIZE 1024
#define MAX_FILE_SIZE (UINT64_C(2) << 30)
#define OFFER_DESCRIPTOR_SIZE 1024

/* The host's memory: so many pieces of the file at a time. */
#define PIECE_SIZE (4U << 20)
#define NUM_SLOTS 4U

struct dma_copy_config {
    char path[FILE_PATH_SIZE];
    char pci_addr[DOCA_DEVINFO_PCI_ADDR_SIZE];
    char rep_pci_addr[DOCA_DEVINFO_REP_PCI_ADDR_SIZE]; /* empty: none was given */
};

enum direction {
    TO_DPU = 1,
    TO_HOST = 2,
};

/* The host's first message. Nothing in it is trusted. */
struct offer {
    char magic[8];
    uint32_t direction;
    uint32_t descriptor_len;
    uint64_t file_size; /* to the DPU */
    uint64_t addr;      /* of NUM_SLOTS slots of PIECE_SIZE bytes */
    uint8_t descriptor[OFFER_DESCRIPTOR_SIZE];
};

enum note_kind {
    NOTE_READY = 1,    /* the DPU can begin; value: the size of the file, to the host */
    NOTE_PIECE = 2,    /* a piece is in its slot; value: its number */
    NOTE_DONE = 3,     /* and was taken from there; value: its number */
    NOTE_CHECKSUM = 4, /* the sender of the file has sent all of it; value: the checksum */
    NOTE_RESULT = 5,   /* the receiver has the file; value: the checksum of that */
    NOTE_FAILED = 6,   /* either side gives up */
};

/* All other messages. */
struct note {
    uint32_t kind;
    uint32_t reserved;
    uint64_t value;
};

/* A file that is read, or that is written under another name until it is complete. */
struct copy_file {
    const char *path;
    char part[FILE_PATH_SIZE + 32];
    uint64_t size;
    uint64_t checksum;
    int fd;
    bool is_written;
};

doca_error_t file_open(struct copy_file *file, const char *path);
doca_error_t file_create(struct copy_file *file, const char *path, uint64_t size);
/* Reads or writes len bytes at the end of what was before. */
doca_error_t file_move(struct copy_file *file, void *data, size_t len);
/* With success, a file that was written gets its name; without, it is removed. */
doca_error_t file_close(struct copy_file *file, doca_error_t result);

/* What moves the bytes of piece number index between file and slot. */
typedef doca_error_t (*move_piece)(void *context, uint64_t index, size_t len);

/* Sends the file: fills slots as they become free. Receives it: empties them as they are full. */
doca_error_t send_pieces(struct cc_end *end, const struct copy_file *file, move_piece move, void *context);
doca_error_t receive_pieces(struct cc_end *end, struct copy_file *file, move_piece move, void *context);

doca_error_t send_note(struct cc_end *end, enum note_kind kind, uint64_t value);
doca_error_t receive_note(struct cc_end *end, struct note *note);
/* Receives a note, which has to be of that kind. */
doca_error_t expect_note(struct cc_end *end, enum note_kind kind, uint64_t *value);

doca_error_t dma_copy_host(struct doca_dev *dev, const struct dma_copy_config *config);
doca_error_t dma_copy_dpu(struct doca_dev *dev, const struct dma_copy_config *config);

#endif /* DMA_COPY_H_ */
