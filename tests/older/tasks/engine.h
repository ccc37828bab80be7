// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the programs of this folder have in common: a device, memory and a progress engine, as programs of 2.5 to 2.8
// have them. They end where something is not as it was on the original.
#ifndef ENGINE_H_
#define ENGINE_H_

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define WORKS(call) GIVES(call, DOCA_SUCCESS)

#define GIVES(call, wanted)                                                                                            \
    do {                                                                                                               \
        const doca_error_t code_ = (call);                                                                             \
        if (code_ != (wanted)) {                                                                                       \
            fprintf(stderr, "%s:%d: %s gives %s\n", __FILE__, __LINE__, #call, doca_error_get_name(code_));            \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

typedef doca_error_t (*capability)(const struct doca_devinfo *devinfo);

// Opens the first device that has a capability, and an address unless that is NULL.
static inline struct doca_dev *open_device(capability is_supported, const char *address)
{
    struct doca_devinfo **list;
    struct doca_dev *dev = NULL;
    uint32_t count, i;
    WORKS(doca_devinfo_create_list(&list, &count));
    for (i = 0; i < count && dev == NULL; ++i) {
        uint8_t is_equal = 1;
        if (address != NULL)
            WORKS(doca_devinfo_is_equal_pci_addr(list[i], address, &is_equal));
        if (is_equal && (is_supported == NULL || is_supported(list[i]) == DOCA_SUCCESS))
            WORKS(doca_dev_open(list[i], &dev));
    }
    CHECK(dev != NULL);
    WORKS(doca_devinfo_destroy_list(list));
    return dev;
}

// Opens the first representor of a device.
static inline struct doca_dev_rep *open_representor(struct doca_dev *dev)
{
    struct doca_devinfo_rep **list;
    struct doca_dev_rep *rep;
    uint32_t count;
    WORKS(doca_devinfo_rep_create_list(dev, DOCA_DEVINFO_REP_FILTER_NET, &list, &count));
    CHECK(count > 0);
    WORKS(doca_dev_rep_open(list[0], &rep));
    WORKS(doca_devinfo_rep_destroy_list(list));
    return rep;
}

struct memory {
    struct doca_mmap *mmap;
    struct doca_buf_inventory *inventory;
    char *bytes;
    size_t size;
};

static inline void make_memory(struct memory *memory, struct doca_dev *dev, size_t size, uint32_t permissions)
{
    memory->bytes = (char *)calloc(1, size);
    memory->size = size;
    WORKS(doca_mmap_create(&memory->mmap));
    WORKS(doca_mmap_set_memrange(memory->mmap, memory->bytes, size));
    WORKS(doca_mmap_set_permissions(memory->mmap, permissions));
    WORKS(doca_mmap_add_dev(memory->mmap, dev));
    WORKS(doca_mmap_start(memory->mmap));
    WORKS(doca_buf_inventory_create(16, &memory->inventory));
    WORKS(doca_buf_inventory_start(memory->inventory));
}

static inline struct doca_buf *buffer(struct memory *memory, size_t offset, size_t size, const char *text)
{
    struct doca_buf *buf;
    WORKS(doca_buf_inventory_buf_get_by_addr(memory->inventory, memory->mmap, memory->bytes + offset, size, &buf));
    if (text != NULL) {
        strcpy(memory->bytes + offset, text);
        WORKS(doca_buf_set_data(buf, memory->bytes + offset, strlen(text) + 1));
    }
    return buf;
}

static inline void drop_memory(struct memory *memory)
{
    WORKS(doca_buf_inventory_destroy(memory->inventory));
    WORKS(doca_mmap_destroy(memory->mmap));
    free(memory->bytes);
}

static inline struct doca_pe *make_engine(struct doca_ctx *ctx)
{
    struct doca_pe *pe;
    WORKS(doca_pe_create(&pe));
    WORKS(doca_pe_connect_ctx(pe, ctx));
    return pe;
}

static inline void stop(struct doca_pe *pe, struct doca_ctx *ctx)
{
    enum doca_ctx_states state;
    const doca_error_t result = doca_ctx_stop(ctx);
    CHECK(result == DOCA_SUCCESS || result == DOCA_ERROR_IN_PROGRESS);
    do {
        (void)doca_pe_progress(pe);
        WORKS(doca_ctx_get_state(ctx, &state));
    } while (state != DOCA_CTX_STATE_IDLE);
}

#endif
