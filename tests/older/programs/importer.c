// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// importer PCI_ADDRESS: reads what an exporter of any level has written from stdin, copies the exporter's text here,
// and one of its own there.
#include <unistd.h>

#include "bdf.h"
#include "copier.h"
#include "json.h"

#define SIZE 4096

int main(int argc, char **argv)
{
    struct doca_dev *const dev = open_by_address(argv[argc - 1]);
    char descriptor[512], own[SIZE] = "";
    size_t length, address;
    struct doca_mmap *own_mmap, *remote_mmap;
    struct doca_buf *own_buf, *remote_buf;
    struct copier copier;
    CHECK(dev != NULL && scanf("%zu %zu", &length, &address) == 2 && getchar() == '\n');
    CHECK(length <= sizeof(descriptor) && fread(descriptor, 1, length, stdin) == length);
#if DOCA_API < 10500
    if (descriptor[0] == '{') { // of a program of the same time, which sends nothing but this text
        char before[512];
        memcpy(before, descriptor, length);
        address = json_number((const uint8_t *)descriptor, "addr");
        CHECK(json_number((const uint8_t *)descriptor, "len") == SIZE);
        CHECK(memcmp(before, descriptor, length) == 0);
    }
    WORKS(doca_mmap_create_from_export("remote", (uint8_t *)descriptor, length, dev, &remote_mmap));
#else
    WORKS(doca_mmap_create_from_export(NULL, descriptor, length, dev, &remote_mmap));
#endif
    own_mmap = map_of(dev, own, SIZE);
    set_up(&copier, dev, 1);
    remote_buf = buf_of(&copier, remote_mmap, (void *)(uintptr_t)address, SIZE);
    own_buf = buf_of(&copier, own_mmap, own, SIZE);
    WORKS(submit(&copier, own_buf, remote_buf, SIZE / 2));
    wait_for_one(&copier);
    CHECK(strcmp(own, "from the exporter") == 0);
    strcpy(own, "from the importer");
    WORKS(doca_buf_set_data(remote_buf, (char *)(uintptr_t)address + SIZE / 2, 0));
    WORKS(submit(&copier, remote_buf, own_buf, 32));
    wait_for_one(&copier);
    WORKS(doca_buf_refcount_rm(own_buf, NULL));
    WORKS(doca_buf_refcount_rm(remote_buf, NULL));
    tear_down(&copier);
    GIVES(doca_mmap_populate(remote_mmap, own, SIZE, 4096, NULL, NULL), DOCA_ERROR_NOT_PERMITTED);
    WORKS(doca_mmap_destroy(remote_mmap));
    WORKS(doca_mmap_destroy(own_mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
