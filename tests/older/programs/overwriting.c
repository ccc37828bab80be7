// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A destination that is used again as it is: partly full, full, a list, with its data behind the begin; and one that a
// job is refused for.
#include "bdf.h"
#include "copier.h"

static size_t data_len(struct doca_buf *buf)
{
    size_t length = 0;
    WORKS(doca_buf_get_data_len(buf, &length));
    return length;
}

int main(void)
{
    char src[64], dst[64], second[64];
    struct doca_dev *const dev = open_by_address("03:00.0");
    struct doca_mmap *const src_mmap = map_of(dev, src, sizeof(src)), *const dst_mmap = map_of(dev, dst, sizeof(dst));
    struct copier copier;
    struct doca_buf *src_buf, *dst_buf, *second_buf;
    memset(src, 's', sizeof(src));
    memset(dst, '-', sizeof(dst));
    memset(second, '-', sizeof(second));
    WORKS(doca_mmap_populate(dst_mmap, second, sizeof(second), 4096, NULL, NULL));
    set_up(&copier, dev, 4);
    src_buf = buf_of(&copier, src_mmap, src, sizeof(src));
    dst_buf = buf_of(&copier, dst_mmap, dst, sizeof(dst));
    second_buf = buf_of(&copier, dst_mmap, second, sizeof(second));

    WORKS(doca_buf_set_data(dst_buf, dst, 40)); // would leave 24 bytes
    WORKS(submit(&copier, dst_buf, src_buf, 30));
    wait_for_one(&copier);
    CHECK(memcmp(dst, src, 30) == 0 && dst[30] == '-' && data_len(dst_buf) == 30);

    WORKS(doca_buf_set_data(dst_buf, dst, sizeof(dst)));
    WORKS(submit(&copier, dst_buf, src_buf, 64));
    wait_for_one(&copier);
    CHECK(memcmp(dst, src, 64) == 0 && data_len(dst_buf) == 64);

    memset(dst, '-', sizeof(dst));
    WORKS(doca_buf_set_data(dst_buf, dst + 60, 1));
    GIVES(submit(&copier, dst_buf, src_buf, 5), DOCA_ERROR_INVALID_VALUE);
    CHECK(data_len(dst_buf) == 1);
    WORKS(submit(&copier, dst_buf, src_buf, 4));
    wait_for_one(&copier);
    CHECK(memcmp(dst, "------------------------------------------------------------ssss", 64) == 0);

    WORKS(doca_buf_list_chain(dst_buf, second_buf)); // room for 4 and 64 bytes
    WORKS(doca_buf_set_data(second_buf, second, 7));
    WORKS(submit(&copier, dst_buf, src_buf, 24));
    wait_for_one(&copier);
    CHECK(memcmp(second, "ssssssssssssssssssss----", 24) == 0 && data_len(dst_buf) == 4 && data_len(second_buf) == 20);

    WORKS(doca_buf_refcount_rm(src_buf, NULL));
    WORKS(doca_buf_refcount_rm(dst_buf, NULL)); // and the whole list
    tear_down(&copier);
    WORKS(doca_mmap_destroy(src_mmap));
    WORKS(doca_mmap_destroy(dst_mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
