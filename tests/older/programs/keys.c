// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Keys of buffers, which software devices have none of.
#include "bdf.h"
#include "copier.h"

int main(void)
{
    char memory[64];
    struct doca_dev *const dev = open_by_address("03:00.0");
    struct doca_mmap *const mmap = map_of(dev, memory, sizeof(memory));
    struct copier copier;
    struct doca_buf *buf;
    uint32_t lkey = 5;
    set_up(&copier, dev, 1);
    buf = buf_of(&copier, mmap, memory, sizeof(memory));
    GIVES(doca_buf_get_lkey(buf, dev, DOCA_ACCESS_REMOTE_READ | DOCA_ACCESS_REMOTE_WRITE, &lkey),
          DOCA_ERROR_NOT_SUPPORTED);
    GIVES(doca_buf_get_lkey(buf, dev, 16, &lkey), DOCA_ERROR_INVALID_VALUE);
    CHECK(lkey == 5);
    WORKS(doca_buf_refcount_rm(buf, NULL));
    tear_down(&copier);
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
