// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the samples of the progress engine share: a device with memory in slots, and copies from one slot to
// another.
#ifndef PE_COMMON_H_
#define PE_COMMON_H_

#include <doca_buf_inventory.h>
#include <doca_dma.h>

#include "../common.h"

#define SLOT_SIZE 256

struct pe_resources {
    struct doca_dev *dev;
    struct doca_pe *pe;
    struct doca_mmap *mmap;
    struct doca_buf_inventory *inventory;
    uint8_t *memory; /* slots of SLOT_SIZE bytes */
    size_t num_slots;
    size_t next_slot;  /* the first one that no copy has used yet */
    size_t num_copied; /* copies that have ended well, with the right bytes, */
    size_t num_failed; /* and others */
};

/* Sets up all that copies need but the contexts. Also after a failure, destroy_pe_resources() must follow;
 * *resources was zero. */
doca_error_t create_pe_resources(size_t num_copies, struct pe_resources *resources);
doca_error_t destroy_pe_resources(struct pe_resources *resources);

/* Makes a DMA context on the engine, with room for num_tasks copies and resources as its user data. changed
 * may be NULL. It is not started yet. */
doca_error_t create_dma(struct pe_resources *resources, uint32_t num_tasks, doca_dma_task_memcpy_completion_cb_t copied,
                        doca_dma_task_memcpy_completion_cb_t failed, doca_ctx_state_changed_callback_t changed,
                        struct doca_dma **dma);
/* Stops the context, waits until it is idle, and destroys it. dma may be NULL. */
doca_error_t destroy_dma(struct pe_resources *resources, struct doca_dma *dma);

/* Takes two slots that no copy has used, and buffers of them: of a source with bytes, and of a destination.
 */
doca_error_t take_slots(struct pe_resources *resources, struct doca_buf **src, struct doca_buf **dst);
/* Makes a copy of two such slots. */
doca_error_t make_copy(struct pe_resources *resources, struct doca_dma *dma, struct doca_dma_task_memcpy **task);
/* Makes copies and submits them. */
doca_error_t submit_copies(struct pe_resources *resources, struct doca_dma *dma, size_t count);

/* For callbacks: looks at the bytes of a copy that has ended well, and counts it. */
void count_copied(struct pe_resources *resources, struct doca_dma_task_memcpy *task);
/* Counts one that has failed. */
void count_failed(struct pe_resources *resources, struct doca_dma_task_memcpy *task);
/* Gives back a task and its buffers. */
void free_copy(struct doca_dma_task_memcpy *task);

/* Callbacks that do nothing but count and free. */
void copy_ended(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data);
void copy_failed(struct doca_dma_task_memcpy *task, union doca_data task_user_data, union doca_data ctx_user_data);

/* What a sample has a context for: how many copies can be in flight, and what is called. */
struct pe_sample {
    const char *program;
    size_t num_copies; /* in all, each with slots of its own */
    uint32_t num_tasks;
    doca_dma_task_memcpy_completion_cb_t copied;
    doca_dma_task_memcpy_completion_cb_t failed;
    doca_ctx_state_changed_callback_t changed;                                 /* may be NULL */
    doca_error_t (*run)(struct pe_resources *resources, struct doca_dma *dma); /* with the context started */
};

/* A sample with one context from its command line to its end; is_waiting: it waits by progress(), and so takes --busy.
 * The answer is what main() returns. */
int run_pe_sample(const struct pe_sample *sample, int is_waiting, int argc, char **argv);

/* Whether exactly this many copies have ended well, and failed. */
doca_error_t check_counts(const struct pe_resources *resources, size_t num_copied, size_t num_failed);

#endif /* PE_COMMON_H_ */
