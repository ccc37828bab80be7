// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// What this release does not build says so: DOCA_ERROR_NOT_SUPPORTED, outputs untouched, a line in the log.
#include "support/dma_fixture.hpp"
#include "support/log_capture.hpp"

using namespace doca_test;

TEST(NotBuilt, memory_map_of_a_dmabuf)
{
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(nullptr, 0, 0, 4096), DOCA_ERROR_INVALID_VALUE);
    MmapHandle mmap;
    must(doca_mmap_create(nullptr, mmap.out()));
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, -1, 0, 4096), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, 0, 0, 0), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, 0, SIZE_MAX, 1), DOCA_ERROR_INVALID_VALUE);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, 0, 1, SIZE_MAX), DOCA_ERROR_INVALID_VALUE);
    const LogCapture log;
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, 0, 4096, 4096), DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "dmabuf");

    // The map has no range by that, and can still be given one.
    void *addr = nullptr;
    std::size_t len = 0;
    EXPECT_EQ(doca_mmap_get_memrange(mmap, &addr, &len), DOCA_ERROR_BAD_STATE);
    std::vector<std::byte> memory(100);
    EXPECT_EQ(doca_mmap_set_memrange(mmap, memory.data(), memory.size()), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, 0, 4096, 4096),
              DOCA_ERROR_NOT_SUPPORTED); // whatever the state
    EXPECT_EQ(doca_mmap_start(mmap), DOCA_SUCCESS);
    EXPECT_EQ(doca_mmap_set_dmabuf_memrange(mmap, 0, 4096, 4096), DOCA_ERROR_NOT_SUPPORTED);
}

TEST(NotBuilt, data_path_on_a_gpu)
{
    DmaHandle dma;
    must(doca_dma_create(dma.out()));
    const LogCapture log;
    EXPECT_EQ(doca_ctx_set_datapath_on_gpu(doca_dma_as_ctx(dma), untouched<doca_gpu>()),
              DOCA_ERROR_NOT_SUPPORTED);
    EXPECT_LOGGED(log, "GPU");
}
