// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What every sample needs: arguments, a device, a context with a work queue, memory that the device may use, and files.
#ifndef COMMON_H_
#define COMMON_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_argp.h>
#include <doca_ctx.h>
#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

/* For cleaning up, where every call is made and the first failure is kept. */
static inline doca_error_t first_error(doca_error_t earlier, doca_error_t later)
{
    return earlier != DOCA_SUCCESS ? earlier : later;
}

/* An argument of the command line. */
struct argument {
    const char *short_name; /* NULL: long only */
    const char *long_name;
    const char *value; /* how the usage text names its value; NULL: not at all */
    const char *description;
    callback_func callback;
    enum doca_argp_type type;
    bool is_mandatory;
};

/*
 * Reads the command line: begin_arguments(), add_argument() for each argument, and read_arguments(), which takes
 * --busy as well. After a failure of begin_arguments() nothing else may be called. added is the first failure of
 * add_argument(), or DOCA_SUCCESS; read_arguments() must be called in both cases, and reports it.
 */
doca_error_t begin_arguments(const char *program, void *config);
doca_error_t add_argument(const struct argument *argument);
doca_error_t read_arguments(doca_error_t added, int argc, char **argv);

/* Copies the text of an argument to a field of size bytes. what names it in the log. */
doca_error_t set_string(const char *what, const char *value, char *field, size_t size);

/* Something that a device can or cannot do. */
struct device_ability {
    const char *name; /* as in "can <name>" */
    bool (*has)(struct doca_devinfo *devinfo);
};

/*
 * Opens the device at a PCI address ("03:00.0" or "0000:03:00.0"), or with a name among RDMA devices ("rxe0").
 * Several devices can have the same address: the first one that has all the abilities in the bit mask needed is
 * taken. If there is none, the devices that exist are listed with their abilities.
 */
doca_error_t open_device(const char *pci_addr, const struct device_ability *abilities, size_t num_abilities,
                         uint32_t needed, struct doca_dev **dev);

/* Opens the first device that can run jobs of the type, as can_run() decides. purpose is for the log. */
doca_error_t open_first_device(bool (*can_run)(struct doca_devinfo *devinfo, int job_type), int job_type,
                               const char *purpose, struct doca_dev **dev);

/* A context with its device and work queue, as far as it has been set up; all zero before start_ctx(). */
struct ctx_setup {
    struct doca_ctx *ctx;
    struct doca_dev *dev;
    struct doca_workq *workq;
    bool has_device; /* the context has the device, */
    bool is_started; /* is started, */
    bool has_workq;  /* and has the work queue */
};

/* Adds the device to a context, starts it, and adds the work queue. Also after a failure, stop_ctx() must follow. */
doca_error_t start_ctx(struct doca_ctx *ctx, struct doca_dev *dev, struct doca_workq *workq, struct ctx_setup *setup);

/* Removes the work queue, stops the context, and removes the device, where start_ctx() has got so far. */
doca_error_t stop_ctx(struct ctx_setup *setup);

/* Makes a memory map of len bytes at addr for a device, and starts it. */
doca_error_t map_memory(struct doca_dev *dev, void *addr, size_t len, uint32_t permissions, struct doca_mmap **mmap);

/* Writes a whole file, so that a reader sees all of it or nothing. */
doca_error_t save_file(const char *path, const void *data, size_t len);

/* Writes a file that must not exist yet. */
doca_error_t save_new_file(const char *path, const void *data, size_t len);

/* Reads a regular file of 1 to max_len bytes. */
doca_error_t load_file(const char *path, void *data, size_t max_len, size_t *len);

/* Replaces control characters by dots, so that text from elsewhere can be shown on a terminal. */
void make_printable(char *text, size_t len);

#endif /* COMMON_H_ */
