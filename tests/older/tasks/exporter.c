// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// exporter ADDRESS: exports a text by PCIe, and writes the descriptor to stdout. A line on stdin ends it.
#include "engine.h"

int main(int argc, char **argv)
{
    struct doca_dev *dev = open_device(NULL, argv[argc - 1]);
    struct memory memory;
    const void *descriptor;
    size_t size;
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE | DOCA_ACCESS_FLAG_PCI_READ_WRITE);
    strcpy(memory.bytes, "of the other side");
    WORKS(doca_mmap_export_pci(memory.mmap, dev, &descriptor, &size));
    printf("%zu %p\n", size, (void *)memory.bytes);
    fwrite(descriptor, 1, size, stdout);
    fflush(stdout);
    CHECK(getchar() != EOF);
    CHECK(strcmp(memory.bytes + 2048, "and back") == 0);
    drop_memory(&memory);
    WORKS(doca_dev_close(dev));
    return 0;
}
