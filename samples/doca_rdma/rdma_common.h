// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What the RDMA samples share: their arguments, an RDMA instance with memory, and the way to its peer.
#ifndef RDMA_COMMON_H_
#define RDMA_COMMON_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_buf.h>
#include <doca_buf_inventory.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_rdma.h>

#define MEMORY_SIZE 4096      /* of each side's memory, and so the longest text, terminating NUL included */
#define MAX_PATH_SIZE 1024    /* of a path, terminating NUL included */
#define MAX_DETAILS_SIZE 1024 /* of what the two sides tell each other in a file */

/* The arguments that a sample takes besides -d, -ld, -re and -g: a mask. */
enum rdma_argument {
    RDMA_ARGUMENT_MMAP = 1 << 0,  /* -m */
    RDMA_ARGUMENT_READ = 1 << 1,  /* -r */
    RDMA_ARGUMENT_SEND = 1 << 2,  /* -s */
    RDMA_ARGUMENT_WRITE = 1 << 3, /* -w */
};

struct rdma_config {
    char device_name[DOCA_DEVINFO_IBDEV_NAME_SIZE]; /* empty: the first device that suits */
    char local_path[MAX_PATH_SIZE];                 /* file with our own connection details */
    char remote_path[MAX_PATH_SIZE];                /* file with the peer's */
    char mmap_path[MAX_PATH_SIZE];                  /* file with the responder's export descriptor */
    char text[MEMORY_SIZE];
    bool has_gid_index;
    uint32_t gid_index;
};

/* Fills a configuration from the command line. arguments is a mask of enum rdma_argument. */
doca_error_t parse_arguments(const char *program, uint32_t arguments, int argc, char **argv,
                             struct rdma_config *config);

/* All of a sample but what run() does; the answer is what main() returns. */
int rdma_main(const char *program, uint32_t arguments, doca_error_t (*run)(const struct rdma_config *config), int argc,
              char **argv);

/* One side of a connection, with its memory. */
struct rdma_resources {
    const struct rdma_config *config;
    struct doca_dev *dev;
    char *memory; /* MEMORY_SIZE bytes, all zero at first */
    struct doca_mmap *mmap;
    struct doca_mmap *remote_mmap; /* the responder's memory, after import_memory() */
    struct doca_buf_inventory *inventory;
    struct doca_rdma *rdma;
    struct doca_ctx *ctx;
    struct doca_workq *workq;
    bool has_device;     /* the RDMA context has the device, */
    bool is_started;     /* is started, */
    bool has_workq;      /* and has the work queue */
    bool has_local_file; /* this program has written the file at local_path, */
    bool has_mmap_file;  /* and the one at mmap_path */
};

/*
 * Sets up everything but the connection, on a device that can do the job. permissions is what the peer may do
 * to the memory: a mask of DOCA_ACCESS_RDMA_* flags, or 0. Also after a failure, destroy_rdma_resources()
 * must follow; *resources was zero before.
 */
doca_error_t create_rdma_resources(const struct rdma_config *config, enum doca_rdma_job_types job_type,
                                   uint32_t permissions, struct rdma_resources *resources);

/* Takes apart what create_rdma_resources() has got to, and removes the files that the program has written. */
doca_error_t destroy_rdma_resources(struct rdma_resources *resources);

/* Asks for Enter, and waits for it. */
doca_error_t wait_for_enter(const char *request);

/* Responder: writes the export descriptor of the memory to its file. Before connect_to_peer(). */
doca_error_t export_memory(struct rdma_resources *resources);

/* Writes our connection details to their file, lets the user exchange the files, reads the peer's details and
 * connects. */
doca_error_t connect_to_peer(struct rdma_resources *resources);

/* Requester: makes a memory map from the responder's export descriptor, and tells where the memory is. After
 * connect_to_peer(). */
doca_error_t import_memory(struct rdma_resources *resources, void **addr, size_t *len);

/* Submits a job. */
doca_error_t submit_job(struct rdma_resources *resources, const struct doca_job *job);

/* Waits for the end of the one job that was submitted, and fails if the job has. */
doca_error_t await_job(struct rdma_resources *resources, struct doca_rdma_result *result);

/* Puts a text, with its NUL, at the start of our memory; the buffer's data is the text. */
doca_error_t put_text(struct rdma_resources *resources, const char *text, struct doca_buf **buf);

/* Shows the text that is in len bytes of our memory, which come from elsewhere. */
void show_text(const char *what, const struct rdma_resources *resources, size_t offset, size_t len);

#endif /* RDMA_COMMON_H_ */
