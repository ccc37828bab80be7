// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 The opendoca authors
//
// Copies inside of one process. doca_dma.h alone brings buffers, contexts, devices and the progress engine, as
// until 2.6.
#include <doca_dma.h>
#include <doca_mmap.h>

#include <doca_log.h>

#include "dma.h"

DOCA_LOG_REGISTER(LOCAL_COPY);

int main(void)
{
    struct doca_dev *dev = open_device(doca_dma_cap_task_memcpy_is_supported, NULL);
    struct memory memory;
    struct doca_buf *src, *dst;
    uint16_t count = 0;
    WORKS(doca_log_backend_create_standard());
    make_memory(&memory, dev, 4096, DOCA_ACCESS_FLAG_LOCAL_READ_WRITE);
    src = buffer(&memory, 0, 1024, "a text");
    dst = buffer(&memory, 1024, 1024, NULL);
    copy(dev, src, dst);
    CHECK(strcmp(memory.bytes + 1024, "a text") == 0);
    WORKS(doca_buf_dec_refcount(src, &count));
    WORKS(doca_buf_dec_refcount(dst, &count));
    drop_memory(&memory);
    WORKS(doca_dev_close(dev));
#if DOCA_API < 20700
    DOCA_LOG(INFO, "copied %d", 1);
#else
    DOCA_LOG(DOCA_LOG_LEVEL_INFO, "copied %d", 1);
#endif
    DOCA_LOG_INFO("Sample finished successfully");
    return 0;
}
