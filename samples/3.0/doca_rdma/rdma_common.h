// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the RDMA samples share: their arguments, an instance with memory and connections, and the ways to the
// peer.
#ifndef RDMA_COMMON_H_
#define RDMA_COMMON_H_

#include <doca_buf_inventory.h>
#include <doca_rdma.h>

#include "../common.h"

#define MAX_ADDRESS_SIZE 64
#define MAX_CONNECTIONS 8

/* What the two sides set a sync event to. */
#define REQUESTERS_VALUE 1
#define RESPONDERS_VALUE 2

struct rdma_config {
    char device[DOCA_DEVINFO_IBDEV_NAME_SIZE]; /* a PCI address or an RDMA device's name; empty: the first
                                                  that suits */
    char text[MAX_TEXT_SIZE];
    char local_path[MAX_PATH_SIZE];  /* file for this side's connection details */
    char remote_path[MAX_PATH_SIZE]; /* file with the peer's */
    char mmap_path[MAX_PATH_SIZE];   /* file with the responder's export descriptor */
    char event_path[MAX_PATH_SIZE];  /* file with the export of the responder's sync event */
    char address[MAX_ADDRESS_SIZE];  /* where the peer listens, */
    uint16_t port;                   /* and to which port; 0: the sides connect by files */
    uint16_t num_connections;        /* to one peer; each by files has files of its own */
    uint32_t immediate;              /* the number that goes with a message */
};

enum rdma_argument {
    RDMA_ARGUMENT_TEXT = 1 << 0,    /* -s */
    RDMA_ARGUMENT_MMAP = 1 << 1,    /* -m */
    RDMA_ARGUMENT_PORT = 1 << 2,    /* -P */
    RDMA_ARGUMENT_ADDRESS = 1 << 3, /* -a */
    RDMA_ARGUMENT_COUNT = 1 << 4,   /* -n */
    RDMA_ARGUMENT_NUMBER = 1 << 5,  /* -i */
    RDMA_ARGUMENT_EVENT = 1 << 6,   /* -se */
};

/* Fills a configuration from the command line. arguments is a mask of enum rdma_argument, besides -d, -ld and
 * -re. */
doca_error_t parse_arguments(const char *program, uint32_t arguments, int argc, char **argv,
                             struct rdma_config *config);

struct rdma_resources;

/* What one sample does. */
struct rdma_sample {
    suits_fn suits;       /* a device that can do its task */
    uint32_t permissions; /* of the peer on this side's memory: a mask of DOCA_ACCESS_FLAG_RDMA_* */
    int is_listening;     /* with a port: listens, and does not connect */
    doca_error_t (*configure)(struct rdma_resources *resources); /* before the start; may be NULL */
    doca_error_t (*connected)(struct rdma_resources *resources); /* with all connections, in a callback */
    void (*clean_up)(struct rdma_resources *resources);          /* of an idle context; may be NULL */
};

/* One side, with its memory. */
struct rdma_resources {
    const struct rdma_config *config;
    const struct rdma_sample *sample;
    struct doca_dev *dev;
    struct doca_mmap *mmap;        /* of memory */
    struct doca_mmap *remote_mmap; /* the responder's, in a requester */
    struct doca_buf_inventory *inventory;
    struct doca_buf *buf; /* for the sample's task; freed at the end */
    struct doca_buf *remote_buf;
    struct doca_pe *pe;
    struct doca_rdma *rdma;
    struct doca_ctx *ctx;
    struct doca_rdma_addr *addr;
    struct doca_rdma_connection *connections[MAX_CONNECTIONS];
    uint16_t num_asking;    /* by address: peers that were accepted, */
    uint16_t num_connected; /* and connections that are there */
    int is_done;            /* the sample has done its work, */
    int is_over;            /* and the context is idle again */
    doca_error_t result;    /* the first failure of a callback */
    char memory[MAX_TEXT_SIZE];
};

/* All of a sample, from the command line to the clean-up; the answer is what main() returns. */
int rdma_main(const char *program, uint32_t arguments, const struct rdma_sample *sample, int argc, char **argv);

/* Stops the context, and keeps a failure that is the reason. May be called in callbacks. */
void end_work(struct rdma_resources *resources, doca_error_t result);
/* Gives a task to the library, or frees it. */
doca_error_t submit(struct doca_task *task);

/* Of a sample's only task: frees it, and ends the work as done; or as failed, to do what. */
void finish_task(struct rdma_resources *resources, struct doca_task *task);
void fail_task(struct rdma_resources *resources, struct doca_task *task, const char *what);

/* Of samples that receive: the device can, a receive has failed, and one receive into all of the memory. */
int can_receive(const struct doca_devinfo *devinfo);
void receive_failed(struct doca_rdma_task_receive *task, union doca_data task_user_data, union doca_data ctx_user_data);
doca_error_t receive_text(struct rdma_resources *resources);

/* Of a responder: leaves a descriptor of its memory in the file of -m. */
doca_error_t export_memory(struct rdma_resources *resources);
/* Of a requester: reads that file, and makes remote_buf of all of the memory. */
doca_error_t import_memory(struct rdma_resources *resources);

#endif /* RDMA_COMMON_H_ */
