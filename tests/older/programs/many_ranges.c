// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// One map with many ranges, two devices that come one after the other, and a stop between.
#include "bdf.h"
#include "copier.h"

#define COUNT 20
#define SIZE 256

int main(void)
{
    static char memory[COUNT][2 * SIZE];
    struct doca_dev *const first = open_by_address("03:00.0"), *const second = open_by_address("03:00.1");
    struct copier copiers[2];
    struct doca_mmap *mmap;
    struct doca_buf *bufs[COUNT];
    uint32_t num_bufs = 0, max_chunks = 0;
    int i, round;
    WORKS(doca_mmap_create(NULL, &mmap));
    WORKS(doca_mmap_set_max_num_chunks(mmap, COUNT));
    WORKS(doca_mmap_get_max_num_chunks(mmap, &max_chunks));
    CHECK(max_chunks == COUNT);
    WORKS(doca_mmap_start(mmap));
    WORKS(doca_mmap_dev_add(mmap, first));
    for (i = 0; i < COUNT; i++)
        WORKS(doca_mmap_populate(mmap, memory[i], SIZE, 4096, NULL, NULL)); // with gaps between
    set_up(&copiers[0], first, 8);
    set_up(&copiers[1], second, 8);
    for (i = 0; i < COUNT; i++)
        bufs[i] = buf_of(&copiers[0], mmap, memory[i] + 1, SIZE - 1);
    WORKS(doca_mmap_get_num_bufs(mmap, &num_bufs));
    CHECK(num_bufs == COUNT);
    GIVES(submit(&copiers[1], bufs[1], bufs[0], 10), DOCA_ERROR_INVALID_VALUE); // not its device yet
    WORKS(doca_mmap_dev_add(mmap, second));
    for (round = 0; round < 2; round++) {
        for (i = 1; i < COUNT; i++) {
            memset(memory[0], '0' + i + round, SIZE);
            WORKS(submit(&copiers[(i + round) % 2], bufs[i], bufs[0], SIZE - 1));
            wait_for_one(&copiers[(i + round) % 2]);
            CHECK(memcmp(memory[i] + 1, memory[0] + 1, SIZE - 1) == 0 && memory[i][SIZE] == 0);
        }
    }
    GIVES(doca_mmap_stop(mmap), DOCA_ERROR_NOT_PERMITTED);
    GIVES(doca_mmap_destroy(mmap), DOCA_ERROR_NOT_PERMITTED);
    for (i = 0; i < COUNT; i++)
        WORKS(doca_buf_refcount_rm(bufs[i], NULL));
    WORKS(doca_mmap_dev_rm(mmap, first));
    WORKS(doca_mmap_stop(mmap));
    GIVES(doca_mmap_populate(mmap, memory[0] + SIZE, SIZE, 4096, NULL, NULL), DOCA_ERROR_BAD_STATE);
    GIVES(doca_buf_inventory_buf_by_addr(copiers[1].inventory, mmap, memory[0], SIZE, &bufs[0]),
          DOCA_ERROR_NOT_PERMITTED);
    WORKS(doca_mmap_start(mmap));
    bufs[0] = buf_of(&copiers[1], mmap, memory[0], SIZE);
    bufs[1] = buf_of(&copiers[1], mmap, memory[1], SIZE);
    WORKS(submit(&copiers[1], bufs[1], bufs[0], SIZE));
    wait_for_one(&copiers[1]);
    WORKS(doca_buf_refcount_rm(bufs[0], NULL));
    WORKS(doca_buf_refcount_rm(bufs[1], NULL));
    tear_down(&copiers[0]);
    tear_down(&copiers[1]);
    WORKS(doca_mmap_destroy(mmap));
    WORKS(doca_dev_close(first));
    WORKS(doca_dev_close(second));
    return 0;
}
