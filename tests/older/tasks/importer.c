// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// importer ADDRESS: copies from and to the memory whose descriptor is on stdin.
#include "dma.h"

int main(int argc, char **argv)
{
    struct doca_dev *dev = open_device(doca_dma_cap_task_memcpy_is_supported, argv[argc - 1]);
    struct doca_mmap *remote;
    struct doca_buf *theirs, *ours;
    struct memory memory;
    char descriptor[1024];
    void *address;
    size_t size;
    CHECK(scanf("%zu %p", &size, &address) == 2 && getchar() == '\n' && size <= sizeof(descriptor));
    CHECK(fread(descriptor, 1, size, stdin) == size);
    WORKS(doca_mmap_create_from_export(NULL, descriptor, size, dev, &remote));
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);

    WORKS(doca_buf_inventory_buf_get_by_data(memory.inventory, remote, address, 18, &theirs));
    ours = buffer(&memory, 0, 1024, NULL);
    copy(dev, theirs, ours);
    CHECK(strcmp(memory.bytes, "of the other side") == 0);
    WORKS(doca_buf_dec_refcount(theirs, NULL));
    WORKS(doca_buf_dec_refcount(ours, NULL));

    WORKS(doca_buf_inventory_buf_get_by_addr(memory.inventory, remote, (char *)address + 2048, 1024, &theirs));
    ours = buffer(&memory, 0, 1024, "and back");
    copy(dev, ours, theirs);
    WORKS(doca_buf_dec_refcount(theirs, NULL));
    WORKS(doca_buf_dec_refcount(ours, NULL));
    WORKS(doca_mmap_destroy(remote));
    drop_memory(&memory);
    WORKS(doca_dev_close(dev));
    return 0;
}
