// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// A program in C++, with functions of the level by their addresses.
#include <cstring>
#include <string>
#include <vector>

#include "bdf.h"
#include "copier.h"

int main()
{
    std::string src(64, 'x');
    std::vector<char> dst(64);
    doca_dev *const dev = open_by_address("03:00.0");
    const auto create = &doca_dma_create;
    const auto destroy = &doca_dma_destroy;
    doca_dma *dma = nullptr;
    WORKS(create(&dma));
    WORKS(destroy(dma));
    doca_mmap *const src_mmap = map_of(dev, &src[0], src.size());
    doca_mmap *const dst_mmap = map_of(dev, dst.data(), dst.size());
    copier all{};
    set_up(&all, dev, 32);
    doca_buf *const from = buf_of(&all, src_mmap, &src[0], src.size());
    doca_buf *const to = buf_of(&all, dst_mmap, dst.data(), dst.size());
    for (int round = 0; round < 10; ++round) {
        src[0] = static_cast<char>(round);
        WORKS(submit(&all, to, from, src.size()));
        wait_for_one(&all);
        CHECK(std::memcmp(&src[0], dst.data(), src.size()) == 0);
    }
    WORKS(doca_buf_refcount_rm(from, nullptr));
    WORKS(doca_buf_refcount_rm(to, nullptr));
    tear_down(&all);
    WORKS(doca_mmap_destroy(src_mmap));
    WORKS(doca_mmap_destroy(dst_mmap));
    WORKS(doca_dev_close(dev));
    return 0;
}
