// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// importer_refused PCI_ADDRESS: a host's program that may not import what the DPU exported: its device is behind
// another port.
#include <doca_mmap.h>

#include "bdf.h"

int main(int argc, char **argv)
{
    struct doca_dev *const dev = open_by_address(argv[argc - 1]);
    char descriptor[512];
    size_t length, address;
    struct doca_mmap *mmap = NULL;
    CHECK(dev != NULL && scanf("%zu %zu", &length, &address) == 2 && getchar() == '\n');
    CHECK(length <= sizeof(descriptor) && fread(descriptor, 1, length, stdin) == length);
    GIVES(doca_mmap_create_from_export(NULL, descriptor, length, dev, &mmap), DOCA_ERROR_NOT_PERMITTED);
    CHECK(mmap == NULL);
    WORKS(doca_dev_close(dev));
    return 0;
}
