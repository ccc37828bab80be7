// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// exporter PCI_ADDRESS: exports a text to the other side of the PCIe, writes the descriptor and where the text is to
// stdout, and waits for a line. The other side has then written a text of its own behind it.
#include <unistd.h>

#include "bdf.h"
#include "copier.h"
#include "json.h"

#define SIZE 4096

int main(int argc, char **argv)
{
    struct doca_dev *const dev = open_by_address(argv[argc - 1]);
    char *const memory = aligned_alloc(4096, SIZE);
    char line[8];
    struct doca_mmap *mmap;
    size_t length = 0;
    CHECK(dev != NULL && memory != NULL);
    strcpy(memory, "from the exporter");
#if DOCA_API < 10500
    uint8_t *descriptor = NULL;
    mmap = map_of(dev, memory, SIZE);
    WORKS(doca_mmap_export(mmap, dev, &descriptor, &length));
    CHECK(length == strlen((const char *)descriptor) + 1 && length <= 512);
    CHECK(json_number(descriptor, "addr") == (size_t)(uintptr_t)memory && json_number(descriptor, "len") == SIZE);
#elif DOCA_API == 10500
    void *descriptor = NULL;
    mmap = map_of(dev, memory, SIZE);
    WORKS(doca_mmap_export(mmap, dev, &descriptor, &length));
    CHECK(length <= 256);
#else
    const void *descriptor = NULL;
    WORKS(doca_mmap_create(NULL, &mmap));
    WORKS(doca_mmap_dev_add(mmap, dev));
    WORKS(doca_mmap_set_memrange(mmap, memory, SIZE));
    WORKS(doca_mmap_set_permissions(mmap, DOCA_ACCESS_DPU_READ_WRITE));
    WORKS(doca_mmap_start(mmap));
    WORKS(doca_mmap_export_dpu(mmap, dev, &descriptor, &length));
    void *copy = NULL;
    size_t copy_length = 0;
    WORKS(doca_mmap_export(mmap, dev, &copy, &copy_length));
    CHECK(copy_length == length && memcmp(copy, descriptor, length) == 0);
    free(copy);
#endif
    printf("%zu %zu\n", length, (size_t)(uintptr_t)memory);
    CHECK(fwrite(descriptor, 1, length, stdout) == length && fflush(stdout) == 0);
#if DOCA_API <= 10500
    free(descriptor);
#endif
    CHECK(fgets(line, sizeof(line), stdin) != NULL);
    CHECK(strcmp(memory + SIZE / 2, "from the importer") == 0);
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(dev));
    free(memory);
    return 0;
}
