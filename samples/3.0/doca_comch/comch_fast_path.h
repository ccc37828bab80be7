// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the two sides of the data path share: a consumer and a producer on the control path's connection, each
// with a progress engine of its own.
#ifndef COMCH_FAST_PATH_H_
#define COMCH_FAST_PATH_H_

#include <doca_buf_inventory.h>
#include <doca_comch_consumer.h>
#include <doca_comch_producer.h>

#include "comch_common.h"

#define NUM_FAST_TASKS 32

struct fast_path {
    struct control *control;
    struct doca_mmap *mmap;
    struct doca_buf_inventory *inventory;
    struct doca_comch_consumer *consumer;
    struct doca_pe *consumer_pe;
    struct doca_comch_producer *producer;
    struct doca_pe *producer_pe;
    struct doca_buf *text; /* what is sent */
    struct doca_buf *rooms[NUM_FAST_TASKS];
    int is_taking;         /* the consumer runs, */
    int has_ended;         /* or has become idle */
    uint32_t num_sent;     /* sends that have succeeded */
    uint32_t num_received; /* and messages that have come */
    uint32_t num_to_come;  /* as the last one has told */
    char last[MAX_TEXT_SIZE];
    /* What goes to the peer, and the rooms for what comes from it. */
    char memory[(NUM_FAST_TASKS + 1) * MAX_TEXT_SIZE];
};

/*
 * Makes both on the connection, waits until the peer has a consumer, too, and posts receives. text is what
 * this side sends. Also after a failure, destroy_fast_path() must follow; *path was zero but for the control
 * path.
 */
doca_error_t create_fast_path(const char *text, struct fast_path *path);
/* Stops both, waits for that, and takes apart what has been made. Before the control path. */
doca_error_t destroy_fast_path(struct fast_path *path);

/* Sends the text some times; each message tells in its immediate data how many are to come. */
doca_error_t send_messages(struct fast_path *path, uint32_t count);
/* Waits until all messages of the peer have come, as they tell. */
doca_error_t receive_messages(struct fast_path *path);

#endif /* COMCH_FAST_PATH_H_ */
