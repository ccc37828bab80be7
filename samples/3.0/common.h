// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What all samples of DOCA 3.0 share: logs, arguments, devices, memory maps, the end of a context, and files.
#ifndef COMMON_H_
#define COMMON_H_

#include <stddef.h>
#include <stdint.h>

#include <doca_argp.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>
#include <doca_pe.h>

#define MAX_TEXT_SIZE 4096 /* NUL included */
#define MAX_PATH_SIZE 1024
#define MAX_DESCRIPTOR_SIZE 1024

/* The sample's own log, and the warnings of the libraries to stderr. */
doca_error_t start_logs(void);

/* For cleaning up, where every call is made and the first failure is kept. */
doca_error_t first_error(doca_error_t earlier, doca_error_t later);

/* Adds an argument; between doca_argp_init() and doca_argp_start(). */
doca_error_t add_argument(const char *short_name, const char *long_name, const char *description,
                          enum doca_argp_type type, doca_argp_param_cb_t callback);
/* Reads the command line with what was added, unless that has failed, and ends doca_argp. Every sample that waits also
 * takes --busy, and none what it does not know. */
doca_error_t read_arguments(doca_error_t added, int argc, char **argv);
/* The same for a sample that adds nothing; is_waiting: it takes --busy. */
doca_error_t read_no_arguments(const char *program, int is_waiting, int argc, char **argv);
/* Copies an argument's text of 1 to size - 1 characters; what names it in the log. */
doca_error_t set_text(char *field, size_t size, const char *what, const char *value);

/* Whether a device suits. */
typedef int (*suits_fn)(const struct doca_devinfo *devinfo);
/* Opens the first device that suits and has a PCI address, or is called so among RDMA devices; "" takes any.
 */
doca_error_t open_device(const char *name, suits_fn suits, struct doca_dev **dev);

/* Makes a memory map of len bytes at addr for a device, and starts it. */
doca_error_t map_memory(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions, struct doca_mmap **mmap);

/*
 * Lets the engine progress. If there was nothing to do, sleeps until there is: what a program should do that has time,
 * as it leaves the processor to others. With --busy it returns and is called again, which answers some microseconds
 * earlier.
 */
doca_error_t progress(struct doca_pe *pe);
/* The same with several engines, of which any may be NULL. */
doca_error_t progress_all(struct doca_pe *const *engines, size_t num_engines);

/* A context's state for the log. */
const char *state_name(enum doca_ctx_states state);
/* Stops a context, whatever its state, and progresses both engines until it is idle. other may be NULL. */
doca_error_t stop_ctx(struct doca_ctx *ctx, struct doca_pe *pe, struct doca_pe *other);

/* Asks for Enter, and waits for it. */
doca_error_t wait_for_enter(const char *request);

/* Writes a whole file, so that a reader sees all of it or nothing; reads one of up to max_len bytes. */
doca_error_t save_file(const char *path, const void *data, size_t len);
doca_error_t load_file(const char *path, void *data, size_t max_len, size_t *len);

/* The sample's last words; what main() returns. */
int finish(doca_error_t result);

#endif /* COMMON_H_ */
