// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Memory of the storage sample that devices can access: bytes with their memory map.
#ifndef STORAGE_MEMORY_H_
#define STORAGE_MEMORY_H_

#include "../common.h"

/* Zero before create_memory() and after destroy_memory(). */
struct memory {
    uint8_t *bytes;
    size_t size;
    struct doca_mmap *mmap;
};

/* A part of a memory map: what a task reads, or where it may write. */
struct range {
    struct doca_mmap *mmap;
    uint8_t *addr;
    size_t len;
};

/* Allocates bytes, which are zero, and maps them for a device. */
doca_error_t create_memory(struct doca_dev *dev, size_t size, uint32_t permissions, struct memory *memory);
/* Also of memory that was not created. */
doca_error_t destroy_memory(struct memory *memory);

struct range range_of(const struct memory *memory, size_t offset, size_t len);

#endif /* STORAGE_MEMORY_H_ */
