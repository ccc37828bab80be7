// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What every sample needs: a device, memory that the device may use, and files.
#ifndef COMMON_H_
#define COMMON_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <doca_dev.h>
#include <doca_error.h>
#include <doca_mmap.h>

/* For cleaning up, where every call is made and the first failure is kept. */
static inline doca_error_t first_error(doca_error_t earlier, doca_error_t later)
{
    return earlier != DOCA_SUCCESS ? earlier : later;
}

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
