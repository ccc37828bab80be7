// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What cannot be exported, and texts that are no descriptors.
#include "bdf.h"
#include "copier.h"

int main(void)
{
    static char memory[2][4096];
    struct doca_dev *const dev = open_by_address("0b:00.0"), *const dpu = open_by_address("03:00.0");
    const char *const texts[] = {"{\"opendoca_mmap\":\"\"}",
                                 "{\"opendoca_mmap\":\"0\"}",
                                 "{\"opendoca_mmap\":\"zz\"}",
                                 "{\"opendoca_mmap\":\"",
                                 "{\"opendoca_mmap\":\"00ff\"}",
                                 "{\"opendoca_mmap\":",
                                 "{\"addr\":1,\"len\":2}",
                                 "{\"addr\":}",
                                 "{\"addr\"",
                                 "{\"addr\":1,",
                                 "{\"",
                                 "{",
                                 "{}",
                                 "{\"opendoca_mmap\":\"00\"} {",
                                 "{{\"opendoca_mmap\":\"00\"}}",
                                 "{\"addr\":{},\"len\":2}",
                                 "a text",
                                 ""};
    struct doca_mmap *mmap, *imported = NULL;
#if DOCA_API < 10500
    uint8_t *descriptor = NULL;
#else
    void *descriptor = NULL;
#endif
    size_t length = 0, i;
    uint8_t is_exported = 9;
    WORKS(doca_mmap_create(NULL, &mmap));
    GIVES(doca_mmap_export(mmap, dev, &descriptor, &length), DOCA_ERROR_NOT_PERMITTED);
    WORKS(doca_mmap_start(mmap));
    WORKS(doca_mmap_dev_add(mmap, dev));
    GIVES(doca_mmap_export(mmap, dev, &descriptor, &length), DOCA_ERROR_NOT_PERMITTED);
    WORKS(doca_mmap_populate(mmap, memory[0], 4096, 4096, NULL, NULL));
    GIVES(doca_mmap_export(mmap, dpu, &descriptor, &length), DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_mmap_get_exported(mmap, &is_exported));
    CHECK(is_exported == 0);
    WORKS(doca_mmap_export(mmap, dev, &descriptor, &length));
    free(descriptor);
    descriptor = NULL;
    WORKS(doca_mmap_get_exported(mmap, &is_exported));
    CHECK(is_exported == 1);
    WORKS(doca_mmap_populate(mmap, memory[1], 4096, 4096, NULL, NULL));
    GIVES(doca_mmap_export(mmap, dev, &descriptor, &length), DOCA_ERROR_NOT_SUPPORTED);
    CHECK(descriptor == NULL);
    for (i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        GIVES(doca_mmap_create_from_export(NULL, texts[i], strlen(texts[i]) + 1, dpu, &imported),
              DOCA_ERROR_INVALID_VALUE);
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(dev));
    WORKS(doca_dev_close(dpu));
    return 0;
}
